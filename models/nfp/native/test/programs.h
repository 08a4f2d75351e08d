// Shared by the tests of the NFP engine: the cost table of models/nfp/costs.json, and text as
// listings.
#pragma once

#include <string>
#include <vector>

#include "costs.h"
#include "graph.h"
#include "listing.h"

namespace nfp_test {

inline lpn::nfp::Costs table() {
  lpn::nfp::Costs c;
  c.overhead = 224;
  c.instruction = c.branch_not_taken = c.access = 1;
  c.branch_taken = c.swap = 3;
  c.branch_taken_late = c.jump = 4;
  c.distance_sram = 16;
  c.distance_dram = 25;
  c.dram_read = 4;
  c.dram_add = 3;
  c.clock_hz = 800e6;
  c.min_packet = 60;
  c.max_packet = 1500;
  return c;
}

// Lines without ids; "LABEL:" names the next one, "@LABEL" in a line stands for its id.
inline std::string listing(const std::vector<std::string>& lines) {
  std::vector<std::pair<std::string, std::size_t>> labels;
  std::size_t n = 0;
  for (const std::string& line : lines) {
    if (line.back() == ':')
      labels.emplace_back("@" + line.substr(0, line.size() - 1), n);
    else
      ++n;
  }
  std::string out;
  n = 0;
  for (std::string line : lines) {
    if (line.back() == ':') continue;
    for (const auto& [name, id] : labels)
      for (std::size_t at; (at = line.find(name)) != std::string::npos &&
                           (at + name.size() == line.size() ||
                            !std::isalnum(static_cast<unsigned char>(line[at + name.size()])));)
        line.replace(at, name.size(), "." + std::to_string(id));
    out += "." + std::to_string(n++) + "  " + line + "\n";
  }
  return out;
}

inline std::vector<lpn::nfp::Instruction> parse(const std::vector<std::string>& lines) {
  return lpn::nfp::parse_listing(listing(lines), "test.asm");
}

}  // namespace nfp_test

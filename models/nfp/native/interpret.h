// Runs a listing on one packet: words instead of terms, no graph, nothing shared with the symbolic
// execution.
//
// What the symbolic side calls undefined is some word here, another one for another `seed`.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "costs.h"
#include "listing.h"

namespace lpn::nfp {

struct Input {
  std::uint32_t size = 60;
  std::map<std::uint32_t, std::uint8_t> packet;  // by offset from the packet's first byte
  std::map<std::uint32_t, std::uint8_t> map;     // DRAM, by offset
};

struct Executed {
  std::uint32_t instruction = 0;  // index into the listing
  Cycles cycles = 0;
  bool taken = false;  // a branch that was
};

struct Execution {
  bool ended = false;  // false: the limit came first
  std::vector<Executed> trace;
  Cycles cycles = 0;  // with the overhead
  double dram_cycles = 0;
  std::uint32_t gpr_a[kGprs] = {}, gpr_b[kGprs] = {}, xfer_in[kXfers] = {};
  std::map<std::uint32_t, std::uint8_t> packet, map;  // afterwards
};

Execution interpret(const std::vector<Instruction>& listing, const Costs& costs, const Input& input,
                    std::uint64_t seed = 1, std::size_t most_steps = 10'000'000);

}  // namespace lpn::nfp

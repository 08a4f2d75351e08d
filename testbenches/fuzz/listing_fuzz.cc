// NFP listings of any bytes: an Error, or instructions whose text is read as the same again; a
// graph, or an Error that says why there is none.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph.h"
#include "listing.h"
#include "lpn/base/error.h"
#include "require.h"

namespace {

using lpn::fuzz::require;
using lpn::nfp::Instruction;

constexpr std::size_t kMostBlocks = 2000;

lpn::nfp::Costs costs() {
  lpn::nfp::Costs c;
  c.instruction = c.branch_not_taken = c.access = 1;
  c.branch_taken = c.swap = 3;
  c.branch_taken_late = c.jump = 4;
  c.distance_sram = 16;
  c.distance_dram = 25;
  c.dram_read = 4;
  c.dram_add = 3;
  c.dram_write = 5;
  return c;
}

bool same(const Instruction& x, const Instruction& y) {
  return x.opcode == y.opcode && x.id == y.id && x.text == y.text &&
         x.destination == y.destination && x.a == y.a && x.b == y.b &&
         x.write_both == y.write_both && x.alu == y.alu && x.shift.kind == y.shift.kind &&
         x.shift.amount == y.shift.amount && x.mask == y.mask && x.step == y.step &&
         x.condition == y.condition && x.target == y.target && x.defer == y.defer &&
         x.command == y.command && x.shifted_a == y.shifted_a && x.shifted_b == y.shifted_b &&
         x.count == y.count && x.indirect_ref == y.indirect_ref && x.swaps == y.swaps;
}

void check_graph(const std::vector<Instruction>& listing) {
  try {
    const lpn::nfp::Graph graph = lpn::nfp::make_graph(listing, {2, {}}, costs(), kMostBlocks);
    require(graph.blocks.size() <= kMostBlocks, "more blocks than asked for");
    lpn::nfp::Path path{0};  // falling through as far as it goes
    while (graph.edges[path.back()].to != graph.fin) {
      const lpn::nfp::Block& block = graph.blocks[graph.edges[path.back()].to];
      const std::uint32_t edge = block.next != lpn::nfp::kNone ? block.next : block.taken;
      if (edge == lpn::nfp::kNone) return;
      path.push_back(edge);
    }
    require(lpn::nfp::parse_path(graph, lpn::nfp::notation(graph, path)) == path,
            "a path is read otherwise than written");
    const lpn::nfp::PathCost cost = lpn::nfp::path_cost(graph, costs(), path);
    require(cost.cycles <= cost.max_cycles, "a path costs more than its bound");
  } catch (const lpn::Error& error) {
    require(error.code().starts_with("E-nfp-"), "not of this reader: " + error.code());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<Instruction> listing;
  try {
    listing = lpn::nfp::parse_listing({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const lpn::Error& error) {
    require(error.code() == "E-nfp-listing", "not of this reader: " + error.code());
    return 0;
  }
  std::string written;
  for (const Instruction& i : listing) written += "." + std::to_string(i.id) + " " + i.text + "\n";
  const std::vector<Instruction> again = lpn::nfp::parse_listing(written, "again");
  require(again.size() == listing.size(), "written instructions are lost");
  for (std::size_t k = 0; k < listing.size(); ++k)
    require(same(listing[k], again[k]), "'" + listing[k].text + "' is read otherwise");
  check_graph(listing);
  return 0;
}

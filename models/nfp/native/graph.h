// The control-flow graph of a listing: blocks, unrolled loops, edge costs, paths and their
// notation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costs.h"
#include "listing.h"

namespace lpn::nfp {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Block {
  std::uint32_t id = 0;             // of its first instruction
  std::uint32_t depth = 0;          // which round of its loop this copy is
  std::vector<std::uint32_t> code;  // indices into Graph::instructions
  std::uint32_t next = kNone,
                taken = kNone;  // edges out: not taken or falling through; taken or jump
};

struct Edge {
  std::uint32_t from = kNone, to = 0;  // blocks
  bool taken = false;                  // also the edge by which the entry is reached
};

// Costs of entering `to` by an edge, over-estimated: every way of arriving at the edge is covered.
struct EdgeCost {
  Cycles body = 0;                  // all instructions of the block but its last
  Cycles last = 0, last_taken = 0;  // the last, when the block is left by `next`, by `taken`
  double dram = 0;                  // memory engine, the whole block
};

// How often a block may be run, counted from 1: for all blocks, or by block id.
struct Unroll {
  std::optional<std::uint32_t> all;
  std::map<std::uint32_t, std::uint32_t> blocks;
};

struct Graph {
  std::vector<Instruction> instructions;  // of the listing, then `fin`
  std::vector<Block> blocks;              // in topological order; the entry is first
  std::vector<Edge> edges;                // edge 0 enters the program
  std::vector<EdgeCost> costs;            // by edge
  std::uint32_t fin = 0;                  // the block at the end
  // Edges left out because of an unrolling limit: the block they leave and whether they are taken.
  std::vector<std::pair<std::uint32_t, bool>> cut;

  const Instruction& last(const Block& block) const { return instructions[block.code.back()]; }
};

// Whether the program has a loop.
bool cyclic(const std::vector<Instruction>& listing);

// Throws Error "E-nfp-loop" when there is a loop and no limit, "E-nfp-unroll" for the limit of a
// block that is none, "E-nfp-size" when unrolling makes more than `most_blocks`, "E-nfp-cost" for
// an instruction whose cost the table does not have.
Graph make_graph(std::vector<Instruction> listing, const Unroll& unroll, const Costs& costs,
                 std::size_t most_blocks = 4'000'000);

using Path = std::vector<std::uint32_t>;  // edges, from edge 0 to one that enters Graph::fin

// "->0--15->577->15000". Throws Error "E-nfp-path" for text that is no path of the graph.
std::string notation(const Graph& graph, const Path& path);
Path parse_path(const Graph& graph, std::string_view text);

struct PathCost {
  Cycles cycles = 0;      // exact, with the overhead
  Cycles max_cycles = 0;  // by the over-estimates of edges
  double dram_cycles = 0;
};
PathCost path_cost(const Graph& graph, const Costs& costs, const Path& path);

// What a thread does between two accesses to memory.
enum class Access : std::uint8_t { kNone, kSram, kDramRead, kDramAdd, kDramWrite };
struct Segment {
  Cycles cycles =
      0;  // of the core, up to and with the accessing instruction itself, without any wait
  Access access = Access::kNone;  // kNone: the program ends
  bool waits = false;             // for the answer, and other threads run meanwhile
  std::uint32_t words = 0;        // moved, of 32 bits
};
// Without the overhead per packet.
std::vector<Segment> segments(const Graph& graph, const Costs& costs, const Path& path);

// The instructions of a path with the cycles each took, exactly.
struct Step {
  std::uint32_t instruction = 0;  // index
  Cycles cycles = 0;
  double dram = 0;
};
std::vector<Step> steps(const Graph& graph, const Costs& costs, const Path& path);

}  // namespace lpn::nfp

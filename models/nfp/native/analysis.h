// Facts about an unrolled graph that hold on all paths, found without following any.
//
// One pass forwards, with one state per block that says what all ways of arriving agree on: which
// edges no path takes, the least packet that can take an edge, addresses that are constant.
#pragma once

#include <cstdint>
#include <vector>

#include "conditions.h"
#include "graph.h"
#include "symbolic.h"

namespace lpn::nfp {

struct Analysis {
  std::vector<bool> alive;                  // by edge: some path may take it and reach the end
  std::vector<std::uint32_t> size;          // by edge: least packet
  std::vector<std::vector<Touch>> touches;  // by block
  bool loops_bounded = true;  // no edge cut by an unrolling limit could have been taken
};

// `minimise`: also ask how small a packet can be where conditions compare its size with something
// that varies.
Analysis analyse(const Graph& graph, Terms& terms, Symbolic& symbolic, Conditions& conditions,
                 std::uint32_t least, std::uint32_t most, bool minimise);

// The graph of a program whose loops end by a counter that is the same on all paths: rounds are
// added until nothing is cut. Throws Error "E-nfp-loop" when that does not happen.
Graph make_bounded_graph(const std::vector<Instruction>& listing, const Costs& costs,
                         std::uint32_t& limit);

}  // namespace lpn::nfp

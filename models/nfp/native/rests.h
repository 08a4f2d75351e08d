// The longest and shortest rests of paths: what can still follow from an edge on.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis.h"
#include "graph.h"

namespace lpn::nfp {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// Per distinct least packet size s, ascending: the most that can follow from an edge on, through
// edges no packet of more than s bytes is needed for. In packet-rate mode there is one s.
struct Rests {
  std::vector<std::uint32_t> sizes;
  std::vector<std::vector<double>> cycles, dram;  // [size][edge], kNever: the end is not reached
  std::vector<double> least_cycles;               // [edge], over all sizes
};

Rests make_rests(const Graph& graph, const Analysis& analysis, bool per_byte);

}  // namespace lpn::nfp

// The slowest packets of a program, slowest first, each with an example, and a bound on all the
// others.
//
// What is slow: cycles of a core, or of the memory engine that all cores share, whichever lets
// fewer packets through; per packet, or per byte of the smallest packet that takes the path. See
// models/nfp/README.md for how the search works.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "conditions.h"
#include "graph.h"

namespace lpn::nfp {

struct Options {
  bool per_byte = true;   // bit rate; else packet rate
  double cores = 1;       // that share the memory engine
  std::size_t paths = 1;  // how many of the slowest
  // For the question that is asked now.
  std::function<double()> z3_seconds = [] { return 20.0; };
};

struct SlowPath {
  Path path;
  PathCost cost;
  double value = 0;  // core cycles' worth (per byte, if so) by max_cycles
  Example example;
};

struct Naive {
  Cycles cycles = 0;
  std::uint32_t cycles_size = 0;
  double dram = 0;
  std::uint32_t dram_size = 0;
};

struct Progress {
  double bound = 0;  // no packet is slower than this: cycles, or cycles per byte
  std::uint64_t states = 0, refuted = 0;
  std::size_t found = 0;
};

struct Findings {
  Naive naive;
  std::vector<SlowPath>
      slowest;  // slowest first; when stopped before the first of them, one that is just possible
  double bound = 0;       // of every path that is not in `slowest`; 0: there is no other
  bool complete = false;  // all that was asked for was found
  bool loops_bounded = true;
  std::uint64_t refuted = 0;  // contradictions found among conditions
  // Paths that the control flow leaves and that would be slower than the first of `slowest`: none
  // of them is possible with so small a packet. Negative: too many different ones to count.
  double slower = 0;
  std::uint64_t states = 0, restarts = 0, z3_checks = 0;
};

// `go_on` is asked now and then, with how far it is; false ends the search with what was found.
// Throws Error "E-nfp-undefined" when a path's branch depends on something undefined, "E-nfp-none"
// when no packet reaches the end.
Findings find_slowest(const Graph& graph, const Costs& costs, const Options& options,
                      const std::function<bool(const Progress&)>& go_on);

}  // namespace lpn::nfp

// What the buffers of a dataflow graph cost in throughput: its Pareto front, exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lpn/pi/dataflow.h"

namespace lpn::pi {

// A channel of capacity c is one with a channel back that holds c - tokens at the start: space is
// claimed where the producer starts, and given back where the consumer ends. `capacities`: per
// channel of the graph, of which those from an actor to itself are not bounded (-1).
Dataflow bounded(const Dataflow& graph, const std::vector<std::int64_t>& capacities);

struct BufferFront {
  struct Point {
    Ratio period;
    std::int64_t total = 0;                // tokens, of all capacities
    std::vector<std::int64_t> capacities;  // as in bounded()
  };
  Pace unbounded;             // of the graph as it is; deadlocked: no capacities help
  std::vector<Point> points;  // by total; each the least total with its period
  bool complete = false;      // the last point is as fast as the graph; false: it was stopped
  std::int64_t tried = 0;     // distributions looked at
};

// Capacities are tried by total, least first: where some are too slow, the loop that makes them so
// (Pace) stays until one of the channels on it grows (Stuijk, Geilen, Basten, "Throughput-buffering
// trade-off exploration for CSDF and SDF graphs", IEEE TC 2008), and so it does in all others. The
// next to try is the cheapest that breaks all such loops. `go_on` is asked with what was found so
// far; when it says no, that is the answer. Throws Error as pace().
BufferFront buffer_front(const Dataflow& graph,
                         const std::function<bool(const BufferFront&)>& go_on);

}  // namespace lpn::pi

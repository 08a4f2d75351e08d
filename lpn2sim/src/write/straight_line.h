// Straight-line code for the static parts of an order-free net (schedule.h).
//
// Iteration after iteration every firing is one line: its start is the latest of a few instants
// that are still in variables, its commit that plus the delay. The code works on the run's state
// (struct Run, write/flow.h) and leaves it as the flow engine would after the same firings, so
// that the engine only has to finish what is less than an iteration. The same lines with vectors
// for variables run several inputs in lock step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lpn/net/net.h"
#include "plan/plan.h"
#include "plan/schedule.h"
#include "write/flow_stats.h"
#include "write/iteration.h"
#include "write/link.h"

namespace lpn::sim {

// Function templates over Run, for namespace scope after lpnrt/static.h:
//   template <typename R> u64 run_static(R& run, u64 limit)
// makes at most `limit` iterations of each part and returns how many there were of all; 0: it is
// the flow engine's turn. Throws lpnrt::Failure or lpnrt::Bail, then `run` is worth nothing.
// and, if `lanes`,
//   template <typename R> struct StaticLanes
// with which some part can run several inputs in lock step: load() takes up to lanes_here() runs
// that have not begun and lays out their tokens side by side; false when they differ too much or a
// value needs more than 32 bits, then each runs alone. run() makes the iterations that all of them
// have and leaves the rest to run_static and the flow engine; false: the runs are worth nothing.
// Groups are not kept, nor are the rows of sinks that are computed.
struct StaticCode {
  std::string text;  // "" when nothing is static
  // Per part: statistics, and the critical path, are of the low words of instants.
  std::vector<bool> low, low_path;
  bool lanes = false;
  std::uint64_t portion = 1;  // iterations that take a moment
};

// `net` is lowered.
StaticCode generate_static(const Net& net, const StaticParts& parts, const StaticOptions& options,
                           const Plan& plan, const FlowStats& stats, const Members& members);

}  // namespace lpn::sim

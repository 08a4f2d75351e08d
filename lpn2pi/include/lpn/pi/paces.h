// How fast a dataflow graph can go, exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "lpn/pi/dataflow.h"

namespace lpn::pi {

// All strongly connected parts that have a loop, those first that lead to others.
struct Paces {
  std::vector<std::int64_t> repetitions;  // as repetitions()
  std::vector<Pace> loops;                // kPeriodic or kDeadlocked
  std::vector<std::size_t> paced_by;      // per actor: the slowest that leads to it, or kNoCycle
};

// By K-periodic schedules (Bodin, Munier-Kordon, Dupont de Dinechin, "Optimal and fast throughput
// evaluation of CSDF", DAC 2016): of every actor K cycles of phases are scheduled together; a
// maximum cycle ratio of their firings gives the fastest such schedule, and K grows along the loop
// that decides until that is no more a matter of K. Throws Error "E-dataflow" for inconsistent
// rates and where firings or numbers become too many to be exact, and Stopped.
Paces paces(const Dataflow& graph, const GoOn& go_on);

// How an iteration can recur: the slowest of paces().
Pace pace(const Dataflow& graph, const GoOn& go_on);

}  // namespace lpn::pi

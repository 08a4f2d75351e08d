// A run in slices of time, for callers that want to stop it at a well-defined time with its partial
// result: on Ctrl-C, when it takes too long, or when they have seen enough.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "lpn/run/interp.h"
#include "lpn/run/run.h"
#include "lpn/sim/simulator.h"

namespace lpn::sim {

struct Slices {
  Time limit = kForever;
  Observer* observer = nullptr;  // what it throws ends the run, and is thrown after the slice
  // Asked about 20 times a second with the time and the commits so far, and twice a second in the
  // midst of an instant that takes so long; false ends the run. What it throws does too. Empty: go
  // on.
  std::function<bool(Time, std::uint64_t)> keep_on{};
  double budget = 0;  // seconds after which there is no result; 0: any time
};

struct SlicedRun {
  std::optional<RunResult> result;  // none: `budget` was not enough
  double seconds = 0;               // of running, callbacks of an event-driven run left out
  bool stopped = false;             // by keep_on: the result is that of a part
  Time until = 0;  // the run is complete up to this time; -1: stopped in the midst of instant 0
};

SlicedRun run_sliced(Interp& engine, const Slices& slices);
// An order-free run has no instants to stop at: it is asked on its way.
SlicedRun run_sliced(Simulator& engine, const Slices& slices);

}  // namespace lpn::sim

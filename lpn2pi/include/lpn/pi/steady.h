// The pace at which a net settles: loop delays and commit gaps.
//
// For nets where every place has one producer and one taker and nothing is guarded, and where
// delays, weights and counts are constants or read counters of their transition's own: weighted
// marked graphs, synchronous and cyclo-static dataflow (dataflow.h). The average gap between
// commits is a maximum cycle ratio, exactly. "Performance Interfaces for Hardware Accelerators",
// appendix A.3, asks for loops of one marked place that contain no other loop; none of that is
// needed here.
#pragma once

#include <vector>

#include "lpn/net/marking.h"
#include "lpn/net/net.h"
#include "lpn/pi/cycles.h"

namespace lpn::pi {

struct Loop {
  Ratio delay;                            // ticks per round of the net; {1, 0}: deadlocked
  std::vector<TransitionId> transitions;  // in the order in which a token goes round
  std::vector<PlaceId> places;            // those between them; of the net as lowered (lower.h)
};

struct SteadyState {
  std::vector<Loop> loops;  // one per strongly connected part that has a loop: its slowest
  struct Pace {
    Ratio gap;                     // ticks per commit, on average, in the long run; {1, 0}: never
    std::size_t loop = kNoCycle;   // what sets it, in `loops`; none: nothing bounds this transition
    std::int64_t repetitions = 1;  // commits per round of the net; a loop's delay is per round
  };
  std::vector<Pace> paces;  // per transition
};

// Start places without a producer never run out: the pace is that of an endless input.
// Throws Error "E-pi", naming transition and place, for a net of another kind, or weights under
// which tokens pile up or run out; what check_initial() throws (initial.h); and Stopped.
SteadyState steady_state(const Net& net, const ParamValues& params, const Marking& marking,
                         const GoOn& go_on);

}  // namespace lpn::pi

#include "lpn/pi/steady.h"

#include "lpn/base/error.h"
#include "lpn/net/initial.h"
#include "lpn/net/lower.h"
#include "lpn/pi/paces.h"
#include "net_graph.h"

namespace lpn::pi {

namespace {

Paces paces_of(const Dataflow& graph, const GoOn& go_on) {
  try {
    return paces(graph, go_on);
  } catch (const Error& error) {  // a net's mistakes are those of lpn pi
    throw Error("E-pi", error.what());
  }
}

}  // namespace

SteadyState steady_state(const Net& net, const ParamValues& params, const Marking& marking,
                         const GoOn& go_on) {
  check_initial(net, params, marking);
  const Net lowered = lower(net);
  const NetGraph made = net_graph(net, lowered, params, marking);
  const Paces paces = paces_of(made.graph, go_on);
  SteadyState state;
  for (const Pace& pace : paces.loops) {
    Loop loop{pace.kind == Pace::Kind::kDeadlocked ? Ratio{1, 0} : pace.period, {}, {}};
    for (std::size_t k = 0; k < pace.actors.size(); ++k) {
      loop.transitions.push_back(static_cast<TransitionId>(pace.actors[k]));
      if (pace.channels[k] != kNoChannel && made.places[pace.channels[k]])
        loop.places.push_back(*made.places[pace.channels[k]]);
    }
    state.loops.push_back(std::move(loop));
  }
  for (std::size_t t = 0; t < net.transitions.size(); ++t) {
    const auto phases = static_cast<std::int64_t>(made.graph.actors[t].times.recurring.size());
    SteadyState::Pace pace{{0, 1}, paces.paced_by[t], 0};
    if (__builtin_mul_overflow(paces.repetitions[t], phases, &pace.repetitions))
      throw Error("E-pi", "a round of the net has more firings than 63 bits count");
    if (pace.loop != kNoCycle) {
      const Ratio round = state.loops[pace.loop].delay;
      pace.gap = round.den == 0 ? round : divided(round, pace.repetitions);
    }
    state.paces.push_back(pace);
  }
  return state;
}

}  // namespace lpn::pi

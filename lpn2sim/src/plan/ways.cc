#include "lpn/sim/ways.h"

#include <fmt/format.h>

#include "lpn/net/lower.h"
#include "plan/plan.h"
#include "plan/schedule.h"

namespace lpn::sim {

namespace {

// Why the firings of a transition whose plan assumes something are not known beforehand.
std::string assumption(const Net& lowered, const Plan& plan, const Transition& t) {
  for (const InputArc& arc : t.inputs) {
    const auto p = static_cast<std::size_t>(arc.place);
    const auto& of = lowered.places[p].credit_of;
    const std::string& name = of ? lowered[*of].name : lowered.places[p].name;
    if (plan.disputed[p]) {
      return fmt::format("must not meet others that take from place '{}'; each run checks it",
                         name);
    }
    if (plan.merged[p]) {
      return fmt::format("tokens must come to place '{}' in turn; each run checks it", name);
    }
  }
  return "is connected to others that must take turns; each run checks it";
}

}  // namespace

std::vector<Way> ways(const Net& net, const Solver& solver) {
  const Net lowered = lower(net);
  const Plan plan = make_plan(lowered, solver);
  const StaticParts parts = static_parts(lowered);
  std::vector<Way> all;
  for (std::size_t k = 0; k < plan.why_not.size(); ++k) {
    const std::string& why = plan.why_not[k];
    if (plan.assumes()) {
      all.push_back({true, "", false, assumption(lowered, plan, lowered.transitions[k])});
      continue;
    }
    const bool lock_step = plan.whole() && parts.why_not[k].empty();
    all.push_back({why.empty(), why, lock_step, plan.whole() ? parts.why_not[k] : ""});
  }
  return all;
}

Runs runs(const Net& net, const Solver& solver) {
  const Plan plan = make_plan(lower(net), solver);
  return plan.whole() ? Runs::kFree : plan.mixed() ? Runs::kMixed : Runs::kEvents;
}

bool assumes(const Net& net, Assume assume, const Solver& solver) {
  return make_plan(lower(net), solver, assume).assumes();
}

}  // namespace lpn::sim

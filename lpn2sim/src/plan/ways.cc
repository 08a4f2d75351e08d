#include "lpn/sim/ways.h"

#include "lpn/net/lower.h"
#include "plan/plan.h"
#include "plan/schedule.h"

namespace lpn::sim {

std::vector<Way> ways(const Net& net, const Solver& solver) {
  const Net lowered = lower(net);
  const Plan plan = make_plan(lowered, solver);
  const StaticParts parts = static_parts(lowered);
  std::vector<Way> all;
  for (std::size_t k = 0; k < plan.why_not.size(); ++k) {
    const std::string& why = plan.why_not[k];
    const bool lock_step = plan.whole() && parts.why_not[k].empty();
    all.push_back({why.empty(), why, lock_step, plan.whole() ? parts.why_not[k] : ""});
  }
  return all;
}

Runs runs(const Net& net, const Solver& solver) {
  const Plan plan = make_plan(lower(net), solver);
  return plan.whole() ? Runs::kFree : plan.mixed() ? Runs::kMixed : Runs::kEvents;
}

}  // namespace lpn::sim

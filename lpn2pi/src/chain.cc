#include "lpn/pi/chain.h"

#include <algorithm>
#include <unordered_map>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"

namespace lpn::pi {

std::vector<Link> critical_chain(const Timing& timing, const InputSpace& space,
                                 const Assignment& input, InstantId target) {
  std::unordered_map<std::uint32_t, Time> known;
  const auto delay = [&](ExprId term) {
    const auto [entry, fresh] = known.try_emplace(static_cast<std::uint32_t>(term), 0);
    if (fresh) entry->second = eval_params(space.variables.exprs, term, input);
    return entry->second;
  };
  std::vector<Time> times(timing.size());
  for (std::size_t k = 1; k <= static_cast<std::size_t>(target); ++k)
    times[k] = instant(timing, static_cast<InstantId>(k), times, delay);

  std::vector<Link> chain;
  for (InstantId at = target; at != kTimeZero;) {
    const Timing::Node& node = timing[at];
    const auto of = [&](const Timing::Arc& arc) {
      return times[static_cast<std::size_t>(arc.from)] + delay(arc.delay);
    };
    const Timing::Arc* why = nullptr;
    if (node.kind == Timing::Kind::kGate) {
      const bool waits =
          of(node.after[0]) >= of(node.after[1]) && of(node.after[2]) > of(node.after[0]);
      why = &node.after[waits ? 2 : 0];
    } else {
      for (const Timing::Arc& arc : node.after)
        if (why == nullptr || of(arc) > of(*why)) why = &arc;
    }
    if (why == nullptr) break;  // nothing to wait for: time 0
    chain.push_back({why->from, at, why->delay, times[static_cast<std::size_t>(at)] - of(*why)});
    at = why->from;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

bool only_waits(const Timing& timing) {
  for (std::size_t k = 0; k < timing.size(); ++k) {
    if (timing[static_cast<InstantId>(k)].kind != Timing::Kind::kMax) return false;
  }
  return true;
}

}  // namespace lpn::pi

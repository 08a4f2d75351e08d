#include "classes/instants.h"

#include <algorithm>
#include <utility>

#include "lpn/base/error.h"
#include "lpn/expr/build.h"

namespace lpn {

std::int64_t Values::concrete(ExprId term) {
  std::int64_t value = 0;
  if (pool_.is_const(term, value)) return value;
  const Range range = total_.range(term);
  return range.lo == range.hi ? range.lo : oracle_.value(term);
}

bool Values::decide(ExprId condition) {
  const Range range = total_.range(condition);
  return range.lo == range.hi ? range.lo != 0 : oracle_.holds(condition);
}

InstantId Instants::noted(InstantId id) {
  if (differences_.latest(id) > kLastInstant) too_late();
  oracle_.added(id);
  return id;
}

void Instants::too_late() const {
  throw Error("E-partition", name_ +
                                 ": a time may not fit in 64 bits; narrow the ranges of "
                                 "what delays are made of");
}

void Instants::require_due(InstantId from, ExprId delay) {
  if (differences_.delay(delay).hi > kLastInstant - differences_.latest(from)) too_late();
}

InstantId Instants::latest(std::vector<Timing::Arc> after) {
  const std::size_t before = timing_.size();
  const InstantId id = timing_.latest(std::move(after), zero_);
  return timing_.size() == before ? id : noted(id);
}

bool Instants::holds(InstantId before, InstantId after, bool strict) {
  if (differences_.upper(before, after) <= (strict ? -1 : 0)) return true;
  if (differences_.upper(after, before) <= (strict ? 0 : -1)) return false;
  const auto key = std::make_tuple(before, after, strict);
  if (const auto it = decided_.find(key); it != decided_.end()) return it->second;
  const bool result = oracle_.holds(Order{before, after, strict});
  decided_[key] = result;
  if (result)
    differences_.learn(before, after, strict ? 1 : 0);
  else
    differences_.learn(after, before, strict ? 0 : 1);
  return result;
}

std::optional<std::int64_t> Instants::known_group(InstantId v) {
  const auto [it, fresh] = groups_.try_emplace(v);
  if (!fresh) return it->second;
  std::optional<std::int64_t> result;
  if (v == kTimeZero) {
    result = 0;
  } else if (!fuzzy_.count(v)) {
    const Timing::Node& node = timing_[v];
    const bool commit = commits_.count(v) != 0;
    bool first = true;
    for (std::size_t k = 0; k < node.after.size(); ++k) {
      if (node.kind == Timing::Kind::kGate && k == 1) continue;
      const std::optional<std::int64_t> g = contribution(v, k, commit);
      if (!g || (!first && g != result)) {
        result.reset();
        break;
      }
      if (node.kind == Timing::Kind::kEdge && *g != 0) break;  // moved or not
      result = g;
      first = false;
    }
  }
  groups_[v] = result;
  return result;
}

std::optional<std::int64_t> Instants::contribution(InstantId v, std::size_t k, bool commit) {
  const Timing::Arc& arc = timing_[v].after[k];
  const Range delay = total_.range(arc.delay);
  if (delay.lo > 0) return 0;
  if (commit && k > 0) return 0;  // `ordered`: held back to an earlier firing's commit
  const std::optional<std::int64_t> from = known_group(arc.from);
  if (!from) return std::nullopt;
  const std::int64_t here = *from + (commit ? 1 : 0);
  return delay.hi > 0 && here != 0 ? std::nullopt : std::optional(here);
}

std::int64_t Instants::group(InstantId v) {
  if (const auto known = known_group(v)) return *known;
  if (const auto it = asked_groups_.find(v); it != asked_groups_.end()) return it->second;
  if (fuzzy_.count(v) || timing_[v].kind == Timing::Kind::kGate) throw NeedsGroups{};
  std::int64_t result = 0;
  const bool commit = commits_.count(v) != 0;
  for (std::size_t k = 0; k < timing_[v].after.size(); ++k) {
    const Timing::Arc arc = timing_[v].after[k];
    if (commit && k > 0) continue;
    if (!holds(v, arc.from, false)) continue;  // later than this one: not what it waited for
    if (!values_.decide(ExprBuilder(pool_).eq(arc.delay, zero_))) continue;
    result = std::max(result, group(arc.from) + (commit ? 1 : 0));
  }
  asked_groups_[v] = result;
  return result;
}

bool Instants::precedes(InstantId a, InstantId b, bool first) {
  if (a == b) return first;
  const auto ga = known_group(a), gb = known_group(b);
  if (ga && gb) return holds(a, b, !(*ga < *gb || (*ga == *gb && first)));
  if (holds(a, b, true)) return true;
  if (holds(b, a, true)) return false;
  const std::int64_t x = group(a), y = group(b);
  return x < y || (x == y && first);
}

bool Instants::sees(InstantId event, InstantId start) {
  if (surely_before(event, start)) return true;
  const auto ge = known_group(event), gs = known_group(start);
  return ge && gs && *ge <= *gs;
}

}  // namespace lpn

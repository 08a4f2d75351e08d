// What the parts of a net say without a run: what an arc needs, which places have to drain, who
// touches a place, and a visitor of all formulas. The one home of these rules; every engine and
// analysis asks here.
//
// Constant means written as a constant (ExprPool::is_const); what parameters and ranges allow is
// asked of Bounds (expr/range.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "lpn/net/net.h"

namespace lpn {

// ---- arcs ------------------------------------------------------------------------------------

// Of one input arc. An inhibitor arc takes and needs nothing.
struct ArcFacts {
  std::optional<std::int64_t> weight;  // the tokens it takes, where constant
  std::optional<std::int64_t> need;    // those that must be free for it, where constant
  bool reads_head = false;  // its weight or threshold reads the head of its place, so needs it

  // As far as it is constant; a head that is read counts.
  std::int64_t least_need() const {
    return std::max<std::int64_t>(need.value_or(0), reads_head ? 1 : 0);
  }
  bool takes_nothing() const { return weight == 0; }
  // Takes nothing and needs nothing: only sees how many tokens there are.
  bool only_watches() const { return weight == 0 && need == 0; }
};

// Also of a net that is not verified yet: a formula outside the pool is not constant.
ArcFacts arc_facts(const Net& net, const Transition& t, std::uint32_t arc);

// ---- places ----------------------------------------------------------------------------------

// Whether tokens left in the place when nothing can happen any more make the run a stalled one
// (docs/semantics.md): what the workload fills, what says so, and a buffer of bounded size.
bool must_drain(const Place& place);

// Who touches a place; each list in order of declaration, without repetition.
struct PlaceUse {
  std::vector<TransitionId> producers;  // may append to it
  std::vector<TransitionId> takers;     // may take from it: weight not constantly 0
  std::vector<TransitionId> readers;    // need or look at its tokens and take none
  std::vector<TransitionId> watchers;   // inhibited by it, or k=0, w=0: see how many, need none
};
std::vector<PlaceUse> place_uses(const Net& net);  // per place

// ---- transitions -----------------------------------------------------------------------------

// The same delay at every firing: it reads parameters at most.
bool constant_delay(const Net& net, const Transition& t);

// servers=1, written as a constant: one firing at a time.
bool one_server(const Net& net, const Transition& t);

// An assertion over the marking (net.always in Python): it only counts tokens, puts nothing, and
// its guard, which is false where it has a value, fails where what it assumes does not hold. So it
// never starts, and a run in which it fails ends with E-assume.
bool is_assertion(const Net& net, const Transition& t);

// ---- formulas --------------------------------------------------------------------------------

// Which formula of a transition: what is evaluated at a start.
enum class SiteKind : std::uint8_t {
  kWeight,
  kThreshold,
  kGuard,  // arc
  kDelay,
  kInterval,
  kCount,  // arc = output arc, emission
  kField,  // arc = output arc, emission, field
  kNone,
};
struct Site {
  SiteKind kind = SiteKind::kNone;
  std::uint32_t arc = 0;
  std::uint32_t emission = 0;
  std::uint32_t field = 0;
  bool operator==(const Site&) const = default;
};

// Calls visit(formula, site) for each formula of a transition, in the order in which a start
// evaluates them, then for servers and clock, which are evaluated before a run: their site is
// kNone. Likewise visit(formula) for those of a place and of a whole net. What is not const may be
// changed.
template <typename T, typename Visit>
requires std::is_same_v<std::remove_const_t<T>, Transition>
void for_each_formula(T& t, Visit&& visit) {
  for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
    auto& arc = t.inputs[a];
    visit(arc.weight, Site{SiteKind::kWeight, a});
    if (arc.threshold) visit(*arc.threshold, Site{SiteKind::kThreshold, a});
    if (arc.guard) visit(*arc.guard, Site{SiteKind::kGuard, a});
  }
  visit(t.delay, Site{SiteKind::kDelay});
  if (t.interval) visit(*t.interval, Site{SiteKind::kInterval});
  for (std::uint32_t o = 0; o < t.outputs.size(); ++o) {
    for (std::uint32_t e = 0; e < t.outputs[o].emissions.size(); ++e) {
      auto& emission = t.outputs[o].emissions[e];
      visit(emission.count, Site{SiteKind::kCount, o, e});
      for (std::uint32_t f = 0; f < emission.fields.size(); ++f) {
        visit(emission.fields[f], Site{SiteKind::kField, o, e, f});
      }
    }
  }
  if (t.servers) visit(*t.servers, Site{});
  if (t.clock) {
    visit(t.clock->period, Site{});
    visit(t.clock->phase, Site{});
  }
}

template <typename P, typename Visit>
requires std::is_same_v<std::remove_const_t<P>, Place>
void for_each_formula(P& place, Visit&& visit) {
  if (place.capacity) visit(*place.capacity);
  for (auto& group : place.initial) {
    visit(group.count);
    for (auto& field : group.fields) visit(field);
  }
}

template <typename N, typename Visit>
requires std::is_same_v<std::remove_const_t<N>, Net>
void for_each_formula(N& net, Visit&& visit) {
  for (auto& place : net.places) for_each_formula(place, visit);
  for (auto& t : net.transitions) {
    for_each_formula(t, [&](auto& formula, const Site&) { visit(formula); });
  }
  if (net.done_count) visit(*net.done_count);
}

// The formula at a site of a transition; null: none.
const Formula* formula_at(const Transition& t, const Site& site);

}  // namespace lpn

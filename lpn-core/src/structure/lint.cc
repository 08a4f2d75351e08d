// Each lint is one member function; all are structural and look at declared ranges only, so they
// may warn where a human sees that nothing is wrong. Warnings say what to write to be explicit.
#include "lpn/structure/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lpn/base/wide.h"
#include "lpn/net/bounds.h"
#include "lpn/net/facts.h"
#include "lpn/structure/endless.h"
#include "lpn/structure/structure.h"
#include "refused_value.h"
#include "unordered.h"

namespace lpn {
namespace {

template <typename Id>
std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

class Linter {
 public:
  explicit Linter(const Net& net)
      : net_(net),
        producers_(net.places.size()),
        consumers_(net.places.size()),
        readers_(net.places.size()) {
    for (const Transition& t : net.transitions) bounds_.emplace_back(net, &t);
    for (std::size_t t = 0; t < net.transitions.size(); ++t) {
      for (const OutputArc& arc : net.transitions[t].outputs)
        producers_[index(arc.place)].push_back(t);
      for (const InputArc& arc : net.transitions[t].inputs) {
        readers_[index(arc.place)].push_back(t);
        if (takes(net.transitions[t], arc).hi > 0) consumers_[index(arc.place)].push_back(t);
      }
    }
    find_single();
    find_unbounded();
  }

  std::vector<Warning> run() {
    find_dead();
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      if (is_assertion(net_, net_.transitions[t])) {  // it is not meant to start
        divisors(t);
        continue;
      }
      unbounded(t);
      overtake(t);
      occupancy(t);
      dead(t);
      divisors(t);
      values(t);
    }
    for (std::size_t p = 0; p < net_.places.size(); ++p) {
      unused(p);
      never_filled(p);
      never_drained(p);
      half_rate(p);
      narrow(p);
    }
    goes_on();
    order();
    unused_params();
    return std::move(warnings_);
  }

 private:
  void warn(const char* code, std::string where_, Source source, const std::string& text) {
    std::string message = fmt::format("{}: {}", where_, text);
    if (const std::string at = where(net_, source); !at.empty()) message += "\n  at " + at;
    warnings_.push_back({code, std::move(where_), source, std::move(message), {}, {}});
  }
  void warn(const char* code, const Transition& t, Source source, const std::string& text) {
    warn(code, fmt::format("transition '{}'", t.name), source, text);
    warnings_.back().transition = static_cast<TransitionId>(&t - net_.transitions.data());
  }
  void warn(const char* code, const Transition& t, const std::string& text) {
    warn(code, t, t.source, text);
  }
  void warn(const char* code, const Place& p, const std::string& text) {
    warn(code, fmt::format("place '{}'", p.name), p.source, text);
    warnings_.back().place = static_cast<PlaceId>(&p - net_.places.data());
  }

  // Facts.

  Range range(const Transition& t, ExprId id) const {
    const auto k = static_cast<std::size_t>(&t - net_.transitions.data());
    return bounds_[k].of(id);
  }
  Range range(const Transition& t, const Formula& f) const { return range(t, f.id); }

  Range takes(const Transition& t, const InputArc& arc) const {
    return arc.inhibit ? Range{0, 0} : range(t, arc.weight);
  }

  Range needs(const Transition& t, const InputArc& arc) const {
    Range r = takes(t, arc);
    if (arc.threshold && !arc.inhibit) {
      const Range k = range(t, *arc.threshold);
      r = {std::max(r.lo, k.lo), std::max(r.hi, k.hi)};
    }
    return r;
  }

  Range emits(const Transition& t, const OutputArc& arc) const {
    return emitted(bounds_[static_cast<std::size_t>(&t - net_.transitions.data())], arc);
  }

  // Transitions of which at most one firing is in flight: those that hold a token of a credit loop
  // that has only one.
  void find_single() {
    single_.assign(net_.transitions.size(), false);
    for (const CreditLoop& loop : credit_loops(net_)) {
      Wide tokens = 0;
      for (PlaceId p : loop.places) {
        const Place& place = net_[p];
        if (loop.capacity)
          tokens += bounds(net_, nullptr, place.capacity->id).hi;
        else
          tokens += place.start ? kMaxTokens : initial_tokens(net_, place).hi;
      }
      if (tokens > 1) continue;
      for (TransitionId t : loop.transitions) single_[index(t)] = true;
    }
    for (std::size_t k = 0; k < net_.transitions.size(); ++k) {
      const Transition& t = net_.transitions[k];
      if (t.servers && bounds(net_, nullptr, t.servers->id).hi <= 1) single_[k] = true;
    }
  }

  // Transitions that no credit loop bounds, and that are not even on a loop of the net: on a loop,
  // something comes back, although in a number that depends on tokens.
  void find_unbounded() {
    unbounded_.assign(net_.transitions.size(), false);
    for (TransitionId t : unbounded_concurrency(net_)) unbounded_[index(t)] = true;
    on_loop_.assign(net_.transitions.size(), false);
    for (const std::vector<TransitionId>& component : components(net_)) {
      for (TransitionId t : component) {
        on_loop_[index(t)] = component.size() > 1 || feeds_itself(net_[t]);
        if (on_loop_[index(t)]) unbounded_[index(t)] = false;
      }
    }
  }

  bool feeds_itself(const Transition& t) const {
    return std::any_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& in) {
      return takes(t, in).lo > 0 &&
             std::any_of(t.outputs.begin(), t.outputs.end(),
                         [&](const OutputArc& out) { return out.place == in.place; });
    });
  }

  // Lints of transitions.

  void unbounded(std::size_t k) {
    const Transition& t = net_.transitions[k];
    if (!unbounded_[k] || (t.interval && range(t, *t.interval).hi > 0)) return;
    warn(
        "W-unbounded", t,
        "nothing bounds how many firings run at once; write servers=1 for one unit, interval=1 for "
        "a pipeline that starts one per cycle, or take a credit that its consumer gives back");
  }

  bool varies(const Transition& t, const Formula& f) const {
    const Range r = range(t, f);
    return r.lo != r.hi && !net_.exprs.reads(f.id).only_params();
  }

  void overtake(std::size_t k) {
    const Transition& t = net_.transitions[k];
    if (t.servers || t.ordered || single_[k] || !varies(t, t.delay)) return;
    warn("W-overtake", t,
         "its delay differs per firing and firings overlap, so a later one may commit first; write "
         "ordered=True to keep the order, or servers=1 for one at a time");
  }

  void occupancy(std::size_t k) {
    const Transition& t = net_.transitions[k];
    if (t.servers || single_[k]) return;
    for (const InputArc& arc : t.inputs) {
      if (!arc.guard) continue;
      const Reads reads = net_.exprs.reads(arc.guard->id);
      std::vector<std::uint32_t> arcs = reads.occupancy;
      for (std::uint32_t a : reads.free) {
        if (takes(t, t.inputs[a]).hi <= 0) arcs.push_back(a);
      }
      for (std::uint32_t a : arcs) {
        warn("W-occupancy", t,
             fmt::format(
                 "its guard reads how many tokens '{}' has, which a start does not change, "
                 "so several start on one free slot; write servers=1, or give '{}' a capacity",
                 net_[t.inputs[a].place].name, net_[t.inputs[a].place].name));
        return;
      }
    }
  }

  // Which transitions can never start, by a fixed point: a place may fill when it starts with
  // tokens, or the workload fills it, or a transition that may start puts into it. Only causes are
  // told: once one is, it is taken as mended, so that what it feeds is judged by itself.
  void find_dead() {
    const std::size_t n = net_.transitions.size();
    fillable_.assign(net_.places.size(), false);
    why_dead_.assign(n, "");
    alive_.assign(n, false);
    for (std::size_t p = 0; p < net_.places.size(); ++p) {
      fillable_[p] = net_.places[p].start || initial_tokens(net_, net_.places[p]).hi > 0;
    }
    std::vector<std::size_t> all;
    for (std::size_t k = n; k > 0; --k) all.push_back(k - 1);
    revive(std::move(all), false);
    const auto parts = components(net_);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {  // what feeds comes first
      for (TransitionId t : *part) {
        if (alive_[index(t)]) continue;
        why_dead_[index(t)] = obstacle(net_[t]);
        revive({index(t)}, true);
      }
    }
  }

  // Marks those of `todo` that can start, and all that can then. `mended`: take it that the first
  // can.
  void revive(std::vector<std::size_t> todo, bool mended) {
    while (!todo.empty()) {
      const std::size_t k = todo.back();
      todo.pop_back();
      const Transition& t = net_.transitions[k];
      if (alive_[k] || (!mended && !obstacle(t).empty())) continue;
      mended = false;
      alive_[k] = true;
      for (const OutputArc& arc : t.outputs) {
        const std::size_t p = index(arc.place);
        if (fillable_[p] || emits(t, arc).hi <= 0) continue;
        fillable_[p] = true;
        todo.insert(todo.end(), readers_[p].begin(), readers_[p].end());
      }
    }
  }

  // Why a transition cannot start; "" when it may.
  std::string obstacle(const Transition& t) const {
    for (const InputArc& arc : t.inputs) {
      const Place& place = net_[arc.place];
      const Range need = needs(t, arc);
      if (arc.guard && range(t, *arc.guard).hi == 0) {
        return fmt::format("its guard at '{}' is false for every token in range", arc.name);
      }
      if (arc.inhibit || need.lo <= 0) continue;
      if (!fillable_[index(arc.place)]) {
        const auto& makers = producers_[index(arc.place)];
        if (makers.empty()) {
          return fmt::format("nothing fills '{}'; declare start=True if the workload does",
                             place.name);
        }
        return fmt::format(
            "'{}' is filled only by what can never start, as '{}'; put an initial token "
            "into the loop, unless the workload does",
            place.name, net_.transitions[makers.front()].name);
      }
      if (place.capacity) {
        const Range capacity = bounds(net_, nullptr, place.capacity->id);
        if (need.lo > capacity.hi) {
          return fmt::format("it needs {} tokens of '{}', which holds at most {}", need.lo,
                             place.name, capacity.hi);
        }
      }
    }
    for (const OutputArc& arc : t.outputs) {
      const Place& place = net_[arc.place];
      if (!place.capacity) continue;
      const Range capacity = bounds(net_, nullptr, place.capacity->id);
      std::int64_t given_back = 0;
      for (const InputArc& in : t.inputs) {
        if (in.place == arc.place) given_back = takes(t, in).hi;
      }
      const Range count = emits(t, arc);
      if (count.lo - given_back > capacity.hi) {
        return fmt::format("it puts {} tokens into '{}', which holds at most {}", count.lo,
                           place.name, capacity.hi);
      }
    }
    return "";
  }

  void dead(std::size_t k) {
    if (why_dead_[k].empty()) return;
    warn("W-dead", net_.transitions[k], "can never start: " + why_dead_[k]);
  }

  void divisors(std::size_t k) {
    const Transition& t = net_.transitions[k];
    for_each_formula(t, [&](const Formula& f, const Site& site) {
      std::set<ExprId> positive;
      if (site.kind == SiteKind::kNone || divides_safely(t, f.id, positive)) return;
      warn("W-divisor", t, f.source.line != 0 ? f.source : t.source,
           fmt::format("{} divides by something that may be 0 or less; declare a range from 1 on "
                       "the property, or write max(1, x)",
                       part_name(t, site)));
    });
  }

  std::string part_name(const Transition& t, const Site& site) const {
    const auto into = [&] { return net_[t.outputs[site.arc].place].name; };
    switch (site.kind) {
      case SiteKind::kWeight: return t.inputs[site.arc].name + ".weight";
      case SiteKind::kThreshold: return t.inputs[site.arc].name + ".threshold";
      case SiteKind::kGuard: return t.inputs[site.arc].name + ".guard";
      case SiteKind::kDelay: return "delay";
      case SiteKind::kInterval: return "interval";
      case SiteKind::kCount: return fmt::format("the count put into '{}'", into());
      case SiteKind::kField: {
        const auto& fields = net_.type_of(t.outputs[site.arc].place).fields;
        return fmt::format("'{}' put into '{}'", fields[site.field].name, into());
      }
      case SiteKind::kNone: break;
    }
    return "";
  }

  void values(std::size_t k) {
    const Transition& t = net_.transitions[k];
    for_each_formula(t, [&](const Formula& f, const Site& site) {
      if (site.kind == SiteKind::kNone || site.kind == SiteKind::kGuard) return;
      const Source source = f.source.line != 0 ? f.source : t.source;
      if (site.kind != SiteKind::kField) {
        const auto found = refused_value(net_, t, f, nullptr, {0, kForever});
        if (!found) return;
        warn("W-negative", t, source,
             fmt::format("{} is {} for {}, and must not be negative; write max(0, x), or narrow "
                         "the range of the property",
                         part_name(t, site), found->value, found->token));
        return;
      }
      const Field& field = net_.type_of(t.outputs[site.arc].place).fields[site.field];
      if (!field.range) return;
      const Formula& count = t.outputs[site.arc].emissions[site.emission].count;
      std::optional<Kept> kept;  // a count that goes round a loop
      if (on_loop_[k]) kept = {net_[t.outputs[site.arc].place].type, site.field};
      const auto found = refused_value(net_, t, f, &count, *field.range, kept);
      if (!found) return;
      warn("W-range", t, source,
           fmt::format("{} is {} for {}, and '{}' is declared as {}..{}; declare a wider range, or "
                       "narrow that of the other property",
                       part_name(t, site), found->value, found->token, field.name, field.range->lo,
                       field.range->hi));
    });
  }

  // `positive`: what conditions already passed say to be > 0.
  bool divides_safely(const Transition& t, ExprId id, std::set<ExprId>& positive) const {
    const Node& n = net_.exprs[id];
    const auto kid = [&n](int k) { return n.kids[static_cast<std::size_t>(k)]; };
    if (op_info(n.op).domain == Domain::kDivisor) {
      if (range(t, kid(1)).lo < 1 && positive.count(kid(1)) == 0) return false;
    }
    if (n.op == Op::kSelect || n.op == Op::kAnd || n.op == Op::kOr || n.op == Op::kAssume) {
      if (!divides_safely(t, kid(0), positive)) return false;
      std::set<ExprId> then = positive, otherwise = positive;
      learn(t, kid(0), true, then);
      learn(t, kid(0), false, otherwise);
      if (n.op == Op::kOr) return divides_safely(t, kid(1), otherwise);
      if (!divides_safely(t, kid(1), then)) return false;
      return n.op != Op::kSelect || divides_safely(t, kid(2), otherwise);
    }
    for (int k = 0; k < op_info(n.op).arity; ++k) {
      if (!divides_safely(t, kid(k), positive)) return false;
    }
    return true;
  }

  void learn(const Transition& t, ExprId condition, bool holds, std::set<ExprId>& positive) const {
    const Node& n = net_.exprs[condition];
    const ExprId x = n.kids[0], y = n.kids[1];
    const auto lo = [&](ExprId id) { return range(t, id).lo; };
    if (n.op == Op::kNot) learn(t, x, !holds, positive);
    if (n.op == (holds ? Op::kAnd : Op::kOr)) {
      learn(t, x, holds, positive);
      learn(t, y, holds, positive);
    }
    if (n.op == Op::kLt) {  // x < y, or y <= x
      if (holds && lo(x) >= 0) positive.insert(y);
      if (!holds && lo(y) >= 1) positive.insert(x);
    }
    if (n.op == Op::kLe) {  // x <= y, or y < x
      if (holds && lo(x) >= 1) positive.insert(y);
      if (!holds && lo(y) >= 0) positive.insert(x);
    }
    if (n.op == (holds ? Op::kEq : Op::kNe)) {
      if (lo(x) >= 1) positive.insert(y);
      if (lo(y) >= 1) positive.insert(x);
    }
    if (n.op == (holds ? Op::kNe : Op::kEq)) {
      std::int64_t value = 0;
      if (net_.exprs.is_const(y, value) && value == 0 && lo(x) >= 0) positive.insert(x);
      if (net_.exprs.is_const(x, value) && value == 0 && lo(y) >= 0) positive.insert(y);
    }
  }

  // Lints of places and parameters.

  void unused(std::size_t p) {
    if (!producers_[p].empty() || !readers_[p].empty()) return;
    warn("W-unused", net_.places[p], "no transition takes from it or puts into it; remove it");
  }

  void never_filled(std::size_t p) {
    const Place& place = net_.places[p];
    if (readers_[p].empty() || place.start || !producers_[p].empty() ||
        initial_tokens(net_, place).hi > 0)
      return;
    warn(
        "W-never-filled", place,
        "no transition puts tokens into it and it starts empty; declare start=True if the workload "
        "fills it");
  }

  void never_drained(std::size_t p) {
    const Place& place = net_.places[p];
    if (place.sink || place.done || !consumers_[p].empty() ||
        (producers_[p].empty() && readers_[p].empty())) {
      return;
    }
    warn("W-never-drained", place,
         "no transition takes its tokens; declare sink=True if that is meant, or done=True if they "
         "are the result");
  }

  void half_rate(std::size_t p) {
    const Place& place = net_.places[p];
    if (!place.capacity || bounds(net_, nullptr, place.capacity->id).hi != 1) return;
    for (std::size_t maker : producers_[p]) {
      const Range before = range(net_.transitions[maker], net_.transitions[maker].delay);
      for (std::size_t taker : consumers_[p]) {
        const Range after = range(net_.transitions[taker], net_.transitions[taker].delay);
        if (maker == taker || before.lo != 1 || before.hi != 1 || after.lo < 1) continue;
        warn("W-half-rate", place,
             fmt::format("its one slot is held from the start of '{}' to the commit of '{}', so it "
                         "passes one token per {} cycles; write capacity=2, or use lib.pipeline",
                         net_.transitions[maker].name, net_.transitions[taker].name, 1 + after.lo));
        return;
      }
    }
  }

  // Slots that are too few for a pipeline in front of them.
  void narrow(std::size_t p) {
    const Place& place = net_.places[p];
    if (!place.capacity || producers_[p].size() != 1 || consumers_[p].size() != 1) return;
    const Range slots = bounds(net_, nullptr, place.capacity->id);
    const Transition& maker = net_.transitions[producers_[p].front()];
    const Transition& taker = net_.transitions[consumers_[p].front()];
    if (&maker == &taker || !maker.interval || maker.servers || maker.clock || taker.clock) return;
    const Range before = range(maker, maker.delay), after = range(taker, taker.delay);
    const Range pace = range(maker, *maker.interval);
    if (slots.lo != slots.hi || slots.lo < 2 || before.lo != before.hi || after.lo != after.hi ||
        pace.lo != pace.hi || pace.lo < 1) {
      return;
    }
    Wide busy = pace.lo;  // cycles per token that both need anyway
    if (taker.interval) busy = std::max<Wide>(busy, range(taker, *taker.interval).hi);
    if (taker.servers) {
      const Range servers = bounds(net_, nullptr, taker.servers->id);
      busy = std::max<Wide>(busy, (Wide{after.hi} + servers.lo - 1) / servers.lo);
    }
    const Wide held = Wide{before.lo} + after.lo, wanted = (held + busy - 1) / busy;
    if (slots.lo >= wanted || held > kMaxTokens) return;
    warn("W-half-rate", place,
         fmt::format("its {} slots are held from the start of '{}' to the commit of '{}', so it "
                     "passes {} tokens per {} cycles, and '{}' could start one per {}; write "
                     "capacity={}",
                     slots.lo, maker.name, taker.name, slots.lo, static_cast<std::int64_t>(held),
                     maker.name, static_cast<std::int64_t>(busy),
                     static_cast<std::int64_t>(wanted)));
  }

  // Lints of the whole net.

  void goes_on() {
    for (const Endless& found : endless(net_)) {
      std::string names;
      for (const TransitionId t : found.transitions) {
        names += (names.empty() ? "'" : ", '") + net_[t].name + "'";
      }
      const Transition& first = net_[found.transitions.front()];
      if (found.at_once) {
        warn("W-endless", first,
             fmt::format("with a token in it the loop of {} never leaves an instant, since nothing "
                         "in it has a delay; give one a delay >= 1",
                         names));
      } else if (!net_.done_count) {
        warn("W-endless", first,
             fmt::format("{}goes on for ever by itself, so a run does not end by itself; write "
                         "net.done_count = ..., or let the workload set marking.done_count",
                         found.transitions.size() == 1 ? "" : "the loop of " + names + " "));
      }
    }
  }

  void order() {
    for (const Unordered& found : unordered(net_)) {
      warn(
          "W-order", net_[found.from],
          fmt::format("'{0}' and '{1}' may start at one instant for different tokens, and both put "
                      "into '{2}': there those of '{0}' come first, in the order of declaration "
                      "and not of '{3}'; let both take one common token and give it back, if they "
                      "are one unit",
                      net_[found.first].name, net_[found.second].name, net_[found.into].name,
                      net_[found.from].name));
    }
  }

  void unused_params() {
    if (net_.params.empty()) return;
    std::vector<bool> used(net_.params.size(), false);
    for_each_formula(net_, [&](const Formula& f) {
      for (std::uint32_t k : net_.exprs.reads(f.id).params) used[k] = true;
    });
    for (std::size_t k = 0; k < used.size(); ++k) {
      if (used[k]) continue;
      warn("W-unused", fmt::format("parameter '{}'", net_.params[k].name), net_.params[k].source,
           "nothing of the net reads it; remove it, unless the workload does");
    }
  }

  const Net& net_;
  std::vector<std::vector<std::size_t>> producers_, consumers_;  // transitions, per place
  std::vector<std::vector<std::size_t>> readers_;                // by any input arc
  mutable std::vector<NetBounds> bounds_;                        // per transition
  std::vector<bool> single_, unbounded_, on_loop_;
  std::vector<bool> fillable_;
  std::vector<bool> alive_;
  std::vector<std::string> why_dead_;
  std::vector<Warning> warnings_;
};

}  // namespace

std::vector<Warning> lint(const Net& net) { return Linter(net).run(); }

}  // namespace lpn

#include "plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lpn/expr/partial.h"
#include "lpn/net/bounds.h"
#include "lpn/net/facts.h"
#include "lpn/structure/structure.h"

namespace lpn::sim {
namespace {

using std::size_t;
using std::string;
using std::uint32_t;

class Planner {
 public:
  Planner(const Net& net, const Solver& solver) : net_(net), solver_(solver) {}

  Plan run(Assume assume) {
    assume_ = assume;
    plan_ = {};
    const size_t n = net_.transitions.size();
    plan_.actor_of.assign(n, Plan::kNone);
    plan_.why_not.assign(n, "");
    uses_ = place_uses(net_);
    if (assume_ != Assume::kNothing) {
      plan_.merged = plan_.disputed = std::vector<bool>(net_.places.size());
    }
    for (size_t k = 0; k < n; ++k) reads_clock(k);
    if (group_of_.empty()) find_groups();
    compete();
    for (size_t k = 0; k < n; ++k) {
      if (plan_.why_not[k].empty() && !in_order(k) && !serial(group(k))) {
        why(k,
            "its commits may overtake one another: many at once, and a delay that varies; "
            "ordered=True or servers=1 would keep them in order");
      }
    }
    do {
      changed_ = false;
      merge();
      together();
      between();
    } while (changed_);
    make_actors();
    classify_places();
    for (size_t k = 0; k < n; ++k) {
      plan_.packed |= bounds(net_, &net_.transitions[k], net_.transitions[k].delay.id).lo <= 0;
    }
    std::sort(plan_.single_token.begin(), plan_.single_token.end());
    plan_.single_token.erase(std::unique(plan_.single_token.begin(), plan_.single_token.end()),
                             plan_.single_token.end());
    return std::move(plan_);
  }

 private:
  // The first reason counts: it is the one to mend first.
  void why(size_t k, string reason) {
    if (!plan_.why_not[k].empty()) return;
    plan_.why_not[k] = std::move(reason);
    changed_ = true;
  }
  bool event(uint32_t k) const { return !plan_.why_not[k].empty(); }
  const string& name(size_t p) const { return net_.places[p].name; }
  string names(const std::vector<uint32_t>& transitions, size_t but) const {
    string text;
    size_t shown = 0;
    for (uint32_t k : transitions) {
      if (k == but) continue;
      if (++shown > 3) return text + ", ...";
      text += fmt::format("{}'{}'", text.empty() ? "" : ", ", net_.transitions[k].name);
    }
    return text;
  }

  void reads_clock(size_t k) {
    const Transition& t = net_.transitions[k];
    Reads all;
    for_each_formula(t, [&](const Formula& f, const Site&) {
      const Reads r = net_.exprs.reads(f.id);
      all.occupancy.insert(all.occupancy.end(), r.occupancy.begin(), r.occupancy.end());
      all.free.insert(all.free.end(), r.free.begin(), r.free.end());
    });
    for (const InputArc& arc : t.inputs) {
      if (!arc.inhibit) continue;
      why(k, fmt::format("starts only while place '{}' is empty (inhibit)",
                         name(static_cast<size_t>(arc.place))));
    }
    const auto place_of = [&](uint32_t arc) {
      return name(static_cast<size_t>(t.inputs[arc].place));
    };
    if (!all.occupancy.empty()) {
      why(k, fmt::format("reads how many tokens are in place '{}'", place_of(all.occupancy[0])));
    }
    if (!all.free.empty()) {
      why(k, fmt::format("reads how many tokens of place '{}' are free", place_of(all.free[0])));
    }
  }

  std::vector<uint32_t> consumers(size_t p) const {
    std::vector<uint32_t> all;
    for (const auto* list : {&uses_[p].takers, &uses_[p].readers}) {
      for (TransitionId t : *list) all.push_back(static_cast<uint32_t>(t));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  std::vector<uint32_t> producers(size_t p) const {
    std::vector<uint32_t> all;
    for (TransitionId t : uses_[p].producers) all.push_back(static_cast<uint32_t>(t));
    return all;
  }

  // Groups that take turns at one place; a place all of whose consumers are in a group is theirs.
  void find_groups() {
    std::vector<std::pair<size_t, std::vector<uint32_t>>> routes;
    for (size_t p = 0; p < net_.places.size(); ++p) {
      std::vector<uint32_t> all = consumers(p);
      if (all.size() < 2 || !exclude(p, all)) continue;
      routes.emplace_back(p, std::move(all));
    }
    // The largest first: a smaller one inside it is then just a place of theirs.
    std::stable_sort(routes.begin(), routes.end(), [](const auto& x, const auto& y) {
      return x.second.size() > y.second.size();
    });
    group_of_.assign(net_.transitions.size(), Plan::kNone);
    for (auto& [p, all] : routes) {
      const bool taken = std::any_of(all.begin(), all.end(),
                                     [&](uint32_t k) { return group_of_[k] != Plan::kNone; });
      if (taken) continue;  // the same group, or compete() finds that they are not
      for (uint32_t k : all) group_of_[k] = static_cast<uint32_t>(groups_.size());
      groups_.push_back({std::move(all), static_cast<uint32_t>(p), false});
    }
  }

  bool exclude(size_t p, const std::vector<uint32_t>& all) const {
    const auto pairs = [&](Feasibility* solver) {
      for (size_t i = 0; i < all.size(); ++i) {
        for (size_t j = i + 1; j < all.size(); ++j) {
          if (!exclude_each_other(net_, static_cast<PlaceId>(p), static_cast<TransitionId>(all[i]),
                                  static_cast<TransitionId>(all[j]), solver)) {
            return false;
          }
        }
      }
      return true;
    };
    if (pairs(nullptr)) return true;
    constexpr size_t kMostAsked = 32;  // a query per pair
    const bool guarded = std::all_of(all.begin(), all.end(), [&](uint32_t k) {
      const auto& inputs = net_.transitions[k].inputs;
      return std::any_of(inputs.begin(), inputs.end(),
                         [](const InputArc& in) { return in.guard.has_value(); });
    });
    return solver_ && guarded && all.size() <= kMostAsked && pairs(solver_());
  }

  // A group whose places others take from too does not decide alone.
  void compete() {
    for (size_t p = 0; p < net_.places.size(); ++p) {
      const std::vector<uint32_t> all = consumers(p);
      if (all.size() < 2) continue;
      const bool together =
          group_of_[all[0]] != Plan::kNone && std::all_of(all.begin(), all.end(), [&](uint32_t k) {
            return group_of_[k] == group_of_[all[0]];
          });
      if (together) continue;
      if (plan_.assumes() && std::all_of(all.begin(), all.end(), [&](uint32_t k) {
            return total(k) && (assume_ == Assume::kAnything || waits(k));
          })) {
        plan_.disputed[p] = true;
        continue;
      }
      for (uint32_t k : all) {
        why(k,
            fmt::format("competes with {} for the tokens of place '{}'", names(all, k), shown(p)));
      }
    }
  }

  // Whether looking at the arcs of `k` can be no error, whatever tokens stand there: so that nobody
  // minds whether it looks at those that others take.
  bool total(uint32_t k) const {
    const Transition& t = net_.transitions[k];
    const auto defined = [&](const Formula& f) {
      return bounds(net_, &t, f.id).lo >= 0 && cannot_fail(t, f.id);
    };
    return std::all_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& in) {
      return defined(in.weight) && (!in.threshold || defined(*in.threshold)) &&
             (!in.guard || defined(*in.guard));
    });
  }
  bool cannot_fail(const Transition& t, ExprId id) const {
    const Node& n = net_.exprs[id];
    std::array<Range, 3> ranges;
    for (int c = 0; c < op_info(n.op).arity; ++c) {
      const auto at = static_cast<size_t>(c);
      if (!cannot_fail(t, n.kids[at])) return false;
      ranges[at] = bounds(net_, &t, n.kids[at]);
    }
    if (n.op != Op::kToken) return !partial(net_.exprs, n, ranges).any();
    std::int64_t which = 0;
    return net_.exprs.is_const(n.kids[0], which) && which < arc_facts(net_, t, n.a).least_need();
  }
  // Whether `k` waits for a token that only it takes and that comes during the run.
  bool waits(uint32_t k) const {
    const Transition& t = net_.transitions[k];
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      const auto p = static_cast<size_t>(t.inputs[a].place);
      const Place& place = net_.places[p];
      if (!place.start && place.initial.empty() && !place.credit_of &&
          arc_facts(net_, t, a).need >= 1 && consumers(p).size() == 1) {
        return true;
      }
    }
    return false;
  }

  // Credits carry the name of the place they bound.
  string shown(size_t p) const {
    const auto& of = net_.places[p].credit_of;
    return of ? "free slots of " + name(static_cast<size_t>(*of)) : name(p);
  }

  std::vector<uint32_t> group(size_t k) const {
    if (group_of_[k] != Plan::kNone) return groups_[group_of_[k]].members;
    return {static_cast<uint32_t>(k)};
  }

  bool constant_delay(size_t k) const { return lpn::constant_delay(net_, net_.transitions[k]); }
  bool one_server(size_t k) const { return lpn::one_server(net_, net_.transitions[k]); }
  bool in_order(size_t k) const {
    return one_server(k) || net_.transitions[k].ordered || constant_delay(k);
  }

  // Whether the firings of all of `members` follow one another, each started after the one before
  // has committed: they pass one token of a place that only they touch.
  bool serial(const std::vector<uint32_t>& members) {
    if (members.size() == 1 && one_server(members[0])) return true;
    for (const InputArc& arc : net_.transitions[members[0]].inputs) {
      if (arc.inhibit) continue;
      const auto p = static_cast<size_t>(arc.place);
      if (!holds_one(p) || consumers(p) != members || producers(p) != members) continue;
      const bool passed = std::all_of(members.begin(), members.end(), [&](uint32_t k) {
        return takes_one(k, p) && gives_one(k, p);
      });
      if (!passed) continue;
      plan_.single_token.push_back(static_cast<uint32_t>(p));
      return true;
    }
    return false;
  }
  bool holds_one(size_t p) const {
    const Place& place = net_.places[p];
    if (place.credit_of || place.start || place.initial.size() != 1) return false;
    std::int64_t count = 0;
    return net_.exprs.is_const(place.initial[0].count.id, count) && count == 1;
  }
  bool takes_one(uint32_t k, size_t p) const {
    for (const InputArc& arc : net_.transitions[k].inputs) {
      std::int64_t weight = 0;
      if (static_cast<size_t>(arc.place) == p) {
        return !arc.inhibit && net_.exprs.is_const(arc.weight.id, weight) && weight == 1;
      }
    }
    return false;
  }
  bool gives_one(uint32_t k, size_t p) const {
    std::int64_t total = 0;
    for (const OutputArc& arc : net_.transitions[k].outputs) {
      if (static_cast<size_t>(arc.place) != p) continue;
      for (const Emission& e : arc.emissions) {
        std::int64_t count = 0;
        if (!net_.exprs.is_const(e.count.id, count)) return false;
        total += count;
      }
    }
    return total == 1;
  }

  // Whether the commits of all members together are in order of their starts.
  bool in_order(const std::vector<uint32_t>& members) {
    if (members.size() == 1) return in_order(members[0]) || serial(members);
    const Transition& first = net_.transitions[members[0]];
    const bool same = std::all_of(members.begin(), members.end(), [&](uint32_t k) {
      const Transition& t = net_.transitions[k];
      return constant_delay(k) && !t.clock && !t.ordered && t.delay.id == first.delay.id;
    });
    return same || serial(members);
  }

  // Tokens of several producers come in the order of their commits. Only one actor knows that order
  // by itself; among event-driven transitions it comes by itself.
  void merge() {
    for (size_t p = 0; p < net_.places.size(); ++p) {
      const std::vector<uint32_t> from = producers(p);
      if (from.size() < 2) continue;
      const std::vector<uint32_t> members = group(from[0]);
      const bool one_actor =
          std::includes(members.begin(), members.end(), from.begin(), from.end());
      const auto is_event = [this](uint32_t k) { return event(k); };
      if ((one_actor && in_order(members)) || std::all_of(from.begin(), from.end(), is_event)) {
        continue;
      }
      if (plan_.assumes()) {
        plan_.merged[p] = !consumers(p).empty();
        continue;
      }
      for (uint32_t k : consumers(p)) {
        why(k, fmt::format("takes from place '{}', where {} append: whose token comes first needs "
                           "the clock",
                           shown(p), names(from, Plan::kNone)));
      }
      // A sink's rows are sorted at the end among actors alone.
      if (consumers(p).empty() && std::any_of(from.begin(), from.end(), is_event) &&
          !net_.type_of(static_cast<PlaceId>(p)).fields.empty()) {
        for (uint32_t k : from) {
          why(k, fmt::format("appends to place '{}' beside transitions that need the clock",
                             shown(p)));
        }
      }
    }
  }

  // A group has one way; and whoever takes from a place that an event-driven transition watches
  // has that transition's.
  void together() {
    for (const Actor& g : groups_) {
      const auto first =
          std::find_if(g.members.begin(), g.members.end(), [this](uint32_t k) { return event(k); });
      if (first == g.members.end()) continue;
      const string name = net_.transitions[*first].name;
      for (uint32_t k : g.members) {
        why(k, fmt::format("takes turns at place '{}' with '{}', which needs the clock",
                           shown(*g.route), name));
      }
    }
    for (size_t p = 0; p < net_.places.size(); ++p) {
      for (TransitionId t : uses_[p].watchers) {
        if (!event(static_cast<uint32_t>(t))) continue;
        for (uint32_t k : consumers(p)) {
          why(k, fmt::format("takes from place '{}', which '{}' watches", shown(p), net_[t].name));
        }
      }
    }
  }

  // Only one part is event-driven: what hangs on it and feeds it again belongs to it.
  void between() {
    const std::vector<bool> after = reached(true), before = reached(false);
    for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
      if (after[k] && before[k]) {
        why(k, "lies between transitions that need the clock: fed by them, and feeding them");
      }
    }
  }

  // What event-driven transitions feed (or, backwards, are fed by), directly or through others.
  std::vector<bool> reached(bool forwards) const {
    const size_t n = net_.transitions.size();
    std::vector<std::vector<uint32_t>> next(n);
    for (size_t p = 0; p < net_.places.size(); ++p) {
      std::vector<uint32_t> to = consumers(p);
      for (TransitionId t : uses_[p].watchers) to.push_back(static_cast<uint32_t>(t));
      for (uint32_t x : producers(p)) {
        for (uint32_t y : to) forwards ? next[x].push_back(y) : next[y].push_back(x);
      }
      // Whoever shares a place has one order of starts.
      for (uint32_t x : consumers(p)) {
        for (uint32_t y : consumers(p)) next[x].push_back(y);
      }
    }
    std::vector<bool> seen(n);
    std::vector<uint32_t> todo;
    for (uint32_t k = 0; k < n; ++k) {
      if (event(k)) todo.push_back(k);
    }
    while (!todo.empty()) {
      const uint32_t k = todo.back();
      todo.pop_back();
      for (uint32_t other : next[k]) {
        if (seen[other]) continue;
        seen[other] = true;
        todo.push_back(other);
      }
    }
    return seen;
  }

  void make_actors() {
    std::vector<bool> done(net_.transitions.size());
    const auto parts = components(net_);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      for (TransitionId t : *part) {
        const auto k = static_cast<uint32_t>(t);
        if (done[k] || event(k)) continue;
        Actor actor;
        if (group_of_[k] != Plan::kNone)
          actor = groups_[group_of_[k]];
        else
          actor.members = {k};
        actor.in_order = in_order(actor.members);
        for (uint32_t m : actor.members) {
          done[m] = true;
          plan_.actor_of[m] = static_cast<uint32_t>(plan_.actors.size());
        }
        plan_.actors.push_back(std::move(actor));
      }
    }
  }

  void classify_places() {
    const auto is_event = [this](uint32_t k) { return event(k); };
    const auto any = [&](const std::vector<uint32_t>& all, bool events) {
      return std::any_of(all.begin(), all.end(), [&](uint32_t k) { return is_event(k) == events; });
    };
    for (size_t p = 0; p < net_.places.size(); ++p) {
      const std::vector<uint32_t> from = producers(p);
      std::vector<uint32_t> to = consumers(p);
      for (TransitionId t : uses_[p].watchers) {
        if (event(static_cast<uint32_t>(t))) to.push_back(static_cast<uint32_t>(t));
      }
      Passage passage = Passage::kEvent;
      if (any(to, false))
        passage = from.empty()       ? Passage::kSource
                  : any(from, false) ? Passage::kFifo
                                     : Passage::kOutOf;
      else if (any(from, false))
        passage = to.empty() ? Passage::kSink : Passage::kInto;
      plan_.passage.push_back(passage);
    }
  }

  const Net& net_;
  const Solver& solver_;
  Assume assume_ = Assume::kNothing;
  Plan plan_;
  std::vector<PlaceUse> uses_;
  std::vector<uint32_t> group_of_;
  std::vector<Actor> groups_;
  bool changed_ = false;
};

}  // namespace

bool Plan::whole() const {
  return std::all_of(why_not.begin(), why_not.end(), [](const string& w) { return w.empty(); });
}

bool Plan::mixed() const {
  const auto free = static_cast<size_t>(std::count(why_not.begin(), why_not.end(), ""));
  return !whole() && free * 4 >= why_not.size();
}

Plan make_plan(const Net& net, const Solver& solver, Assume assume) {
  Planner planner(net, solver);
  Plan plan = planner.run(Assume::kNothing);
  const bool enough = plan.whole() || (plan.mixed() && assume != Assume::kAnything);
  if (enough || assume == Assume::kNothing) return plan;
  Plan assumed = planner.run(assume);
  return assumed.whole() ? assumed : plan;
}

}  // namespace lpn::sim

// Tokens that arrive later than 0, and how long requests take from their birth on.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lpn/run/latencies.h"
#include "stepper.h"

namespace lpn::reach {
namespace {

constexpr std::size_t kMostStarts = 1 << 12;  // ways in which tokens come at 0 or later

}  // namespace

// Where tokens say when they were born, on their way to where it is asked.
void Stepper::find_births() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Transition& t : net_.transitions) {
      for (const OutputArc& arc : t.outputs) {
        const auto& born = born_[static_cast<std::size_t>(arc.place)];
        if (!born) continue;
        for (const Emission& emission : arc.emissions) {
          const Node& node = net_.exprs[emission.fields[*born].id];
          const auto from = node.op == Op::kToken ? t.inputs[node.a].place : PlaceId{};
          if (node.op != Op::kToken || birth_field(net_.type_of(from)) != node.b) {
            throw NotCovered(
                fmt::format("transition '{}' computes `born` of what it puts into '{}'; forward "
                            "the request's own",
                            t.name, net_[arc.place].name));
          }
          auto& known = born_[static_cast<std::size_t>(from)];
          changed = changed || !known;
          known = node.b;
        }
      }
    }
  }
}

// A condition of two variables, less one of the other and at most a number.
void Stepper::read_differences(ExprId constraint) {
  constexpr std::int64_t kMost = std::int64_t{1} << 42;
  const Node node = pool_[constraint];
  if (node.op == Op::kAnd) {
    read_differences(node.kids[0]);
    read_differences(node.kids[1]);
    return;
  }
  if (node.op != Op::kLe && node.op != Op::kLt && node.op != Op::kEq) return;
  std::map<std::uint32_t, int> factors;
  std::int64_t rest = node.op == Op::kLt ? 1 : 0;  // factors + rest <= 0
  const auto add = [&](auto&& self, ExprId id, int sign) -> bool {
    const Node each = pool_[id];
    if (each.op == Op::kAdd || each.op == Op::kSub) {
      return self(self, each.kids[0], sign) &&
             self(self, each.kids[1], each.op == Op::kAdd ? sign : -sign);
    }
    if (each.op == Op::kParam) return factors[each.a] += sign, factors.size() <= 2;
    std::int64_t number = 0;
    if (!pool_.is_const(id, number) || number > kMost || number < -kMost) return false;
    rest += sign * number;
    return rest <= kMost && rest >= -kMost;
  };
  if (!add(add, node.kids[0], 1) || !add(add, node.kids[1], -1) || factors.size() != 2) return;
  const auto [a, one] = *factors.begin();
  const auto [b, other] = *factors.rbegin();
  if (one + other != 0 || (one != 1 && one != -1)) return;
  const Difference found = one == 1 ? Difference{a, b, -rest} : Difference{b, a, -rest};
  differences_.push_back(found);
  if (node.op == Op::kEq) differences_.push_back({found.less, found.more, rest});
}

// Instants at which tokens come; false: no input is left.
bool Stepper::schedule(State& state) {
  struct Moment {
    std::optional<std::uint32_t> variable;  // plus a number
    std::int64_t number = 0;
  };
  std::vector<Moment> moments;
  for (State::Arrival& arrival : state.arrivals) {
    Range may{arrival.at.number, arrival.at.number};
    Moment moment{{}, arrival.at.number};
    if (!arrival.at.decided()) {
      const Span span = sets_.span(arrival.at.id(), state.domains);
      may_fail = may_fail || span.may_fail;
      may = span.range;
      const Node node = pool_[arrival.at.id()];
      std::int64_t number = 0;
      if (node.op == Op::kParam) moment = {node.a, 0};
      for (const int k : {0, 1}) {
        if (node.op != Op::kAdd) break;
        const Node kid = pool_[node.kids[static_cast<std::size_t>(k)]];
        const ExprId other = node.kids[static_cast<std::size_t>(1 - k)];
        if (kid.op == Op::kParam && pool_.is_const(other, number)) moment = {kid.a, number};
      }
    }
    arrival.due = add_event(state, may);
    moments.push_back(moment);
  }
  std::map<std::uint32_t, std::vector<std::size_t>> of;  // arrivals, per variable
  for (std::size_t k = 0; k < moments.size(); ++k) {
    if (moments[k].variable) of[*moments[k].variable].push_back(k);
  }
  const auto apart = [&](std::size_t k, std::size_t j, std::int64_t by) {
    tick();
    return state.zone.require(state.arrivals[k].due, state.arrivals[j].due,
                              by + moments[k].number - moments[j].number);
  };
  for (const auto& [variable, all] : of) {
    for (const std::size_t k : all) {
      if (!apart(k, all.front(), 0) || !apart(all.front(), k, 0)) return false;
    }
  }
  for (const Difference& each : differences_) {
    if (!of.contains(each.more) || !of.contains(each.less)) continue;
    // The others of a variable follow.
    if (!apart(of[each.more].front(), of[each.less].front(), each.by)) return false;
  }
  for (std::size_t k = 1; k < state.arrivals.size(); ++k) {
    const State::Arrival &before = state.arrivals[k - 1], &after = state.arrivals[k];
    if (before.place != after.place || state.zone.most(before.due, after.due) <= 0) continue;
    may_fail = true;
    if (!state.zone.require(before.due, after.due, 0)) return false;
  }
  return true;
}

// Tokens that come at 0 are there at first: the arrivals from `from` on may, or do not.
void Stepper::arrive(State state, std::size_t from, std::vector<State>& out) {
  tick();
  if (out.size() >= kMostStarts) throw NotCovered("too many tokens that may come at 0 or later");
  for (; from < state.arrivals.size(); ++from) {
    const State::Arrival arrival = state.arrivals[from];
    const bool first = from == 0 || state.arrivals[from - 1].place != arrival.place;
    if (!first || !state.zone.may(arrival.due, Zone::kNow, 0)) {
      if (!state.zone.require(Zone::kNow, arrival.due, -1)) return;
      continue;
    }
    State later = state;
    if (later.zone.require(Zone::kNow, arrival.due, -1)) arrive(std::move(later), from + 1, out);
    if (!state.zone.require(arrival.due, Zone::kNow, 0)) return;
    state.arrivals.erase(state.arrivals.begin() + static_cast<std::ptrdiff_t>(from));
    come(state, arrival);
    --from;  // and the next one
  }
  arrange(state);
  out.push_back(std::move(state));
}

// A token of the space arrives.
void Stepper::come(State& state, const State::Arrival& arrival) {
  if (born_[arrival.place] && !arrival.at.decided()) {
    state.births.push_back({arrival.at.term, add_event(state, {0, 0})});
  }
  append(state, arrival.place, arrival.row->data(), 1);
}

// How long ago a token was born, at most.
Time Stepper::since(const State& state, const Value& born) {
  const Time now = state.zone.most(Zone::kNow, Zone::kStart);
  if (now >= kNoBound) throw NotCovered("a response at a time that is not known");
  if (born.decided()) return now - born.number;
  for (const State::Birth& birth : state.births) {
    if (birth.term == born.term) return state.zone.most(Zone::kNow, birth.instant);
  }
  return now - std::max<Time>(sets_.span(born.id(), state.domains).range.lo, 0);
}

void Stepper::respond(const State& state, const Value* rows, std::uint64_t count) {
  const auto p = static_cast<std::size_t>(question_.place);
  for (std::uint64_t k = 0; k < count; ++k) {
    const Time most = since(state, rows[k * width_[p] + *born_[p]]);
    record(most, most);
  }
}

Time Stepper::longest_under_way(const State& state) {
  Time most = 0;
  const auto look = [&](std::size_t p, const Value* rows, std::uint64_t count) {
    for (std::uint64_t k = 0; born_[p] && k < count; ++k) {
      most = std::max(most, since(state, rows[k * width_[p] + *born_[p]]));
    }
  };
  for (std::size_t p = 0; p < state.queues.size(); ++p) {
    const Queue& queue = state.queues[p];
    if (p == static_cast<std::size_t>(question_.place) || !queue.rows) continue;
    look(p, queue.rows->data() + queue.head, queue.free);
  }
  for (const State::Flight& flight : state.flights) {
    const Value* rows = flight.firing->values.data();
    const auto& outputs = net_.transitions[flight.transition].outputs;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const auto p = static_cast<std::size_t>(outputs[o].place);
      look(p, rows, flight.firing->produced[o]);
      rows += flight.firing->produced[o] * width_[p];
    }
  }
  return most;
}

}  // namespace lpn::reach

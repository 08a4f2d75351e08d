// Readiness and starts, with the order of evaluation of run/interp/starts.cc.
#include <algorithm>

#include "lpn/expr/eval.h"
#include "lpn/expr/feasibility.h"
#include "stepper.h"

namespace lpn::reach {
namespace {

constexpr std::uint64_t kMostPairs = 256;  // values of several variables that are tried
constexpr std::int64_t kMostEdges = 8;     // of a clock that are told apart
constexpr std::int64_t kMostEmitted = 1 << 16;

}  // namespace

struct Stepper::Env : EvalScope {
  Stepper& stepper;
  const State& state;
  const std::vector<Arc>& arcs;
  std::vector<std::uint64_t> need, take;
  mutable bool undecided = false;

  Env(Stepper& owner, const State& at, std::size_t k)
      : stepper(owner),
        state(at),
        arcs(owner.arcs_[k]),
        need(arcs.size(), 0),
        take(arcs.size(), 0) {}

  const Queue& queue(std::uint32_t arc) const { return state.queues[arcs[arc].place]; }
  const Value& value(std::uint32_t arc, std::uint32_t field, std::int64_t which) const {
    if (which < 0 || static_cast<std::uint64_t>(which) >= need[arc]) {
      throw EvalFault{Fault::kTokenIndex, which};
    }
    const Queue& from = queue(arc);
    const std::size_t width = stepper.width_[arcs[arc].place];
    return (*from.rows)[from.head + static_cast<std::size_t>(which) * width + field];
  }

  std::int64_t param(std::uint32_t k) const { return stepper.setups_[state.setup].params[k]; }
  std::int64_t token(std::uint32_t arc, std::uint32_t field, std::int64_t which) const {
    const Value& found = value(arc, field, which);
    undecided = undecided || !found.decided();
    return found.number;
  }
  std::int64_t occupancy(std::uint32_t arc) const {
    return static_cast<std::int64_t>(queue(arc).free + queue(arc).locked);
  }
  std::int64_t free(std::uint32_t arc) const { return static_cast<std::int64_t>(queue(arc).free); }
  std::int64_t taken(std::uint32_t arc) const { return static_cast<std::int64_t>(take[arc]); }
  std::int64_t needed(std::uint32_t arc) const { return static_cast<std::int64_t>(need[arc]); }
};

// The number of a formula, or the term it is.
Value Stepper::evaluate(State& state, Env& env, const Formula& formula) {
  env.undecided = false;
  try {
    const std::int64_t value = eval(net_.exprs, formula.id, env);
    if (!env.undecided) return {value, Value::kNumber};
  } catch (const EvalFault&) {
    if (!env.undecided) throw;
  }
  Leaves leaves;
  for (const std::int64_t value : setups_[state.setup].params) {
    leaves.params.push_back(pool_.constant(value));
  }
  leaves.token = [&](std::uint32_t arc, std::uint32_t field,
                     std::int64_t which) -> std::optional<ExprId> {
    if (which < 0 || static_cast<std::uint64_t>(which) >= env.need[arc]) return std::nullopt;
    const Value& value = env.value(arc, field, which);
    return value.decided() ? pool_.constant(value.number) : value.id();
  };
  leaves.needed = [&](std::uint32_t arc) -> std::optional<std::int64_t> { return env.needed(arc); };
  leaves.taken = [&](std::uint32_t arc) -> std::optional<ExprId> {
    return pool_.constant(env.taken(arc));
  };
  leaves.occupancy = [&](std::uint32_t arc) -> std::optional<ExprId> {
    return pool_.constant(env.occupancy(arc));
  };
  leaves.free = [&](std::uint32_t arc) -> std::optional<ExprId> {
    return pool_.constant(env.free(arc));
  };
  leaves.index = pool_.constant(env.index);
  const std::optional<ExprId> term = instantiate(net_.exprs, formula.id, pool_, leaves);
  if (!term) throw NotCovered("a formula reads a token at a position that is not known");
  const Value value = sets_.value(*term);
  if (value.decided()) return value;
  for (const auto& [known, holds] : state.assumed) {
    if (known == value.term) return {holds, Value::kNumber};
  }
  if (sets_.variables(*term).empty()) throw EvalFault{Fault::kAssume};  // it has no value
  return value;
}

std::int64_t Stepper::number(State& state, Env& env, const Formula& formula) {
  const Value value = evaluate(state, env, formula);
  if (!value.decided()) throw Undecided{value.id()};
  return value.number;
}

bool Stepper::arcs_hold(State& state, Env& env, std::size_t k) {
  const Transition& t = net_.transitions[k];
  for (std::uint32_t a = 0; a < arcs_[k].size(); ++a) {
    const InputArc& arc = t.inputs[a];
    const Queue& queue = state.queues[arcs_[k][a].place];
    if (arcs_[k][a].inhibit) {
      if (queue.free + queue.locked != 0) return false;
      continue;
    }
    if (arcs_[k][a].reads_head) {
      if (queue.free == 0) return false;
      env.need[a] = 1;
    }
    const std::int64_t weight = number(state, env, arc.weight);
    if (weight < 0) throw EvalFault{Fault::kNegativeWeight, weight};
    std::int64_t threshold = weight;
    if (arc.threshold) {
      threshold = number(state, env, *arc.threshold);
      if (threshold < 0) throw EvalFault{Fault::kNegativeWeight, threshold};
    }
    const auto needed = static_cast<std::uint64_t>(std::max(weight, threshold));
    if (queue.free < needed) return false;
    env.take[a] = static_cast<std::uint64_t>(weight);
    env.need[a] = std::max(needed, env.need[a]);
    if (arc.guard && number(state, env, *arc.guard) == 0) return false;
  }
  return true;
}

// Whether `k` starts; the states after it are appended then, and `state` is spent.
bool Stepper::attempt(State& state, std::size_t k, std::vector<State>& started) {
  const std::uint64_t servers = setups_[state.setup].servers[k];
  if (servers != 0) {
    std::uint64_t busy = 0;
    for (const State::Flight& flight : state.flights) busy += flight.transition == k;
    if (busy >= servers) return false;
  }
  Env env(*this, state, k);
  if (!arcs_hold(state, env, k)) return false;
  for (const State::Timer& gate : state.gates) {
    if (gate.transition == k) return false;
  }
  if (setups_[state.setup].period[k] != 0 && !on_edge(state, k)) return false;
  start(state, k, env, started);
  return true;
}

// Whether the clock of `k` is on an edge; otherwise the next one is waited for.
bool Stepper::on_edge(State& state, std::size_t k) {
  if (std::binary_search(state.on_edge.begin(), state.on_edge.end(), k)) return true;
  for (const State::Timer& wake : state.wakes) {
    if (wake.transition == k) return false;
  }
  const Time period = setups_[state.setup].period[k], phase = setups_[state.setup].phase[k];
  const Range now{state.zone.least(Zone::kNow, Zone::kStart),
                  state.zone.most(Zone::kNow, Zone::kStart)};
  const auto edge_from = [&](Time at) { return at + floor_mod(phase - at, period); };
  const auto wait = [&](Range after) {
    const std::size_t due = add_event(state, after);
    const auto at = std::lower_bound(
        state.wakes.begin(), state.wakes.end(), k,
        [](const State::Timer& timer, std::size_t id) { return timer.transition < id; });
    state.wakes.insert(at, {static_cast<std::uint32_t>(k), due});
    return due;
  };
  const Time first = edge_from(now.lo);
  if (now.lo == now.hi) {
    if (first == now.lo) return true;
    wait({first - now.lo, first - now.lo});
    return false;
  }
  if (first > now.hi) {
    const std::size_t due = wait({1, kLongest});
    state.zone.require(due, Zone::kStart, first);
    state.zone.require(Zone::kStart, due, -first);
    return false;
  }
  TimeSplit parts;
  if (now.hi < kNoBound && (now.hi - first) / period < kMostEdges) {
    Time from = now.lo;
    for (Time edge = first; edge <= now.hi; edge += period) {
      if (from < edge) parts.since_start.push_back({from, edge - 1});
      parts.since_start.push_back({edge, edge});
      from = edge + 1;
    }
    if (from <= now.hi) parts.since_start.push_back({from, now.hi});
  }
  throw parts;  // empty: it may be on an edge or not
}

// What a delay or an interval may be; `read` is the variable that is left undecided in it.
Range Stepper::delay_of(State& state, Env& env, const Formula& formula, bool positive,
                        std::uint32_t& read) {
  const Value value = evaluate(state, env, formula);
  if (value.decided()) return {value.number, value.number};
  const std::vector<std::uint32_t> reads = sets_.variables(value.id());
  const Span span = sets_.span(value.id(), state.domains);
  bool decide = reads.size() == 1 && span.different <= options_.values;
  if (reads.size() > 1) {
    std::uint64_t pairs = 1;
    for (const std::uint32_t v : reads) {
      pairs *= std::min<std::uint64_t>(sets_[state.domains[v]].count, kMostPairs + 1);
      if (pairs > kMostPairs) break;
    }
    decide = pairs <= kMostPairs;
  }
  if (decide || (positive && span.range.lo <= 0)) throw Undecided{value.id()};
  may_fail = may_fail || span.may_fail || span.range.lo < 0;
  if (span.range.hi < 0) throw EvalFault{Fault::kNegativeDelay};
  if (reads.size() == 1 && span.different != 0 && span.different <= 16 * options_.values) {
    read = reads.front();
  }
  return {std::max<std::int64_t>(span.range.lo, 0), span.range.hi};
}

void Stepper::start(State& state, std::size_t k, Env& env, std::vector<State>& started) {
  const Transition& t = net_.transitions[k];
  const Setup& setup = setups_[state.setup];
  const Time scale = setup.period[k] == 0 ? 1 : setup.period[k];
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t read = kNone, ignored = kNone;
  Range delay = delay_of(state, env, t.delay, false, read);
  if (delay.hi < 0) throw EvalFault{Fault::kNegativeDelay, delay.hi};
  Range interval{0, 0};
  if (t.interval) interval = delay_of(state, env, *t.interval, true, ignored);
  if (interval.hi < 0) throw EvalFault{Fault::kNegativeInterval, interval.hi};
  std::uint64_t total = 0;
  for (const std::uint64_t count : env.take) total += count;
  if (total == 0 && setup.servers[k] == 0 && interval.hi == 0) {
    throw EvalFault{Fault::kTakesNothing};
  }
  if (delay.hi > kLongest / scale || interval.hi > kLongest / scale) {
    throw NotCovered("delays of more than 2^40 ticks");
  }
  auto firing = std::make_shared<Firing>();
  firing->taken = env.take;
  emit(state, k, env, *firing);
  // What a delay and something later have in common is kept where it is little.
  if (read != kNone && read_elsewhere(state, env, *firing, read)) {
    throw Undecided{ExprId{evaluate(state, env, t.delay).id()}};
  }
  for (std::size_t a = 0; a < arcs_[k].size(); ++a) {
    if (firing->taken[a] == 0) continue;
    Queue& queue = state.queues[arcs_[k][a].place];
    queue.free -= firing->taken[a];
    queue.locked += firing->taken[a];
    queue.head += firing->taken[a] * width_[arcs_[k][a].place];
    mark(state, arcs_[k][a].place);
  }
  insert(state.dirty, static_cast<std::uint32_t>(k));
  const auto behind = std::upper_bound(
      state.flights.begin(), state.flights.end(), k,
      [](std::size_t id, const State::Flight& flight) { return id < flight.transition; });
  const auto at = behind - state.flights.begin();
  const bool follows = t.ordered && at > 0 && state.flights[at - 1].transition == k;
  const std::size_t before = follows ? state.flights[at - 1].due : 0;
  const auto add = [&](State& into, Range due) {
    const std::size_t event = add_event(into, due);
    into.flights.insert(into.flights.begin() + at, {static_cast<std::uint32_t>(k), event, firing});
    if (interval.hi > 0) {
      const auto place = std::lower_bound(
          into.gates.begin(), into.gates.end(), k,
          [](const State::Timer& timer, std::size_t id) { return timer.transition < id; });
      into.gates.insert(place, {static_cast<std::uint32_t>(k),
                                add_event(into, {interval.lo * scale, interval.hi * scale})});
    }
    return event;
  };
  const Range due{delay.lo * scale, delay.hi * scale};
  if (question_.what == ReachQuestion::What::kBusy &&
      k == static_cast<std::size_t>(question_.transition)) {
    // With several servers firings overlap: their sum is at least the time with one in flight.
    if (!question_.maximum && (setup.servers[k] != 1 || setup.done)) {
      throw NotCovered(
          "the least busy time of a transition with several servers, or of runs that "
          "end with a done token");
    }
    state.counted += static_cast<std::uint64_t>(question_.maximum ? due.hi : due.lo);
  }
  if (!follows) {
    add(state, due);
    started.push_back(std::move(state));
    return;
  }
  // Not before the one started before it, which is due after this one's delay or is not.
  State waits = state;
  if (waits.zone.require(Zone::kNow, before, -due.hi - 1)) {
    const std::size_t event = add(waits, {0, kNoBound});
    if (waits.zone.require(event, before, 0) && waits.zone.require(before, event, 0)) {
      started.push_back(std::move(waits));
    }
  }
  if (state.zone.require(before, Zone::kNow, due.hi)) {
    const std::size_t event = add(state, due);
    if (state.zone.require(before, event, 0)) started.push_back(std::move(state));
  }
}

void Stepper::emit(State& state, std::size_t k, Env& env, Firing& firing) {
  const Transition& t = net_.transitions[k];
  firing.produced.assign(t.outputs.size(), 0);
  for (std::uint32_t o = 0; o < t.outputs.size(); ++o) {
    const OutputArc& arc = t.outputs[o];
    const auto place = static_cast<std::size_t>(arc.place);
    const auto& fields = net_.type_of(arc.place).fields;
    for (std::uint32_t e = 0; e < arc.emissions.size(); ++e) {
      const Emission& emission = arc.emissions[e];
      const std::int64_t count = number(state, env, emission.count);
      if (count < 0) throw EvalFault{Fault::kNegativeCount, count};
      if (count > kMaxTokens) throw EvalFault{Fault::kTooMany, count};
      firing.produced[o] += static_cast<std::uint64_t>(count);
      if (!fields.empty() && count > kMostEmitted) throw NotCovered("too many tokens at once");
      for (env.index = 0; !fields.empty() && env.index < count; ++env.index) {
        for (std::uint32_t f = 0; f < fields.size(); ++f) {
          if (!live_[place][f] && safe_[k][o][e][f]) {
            firing.values.push_back({});
            continue;
          }
          const Value value = evaluate(state, env, emission.fields[f]);
          Span span{{value.number, value.number}, 1, false};
          if (!value.decided()) span = sets_.span(value.id(), state.domains);
          may_fail = may_fail || span.may_fail;
          if (fields[f].range) {
            const Range range = *fields[f].range;
            if (span.range.hi < range.lo || span.range.lo > range.hi) {
              throw EvalFault{Fault::kRange, span.range.lo};
            }
            may_fail = may_fail || span.range.lo < range.lo || span.range.hi > range.hi;
          }
          firing.values.push_back(live_[place][f] ? value : Value{});
        }
      }
      env.index = 0;
    }
  }
}

// Whether anything but the tokens that are about to be taken depends on a variable.
bool Stepper::read_elsewhere(const State& state, const Env& env, const Firing& firing,
                             std::uint32_t variable) {
  const auto reads = [&](const Value& value) {
    if (value.decided()) return false;
    const auto& all = sets_.variables(value.id());
    return std::find(all.begin(), all.end(), variable) != all.end();
  };
  if (std::any_of(firing.values.begin(), firing.values.end(), reads)) return true;
  for (const State::Flight& flight : state.flights) {
    if (std::any_of(flight.firing->values.begin(), flight.firing->values.end(), reads)) return true;
  }
  for (const State::Arrival& arrival : state.arrivals) {
    if (std::any_of(arrival.row->begin(), arrival.row->end(), reads)) return true;
  }
  for (std::size_t p = 0; p < state.queues.size(); ++p) {
    const Queue& queue = state.queues[p];
    if (!queue.rows) continue;
    std::size_t from = queue.head;
    for (std::size_t a = 0; a < env.arcs.size(); ++a) {
      if (env.arcs[a].place == p) from += env.take[a] * width_[p];
    }
    const auto begin = queue.rows->begin() + static_cast<std::ptrdiff_t>(from);
    if (std::any_of(begin, queue.rows->end(), reads)) return true;
  }
  return false;
}

}  // namespace lpn::reach

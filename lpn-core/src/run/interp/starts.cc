// Who may start, and what a start does.
#include <algorithm>
#include <utility>

#include "lpn/base/wide.h"
#include "lpn/expr/eval.h"
#include "lpn/run/running.h"
#include "machine.h"

namespace lpn::interp {

// Evaluates expressions of one transition. `need` and `taken` are known for arcs checked so far.
struct Machine::Env : EvalScope {
  Machine& machine;
  const TransitionState& t;
  std::vector<std::uint64_t>& need;
  std::vector<std::uint64_t>& take;
  Site site;

  Env(Machine& m, const TransitionState& state)
      : machine(m), t(state), need(m.need), take(m.taking) {
    if (need.size() < t.arcs.size()) need.resize(t.arcs.size());
    if (take.size() < t.arcs.size()) take.resize(t.arcs.size());
    machine.memo.forget();
  }
  bool recall(ExprId id, std::int64_t& value) const { return machine.memo.recall(id, value); }
  void keep(ExprId id, std::int64_t value) { machine.memo.keep(id, value); }
  const PlaceState& place(std::uint32_t arc) const { return machine.places[t.arcs[arc].place]; }
  std::int64_t param(std::uint32_t k) const { return machine.params[k]; }
  std::int64_t token(std::uint32_t arc, std::uint32_t field, std::int64_t which) const {
    if (which < 0 || static_cast<std::uint64_t>(which) >= need[arc]) {
      throw EvalFault{Fault::kTokenIndex, which};
    }
    return place(arc).rows.row(static_cast<std::size_t>(which))[field];
  }
  std::int64_t occupancy(std::uint32_t arc) const {
    return static_cast<std::int64_t>(place(arc).occupancy());
  }
  std::int64_t free(std::uint32_t arc) const { return static_cast<std::int64_t>(place(arc).free); }
  std::int64_t taken(std::uint32_t arc) const { return static_cast<std::int64_t>(take[arc]); }
  std::int64_t needed(std::uint32_t arc) const { return static_cast<std::int64_t>(need[arc]); }

  std::int64_t operator()(const Formula& f, SiteKind kind, std::uint32_t arc = 0,
                          std::uint32_t emission = 0, std::uint32_t field = 0) {
    site = {kind, arc, emission, field};
    return eval(machine.net.exprs, f.id, *this);
  }
};

// The arcs, in declared order, up to the first that fails.
Machine::Readiness Machine::check_arcs(Env& env, const Transition& t,
                                       const TransitionState& state) {
  for (std::uint32_t a = 0; a < state.arcs.size(); ++a) {
    const ArcPlan& plan = state.arcs[a];
    const PlaceState& place = places[plan.place];
    const InputArc& arc = t.inputs[a];
    env.take[a] = 0;
    env.need[a] = 0;
    if (plan.inhibit) {
      if (place.occupancy() != 0) return {Wait::kInhibited, a};
      continue;
    }
    const Wait missing = net[arc.place].credit_of ? Wait::kCredit : Wait::kToken;
    if (plan.reads_head) {
      if (place.free == 0) return {missing, a};
      env.need[a] = 1;
    }
    const std::int64_t weight = env(arc.weight, SiteKind::kWeight, a);
    if (weight < 0) throw EvalFault{Fault::kNegativeWeight, weight};
    std::int64_t threshold = weight;
    if (arc.threshold) {
      threshold = env(*arc.threshold, SiteKind::kThreshold, a);
      if (threshold < 0) throw EvalFault{Fault::kNegativeWeight, threshold};
    }
    const auto needed = static_cast<std::uint64_t>(std::max(weight, threshold));
    if (place.free < needed) return {missing, a};
    env.take[a] = static_cast<std::uint64_t>(weight);
    env.need[a] = std::max(needed, env.need[a]);
    if (arc.guard && !env(*arc.guard, SiteKind::kGuard, a)) return {Wait::kGuard, a};
  }
  return {};
}

// The first instant >= now at which the interval and the clock let `state` start; kForever: its
// clock has no edge any more.
Time Machine::earliest_start(const TransitionState& state) const {
  const Time at = std::max({now, state.next_start, guided(state, &Guide::Of::starts)});
  if (state.period == 0) return at;
  const Time past = floor_mod(at - state.phase, state.period);
  if (past == 0) return at;
  Time edge = 0;
  return __builtin_add_overflow(at, state.period - past, &edge) ? kForever : edge;
}

const Guide::Of* Machine::guide_of(const TransitionState& state) const {
  const auto k = static_cast<std::size_t>(&state - transitions.data());
  return k < options.guide.transitions.size() ? &options.guide.transitions[k] : nullptr;
}

// What the guide says about the next firing; 0: nothing.
Time Machine::guided(const TransitionState& state, std::vector<Time> Guide::Of::*times) const {
  const Guide::Of* guide = guide_of(state);
  if (guide == nullptr || state.started >= (guide->*times).size()) return 0;
  return (guide->*times)[state.started];
}

void Machine::probe(TransitionState& state, Env& env) {
  const Guide::Of* guide = guide_of(state);
  if (guide == nullptr) return;
  for (const Guide::Probe& probe : guide->probes) {
    ParamValues& other = options.guide.values[probe.values];
    const auto exchange = [&] {
      std::swap(params, other);
      memo.forget();
    };
    exchange();
    try {
      push_value(state.probed, env({probe.expr, {}}, SiteKind::kDelay));
    } catch (...) {
      exchange();
      throw;
    }
    exchange();
  }
}

// Ready but for the interval and the clock.
bool Machine::otherwise_ready(std::size_t k) {
  const TransitionState& state = transitions[k];
  if (state.servers != 0 && state.in_flight >= state.servers) return false;
  Env env(*this, state);
  return check_arcs(env, net.transitions[k], state).wait == Wait::kNone;
}

// Starts `k` once if it is ready; else remembers when time alone may make it so.
bool Machine::try_start(std::size_t k) {
  const Transition& t = net.transitions[k];
  TransitionState& state = transitions[k];
  if (state.servers != 0 && state.in_flight >= state.servers) return false;
  Env env(*this, state);
  try {
    if (check_arcs(env, t, state).wait != Wait::kNone) return false;
    if (const Time at = earliest_start(state); at > now) {
      if (at > kLastInstant) {
        env.site = {};
        throw EvalFault{Fault::kOverflow};
      }
      if (state.wake != at) {
        state.wake = at;
        events.push({at, static_cast<std::uint32_t>(k), 0, kWake});
      }
      return false;
    }
    start(k, t, state, env);
    return true;
  } catch (const EvalFault& fault) {
    fail(k, fault, env.site);
  }
}

[[noreturn]] void Machine::fail(std::size_t k, const EvalFault& fault, const Site& site) {
  const RunFault run_fault{fault.fault, now,        group, static_cast<TransitionId>(k),
                           site,        fault.value};
  const std::string heads = describe_heads(
      declared, run_fault.transition, [this](PlaceId p) { return tokens(p); },
      [this](PlaceId p) { return places[static_cast<std::size_t>(p)].occupancy(); });
  throw RunError(declared, run_fault, heads);
}

// Everything of the firing is evaluated before anything changes.
void Machine::start(std::size_t k, const Transition& t, TransitionState& state, Env& env) {
  const Time scale = state.period == 0 ? 1 : state.period;
  std::int64_t delay = env(t.delay, SiteKind::kDelay);
  const bool halved = options.halved == static_cast<TransitionId>(k);
  if (halved) delay -= delay / 2;
  if (delay < 0) throw EvalFault{Fault::kNegativeDelay, delay};
  Time due = later(delay, scale);
  std::int64_t interval = 0;
  Time next_start = state.next_start;
  if (t.interval) {
    interval = env(*t.interval, SiteKind::kInterval);
    if (halved) interval -= interval / 2;
    if (interval < 0) throw EvalFault{Fault::kNegativeInterval, interval};
    if (interval > 0) next_start = later(interval, scale);
  }
  std::uint64_t total = 0;
  for (std::size_t a = 0; a < state.arcs.size(); ++a) total += env.take[a];
  if (total == 0 && state.servers == 0 && interval == 0) {
    env.site = {};
    throw EvalFault{Fault::kTakesNothing};
  }
  const std::uint32_t slot = new_slot();
  Firing& firing = firings[slot];
  try {
    emit(t, env, firing);
  } catch (const EvalFault&) {
    free_slots.push_back(slot);
    throw;
  }

  allowance.step(now, result.commits);
  if (options.budget.firings != 0 && ++started_here > options.budget.firings) {
    throw Stopped{Stop::kFirings};
  }
  probe(state, env);
  due = std::max(due, guided(state, &Guide::Of::commits));
  firing.slot = slot;
  firing.late = t.ordered && due < state.last_due;
  firing.not_before = std::exchange(state.next_start, next_start);
  if (firing.late) due = state.last_due;
  state.last_due = due;
  firing.number = state.started++;
  firing.start = now;
  firing.due = due;
  lock(state, env, firing);
  if (state.in_flight++ == 0) state.meter.busy_since = now;
  happened = true;
  if (watcher != nullptr) {
    Started about = started(k, state, firing);
    about.needed = std::span(env.need).first(state.arcs.size());
    about.full = state.servers != 0 && state.in_flight >= state.servers;
    watcher->on_start(about);
  }
  mark_transition(k);
  events.push({due, static_cast<std::uint32_t>(k), firing.number, slot});
}

// now + count * scale, an instant
Time Machine::later(std::int64_t count, Time scale) const {
  Time at = 0;
  if (__builtin_mul_overflow(count, scale, &at) || __builtin_add_overflow(at, now, &at) ||
      at > kLastInstant) {
    throw EvalFault{Fault::kOverflow};
  }
  return at;
}

// What the firing will put into places.
void Machine::emit(const Transition& t, Env& env, Firing& firing) {
  firing.values.clear();
  firing.produced.assign(t.outputs.size(), 0);
  for (std::uint32_t o = 0; o < t.outputs.size(); ++o) {
    const OutputArc& arc = t.outputs[o];
    const auto& fields = net.type_of(arc.place).fields;
    for (std::uint32_t e = 0; e < arc.emissions.size(); ++e) {
      const Emission& emission = arc.emissions[e];
      const std::int64_t count = env(emission.count, SiteKind::kCount, o, e);
      if (count < 0) throw EvalFault{Fault::kNegativeCount, count};
      if (count > kMaxTokens) throw EvalFault{Fault::kTooMany, count};
      firing.produced[o] += static_cast<std::uint64_t>(count);
      for (env.index = 0; !fields.empty() && env.index < count; ++env.index) {
        for (std::uint32_t f = 0; f < fields.size(); ++f) {
          const std::int64_t value = env(emission.fields[f], SiteKind::kField, o, e, f);
          if (fields[f].range && (value < fields[f].range->lo || value > fields[f].range->hi)) {
            throw EvalFault{Fault::kRange, value};
          }
          push_value(firing.values, value);
        }
        allowance.step(now, result.commits);
      }
    }
  }
}

// Takes the firing's tokens off the front; they fill their slots until the commit.
void Machine::lock(const TransitionState& state, const Env& env, Firing& firing) {
  firing.taken.assign(env.take.begin(),
                      env.take.begin() + static_cast<std::ptrdiff_t>(state.arcs.size()));
  if (options.trace) {
    firing.taken_ids.assign(state.declared_inputs, {});
    for (std::size_t a = 0; a < state.declared_inputs; ++a) {
      take_ids(places[state.arcs[a].place], firing.taken[a], firing.taken_ids[a]);
    }
  }
  for (std::size_t a = 0; a < state.arcs.size(); ++a) {
    const std::uint64_t count = firing.taken[a];
    if (count == 0) continue;
    PlaceState& place = places[state.arcs[a].place];
    place.free -= count;
    place.locked += count;
    if (place.width != 0) place.rows.pop(count);
    mark(state.arcs[a].place);
  }
}

void Machine::take_ids(PlaceState& place, std::uint64_t count, std::vector<IdRun>& into) {
  while (count > 0) {
    IdRun& run = place.ids.front();
    const std::uint64_t part = std::min(count, run.count);
    into.push_back({run.first, part});
    count -= part;
    run.count -= part;
    run.first.index += part;
    if (run.count != 0) continue;
    place.ids.pop_front();
    allowance.refund(sizeof(IdRun));
  }
}

static constexpr std::uint64_t kFiringVectors = 64;  // what a firing took and will put, and more
std::uint32_t Machine::new_slot() {
  if (free_slots.empty()) {
    // Twice: a vector grows to twice its size.
    allowance.charge(2 * (sizeof(Firing) + sizeof(Event)) + sizeof(std::uint32_t) + kFiringVectors);
    firings.emplace_back();
    return static_cast<std::uint32_t>(firings.size() - 1);
  }
  const std::uint32_t slot = free_slots.back();
  free_slots.pop_back();
  return slot;
}

// Why `k` does not start, arcs first. An expression that cannot be evaluated counts as a guard.
Blocked Machine::diagnose(std::size_t k) {
  const Transition& t = net.transitions[k];
  const TransitionState& state = transitions[k];
  Env env(*this, state);
  Blocked blocked;
  blocked.transition = static_cast<TransitionId>(k);
  try {
    const Readiness readiness = check_arcs(env, t, state);
    blocked.wait = readiness.wait;
    blocked.arc = readiness.arc;
    if (readiness.wait == Wait::kCredit) {
      blocked.arc = static_cast<std::uint32_t>(*net[t.inputs[readiness.arc].place].credit_of);
    }
  } catch (const EvalFault&) {
    blocked.wait = Wait::kGuard;
    blocked.arc = env.site.arc;
  }
  if (blocked.wait != Wait::kNone) return blocked;
  if (state.servers != 0 && state.in_flight >= state.servers) blocked.wait = Wait::kServer;
  // An interval ends on an edge, since it counts periods from one: this stands until the next
  // instant.
  else if (state.next_start > now)
    blocked.wait = Wait::kInterval;
  else if (earliest_start(state) > now)
    blocked.wait = Wait::kClock;
  return blocked;
}

Blocked Machine::why(TransitionId id) {
  const auto k = static_cast<std::size_t>(id);
  static_cast<void>(transitions.at(k));  // or std::out_of_range
  require_idle();
  return diagnose(k);
}

}  // namespace lpn::interp

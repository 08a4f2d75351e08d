// From instant to instant: external tokens arrive, group 0 commits, then starts and zero-delay
// groups alternate until nothing more can happen (docs/semantics.md, "Behaviour").
#include <algorithm>
#include <utility>

#include "lpn/run/running.h"
#include "machine.h"

namespace lpn::interp {

RunResult Machine::run(Time limit, Observer* observer) {
  if (observer != nullptr && !options.trace) throw without("trace");
  const Running one(running, declared);
  if (failed) std::rethrow_exception(failed);
  if (allowance.stopped != Stop::kNone) return stop_here();
  RunResult answer;
  try {
    if (allowance.within([&] { answer = simulate(limit, observer); })) return answer;
    return stop_here();
  } catch (const RunError&) {
    failed = std::current_exception();
    throw;
  }
}

RunResult Machine::simulate(Time limit, Observer* observer) {
  if (!begun) {
    if (limit < 0) return finish(Ending::kLimit, limit);  // before every instant
    for (std::size_t k = 0; k < transitions.size(); ++k) mark_transition(k);
    for (PlaceState& place : places) place.meter.filled(place.occupancy());
    instant(observer);
  }
  for (;;) {
    if (met || until_holds()) return finish(Ending::kCondition, limit);
    if (done_target && result.done_tokens >= *done_target) over = true;
    if (over) return finish(Ending::kDone, limit);
    const std::optional<Time> next = next_instant();
    if (!next) return finish(Ending::kQuiet, limit);
    if (*next > limit) return finish(only_stale_wakes() ? Ending::kQuiet : Ending::kLimit, limit);
    const Time before = now;
    now = *next;
    if (!instant(observer)) now = before;
  }
}

// The next instant at which something can happen.
std::optional<Time> Machine::next_instant() const {
  std::optional<Time> next;
  if (!events.empty()) next = events.top().due;
  const std::optional<Time> arrival = arrivals.next();
  if (arrival && (!next || *arrival < *next)) next = arrival;
  return next;
}

// False when there was nothing at this instant: only wake-ups of transitions that meanwhile
// lost what they had waited with.
bool Machine::instant(Observer* observer) {
  allowance.step(now, result.commits);
  group = 0;
  started_here = 0;
  happened = !begun;
  begun = true;
  arrivals.take(now, [this](std::size_t place, std::span<const std::int64_t> values) {
    arrive(place, values);
  });
  commit_group(observer);
  if (!happened) {
    std::erase_if(wakes, [this](std::uint32_t k) { return !otherwise_ready(k); });
    if (wakes.empty()) return false;
  }
  for (std::uint32_t k : wakes) mark_transition(k);
  start_all();
  while (firing_due_now()) {
    if (++group > options.group_limit) {
      fail(events.top().transition,
           {Fault::kZeroDelay, static_cast<std::int64_t>(options.group_limit)}, {});
    }
    if (options.budget.groups != 0 && group > options.budget.groups) {
      throw Stopped{Stop::kGroups};
    }
    commit_group(observer);
    start_all();
  }
  if (options.stats) observe_waits();
  return true;
}

void Machine::arrive(std::size_t place, std::span<const std::int64_t> values) {
  PlaceState& state = places[place];
  account(state);
  append_external(place, state.width == 0 ? nullptr : values.data(), 1);
  if (state.collects) state.times.push_back(now);
  state.meter.filled(state.occupancy());
  mark(place);
  happened = true;
  if (watcher != nullptr) {
    watcher->on_arrival(now, static_cast<PlaceId>(place), values);
  }
}

// Commits all firings due now, as one group.
void Machine::commit_group(Observer* observer) {
  std::vector<Event>& group_events = scratch;
  group_events.clear();
  wakes.clear();
  while (!events.empty() && events.top().due == now) {
    group_events.push_back(events.top());
    events.pop();
  }
  for (const Event& event : group_events) {
    if (event.slot != kWake) {
      commit(event, observer);
      continue;
    }
    TransitionState& state = transitions[event.transition];
    if (state.wake == now) state.wake = -1;
    wakes.push_back(event.transition);
  }
}

void Machine::commit(const Event& event, Observer* observer) {
  const std::size_t k = event.transition;
  const Transition& t = net.transitions[k];
  TransitionState& state = transitions[k];
  Firing& firing = firings[event.slot];
  for (std::size_t a = 0; a < state.arcs.size(); ++a) {
    if (firing.taken[a] == 0) continue;
    PlaceState& place = places[state.arcs[a].place];
    account(place);
    place.locked -= firing.taken[a];
    mark(state.arcs[a].place);
  }
  const std::int64_t* value = firing.values.data();
  for (std::uint32_t o = 0; o < t.outputs.size(); ++o) {
    const std::uint64_t count = firing.produced[o];
    if (count == 0) continue;
    const auto p = static_cast<std::size_t>(t.outputs[o].place);
    PlaceState& place = places[p];
    account(place);
    if (options.trace && o < state.declared_outputs) {
      TokenId id;
      id.source = static_cast<std::uint32_t>(k);
      id.arc = o;
      id.firing = firing.number;
      push_ids(place, id, count);
    }
    for (std::uint64_t i = 0; place.width != 0 && i < count; ++i) {
      std::copy_n(value, place.width, push_row(place));
      value += place.width;
    }
    place.free += count;
    if (place.collects) place.times.insert(place.times.end(), count, now);
    place.meter.filled(place.occupancy());
    if (place.done) {
      result.done_tokens += count;
      result.latency = now;
    }
    mark(p);
  }
  if (--state.in_flight == 0) state.meter.busy += now - state.meter.busy_since;
  happened = true;
  ++state.meter.commits;
  ++result.commits;
  result.last_commit = now;
  mark_transition(k);
  if (observer != nullptr) report(event, state, firing, *observer);
  if (watcher != nullptr) watcher->on_commit(started(k, state, firing));
  free_slots.push_back(event.slot);
}

Started Machine::started(std::size_t k, const TransitionState& state, const Firing& firing) const {
  Started about;
  about.transition = static_cast<TransitionId>(k);
  about.firing = firing.number;
  about.start = firing.start;
  about.due = firing.due;
  about.taken = std::span(firing.taken).first(state.declared_inputs);
  about.produced = std::span(firing.produced).first(state.declared_outputs);
  about.all_taken = firing.taken;
  about.all_produced = firing.produced;
  about.group = group;
  about.slot = firing.slot;
  about.not_before = firing.not_before;
  about.late = firing.late;
  about.values = firing.values;
  return about;
}

void Machine::report(const Event& event, const TransitionState& state, const Firing& firing,
                     Observer& observer) const {
  Commit c;
  c.time = now;
  c.group = group;
  c.transition = static_cast<TransitionId>(event.transition);
  c.firing = firing.number;
  c.start = firing.start;
  c.taken.resize(state.declared_inputs);
  for (std::size_t a = 0; a < state.declared_inputs; ++a) {
    for (IdRun run : firing.taken_ids[a]) {
      for (; run.count > 0; --run.count, ++run.first.index) c.taken[a].push_back(run.first);
    }
  }
  c.produced.assign(firing.produced.begin(),
                    firing.produced.begin() + static_cast<std::ptrdiff_t>(state.declared_outputs));
  observer.on_commit(c);
}

void Machine::start_all() {
  if (options.full_scan) {
    for (std::size_t k = 0; k < transitions.size();) k = try_start(k) ? 0 : k + 1;
    return;
  }
  while (const auto k = dirty.least()) {
    if (!try_start(*k)) dirty.erase(*k);
  }
}

// After an instant.
bool Machine::until_holds() {
  if (!options.until) return false;
  const auto place = [this](PlaceId p) -> const PlaceState& {
    return places[static_cast<std::size_t>(p)];
  };
  met = holds(
      declared, params, *options.until, [&](PlaceId p) { return place(p).occupancy(); },
      [&](PlaceId p) { return place(p).free; });
  return met;
}

// Nothing is to come but wake-ups of transitions that no longer have what they waited with.
bool Machine::only_stale_wakes() {
  if (arrivals.next()) return false;
  for (std::size_t k = 0; k < transitions.size(); ++k) {
    if (transitions[k].in_flight != 0) return false;
    if (transitions[k].wake > now && otherwise_ready(k)) return false;
  }
  return true;
}

std::optional<Time> Machine::next() const {
  if (over) return std::nullopt;
  return begun ? next_instant() : std::optional<Time>(0);
}

}  // namespace lpn::interp

// What a run says at its end, and statistics.
#include <algorithm>
#include <new>

#include "lpn/run/running.h"
#include "machine.h"

namespace lpn::interp {

// The answer of a run that was stopped, as far as it came.
RunResult Machine::stop_here() {
  // Who sets no limit expects no such answer.
  if (allowance.stopped == Stop::kMemory && options.budget.memory == 0) throw std::bad_alloc();
  RunResult r = result;
  r.ending = Ending::kStopped;
  r.stop = allowance.stopped;
  end = now;
  if (!has_done()) r.latency = r.last_commit;
  return r;
}

bool Machine::has_done() const {
  return std::any_of(declared.places.begin(), declared.places.end(),
                     [](const Place& p) { return p.done; });
}

RunResult Machine::finish(Ending ending, Time limit) {
  RunResult r = result;
  r.ending = ending;
  end = ending == Ending::kLimit       ? std::max(limit, now)
        : ending == Ending::kCondition ? now
                                       : r.last_commit;
  if (!has_done()) r.latency = r.last_commit;
  if (ending == Ending::kQuiet) explain_stall(r);
  return r;
}

void Machine::explain_stall(RunResult& r) {
  list_undrained(r);
  r.stalled = !r.undrained.empty() || (done_target && r.done_tokens < *done_target);
  if (r.stalled) list_blocked(r);
}

void Machine::list_undrained(RunResult& r) const {
  for (std::size_t k = 0; k < declared.places.size(); ++k) {
    if (must_drain(declared.places[k]) && places[k].occupancy() > 0) {
      r.undrained.push_back(static_cast<PlaceId>(k));
    }
  }
}

void Machine::list_blocked(RunResult& r) {
  for (std::size_t k = 0; k < transitions.size(); ++k) {
    const TransitionState& state = transitions[k];
    bool has_token = false;
    for (std::size_t a = 0; a < state.declared_inputs; ++a) {
      has_token = has_token || places[state.arcs[a].place].occupancy() > 0;
    }
    if (!has_token) continue;
    // Of a quiet net no arcs all hold: time alone would make it go on.
    r.blocked.push_back(diagnose(k));
  }
}

void Machine::observe_waits() {
  while (const auto k = touched.least()) {
    touched.erase(*k);
    TransitionState& state = transitions[*k];
    const Blocked why = diagnose(*k);
    if (watcher != nullptr) watcher->on_wait(now, why);
    state.meter.observe(why.wait, now, result.last_commit);
  }
}

Stats Machine::stats() const {
  if (!options.stats) throw without("stats");
  require_idle();
  Stats s;
  s.end = end;
  for (const TransitionState& state : transitions) {
    s.transitions.push_back(state.meter.until(end, state.in_flight != 0));
  }
  for (std::size_t k = 0; k < declared.places.size(); ++k) {
    s.places.push_back(places[k].meter.until(end, places[k].occupancy()));
  }
  return s;
}

std::vector<std::int64_t> Machine::tokens(PlaceId id) const {
  const PlaceState& place = this->place(id);
  std::vector<std::int64_t> values;
  for (std::size_t k = 0; place.width != 0 && k < place.free; ++k) {
    values.insert(values.end(), place.rows.row(k), place.rows.row(k) + place.width);
  }
  return values;
}

}  // namespace lpn::interp

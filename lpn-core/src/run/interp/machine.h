// The state of a run of the interpreter, and what changes it.
//
// A place is a FIFO of free tokens plus a count of locked ones: what a firing needs of its tokens
// is evaluated at its start, so a locked token is only a filled slot until the commit. After a
// step only transitions beside a changed place are looked at again; options.full_scan looks at all.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "allowance.h"
#include "arrivals.h"
#include "lpn/base/error.h"
#include "lpn/net/marking.h"
#include "lpn/run/interp_options.h"
#include "memo.h"
#include "state.h"

namespace lpn::interp {

struct Machine {
  // As Interp's functions of these names (lpn/run/interp.h).
  Machine(const Net& given, const ParamValues& values, const Marking& marking, InterpOptions opts);
  void push(PlaceId id, std::span<const std::int64_t> values, Time time);
  void feed(PlaceId id, std::span<const std::int64_t> values, std::span<const Time> times);
  void collect(PlaceId id);
  Collected take(PlaceId id);
  RunResult run(Time limit, Observer* observer);
  std::optional<Time> next() const;
  Blocked why(TransitionId id);
  std::vector<std::int64_t> tokens(PlaceId id) const;
  Stats stats() const;

  // ---- setup.cc: the state before the first instant, and what is added from outside

  void plan();
  void fill(const Marking& marking);
  void add_feed(std::size_t place, std::span<const std::int64_t> values,
                std::span<const Time> times);
  void append_external(std::size_t place, const std::int64_t* row, std::uint64_t count);
  // Throws std::out_of_range for a number that no place has.
  const PlaceState& place(PlaceId id) const { return places.at(static_cast<std::size_t>(id)); }
  // Of a call that changes it; Error "E-call" while a run is under way: its observer, or another
  // thread, makes the call.
  PlaceState& idle_place(PlaceId id);
  void require_idle() const;
  Error without(const char* option) const;

  // ---- starts.cc: who may start, and what a start does

  struct Env;
  struct Readiness {
    Wait wait = Wait::kNone;
    std::uint32_t arc = 0;
  };
  Readiness check_arcs(Env& env, const Transition& t, const TransitionState& state);
  Time earliest_start(const TransitionState& state) const;
  const Guide::Of* guide_of(const TransitionState& state) const;
  Time guided(const TransitionState& state, std::vector<Time> Guide::Of::*times) const;
  void probe(TransitionState& state, Env& env);
  bool otherwise_ready(std::size_t k);
  bool try_start(std::size_t k);
  [[noreturn]] void fail(std::size_t k, const EvalFault& fault, const Site& site);
  void start(std::size_t k, const Transition& t, TransitionState& state, Env& env);
  Time later(std::int64_t count, Time scale) const;
  void emit(const Transition& t, Env& env, Firing& firing);
  void lock(const TransitionState& state, const Env& env, Firing& firing);
  void take_ids(PlaceState& place, std::uint64_t count, std::vector<IdRun>& into);
  std::uint32_t new_slot();
  Blocked diagnose(std::size_t k);

  // ---- instants.cc: from instant to instant, group by group

  RunResult simulate(Time limit, Observer* observer);
  bool instant(Observer* observer);
  void arrive(std::size_t place, std::span<const std::int64_t> values);
  void commit_group(Observer* observer);
  void commit(const Event& event, Observer* observer);
  Started started(std::size_t k, const TransitionState& state, const Firing& firing) const;
  void report(const Event& event, const TransitionState& state, const Firing& firing,
              Observer& observer) const;
  void start_all();
  bool until_holds();
  bool only_stale_wakes();
  std::optional<Time> next_instant() const;
  bool firing_due_now() const { return !events.empty() && events.top().due == now; }

  // ---- answer.cc: what a run says at its end, and statistics

  RunResult stop_here();
  bool has_done() const;
  RunResult finish(Ending ending, Time limit);
  void explain_stall(RunResult& r);
  void list_undrained(RunResult& r) const;
  void list_blocked(RunResult& r);
  void observe_waits();

  // ---- by all of them

  std::int64_t value_of(const Formula& f, std::int64_t index = 0) const;
  std::int64_t* push_row(PlaceState& place) {
    allowance.step(now, result.commits);
    if (const std::size_t bytes = place.rows.growth(); bytes != 0) {
      allowance.charge(bytes);
      std::int64_t* const row = place.rows.push();
      if (bytes > 8 * place.width * sizeof(std::int64_t)) allowance.refund(bytes / 2);
      return row;
    }
    return place.rows.push();
  }
  void push_value(std::vector<std::int64_t>& values, std::int64_t value) {
    if (values.size() == values.capacity()) {
      const std::size_t more = std::max<std::size_t>(values.size(), 4);
      allowance.charge(more * sizeof(std::int64_t));
      values.reserve(values.size() + more);
    }
    values.push_back(value);
  }
  void push_ids(PlaceState& place, const TokenId& first, std::uint64_t count) {
    allowance.charge(sizeof(IdRun));
    place.ids.push_back({first, count});
  }
  void mark(std::size_t place) {
    for (std::uint32_t k : neighbours[place]) mark_transition(k);
  }
  void mark_transition(std::size_t k) {
    dirty.insert(k);
    touched.insert(k);
  }
  void account(PlaceState& place) {
    if (options.stats) place.meter.before(place.occupancy(), now, result.last_commit);
  }

  Net declared;
  Net net;  // lowered: capacities are credit places
  ParamValues params;
  InterpOptions options;
  std::vector<PlaceState> places;
  std::vector<TransitionState> transitions;
  std::vector<std::vector<std::uint32_t>> neighbours;  // per place: transitions with an input arc
  std::optional<std::uint64_t> done_target;

  Time now = 0;
  Time end = 0;  // of the run so far, for statistics
  std::uint64_t group = 0;
  bool begun = false;
  bool happened = false;  // in this instant: a commit, a start or an arrival
  bool over = false;      // kDone was reached
  bool met = false;       // `until` holds
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::vector<Firing> firings;  // slots
  std::vector<std::uint32_t> free_slots;
  Arrivals arrivals;
  DirtySet dirty;
  DirtySet touched;  // for statistics: may have changed its reason to wait in this instant
  RunResult result;
  std::exception_ptr failed;
  std::atomic<bool> running = false;
  Watcher* watcher = nullptr;
  Allowance allowance;
  std::uint64_t started_here = 0;           // in this instant
  std::vector<std::uint32_t> wakes;         // of the last group: who by time alone may be ready
  std::vector<std::uint64_t> need, taking;  // scratch of Env
  Memo memo;                                // of the start that is looked at
  std::vector<Event> scratch;               // of commit_group()
};

}  // namespace lpn::interp

// The definition, executable. An instant is: external tokens arrive, group 0 commits, then starts
// and zero-delay groups alternate until nothing more can happen (docs/semantics.md, "Behaviour").
//
// A place is a FIFO of free tokens plus a count of locked ones: what a firing needs of its tokens
// is evaluated at its start, so a locked token is only a filled slot until the commit. After a
// step only transitions beside a changed place are looked at again; options.full_scan looks at all.

#include "lpn/run/interp.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "allowance.h"
#include "containers.h"
#include "lpn/base/wide.h"
#include "lpn/expr/eval.h"
#include "lpn/net/facts.h"
#include "lpn/net/initial.h"
#include "lpn/net/lower.h"
#include "lpn/net/verify.h"
#include "lpn/run/running.h"
#include "meters.h"

namespace lpn {
namespace {

// `count` tokens with ids first, first+1, ... (by index).
struct IdRun {
  TokenId first;
  std::uint64_t count = 0;
};

struct PlaceState {
  std::size_t width = 0;
  std::uint64_t free = 0;
  std::uint64_t locked = 0;
  Rows rows;                   // values of the free tokens; unused when width is 0
  std::deque<IdRun> ids;       // of the free tokens, when tracing
  std::uint64_t external = 0;  // initial and pushed tokens so far
  bool collects = false;
  std::vector<Time> times;  // when its free tokens arrived, where it collects
  bool done = false;
  PlaceMeter meter;

  std::uint64_t occupancy() const { return free + locked; }
};

struct Firing {
  std::uint64_t number = 0;
  Time start = 0;
  Time due = 0;
  std::vector<std::uint64_t> taken;     // per lowered input arc
  std::vector<std::uint64_t> produced;  // per lowered output arc
  std::uint32_t slot = 0;
  Time not_before = 0;
  bool late = false;
  std::vector<std::int64_t> values;           // rows of all emitted tokens, in arc order
  std::vector<std::vector<IdRun>> taken_ids;  // per declared input arc, when tracing
};

struct ArcPlan {
  std::size_t place = 0;
  bool inhibit = false;
  bool reads_head = false;  // weight or threshold reads the head, so it is needed
};

struct TransitionState {
  std::vector<ArcPlan> arcs;
  std::size_t declared_inputs = 0;
  std::size_t declared_outputs = 0;
  std::uint64_t servers = 0;  // 0: unbounded
  Time period = 0;            // 0: no clock
  Time phase = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t started = 0;
  Time next_start = 0;  // by the interval
  Time last_due = 0;    // of the firing started last
  Time wake = -1;       // scheduled wake-up, -1: none
  TransitionMeter meter;
  std::vector<std::int64_t> probed;
};

struct Event {
  Time due;
  std::uint32_t transition;
  std::uint64_t number;
  std::uint32_t slot;  // kWake: no firing, a transition to look at again
  bool operator>(const Event& o) const {
    return std::tie(due, transition, number) > std::tie(o.due, o.transition, o.number);
  }
};
constexpr std::uint32_t kWake = ~std::uint32_t{0};

}  // namespace

struct Interp::Impl {
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
  struct Push {
    std::size_t place;
    std::vector<std::int64_t> values;
  };
  std::map<Time, std::vector<Push>> pushes;
  struct Feed {  // of one place
    std::vector<Time> times;
    std::vector<std::int64_t> values;
    std::size_t at = 0;  // the next one
    bool more() const { return at < times.size(); }
  };
  std::map<std::size_t, Feed> feeds;
  DirtySet dirty;
  DirtySet touched;  // for statistics: may have changed its reason to wait in this instant
  RunResult result;
  std::exception_ptr failed;
  std::atomic<bool> running = false;
  Watcher* watcher = nullptr;
  Allowance allowance;
  std::uint64_t started_here = 0;  // in this instant

  Impl(const Net& given, const ParamValues& values, const Marking& marking, InterpOptions opts)
      : declared(given),
        net(lower(given)),
        params(values),
        options(opts),
        places(net.places.size()),
        transitions(net.transitions.size()),
        neighbours(net.places.size()),
        dirty(net.transitions.size()),
        touched(net.transitions.size()),
        allowance(options.budget, options.poll) {
    LPN_ASSERT(params.size() == net.params.size());
    require_fits(given, marking);
    if (options.until) require_condition(declared, *options.until);
    allowance.within([&] {
      if (const Budget& most = options.budget; most.tokens != 0 || most.memory != 0) {
        const InitialSize size = initial_size(given, params, marking);
        if (most.tokens != 0 && size.tokens > most.tokens) throw Stopped{Stop::kTokens};
        if (most.memory != 0 && size.bytes > most.memory) throw Stopped{Stop::kMemory};
      }
      check_initial(given, params, marking, [this] { allowance.rest(0, 0); });
      plan();
      fill(marking);
    });
    if (marking.done_count)
      done_target = *marking.done_count;
    else if (net.done_count) {
      done_target = static_cast<std::uint64_t>(value_of(*net.done_count));
    }
  }

  // ---- what it may use --------------------------------------------------------------------

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

  // The answer of a run that was stopped, as far as it came.
  RunResult stop_here() {
    // Who sets no limit expects no such answer.
    if (allowance.stopped == Stop::kMemory && options.budget.memory == 0) throw std::bad_alloc();
    RunResult r = result;
    r.ending = Ending::kStopped;
    r.stop = allowance.stopped;
    end = now;
    if (!has_done()) r.latency = r.last_commit;
    return r;
  }
  bool has_done() const {
    return std::any_of(declared.places.begin(), declared.places.end(),
                       [](const Place& p) { return p.done; });
  }

  // ---- setting up -------------------------------------------------------------------------

  std::int64_t value_of(const Formula& f, std::int64_t index = 0) const {
    return eval_params(net.exprs, f.id, params, index);
  }

  void plan() {
    for (std::size_t k = 0; k < net.transitions.size(); ++k) {
      const Transition& t = net.transitions[k];
      TransitionState& state = transitions[k];
      state.declared_inputs = declared.transitions[k].inputs.size();
      state.declared_outputs = declared.transitions[k].outputs.size();
      if (t.servers) state.servers = static_cast<std::uint64_t>(value_of(*t.servers));
      if (t.clock) {
        state.period = value_of(t.clock->period);
        state.phase = value_of(t.clock->phase);
      }
      for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
        const InputArc& arc = t.inputs[a];
        ArcPlan plan;
        plan.place = static_cast<std::size_t>(arc.place);
        plan.inhibit = arc.inhibit;
        plan.reads_head = arc_facts(net, t, a).reads_head;
        state.arcs.push_back(plan);
        neighbours[plan.place].push_back(static_cast<std::uint32_t>(k));
      }
    }
  }

  void fill(const Marking& marking) {
    for (std::size_t k = 0; k < net.places.size(); ++k) {
      const Place& place = net.places[k];
      PlaceState& state = places[k];
      state.width = net[place.type].fields.size();
      state.rows.set_width(state.width);
      state.done = place.done;
      std::vector<std::int64_t> row(state.width);
      for (const Initial& initial : place.initial) {
        const std::int64_t count = value_of(initial.count);
        if (state.width == 0) {
          append_external(k, nullptr, static_cast<std::uint64_t>(count));
          continue;
        }
        for (std::int64_t i = 0; i < count; ++i) {
          for (std::size_t f = 0; f < state.width; ++f) row[f] = value_of(initial.fields[f], i);
          append_external(k, row.data(), 1);
        }
      }
      if (k < marking.places()) {
        const Marking::Tokens& tokens = marking[static_cast<PlaceId>(k)];
        const std::uint64_t present = tokens.present();
        if (state.width == 0) append_external(k, nullptr, present);
        for (std::uint64_t i = 0; state.width != 0 && i < present; ++i) {
          append_external(k, &tokens.values[i * state.width], 1);
        }
        if (present < tokens.count) {
          const std::span<const std::int64_t> values(tokens.values);
          add_feed(k, values.subspan(present * state.width),
                   std::span<const Time>(tokens.times).subspan(present));
        }
      }
    }
    for (std::size_t k = 0; k < net.places.size(); ++k) {
      if (!net.places[k].credit_of) continue;
      const PlaceId full = *net.places[k].credit_of;
      places[k].free = static_cast<std::uint64_t>(value_of(*net[full].capacity)) -
                       places[static_cast<std::size_t>(full)].free;
    }
  }

  void add_feed(std::size_t place, std::span<const std::int64_t> values,
                std::span<const Time> times) {
    Feed& feed = feeds[place];
    allowance.charge((values.size() + times.size()) * sizeof(std::int64_t));
    if (!feed.more()) feed = {};
    feed.times.insert(feed.times.end(), times.begin(), times.end());
    feed.values.insert(feed.values.end(), values.begin(), values.end());
  }

  void append_external(std::size_t place, const std::int64_t* row, std::uint64_t count) {
    if (count == 0) return;
    PlaceState& state = places[place];
    if (options.trace) {
      TokenId id;
      id.source = static_cast<std::uint32_t>(place);
      id.initial = true;
      id.index = state.external;
      push_ids(state, id, count);
    }
    state.external += count;
    if (row != nullptr) std::copy_n(row, state.width, push_row(state));
    state.free += count;
  }

  // ---- readiness --------------------------------------------------------------------------

  // Evaluates expressions of one transition. `need` and `taken` are known for arcs checked so far.
  struct Env : EvalScope {
    Impl& impl;
    const TransitionState& t;
    std::vector<std::uint64_t>& need;
    std::vector<std::uint64_t>& take;
    Site site;

    Env(Impl& i, const TransitionState& state) : impl(i), t(state), need(i.need), take(i.take) {
      if (need.size() < t.arcs.size()) need.resize(t.arcs.size());
      if (take.size() < t.arcs.size()) take.resize(t.arcs.size());
    }
    const PlaceState& place(std::uint32_t arc) const { return impl.places[t.arcs[arc].place]; }
    std::int64_t param(std::uint32_t k) const { return impl.params[k]; }
    std::int64_t token(std::uint32_t arc, std::uint32_t field, std::int64_t which) const {
      if (which < 0 || static_cast<std::uint64_t>(which) >= need[arc]) {
        throw EvalFault{Fault::kTokenIndex, which};
      }
      return place(arc).rows.row(static_cast<std::size_t>(which))[field];
    }
    std::int64_t occupancy(std::uint32_t arc) const {
      return static_cast<std::int64_t>(place(arc).occupancy());
    }
    std::int64_t free(std::uint32_t arc) const {
      return static_cast<std::int64_t>(place(arc).free);
    }
    std::int64_t taken(std::uint32_t arc) const { return static_cast<std::int64_t>(take[arc]); }
    std::int64_t needed(std::uint32_t arc) const { return static_cast<std::int64_t>(need[arc]); }

    std::int64_t operator()(const Formula& f, SiteKind kind, std::uint32_t arc = 0,
                            std::uint32_t emission = 0, std::uint32_t field = 0) {
      site = {kind, arc, emission, field};
      return eval(impl.net.exprs, f.id, *this);
    }
  };
  std::vector<std::uint64_t> need, take;  // scratch of Env

  struct Readiness {
    Wait wait = Wait::kNone;
    std::uint32_t arc = 0;
  };

  // The arcs, in declared order, up to the first that fails.
  Readiness check_arcs(Env& env, const Transition& t, const TransitionState& state) {
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
  Time earliest_start(const TransitionState& state) const {
    const Time at = std::max({now, state.next_start, guided(state, &Guide::Of::starts)});
    if (state.period == 0) return at;
    const Time past = floor_mod(at - state.phase, state.period);
    if (past == 0) return at;
    Time edge = 0;
    return __builtin_add_overflow(at, state.period - past, &edge) ? kForever : edge;
  }

  const Guide::Of* guide_of(const TransitionState& state) const {
    const auto k = static_cast<std::size_t>(&state - transitions.data());
    return k < options.guide.transitions.size() ? &options.guide.transitions[k] : nullptr;
  }
  // What the guide says about the next firing; 0: nothing.
  Time guided(const TransitionState& state, std::vector<Time> Guide::Of::*times) const {
    const Guide::Of* guide = guide_of(state);
    if (guide == nullptr || state.started >= (guide->*times).size()) return 0;
    return (guide->*times)[state.started];
  }
  void probe(TransitionState& state, Env& env) {
    const Guide::Of* guide = guide_of(state);
    if (guide == nullptr) return;
    for (const Guide::Probe& probe : guide->probes) {
      ParamValues& other = options.guide.values[probe.values];
      std::swap(params, other);
      try {
        push_value(state.probed, env({probe.expr, {}}, SiteKind::kDelay));
      } catch (...) {
        std::swap(params, other);
        throw;
      }
      std::swap(params, other);
    }
  }

  // Starts `k` once if it is ready; else remembers when time alone may make it so.
  bool try_start(std::size_t k) {
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

  [[noreturn]] void fail(std::size_t k, const EvalFault& fault, const Site& site) {
    const RunFault run_fault{fault.fault, now,        group, static_cast<TransitionId>(k),
                             site,        fault.value};
    const std::string heads = describe_heads(
        declared, run_fault.transition, [this](PlaceId p) { return tokens(p); },
        [this](PlaceId p) { return places[static_cast<std::size_t>(p)].occupancy(); });
    throw RunError(declared, run_fault, heads);
  }

  // Everything of the firing is evaluated before anything changes.
  void start(std::size_t k, const Transition& t, TransitionState& state, Env& env) {
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
  Time later(std::int64_t count, Time scale) const {
    Time at = 0;
    if (__builtin_mul_overflow(count, scale, &at) || __builtin_add_overflow(at, now, &at) ||
        at > kLastInstant) {
      throw EvalFault{Fault::kOverflow};
    }
    return at;
  }

  // What the firing will put into places.
  void emit(const Transition& t, Env& env, Firing& firing) {
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
  void lock(const TransitionState& state, const Env& env, Firing& firing) {
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

  void take_ids(PlaceState& place, std::uint64_t count, std::vector<IdRun>& into) {
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
  std::uint32_t new_slot() {
    if (free_slots.empty()) {
      // Twice: a vector grows to twice its size.
      allowance.charge(2 * (sizeof(Firing) + sizeof(Event)) + sizeof(std::uint32_t) +
                       kFiringVectors);
      firings.emplace_back();
      return static_cast<std::uint32_t>(firings.size() - 1);
    }
    const std::uint32_t slot = free_slots.back();
    free_slots.pop_back();
    return slot;
  }

  void mark(std::size_t place) {
    for (std::uint32_t k : neighbours[place]) mark_transition(k);
  }
  void mark_transition(std::size_t k) {
    dirty.insert(k);
    touched.insert(k);
  }

  // ---- one instant ------------------------------------------------------------------------

  void commit(const Event& event, Observer* observer) {
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

  Started started(std::size_t k, const TransitionState& state, const Firing& firing) const {
    Started about{static_cast<TransitionId>(k),
                  firing.number,
                  firing.start,
                  firing.due,
                  std::span(firing.taken).first(state.declared_inputs),
                  std::span(firing.produced).first(state.declared_outputs)};
    about.all_taken = firing.taken;
    about.all_produced = firing.produced;
    about.group = group;
    about.slot = firing.slot;
    about.not_before = firing.not_before;
    about.late = firing.late;
    about.values = firing.values;
    return about;
  }

  void report(const Event& event, const TransitionState& state, const Firing& firing,
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
    c.produced.assign(
        firing.produced.begin(),
        firing.produced.begin() + static_cast<std::ptrdiff_t>(state.declared_outputs));
    observer.on_commit(c);
  }

  // Commits all firings due now, as one group.
  void commit_group(Observer* observer) {
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
  // Of the last group: transitions that time alone may have made ready.
  std::vector<std::uint32_t> wakes;

  // Ready but for the interval and the clock.
  bool otherwise_ready(std::size_t k) {
    const TransitionState& state = transitions[k];
    if (state.servers != 0 && state.in_flight >= state.servers) return false;
    Env env(*this, state);
    return check_arcs(env, net.transitions[k], state).wait == Wait::kNone;
  }
  std::vector<Event> scratch;

  void start_all() {
    if (options.full_scan) {
      for (std::size_t k = 0; k < transitions.size();) k = try_start(k) ? 0 : k + 1;
      return;
    }
    while (const auto k = dirty.least()) {
      if (!try_start(*k)) dirty.erase(*k);
    }
  }

  bool firing_due_now() const { return !events.empty() && events.top().due == now; }

  void arrive(std::size_t place, const std::int64_t* values) {
    PlaceState& state = places[place];
    account(state);
    append_external(place, state.width == 0 ? nullptr : values, 1);
    if (state.collects) state.times.push_back(now);
    state.meter.filled(state.occupancy());
    mark(place);
    happened = true;
    if (watcher != nullptr) {
      watcher->on_arrival(now, static_cast<PlaceId>(place), std::span(values, state.width));
    }
  }

  // False when there was nothing at this instant: only wake-ups of transitions that meanwhile
  // lost what they had waited with.
  bool instant(Observer* observer) {
    allowance.step(now, result.commits);
    group = 0;
    started_here = 0;
    happened = !begun;
    begun = true;
    for (auto& [place, feed] : feeds) {
      for (; feed.more() && feed.times[feed.at] == now; ++feed.at) {
        arrive(place, feed.values.data() + feed.at * places[place].width);
      }
    }
    if (auto it = pushes.find(now); it != pushes.end()) {
      for (const Push& push : it->second) arrive(push.place, push.values.data());
      pushes.erase(it);
    }
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

  // Nothing is to come but wake-ups of transitions that no longer have what they waited with.
  bool only_stale_wakes() {
    if (next_arrival()) return false;
    for (std::size_t k = 0; k < transitions.size(); ++k) {
      if (transitions[k].in_flight != 0) return false;
      if (transitions[k].wake > now && otherwise_ready(k)) return false;
    }
    return true;
  }

  // The next instant at which something can happen.
  std::optional<Time> next_instant() const {
    std::optional<Time> next;
    if (!events.empty()) next = events.top().due;
    const std::optional<Time> arrival = next_arrival();
    if (arrival && (!next || *arrival < *next)) next = arrival;
    return next;
  }

  std::optional<Time> next_arrival() const {
    std::optional<Time> next;
    if (!pushes.empty()) next = pushes.begin()->first;
    for (const auto& [place, feed] : feeds) {
      if (feed.more() && (!next || feed.times[feed.at] < *next)) next = feed.times[feed.at];
    }
    return next;
  }

  RunResult run(Time limit, Observer* observer) {
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

  RunResult simulate(Time limit, Observer* observer) {
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

  // After an instant.
  bool until_holds() {
    if (!options.until) return false;
    const auto place = [this](PlaceId p) -> const PlaceState& {
      return places[static_cast<std::size_t>(p)];
    };
    met = holds(
        declared, params, *options.until, [&](PlaceId p) { return place(p).occupancy(); },
        [&](PlaceId p) { return place(p).free; });
    return met;
  }

  RunResult finish(Ending ending, Time limit) {
    RunResult r = result;
    r.ending = ending;
    end = ending == Ending::kLimit       ? std::max(limit, now)
          : ending == Ending::kCondition ? now
                                         : r.last_commit;
    if (!has_done()) r.latency = r.last_commit;
    if (ending == Ending::kQuiet) explain_stall(r);
    return r;
  }

  void explain_stall(RunResult& r) {
    list_undrained(r);
    r.stalled = !r.undrained.empty() || (done_target && r.done_tokens < *done_target);
    if (r.stalled) list_blocked(r);
  }

  void list_undrained(RunResult& r) const {
    for (std::size_t k = 0; k < declared.places.size(); ++k) {
      if (must_drain(declared.places[k]) && places[k].occupancy() > 0) {
        r.undrained.push_back(static_cast<PlaceId>(k));
      }
    }
  }

  void list_blocked(RunResult& r) {
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

  // Why `k` does not start, arcs first. An expression that cannot be evaluated counts as a guard.
  Blocked diagnose(std::size_t k) {
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

  // ---- statistics -------------------------------------------------------------------------

  void account(PlaceState& place) {
    if (options.stats) place.meter.before(place.occupancy(), now, result.last_commit);
  }

  void observe_waits() {
    while (const auto k = touched.least()) {
      touched.erase(*k);
      TransitionState& state = transitions[*k];
      const Blocked why = diagnose(*k);
      if (watcher != nullptr) watcher->on_wait(now, why);
      state.meter.observe(why.wait, now, result.last_commit);
    }
  }

  Stats stats() const {
    LPN_ASSERT(options.stats);
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

  // A place that a call names: std::out_of_range for a number that none has.
  PlaceId known(PlaceId id) const {
    static_cast<void>(places.at(static_cast<std::size_t>(id)));
    return id;
  }
  // And of one that changes it; Error "E-call" while a run is under way: its observer, or another
  // thread, makes the call.
  PlaceId idle(PlaceId id) const {
    require_idle();
    return known(id);
  }
  void require_idle() const {
    if (running) throw run_under_way(declared);
  }
  Error without(const char* option) const {
    return Error("E-call",
                 fmt::format("the interpreter of net '{}' was made without {}=True, which "
                             "this call needs",
                             declared.name, option));
  }

  std::vector<std::int64_t> tokens(PlaceId id) const {
    const PlaceState& place = places[static_cast<std::size_t>(id)];
    std::vector<std::int64_t> values;
    for (std::size_t k = 0; place.width != 0 && k < place.free; ++k) {
      values.insert(values.end(), place.rows.row(k), place.rows.row(k) + place.width);
    }
    return values;
  }

  void push(PlaceId id, std::span<const std::int64_t> values, Time time) {
    check_push(declared, id, values);
    if (time < 0 || time > kLastInstant || (begun && time <= now) || over) {
      throw late_push(declared, id, time, now);
    }
    pushes[time].push_back({static_cast<std::size_t>(id), {values.begin(), values.end()}});
  }

  void feed(PlaceId id, std::span<const std::int64_t> values, std::span<const Time> times) {
    check_feed(declared, id, values, times);
    if (times.empty()) return;
    const auto found = feeds.find(static_cast<std::size_t>(id));
    const bool back = found != feeds.end() && found->second.times.back() > times.front();
    if (over || back || (begun && times.front() <= now)) {
      throw late_push(declared, id, times.front(), back ? found->second.times.back() : now);
    }
    add_feed(static_cast<std::size_t>(id), values, times);
  }

  void collect(PlaceId id) {
    PlaceState& place = places[static_cast<std::size_t>(id)];
    if (place.collects) return;
    place.collects = true;
    place.times.assign(place.free, 0);
  }

  Collected taken_out(PlaceId id) {
    PlaceState& place = places[static_cast<std::size_t>(id)];
    Collected taken{tokens(id), std::exchange(place.times, {})};
    account(place);
    if (place.width != 0) place.rows.pop(place.free);
    place.ids.clear();
    place.free = 0;
    return taken;
  }
};

Interp::Interp(const Net& net, const ParamValues& params, const Marking& marking,
               InterpOptions options)
    : impl_(std::make_unique<Impl>(net, params, marking, options)) {}
Interp::~Interp() = default;
Interp::Interp(Interp&&) noexcept = default;
Interp& Interp::operator=(Interp&&) noexcept = default;

void Interp::push(PlaceId place, std::span<const std::int64_t> values, Time time) {
  impl_->push(impl_->idle(place), values, time);
}
void Interp::feed(PlaceId place, std::span<const std::int64_t> values,
                  std::span<const Time> times) {
  impl_->feed(impl_->idle(place), values, times);
}
void Interp::collect(PlaceId place) { impl_->collect(impl_->idle(place)); }
Collected Interp::take(PlaceId place) { return impl_->taken_out(impl_->idle(place)); }
RunResult Interp::run(Time limit, Observer* observer) { return impl_->run(limit, observer); }
void Interp::set_poll(Poll poll) { impl_->allowance.poll = std::move(poll); }
void Interp::watch(Watcher* watcher) { impl_->watcher = watcher; }
Time Interp::now() const { return impl_->now; }
std::optional<Time> Interp::next() const {
  if (impl_->over) return std::nullopt;
  return impl_->begun ? impl_->next_instant() : std::optional<Time>(0);
}
Blocked Interp::why(TransitionId transition) const {
  static_cast<void>(
      impl_->transitions.at(static_cast<std::size_t>(transition)));  // or std::out_of_range
  impl_->require_idle();
  return impl_->diagnose(static_cast<std::size_t>(transition));
}
std::uint64_t Interp::occupancy(PlaceId place) const {
  return impl_->places[static_cast<std::size_t>(impl_->known(place))].occupancy();
}
std::uint64_t Interp::free_tokens(PlaceId place) const {
  return impl_->places[static_cast<std::size_t>(impl_->known(place))].free;
}
std::vector<std::int64_t> Interp::tokens(PlaceId place) const {
  return impl_->tokens(impl_->known(place));
}
Stats Interp::stats() const {
  if (!impl_->options.stats) throw impl_->without("stats");
  impl_->require_idle();
  return impl_->stats();
}
const std::vector<std::int64_t>& Interp::probed(TransitionId transition) const {
  return impl_->transitions.at(static_cast<std::size_t>(transition)).probed;
}

void explain_stall(
    const Net& net, const ParamValues& params,
    const std::function<std::pair<std::uint64_t, std::vector<std::int64_t>>(PlaceId)>& tokens,
    RunResult& result) {
  // A quiet state has nothing in flight: it is an initial state with these tokens.
  Net quiet = net;
  Marking marking(net);
  for (std::size_t k = 0; k < net.places.size(); ++k) {
    quiet.places[k].initial.clear();
    const auto [count, values] = tokens(static_cast<PlaceId>(k));
    marking.add(static_cast<PlaceId>(k), values, count);
  }
  Interp interp(quiet, params, marking);
  interp.impl_->list_undrained(result);
  interp.impl_->list_blocked(result);
}

}  // namespace lpn

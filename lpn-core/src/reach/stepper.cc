#include "stepper.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/expr/range.h"
#include "lpn/net/facts.h"

namespace lpn::reach {
namespace {

constexpr std::uint64_t kMostBranches = 1 << 12;  // of one group of commits
constexpr std::uint64_t kMostTried = 1024;        // values of one of several variables
constexpr Time kLatest = kNoBound >> 3;           // instants behind it are not looked at
constexpr std::size_t kPollEvery = 256;
constexpr std::size_t kMostAtOnce = 20'000;  // states after one group
constexpr std::size_t kMostEvents = 512;     // to come; what a zone takes grows with their square

void put(std::string& key, std::uint64_t value) {
  // Seven bits a byte: most numbers are small.
  for (; value >= 128; value >>= 7) key.push_back(static_cast<char>(value | 128));
  key.push_back(static_cast<char>(value));
}
std::uint64_t unsigned_of(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

}  // namespace

void Stepper::tick() {
  if (++steps_ % kPollEvery == 0 && now_and_then) now_and_then();
}

void Stepper::require_room(std::size_t bytes) const {
  if (held + sets_.bytes() + open_ + bytes <= options_.memory) return;
  throw NotCovered(fmt::format("stopped at {} MiB of states", options_.memory >> 20));
}

void Stepper::require_room(const State& state, std::size_t count) const {
  require_room(count * (bytes_of(state) + 128));
}

std::size_t Stepper::add_event(State& state, Range after_now) const {
  if (state.zone.size() >= kMostEvents) {
    throw NotCovered(
        fmt::format("stopped at {} firings in flight at once; give the transition `servers`, or "
                    "the space fewer tokens",
                    kMostEvents));
  }
  return state.zone.add(after_now);
}

void Stepper::insert(std::vector<std::uint32_t>& sorted, std::uint32_t k) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), k);
  if (at == sorted.end() || *at != k) sorted.insert(at, k);
}

void Stepper::mark(State& state, std::size_t place) {
  for (const std::uint32_t k : neighbours_[place]) insert(state.dirty, k);
}

// ---- what depends on the input ----------------------------------------------------------------

void Stepper::substitute_in(State& state, std::uint32_t variable, std::int64_t number) {
  const auto reads = [&](const Value& value) {
    if (value.decided()) return false;
    const auto& all = sets_.variables(value.id());
    return std::find(all.begin(), all.end(), variable) != all.end();
  };
  for (Queue& queue : state.queues) {
    if (!queue.rows) continue;
    const auto begin = queue.rows->begin() + static_cast<std::ptrdiff_t>(queue.head);
    if (std::none_of(begin, queue.rows->end(), reads)) continue;
    auto rows = std::make_shared<std::vector<Value>>(begin, queue.rows->end());
    for (Value& value : *rows) value = sets_.decided(value, variable, number);
    queue.rows = std::move(rows);
    queue.head = 0;
  }
  for (State::Flight& flight : state.flights) {
    if (std::none_of(flight.firing->values.begin(), flight.firing->values.end(), reads)) continue;
    auto firing = std::make_shared<Firing>(*flight.firing);
    for (Value& value : firing->values) value = sets_.decided(value, variable, number);
    flight.firing = std::move(firing);
  }
  for (State::Arrival& arrival : state.arrivals) {
    if (std::none_of(arrival.row->begin(), arrival.row->end(), reads)) continue;
    auto row = std::make_shared<std::vector<Value>>(*arrival.row);
    for (Value& value : *row) value = sets_.decided(value, variable, number);
    arrival.row = std::move(row);
  }
}

// False: no input is left.
bool Stepper::restrict(State& state, std::uint32_t variable, DomainId domain) {
  if (domain == kForgotten) return false;
  state.domains[variable] = domain;
  if (sets_[domain].count == 1) {
    substitute_in(state, variable, sets_[domain].ranges.front().lo);
  }
  return sums_.role(variable) == 0 || sums_.fit(state.domains, state.spent);
}

// The state as several, in each of which more is known about a term.
void Stepper::split(const State& state, ExprId term, std::vector<State>& out) {
  const std::vector<std::uint32_t> reads = sets_.variables(term);
  if (reads.size() == 1) {
    const std::uint32_t v = reads.front();
    if (const Cases* cases = sets_.cases(term, v, state.domains[v])) {
      may_fail = may_fail || cases->fails;
      require_room(state, cases->values.size());
      // A copy: deciding adds cases.
      for (const auto& [value, where] : std::vector(cases->values)) {
        State part = state;
        if (!restrict(part, v, where)) continue;
        // The term is decided though its variable is not: what reads it must see that.
        part.assumed.emplace_back(static_cast<std::uint32_t>(term), value);
        out.push_back(std::move(part));
        tick();
      }
      return;
    }
  }
  std::optional<std::uint32_t> least;
  for (const std::uint32_t v : reads) {
    if (!least || sets_[state.domains[v]].count < sets_[state.domains[*least]].count) least = v;
  }
  if (least && sets_[state.domains[*least]].count <= kMostTried) {
    require_room(state, sets_[state.domains[*least]].count);
    for (const Range& range : std::vector(sets_[state.domains[*least]].ranges)) {
      for (std::int64_t x = range.lo; x <= range.hi; ++x) {
        State part = state;
        if (restrict(part, *least, sets_.domain({{x, x}}))) out.push_back(std::move(part));
        tick();
      }
    }
    return;
  }
  if (pool_[term].type != Type::kBool) {
    throw NotCovered("a number of tokens or a delay depends on properties with too many values");
  }
  // Both may be.
  may_fail = may_fail || sets_.span(term, state.domains).may_fail;
  for (const bool holds : {true, false}) {
    State part = state;
    part.assumed.emplace_back(static_cast<std::uint32_t>(term), holds ? 1 : 0);
    out.push_back(std::move(part));
  }
}

void Stepper::split_time(const State& state, std::size_t k, const TimeSplit& parts,
                         std::vector<State>& out) {
  for (const Range& range : parts.since_start) {
    State part = state;
    if (part.zone.require(Zone::kNow, Zone::kStart, range.hi) &&
        part.zone.require(Zone::kStart, Zone::kNow, -range.lo)) {
      out.push_back(std::move(part));
    }
  }
  if (!parts.since_start.empty()) return;
  // The clock's phase is not known.
  const Time period = setups_[state.setup].period[k];
  State now = state;
  insert(now.on_edge, static_cast<std::uint32_t>(k));
  out.push_back(std::move(now));
  if (period == 1) return;
  State later = state;
  const std::size_t due = add_event(later, {1, period - 1});
  const auto at = std::lower_bound(
      later.wakes.begin(), later.wakes.end(), k,
      [](const State::Timer& timer, std::size_t id) { return timer.transition < id; });
  later.wakes.insert(at, {static_cast<std::uint32_t>(k), due});
  out.push_back(std::move(later));
}

// ---- starts of one group ----------------------------------------------------------------------

void Stepper::settle(State state, std::vector<State>& out) {
  const std::size_t before = open_;
  std::vector<State> open{std::move(state)};
  while (!open.empty()) {
    State each = std::move(open.back());
    open.pop_back();
    if (open.size() + out.size() > kMostAtOnce) {
      throw NotCovered(fmt::format("stopped at {} ways to go on at one instant", kMostAtOnce));
    }
    open_ = before + (open.size() + out.size()) * (bytes_of(each) + 128);
    require_room(each, 1);
    for (;;) {
      tick();
      if (each.dirty.empty()) {
        rest(each);
        out.push_back(std::move(each));
        break;
      }
      const std::uint32_t k = each.dirty.front();
      try {
        std::vector<State> started;
        if (!attempt(each, k, started)) {
          each.dirty.erase(each.dirty.begin());
          continue;
        }
        for (State& next : started) open.push_back(std::move(next));
      } catch (const Undecided& undecided) {
        split(each, undecided.term, open);
      } catch (const TimeSplit& parts) {
        split_time(each, k, parts, open);
      } catch (const EvalFault&) {
        may_fail = true;
      }
      break;
    }
  }
  open_ = before;
}

// Forgets what nothing depends on any more, and puts the events in order.
void Stepper::rest(State& state) {
  std::vector<bool> alive(state.domains.size(), false);
  const auto see = [&](const Value& value) {
    if (value.decided()) return;
    for (const std::uint32_t v : sets_.variables(value.id())) alive[v] = true;
  };
  each_value(state, see);
  for (std::uint32_t v = 0; v < alive.size(); ++v) {
    if (alive[v] || state.domains[v] == kForgotten) continue;
    sums_.forget(v, state.domains[v], state.spent);
    state.domains[v] = kForgotten;
  }
  state.assumed.clear();
  arrange(state);
  if (state.zone.most(Zone::kNow, Zone::kStart) < kNoBound &&
      state.zone.most(Zone::kNow, Zone::kStart) > kLatest) {
    throw NotCovered("instants behind 2^58");
  }
  // What is asked depends on one side of the time only, and so does what happens but for clocks.
  if (remembers_times()) return;
  if (question_.maximum)
    state.zone.forget_least();
  else
    state.zone.forget_most();
}

// Puts the events in order, and births that are still asked for behind them.
void Stepper::arrange(State& state) {
  std::vector<std::size_t> order{Zone::kStart, Zone::kNow};
  const auto next = [&](std::size_t& due) {
    order.push_back(due);
    due = order.size() - 1;
  };
  for (State::Flight& flight : state.flights) next(flight.due);
  for (State::Timer& gate : state.gates) next(gate.due);
  for (State::Timer& wake : state.wakes) next(wake.due);
  for (State::Arrival& arrival : state.arrivals) next(arrival.due);
  std::vector<State::Birth> births;
  if (!state.births.empty()) {
    each_value(state, [&](const Value& value) {
      const auto at = std::find_if(
          state.births.begin(), state.births.end(),
          [&](const State::Birth& birth) { return !value.decided() && birth.term == value.term; });
      if (at == state.births.end()) return;
      births.push_back(*at);
      next(births.back().instant);
      state.births.erase(at);
    });
    state.births = std::move(births);
  }
  state.zone.permute(order);
}

// ---- commits ----------------------------------------------------------------------------------

void Stepper::next(const State& state, std::vector<State>& out) {
  const std::optional<std::uint64_t>& target = setups_[state.setup].done;
  const bool over = target && state.done >= *target;
  branches_ = 0;
  const std::size_t events = state.events();
  if (events == 2) return finish(state, !over);
  bool later = false;
  for (const bool same_instant : {true, false}) {
    for (std::size_t first = 2; first < events; ++first) {
      tick();
      // What a zone takes grows with the square of the events: none is copied in vain.
      if (same_instant ? !state.zone.may(first, Zone::kNow, 0)
                       : !state.zone.may(Zone::kNow, first, -1)) {
        continue;
      }
      bool possibly = true;
      for (std::size_t other = 2; possibly && other < events; ++other) {
        possibly = other == first || state.zone.may(first, other, other < first ? -1 : 0);
      }
      if (!possibly) continue;
      Zone zone = state.zone;
      const bool possible =
          same_instant ? zone.require(first, Zone::kNow, 0) : zone.require(Zone::kNow, first, -1);
      if (!possible) continue;
      bool least = true;
      for (std::size_t other = 2; least && other < events; ++other) {
        if (other != first) least = zone.require(first, other, other < first ? -1 : 0);
      }
      if (!least) continue;
      if (over && !same_instant) {
        later = true;
        continue;
      }
      std::vector<std::size_t> together{first};
      ties(state, zone, first, first + 1, together, out);
    }
  }
  if (later) finish(state, false);
}

// Which of the events from `other` on are due together with `first`.
void Stepper::ties(const State& state, const Zone& zone, std::size_t first, std::size_t other,
                   std::vector<std::size_t>& together, std::vector<State>& out) {
  // What is not open needs no zone of its own.
  const auto open = [&](std::size_t k) {
    return zone.most(k, first) > 0 && zone.least(k, first) <= 0;
  };
  const std::size_t known = together.size(), events = state.events();
  for (; other < events && !open(other); ++other) {
    if (zone.most(other, first) <= 0) together.push_back(other);
  }
  if (other == events) {
    if (++branches_ > kMostBranches) {
      throw NotCovered(
          fmt::format("stopped at {} orders of events that may be due", kMostBranches));
    }
    tick();
    commit(state, zone, together, out);
    together.resize(known);
    return;
  }
  // Of this call and of those that it is in.
  const std::size_t before = open_;
  open_ += 2 * zone.size() * zone.size() * sizeof(Time);
  require_room(0);
  if (Zone same = zone; same.require(other, first, 0)) {
    together.push_back(other);
    ties(state, same, first, other + 1, together, out);
    together.pop_back();
  }
  if (Zone apart = zone; apart.require(first, other, -1)) {
    ties(state, apart, first, other + 1, together, out);
  }
  together.resize(known);
  open_ = before;
}

void Stepper::commit(const State& before, const Zone& zone,
                     const std::vector<std::size_t>& together, std::vector<State>& out) {
  State state = before;
  state.zone = zone;
  state.dirty.clear();
  const bool same_instant = zone.most(together.front(), Zone::kNow) == 0;
  state.same_instant = same_instant;
  if (!same_instant) state.on_edge.clear();
  // The new numbers of events; those that happen have none.
  std::vector<std::size_t> order{Zone::kStart, together.front()}, number(zone.size(), 0);
  for (std::size_t event = 2; event < zone.size(); ++event) {
    if (std::find(together.begin(), together.end(), event) != together.end()) continue;
    number[event] = order.size();
    order.push_back(event);
  }
  state.zone.permute(order);
  std::vector<State::Flight> due;
  std::erase_if(state.flights, [&](State::Flight& flight) {
    flight.due = number[flight.due];
    if (flight.due == 0) due.push_back(flight);
    return flight.due == 0;
  });
  std::erase_if(state.gates, [&](State::Timer& gate) {
    gate.due = number[gate.due];
    if (gate.due == 0) insert(state.dirty, gate.transition);
    return gate.due == 0;
  });
  std::erase_if(state.wakes, [&](State::Timer& wake) {
    wake.due = number[wake.due];
    if (wake.due != 0) return false;
    insert(state.dirty, wake.transition);
    insert(state.on_edge, wake.transition);
    return true;
  });
  std::vector<State::Arrival> arrived;
  std::erase_if(state.arrivals, [&](State::Arrival& arrival) {
    arrival.due = number[arrival.due];
    if (arrival.due == 0) arrived.push_back(arrival);
    return arrival.due == 0;
  });
  for (State::Birth& birth : state.births) birth.instant = number[birth.instant];
  for (const State::Arrival& arrival : arrived) come(state, arrival);
  const std::uint64_t done = state.done;
  for (const State::Flight& flight : due) commit_one(state, flight);
  using What = ReachQuestion::What;
  const Time least = state.zone.least(Zone::kNow, Zone::kStart),
             most = state.zone.most(Zone::kNow, Zone::kStart);
  if (has_done_ ? state.done > done : !due.empty()) {
    state.produced = true;
    state.last = std::max<Time>(least, 0);
    if (question_.what == What::kLatency && question_.maximum) record(most, most);
  }
  if (question_.what == What::kCompletion && done < question_.k && state.done >= question_.k) {
    record(std::max<Time>(least, 0), most);
  }
  if (!needs_done_) state.done = 0;
  settle(std::move(state), out);
}

void Stepper::commit_one(State& state, const State::Flight& flight) {
  const std::size_t k = flight.transition;
  const Transition& t = net_.transitions[k];
  const Firing& firing = *flight.firing;
  ++state.commits;
  for (std::size_t a = 0; a < arcs_[k].size(); ++a) {
    if (firing.taken[a] == 0) continue;
    state.queues[arcs_[k][a].place].locked -= firing.taken[a];
    mark(state, arcs_[k][a].place);
  }
  std::size_t value = 0;
  for (std::size_t o = 0; o < t.outputs.size(); ++o) {
    const std::uint64_t count = firing.produced[o];
    if (count == 0) continue;
    const auto p = static_cast<std::size_t>(t.outputs[o].place);
    append(state, p, firing.values.data() + value, count);
    value += count * width_[p];
    if (net_.places[p].done) state.done += count;
  }
  if (question_.what == ReachQuestion::What::kCommits &&
      k == static_cast<std::size_t>(question_.transition)) {
    ++state.counted;
  }
  insert(state.dirty, static_cast<std::uint32_t>(k));
}

// Tokens come into a place now.
void Stepper::append(State& state, std::size_t p, const Value* rows, std::uint64_t count) {
  Queue& queue = state.queues[p];
  queue.free += count;
  mark(state, p);
  using What = ReachQuestion::What;
  const bool asked = p == static_cast<std::size_t>(question_.place);
  if (asked && question_.what == What::kBacklog) {
    const auto there = static_cast<std::int64_t>(queue.free + queue.locked);
    record(there, there);
  }
  if (asked && question_.what == What::kResponse) respond(state, rows, count);
  if (width_[p] == 0) return;
  if (!queue.rows || queue.rows.use_count() != 1) {
    auto copy = std::make_shared<std::vector<Value>>();
    if (queue.rows) {
      copy->assign(queue.rows->begin() + static_cast<std::ptrdiff_t>(queue.head),
                   queue.rows->end());
    }
    queue.rows = std::move(copy);
    queue.head = 0;
  }
  const std::size_t from = queue.rows->size();
  queue.rows->insert(queue.rows->end(), rows, rows + count * width_[p]);
  if (!asked || question_.what != What::kResponse) return;
  // What was asked about it is known.
  for (std::size_t k = from + *born_[p]; k < queue.rows->size(); k += width_[p]) {
    (*queue.rows)[k] = {};
  }
}

void Stepper::record(std::int64_t least, std::int64_t most) {
  const std::int64_t value = question_.maximum ? most : least;
  if (!best || (question_.maximum ? value > *best : value < *best)) best = value;
}

// The run of a state is over.
void Stepper::finish(const State& state, bool quiet) {
  if (quiet) {
    bool stalled = setups_[state.setup].done.has_value();
    for (std::size_t p = 0; p < declared_.places.size(); ++p) {
      const Queue& queue = state.queues[p];
      stalled = stalled || (must_drain(declared_.places[p]) && queue.free + queue.locked > 0);
    }
    if (stalled) {
      may_stall = true;
      return;
    }
  }
  using What = ReachQuestion::What;
  if (question_.what == What::kCommits || question_.what == What::kBusy) {
    const auto count = static_cast<std::int64_t>(state.counted);
    record(count, count);
  }
  if (question_.what == What::kLatency && !question_.maximum && (state.produced || !has_done_)) {
    record(state.last, state.last);
  }
  if (question_.what == What::kLatency && question_.maximum && !has_done_) record(0, 0);
}

// ---- what tells states apart ------------------------------------------------------------------

std::string Stepper::key(const State& state) {
  std::string key;
  // Variables are called by the order in which tokens read them; those of larger terms keep theirs.
  std::vector<bool> fixed(state.domains.size(), false);
  const auto fix = [&](const Value& value) {
    if (value.decided() || pool_[value.id()].op == Op::kParam) return;
    for (const std::uint32_t v : sets_.variables(value.id())) fixed[v] = true;
  };
  each_value(state, fix);
  put(key, state.setup);
  for (const Queue& queue : state.queues) {
    put(key, queue.free);
    put(key, queue.locked);
  }
  put(key, state.flights.size());
  for (const State::Flight& flight : state.flights) {
    put(key, flight.transition);
    for (const std::uint64_t count : flight.firing->taken) put(key, count);
    for (const std::uint64_t count : flight.firing->produced) put(key, count);
  }
  put(key, state.gates.size());
  for (const State::Timer& gate : state.gates) put(key, gate.transition);
  put(key, state.wakes.size());
  for (const State::Timer& wake : state.wakes) put(key, wake.transition);
  put(key, state.on_edge.size());
  for (const std::uint32_t k : state.on_edge) put(key, k);
  put(key, state.arrivals.size());
  for (const State::Arrival& arrival : state.arrivals) put(key, arrival.place);
  put(key, state.done);
  if (question_.what == ReachQuestion::What::kCommits) put(key, state.counted);
  put(key, state.produced);
  std::vector<std::uint32_t> names(state.domains.size(), 0);
  std::uint32_t named = 0;
  std::vector<bool> sums(sums_.count(), false);
  std::vector<std::size_t> birth_at;
  const auto name = [&](std::uint32_t v) {
    if (names[v] != 0) return put(key, names[v] + 2);
    names[v] = ++named;
    put(key, 2);
    put(key, state.domains[v]);
    put(key, sums_.role(v));
    put(key, fixed[v] ? v + 1 : 0);
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s] = sums[s] || sums_.reads(s, v);
  };
  std::size_t position = 0, births = 0;  // births are in the order of their first values
  each_value(state, [&](const Value& value) {
    ++position;
    if (births < state.births.size() && !value.decided() &&
        state.births[births].term == value.term) {
      ++births;
      birth_at.push_back(position);
    }
    if (value.decided()) {
      put(key, 0);
      put(key, unsigned_of(value.number));
      return;
    }
    const Node& node = pool_[value.id()];
    if (node.op == Op::kParam) return name(node.a);
    put(key, 1);
    put(key, value.term);
    for (const std::uint32_t v : std::vector(sets_.variables(value.id()))) name(v);
  });
  for (const std::size_t at : birth_at) put(key, at);
  for (std::size_t s = 0; s < sums.size(); ++s) {
    put(key, sums[s] ? unsigned_of(state.spent[s]) + 1 : 0);
  }
  return key;
}

}  // namespace lpn::reach

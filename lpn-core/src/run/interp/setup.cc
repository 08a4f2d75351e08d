// The state before the first instant, and what a run gets from outside.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "lpn/expr/eval.h"
#include "lpn/net/facts.h"
#include "lpn/net/initial.h"
#include "lpn/net/lower.h"
#include "lpn/run/running.h"
#include "machine.h"

namespace lpn::interp {

Machine::Machine(const Net& given, const ParamValues& values, const Marking& marking,
                 InterpOptions opts)
    : declared(given),
      net(lower(given)),
      params(values),
      options(std::move(opts)),
      places(net.places.size()),
      transitions(net.transitions.size()),
      neighbours(net.places.size()),
      dirty(net.transitions.size()),
      touched(net.transitions.size()),
      allowance(options.budget, options.poll),
      memo(net, !options.full_scan) {
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

void Machine::plan() {
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

void Machine::fill(const Marking& marking) {
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

void Machine::add_feed(std::size_t place, std::span<const std::int64_t> values,
                       std::span<const Time> times) {
  allowance.charge((values.size() + times.size()) * sizeof(std::int64_t));
  arrivals.feed(place, values, times);
}

void Machine::append_external(std::size_t place, const std::int64_t* row, std::uint64_t count) {
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

std::int64_t Machine::value_of(const Formula& f, std::int64_t index) const {
  return eval_params(net.exprs, f.id, params, index);
}

void Machine::push(PlaceId id, std::span<const std::int64_t> values, Time time) {
  idle_place(id);
  check_push(declared, id, values);
  if (time < 0 || time > kLastInstant || (begun && time <= now) || over) {
    throw late_push(declared, id, time, now);
  }
  arrivals.push(static_cast<std::size_t>(id), values, time);
}

void Machine::feed(PlaceId id, std::span<const std::int64_t> values, std::span<const Time> times) {
  idle_place(id);
  check_feed(declared, id, values, times);
  if (times.empty()) return;
  const std::optional<Time> last = arrivals.last_fed(static_cast<std::size_t>(id));
  const bool back = last && *last > times.front();
  if (over || back || (begun && times.front() <= now)) {
    throw late_push(declared, id, times.front(), back ? *last : now);
  }
  add_feed(static_cast<std::size_t>(id), values, times);
}

void Machine::collect(PlaceId id) {
  PlaceState& place = idle_place(id);
  if (place.collects) return;
  place.collects = true;
  place.times.assign(place.free, 0);
}

Collected Machine::take(PlaceId id) {
  PlaceState& place = idle_place(id);
  Collected taken{tokens(id), std::exchange(place.times, {})};
  account(place);
  if (place.width != 0) place.rows.pop(place.free);
  place.ids.clear();
  place.free = 0;
  return taken;
}

PlaceState& Machine::idle_place(PlaceId id) {
  require_idle();
  return places.at(static_cast<std::size_t>(id));
}
void Machine::require_idle() const {
  if (running) throw run_under_way(declared);
}
Error Machine::without(const char* option) const {
  return Error("E-call", fmt::format("the interpreter of net '{}' was made without {}=True, which "
                                     "this call needs",
                                     declared.name, option));
}

}  // namespace lpn::interp

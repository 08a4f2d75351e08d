#include "net_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"
#include "lpn/net/initial.h"

namespace lpn::pi {

namespace {

constexpr std::size_t kMostPhases = 1'000'000;

struct Use {
  std::size_t transition = 0, arc = 0;
};

// The formulas of a transition on the tokens of its counters.
struct Scope : EvalScope {
  const ParamValues& params;
  std::vector<const std::vector<std::int64_t>*> tokens;  // per input arc; null: no counter
  std::vector<std::int64_t> weights;                     // per input arc, as far as known

  explicit Scope(const ParamValues& p) : params(p) {}
  std::int64_t param(std::uint32_t k) const { return params[k]; }
  std::int64_t token(std::uint32_t arc, std::uint32_t field, std::int64_t which) const {
    if (which != 0) throw EvalFault{Fault::kTokenIndex, which};
    return (*tokens[arc])[field];
  }
  std::int64_t taken(std::uint32_t arc) const { return weights[arc]; }
  std::int64_t needed(std::uint32_t) const { return 1; }      // of a counter
  static std::int64_t occupancy(std::uint32_t) { return 0; }  // refused before
  static std::int64_t free(std::uint32_t) { return 0; }
};

class Reader {
 public:
  Reader(const Net& declared, const Net& net, const ParamValues& params, const Marking& marking)
      : declared_(declared), net_(net), params_(params), marking_(marking) {}

  NetGraph run() {
    result_.graph.channels_are = "place";
    find_uses();
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) add_actor(t);
    for (std::size_t p = 0; p < net_.places.size(); ++p) add_place(p);
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(std::size_t t, const std::string& why) const {
    const Transition& transition = net_.transitions[t];
    const std::string line = where(net_, transition.delay.source);
    throw Error("E-pi", fmt::format("transition '{}' {}: the steady state is known for delays, "
                                    "weights and counts that are constant or read a counter of the "
                                    "transition's own (a place of one token that it alone takes "
                                    "and puts back), and for one producer and one taker per place"
                                    "{}{}",
                                    transition.name, why, line.empty() ? "" : "\n  at ", line));
  }

  void find_uses() {
    producers_.resize(net_.places.size());
    takers_.resize(net_.places.size());
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      const Transition& transition = net_.transitions[t];
      for (std::size_t a = 0; a < transition.inputs.size(); ++a) {
        if (transition.inputs[a].inhibit || transition.inputs[a].guard)
          refuse(t, "has a guard or needs a place to be empty");
        takers_[static_cast<std::size_t>(transition.inputs[a].place)].push_back({t, a});
      }
      for (std::size_t a = 0; a < transition.outputs.size(); ++a)
        producers_[static_cast<std::size_t>(transition.outputs[a].place)].push_back({t, a});
    }
  }

  std::int64_t initial(std::size_t p) const {
    std::int64_t count = 0;
    for (const Initial& tokens : declared_.places[p].initial)
      count += param_value(declared_, params_, tokens.count, "a number of tokens", 0);
    return count + static_cast<std::int64_t>(marking_[static_cast<PlaceId>(p)].count);
  }

  std::int64_t tokens(std::size_t p) const {
    const auto& of = net_.places[p].credit_of;
    if (!of) return initial(p);
    const auto full = static_cast<std::size_t>(*of);
    return param_value(declared_, params_, *declared_.places[full].capacity, "a capacity", 0) -
           initial(full);
  }

  // Whether a place is a counter: one token, which its transition takes and puts back as another.
  bool is_counter(std::size_t p) const {
    if (takers_[p].size() != 1 || producers_[p].size() != 1 || tokens(p) != 1) return false;
    const Use taker = takers_[p][0], producer = producers_[p][0];
    if (taker.transition != producer.transition) return false;
    const Transition& t = net_.transitions[taker.transition];
    const InputArc& in = t.inputs[taker.arc];
    const OutputArc& out = t.outputs[producer.arc];
    const auto is_one = [&](const Formula& formula) {
      std::int64_t value = 0;
      return net_.exprs.is_const(formula.id, value) && value == 1;
    };
    return is_one(in.weight) && (!in.threshold || is_one(*in.threshold)) &&
           out.emissions.size() == 1 && is_one(out.emissions[0].count);
  }

  std::vector<std::int64_t> counter_value(std::size_t p) const {
    const Marking::Tokens& given = marking_[static_cast<PlaceId>(p)];
    if (given.count == 1) return given.values;
    std::vector<std::int64_t> values;
    for (const Initial& group : declared_.places[p].initial) {
      if (param_value(declared_, params_, group.count, "a number of tokens", 0) == 0) continue;
      for (const Formula& field : group.fields)
        values.push_back(eval_params(declared_.exprs, field.id, params_));
    }
    return values;
  }

  // Per input arc, whether it is of a counter that some of the formulas read, directly or as what
  // another such counter becomes.
  std::vector<char> counters_read(std::size_t t) const {
    const Transition& transition = net_.transitions[t];
    std::vector<char> read(transition.inputs.size(), 0);
    std::vector<std::uint32_t> open;
    const auto look_at = [&](const Formula& formula, const char* what) {
      const Reads reads = net_.exprs.reads(formula.id);
      if (!reads.occupancy.empty() || !reads.free.empty())
        refuse(t, fmt::format("has a {} that depends on how full a place is", what));
      for (const std::uint32_t arc : reads.tokens) {
        if (!is_counter(static_cast<std::size_t>(transition.inputs[arc].place)))
          refuse(t, fmt::format("has a {} that depends on tokens of '{}'", what,
                                net_[transition.inputs[arc].place].name));
        if (!read[arc]) open.push_back(arc);
        read[arc] = 1;
      }
    };
    look_at(transition.delay, "delay");
    if (transition.interval) look_at(*transition.interval, "interval");
    for (const InputArc& arc : transition.inputs) {
      look_at(arc.weight, "weight");
      if (arc.threshold) look_at(*arc.threshold, "threshold");
    }
    for (const OutputArc& arc : transition.outputs)
      for (const Emission& emission : arc.emissions) look_at(emission.count, "count");
    while (!open.empty()) {
      const InputArc& arc = transition.inputs[open.back()];
      open.pop_back();
      const Use put = producers_[static_cast<std::size_t>(arc.place)][0];
      for (const Formula& field : transition.outputs[put.arc].emissions[0].fields)
        look_at(field, "counter");
    }
    return read;
  }

  std::int64_t value(std::size_t t, const Formula& formula, Scope& scope, const char* what) const {
    std::int64_t found = 0;
    try {
      found = eval(net_.exprs, formula.id, scope);
    } catch (const EvalFault&) {
      refuse(t, fmt::format("has a {} without a value", what));
    }
    if (found < 0) refuse(t, fmt::format("has a negative {}", what));
    return found;
  }

  // What a transition does, phase by phase: per state of its counters, until one comes again.
  struct Behaviour {
    std::size_t once = 0;
    std::vector<std::int64_t> delays, intervals;
    std::vector<std::vector<std::int64_t>> taken, needed, put;  // per arc and phase
  };

  Behaviour follow(std::size_t t) const {
    const Transition& transition = net_.transitions[t];
    const std::vector<char> read = counters_read(t);
    std::vector<std::uint32_t> arcs;
    std::vector<std::vector<std::int64_t>> state;
    for (std::uint32_t a = 0; a < read.size(); ++a) {
      if (!read[a]) continue;
      arcs.push_back(a);
      state.push_back(counter_value(static_cast<std::size_t>(transition.inputs[a].place)));
    }
    Behaviour behaviour;
    behaviour.taken.resize(transition.inputs.size());
    behaviour.needed.resize(transition.inputs.size());
    behaviour.put.resize(transition.outputs.size());
    std::map<std::vector<std::vector<std::int64_t>>, std::size_t> seen;
    for (;;) {
      const auto [known, is_new] = seen.emplace(state, seen.size());
      if (!is_new) {
        behaviour.once = known->second;
        return behaviour;
      }
      if (seen.size() > kMostPhases)
        refuse(t, fmt::format("has counters that take more than {} values", kMostPhases));
      Scope scope(params_);
      scope.tokens.resize(transition.inputs.size());
      scope.weights.resize(transition.inputs.size());
      for (std::size_t k = 0; k < arcs.size(); ++k) scope.tokens[arcs[k]] = &state[k];
      add_phase(t, scope, behaviour);
      std::vector<std::vector<std::int64_t>> next;
      for (const std::uint32_t a : arcs) next.push_back(next_value(t, a, scope));
      state = std::move(next);
    }
  }

  // What the counter of arc `a` becomes.
  std::vector<std::int64_t> next_value(std::size_t t, std::uint32_t a, Scope& scope) const {
    const Transition& transition = net_.transitions[t];
    const PlaceId place = transition.inputs[a].place;
    const Use put = producers_[static_cast<std::size_t>(place)][0];
    const std::vector<Field>& fields = net_.type_of(place).fields;
    std::vector<std::int64_t> values;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      try {
        values.push_back(
            eval(net_.exprs, transition.outputs[put.arc].emissions[0].fields[f].id, scope));
      } catch (const EvalFault&) {
        refuse(t, fmt::format("has no value for '{}' of its counter '{}'", fields[f].name,
                              net_[place].name));
      }
      const Range range = fields[f].range.value_or(Range{});
      if (values.back() < range.lo || values.back() > range.hi)
        refuse(t, fmt::format("makes {} of '{}' of its counter '{}', which is out of range",
                              values.back(), fields[f].name, net_[place].name));
    }
    return values;
  }

  void add_phase(std::size_t t, Scope& scope, Behaviour& behaviour) const {
    const Transition& transition = net_.transitions[t];
    for (std::size_t a = 0; a < transition.inputs.size(); ++a) {
      const InputArc& arc = transition.inputs[a];
      scope.weights[a] = value(t, arc.weight, scope, "weight");
      behaviour.taken[a].push_back(scope.weights[a]);
      behaviour.needed[a].push_back(
          arc.threshold ? std::max(scope.weights[a], value(t, *arc.threshold, scope, "threshold"))
                        : scope.weights[a]);
    }
    behaviour.delays.push_back(value(t, transition.delay, scope, "delay"));
    behaviour.intervals.push_back(
        transition.interval ? value(t, *transition.interval, scope, "interval") : 0);
    for (std::size_t a = 0; a < transition.outputs.size(); ++a) {
      Wide count = 0;
      for (const Emission& emission : transition.outputs[a].emissions)
        count += value(t, emission.count, scope, "count");
      if (count > INT64_MAX / 2) refuse(t, "puts more tokens than 62 bits count");
      behaviour.put[a].push_back(static_cast<std::int64_t>(count));
    }
  }

  static Phases split(const std::vector<std::int64_t>& values, std::size_t once) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(once);
    return {{values.begin(), middle}, {middle, values.end()}};
  }

  void add_actor(std::size_t t) {
    const Transition& transition = net_.transitions[t];
    if (transition.clock) refuse(t, "has a clock of its own");
    Behaviour behaviour = follow(t);
    const std::size_t once = behaviour.once;
    const Phases one = split(std::vector<std::int64_t>(behaviour.delays.size(), 1), once);
    result_.graph.actors.push_back({transition.name, split(behaviour.delays, once)});
    if (transition.servers) {
      const std::int64_t servers =
          param_value(declared_, params_, *transition.servers, "servers", 1);
      add_channel({transition.name, t, t, one, one, servers, {}, {}}, std::nullopt);
    }
    if (transition.interval)
      add_channel({transition.name, t, t, one, one, 1, {}, split(behaviour.intervals, once)},
                  std::nullopt);
    behaviours_.push_back(std::move(behaviour));
  }

  void add_channel(Channel channel, std::optional<PlaceId> place) {
    result_.graph.channels.push_back(std::move(channel));
    result_.places.push_back(place);
  }

  void add_place(std::size_t p) {
    const auto some = [](const std::vector<std::int64_t>& values) {
      return std::any_of(values.begin(), values.end(), [](std::int64_t v) { return v > 0; });
    };
    std::vector<Use> producers, takers;
    for (const Use use : producers_[p])
      if (some(behaviours_[use.transition].put[use.arc])) producers.push_back(use);
    for (const Use use : takers_[p])
      if (some(behaviours_[use.transition].needed[use.arc])) takers.push_back(use);
    if (producers.size() > 1 || takers.size() > 1) {
      refuse((producers.size() > 1 ? producers : takers)[1].transition,
             fmt::format("shares place '{}' with another", net_.places[p].name));
    }
    if (takers.empty()) return;
    const Use taker = takers[0];
    const Behaviour& takes = behaviours_[taker.transition];
    if (!some(takes.taken[taker.arc]))
      refuse(taker.transition, "looks at tokens without taking them");
    if (producers.empty()) {
      if (!net_.places[p].start)
        refuse(taker.transition,
               fmt::format("takes from place '{}', which nothing fills", net_.places[p].name));
      return;
    }
    const Use producer = producers[0];
    const Behaviour& puts = behaviours_[producer.transition];
    Channel channel{net_.places[p].name,
                    producer.transition,
                    taker.transition,
                    split(puts.put[producer.arc], puts.once),
                    split(takes.taken[taker.arc], takes.once),
                    tokens(p),
                    {},
                    {}};
    if (takes.needed[taker.arc] != takes.taken[taker.arc])
      channel.needed = split(takes.needed[taker.arc], takes.once);
    add_channel(std::move(channel), static_cast<PlaceId>(p));
  }

  const Net& declared_;
  const Net& net_;
  const ParamValues& params_;
  const Marking& marking_;
  std::vector<std::vector<Use>> producers_, takers_;  // per place
  std::vector<Behaviour> behaviours_;                 // per transition
  NetGraph result_;
};

}  // namespace

NetGraph net_graph(const Net& declared, const Net& lowered, const ParamValues& params,
                   const Marking& marking) {
  return Reader(declared, lowered, params, marking).run();
}

}  // namespace lpn::pi

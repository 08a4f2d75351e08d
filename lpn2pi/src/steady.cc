#include "lpn/pi/steady.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"
#include "lpn/net/lower.h"

namespace lpn::pi {

namespace {

// Events per round; larger ones would be a mistake in the weights rather than a net to analyse.
constexpr std::int64_t kMostEvents = 1'000'000;

struct Arc {
  std::size_t transition = 0;
  std::int64_t tokens = 0;  // put or taken per firing
  std::int64_t needed = 0;  // of a taker
};

class Events {
 public:
  Events(const Net& net, const ParamValues& params, const Marking& marking)
      : declared_(net), net_(lower(net)), params_(params), marking_(marking) {}

  SteadyState run() {
    collect();
    balance();
    number();
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) own_arcs(t);
    for (std::size_t p = 0; p < net_.places.size(); ++p) place_arcs(p);
    return result();
  }

 private:
  [[noreturn]] void refuse(std::size_t t, const std::string& why) const {
    throw Error("E-pi", fmt::format("transition '{}' {}: the steady state is known for constant "
                                    "delays, weights and counts only, one producer and one taker "
                                    "per place",
                                    net_.transitions[t].name, why));
  }

  // A formula over parameters. `what` belongs behind the transition's name.
  std::int64_t constant(std::size_t t, const Formula& formula, const char* what) const {
    if (!net_.exprs.reads(formula.id).only_params()) {
      refuse(t, fmt::format("has a {} that depends on tokens", what));
    }
    return value(formula);
  }

  std::int64_t value(const Formula& formula) const {
    try {
      return eval_params(net_.exprs, formula.id, params_);
    } catch (const EvalFault&) {
      throw Error("E-param-value", "a formula over the parameters has no value");
    }
  }

  void collect() {
    producers_.resize(net_.places.size());
    takers_.resize(net_.places.size());
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      const Transition& transition = net_.transitions[t];
      delays_.push_back(constant(t, transition.delay, "delay"));
      if (transition.clock) refuse(t, "has a clock of its own");
      for (const InputArc& arc : transition.inputs) {
        if (arc.inhibit || arc.guard) refuse(t, "has a guard or needs a place to be empty");
        const std::int64_t weight = constant(t, arc.weight, "weight");
        const std::int64_t needed =
            arc.threshold ? std::max(weight, constant(t, *arc.threshold, "threshold")) : weight;
        if (weight == 0) refuse(t, "looks at tokens without taking them");
        takers_[static_cast<std::size_t>(arc.place)].push_back({t, weight, needed});
      }
      for (const OutputArc& arc : transition.outputs) {
        std::int64_t count = 0;
        for (const Emission& emission : arc.emissions)
          count += constant(t, emission.count, "count");
        if (count > 0) producers_[static_cast<std::size_t>(arc.place)].push_back({t, count, 0});
      }
    }
    for (std::size_t p = 0; p < net_.places.size(); ++p) {
      if (producers_[p].size() > 1 || takers_[p].size() > 1) {
        refuse((producers_[p].size() > 1 ? producers_ : takers_)[p][1].transition,
               fmt::format("shares place '{}' with another", net_.places[p].name));
      }
    }
  }

  // How often each transition fires per round, so that every place gains what it loses.
  void balance() {
    const std::size_t n = net_.transitions.size();
    std::vector<Ratio> rate(n, Ratio{0, 1});
    std::vector<std::vector<std::size_t>> near(n);
    for (std::size_t p = 0; p < net_.places.size(); ++p) {
      if (!between(p)) continue;
      near[producers_[p][0].transition].push_back(p);
      near[takers_[p][0].transition].push_back(p);
    }
    repetitions_.assign(n, 1);
    for (std::size_t root = 0; root < n; ++root) {
      if (rate[root].num != 0) continue;
      rate[root] = {1, 1};
      std::vector<std::size_t> part{root};
      std::int64_t common = 1;
      for (std::size_t k = 0; k < part.size(); ++k) {
        const std::size_t t = part[k];
        for (const std::size_t p : near[t]) {
          const Arc &put = producers_[p][0], &taken = takers_[p][0];
          const bool forward = put.transition == t;
          const std::size_t other = forward ? taken.transition : put.transition;
          const std::int64_t up = forward ? put.tokens : taken.tokens;
          const std::int64_t down = forward ? taken.tokens : put.tokens;
          const Ratio wanted = make_ratio(rate[t].num * up, rate[t].den * down);
          if (wanted.num > kMostEvents || wanted.den > kMostEvents)
            refuse(t, "fires too rarely or too often beside the others");
          if (rate[other].num == 0) {
            rate[other] = wanted;
            part.push_back(other);
          } else if (!(rate[other] == wanted)) {
            refuse(t, fmt::format("lets tokens pile up or run out in place '{}'",
                                  net_.places[p].name));
          }
        }
      }
      for (const std::size_t t : part) {
        common = std::lcm(common, rate[t].den);
        if (common > kMostEvents) refuse(t, "fires too rarely or too often beside the others");
      }
      std::int64_t divisor = 0;
      for (const std::size_t t : part)
        divisor = std::gcd(divisor, rate[t].num * (common / rate[t].den));
      for (const std::size_t t : part)
        repetitions_[t] = rate[t].num * (common / rate[t].den) / divisor;
    }
  }

  bool between(std::size_t p) const { return !producers_[p].empty() && !takers_[p].empty(); }

  void number() {
    std::int64_t events = 0;
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      first_.push_back(static_cast<std::size_t>(events));
      for (std::int64_t k = 0; k < repetitions_[t]; ++k) owner_.push_back(t);
      events += repetitions_[t];
      if (events > kMostEvents) refuse(t, "fires too rarely or too often beside the others");
    }
  }

  // Firing `k` of `to` in a round waits for firing `index` of `from`, counted from the same round.
  void wait(std::size_t from, std::int64_t index, std::size_t to, std::int64_t k,
            std::int64_t delay, std::optional<std::size_t> place) {
    const std::int64_t rounds = floor_div(index, repetitions_[from]);
    if (rounds > 0) refuse(to, "needs more tokens than a round brings");
    arcs_.push_back({first_[from] + static_cast<std::size_t>(index - rounds * repetitions_[from]),
                     first_[to] + static_cast<std::size_t>(k), delay, -rounds});
    place_of_.push_back(place);
  }

  void own_arcs(std::size_t t) {
    const Transition& transition = net_.transitions[t];
    for (std::int64_t k = 0; k < repetitions_[t]; ++k) {
      if (transition.servers) {
        const std::int64_t servers = value(*transition.servers);
        if (servers < 1) throw Error("E-param-value", "servers must be at least 1");
        wait(t, k - servers, t, k, delays_[t], std::nullopt);
      }
      if (transition.interval) {
        const std::int64_t interval = constant(t, *transition.interval, "interval");
        if (interval > 0) wait(t, k - 1, t, k, interval, std::nullopt);
      }
    }
  }

  void place_arcs(std::size_t p) {
    if (takers_[p].empty()) return;
    const Arc& taker = takers_[p][0];
    if (producers_[p].empty()) {
      if (!net_.places[p].start)
        refuse(taker.transition,
               fmt::format("takes from place '{}', which nothing fills", net_.places[p].name));
      return;
    }
    const Arc& put = producers_[p][0];
    const std::int64_t there = tokens(p);
    for (std::int64_t k = 0; k < repetitions_[taker.transition]; ++k) {
      const std::int64_t missing = k * taker.tokens + taker.needed - there;
      wait(put.transition, ceil_div(missing, put.tokens) - 1, taker.transition, k,
           delays_[put.transition], p);
    }
  }

  std::int64_t initial(std::size_t p) const {
    std::int64_t count = 0;
    for (const Initial& tokens : declared_.places[p].initial) count += value(tokens.count);
    return count + static_cast<std::int64_t>(marking_[static_cast<PlaceId>(p)].count);
  }
  std::int64_t tokens(std::size_t p) const {
    const auto& of = net_.places[p].credit_of;
    if (!of) return initial(p);
    const auto full = static_cast<std::size_t>(*of);
    return value(*declared_.places[full].capacity) - initial(full);
  }

  SteadyState result() const {
    const Cycles cycles = slowest_cycles(owner_.size(), arcs_);
    SteadyState state;
    for (const Cycle& cycle : cycles.cycles) {
      Loop loop{cycle.ratio, {}, {}};
      for (const std::size_t a : cycle.arcs) {
        loop.transitions.push_back(static_cast<TransitionId>(owner_[arcs_[a].from]));
        if (place_of_[a]) loop.places.push_back(static_cast<PlaceId>(*place_of_[a]));
      }
      state.loops.push_back(std::move(loop));
    }
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      SteadyState::Pace pace{{0, 1}, cycles.paced_by[first_[t]], repetitions_[t]};
      if (pace.loop != kNoCycle) {
        const Ratio round = cycles.cycles[pace.loop].ratio;
        pace.gap = make_ratio(round.num, round.den * repetitions_[t]);
      }
      state.paces.push_back(pace);
    }
    return state;
  }

  const Net& declared_;
  Net net_;
  const ParamValues& params_;
  const Marking& marking_;
  std::vector<std::vector<Arc>> producers_, takers_;  // per place
  std::vector<std::int64_t> delays_, repetitions_;    // per transition
  std::vector<std::size_t> first_;                    // per transition: its first event
  std::vector<std::size_t> owner_;                    // per event
  std::vector<EventArc> arcs_;
  std::vector<std::optional<std::size_t>> place_of_;  // per arc
};

}  // namespace

SteadyState steady_state(const Net& net, const ParamValues& params, const Marking& marking) {
  return Events(net, params, marking).run();
}

}  // namespace lpn::pi

#include "lpn/smt/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "lpn/base/error.h"
#include "lpn/base/exact.h"
#include "lpn/classes/differences.h"
#include "lpn/expr/eval.h"
#include "lpn/net/lower.h"
#include "unordered_waits.h"

namespace lpn::smt {

Measures::Measures(const Net& net, InputSpace& space, Path& path)
    : declared_(net),
      net_(lower(net)),
      space_(space),
      path_(path),
      zero_(space.variables.exprs.constant(0)) {}

InstantId Measures::latest(std::vector<Timing::Arc> after) {
  return path_.timing.latest(std::move(after), zero_);
}

Measure Measures::latency() {
  if (path_.outcome != Outcome::kLatency) {
    throw Error("E-measure", declared_.name + ": some inputs have no latency: " + path_.trouble);
  }
  return {{{1, path_.latency}}, 0};
}

// Starts are in the order of their numbers, so what one firing adds begins where all before it end.
Measure Measures::busy(TransitionId transition) {
  Measure measure;
  InstantId end = kTimeZero;
  for (const TimedFiring& firing : path_.firings) {
    if (firing.transition != transition) continue;
    const InstantId start = firing.start, commit = firing.commit;
    const InstantId from = latest({{start, zero_}, {end, zero_}});
    end = latest({{end, zero_}, {commit, zero_}});
    measure.instants.emplace_back(1, end);
    measure.instants.emplace_back(-1, from);
  }
  return measure;
}

bool Measures::concerns(const InputArc& arc, PlaceId place) const {
  return !arc.inhibit && (arc.place == place || net_[arc.place].credit_of == place);
}

const Transition& Measures::waiting(TransitionId transition, PlaceId place) const {
  const Transition& t = net_[transition];
  const auto refuse = [&](const std::string& why) {
    throw Error("E-measure", fmt::format("{} {}", t.name, why));
  };
  if (std::none_of(t.inputs.begin(), t.inputs.end(),
                   [&](const InputArc& arc) { return concerns(arc, place); })) {
    refuse(
        fmt::format("never waits for {}: it neither takes tokens from it nor fills it while it is "
                    "bounded",
                    net_[place].name));
  }
  if (path_.unordered.size() != net_.places.size()) refuse("never starts: " + path_.trouble);
  for (const InputArc& arc : t.inputs) {
    if (arc.inhibit) {
      refuse(
          fmt::format("is inhibited by {}, so what it waits for alone is not known; ask for the "
                      "latency instead",
                      net_[arc.place].name));
    }
    if (!arc.guard) continue;
    const Reads reads = net_.exprs.reads(arc.guard->id);
    if (!reads.occupancy.empty() || !reads.free.empty()) {
      refuse(
          fmt::format("has a guard on {} that counts tokens, so what it waits for alone is not "
                      "known; ask for the latency instead",
                      arc.name));
    }
  }
  return t;
}

// Where tokens come in an order that differs by input, the instant at which so many are there is a
// least of largest ones, which the sums of unordered_waits.h say.
Measure Measures::stall(TransitionId transition, PlaceId place) {
  const Transition& t = waiting(transition, place);
  const bool clocked = t.clock.has_value();
  Measure measure;
  UnorderedWaits waits(path_, space_, net_, zero_);
  for (std::size_t n = 0; n < path_.firings.size(); ++n) {
    const TimedFiring firing = path_.firings[n];
    waits.pass(n);
    if (firing.transition != transition) continue;
    std::vector<Timing::Arc> others = firing.other, all = firing.other;
    std::vector<std::size_t> loose, loose_others;  // arcs from places without order
    for (std::size_t a = 0; a < t.inputs.size(); ++a) {
      if (firing.need[a] == 0) continue;
      const bool other = !concerns(t.inputs[a], place);
      if (path_.unordered[static_cast<std::size_t>(t.inputs[a].place)]) {
        loose.push_back(a);
        if (other) loose_others.push_back(a);
      } else {
        all.push_back({firing.ready[a], zero_});
        if (other) others.push_back({firing.ready[a], zero_});
      }
    }
    const auto add = [&](std::int64_t weight, const std::vector<Timing::Arc>& after,
                         const std::vector<std::size_t>& arcs) {
      for (auto& [sign, some] : waits.sum(firing, after, arcs)) {
        measure.instants.emplace_back(weight * sign, latest(std::move(some)));
      }
    };
    if (clocked) {
      add(1, all, loose);
    } else {
      measure.instants.emplace_back(1, firing.start);
    }
    add(-1, others, loose_others);
  }
  return measure;
}

std::int64_t Measures::stall_of(TransitionId transition, PlaceId place,
                                const Assignment& input) const {
  const Transition& t = waiting(transition, place);
  const std::vector<Time> times = evaluate(path_.timing, space_, input);
  const auto time = [&](InstantId v) { return times.at(static_cast<std::size_t>(v)); };
  // Tokens leave a place as they came, so the k-th that is needed is the k-th that comes.
  std::vector<std::vector<Time>> arrivals(net_.places.size());
  std::vector<std::uint64_t> taken(net_.places.size(), 0);
  for (std::size_t p = 0; p < arrivals.size(); ++p) arrivals[p].assign(path_.given[p], 0);
  for (const TimedFiring& firing : path_.firings) {
    const Transition& from = net_[firing.transition];
    for (std::size_t o = 0; o < from.outputs.size(); ++o) {
      auto& there = arrivals[static_cast<std::size_t>(from.outputs[o].place)];
      there.insert(there.end(), firing.produced[o], time(firing.commit));
    }
  }
  for (auto& there : arrivals) std::sort(there.begin(), there.end());
  std::int64_t sum = 0;
  for (const TimedFiring& firing : path_.firings) {
    const Transition& from = net_[firing.transition];
    if (firing.transition == transition) {
      Time others = 0, all = 0;
      for (const Timing::Arc& arc : firing.other) {
        others = std::max(others,
                          time(arc.from) + eval_params(space_.variables.exprs, arc.delay, input));
      }
      all = others;
      for (std::size_t a = 0; a < t.inputs.size(); ++a) {
        if (firing.need[a] == 0) continue;
        const auto p = static_cast<std::size_t>(t.inputs[a].place);
        const Time there = arrivals[p].at(taken[p] + firing.need[a] - 1);
        all = std::max(all, there);
        if (!concerns(t.inputs[a], place)) others = std::max(others, there);
      }
      sum += all - others;
    }
    for (std::size_t a = 0; a < from.inputs.size(); ++a) {
      taken[static_cast<std::size_t>(from.inputs[a].place)] += firing.taken[a];
    }
  }
  return sum;
}

Measure Measures::completion(std::uint64_t k) {
  struct Production {
    InstantId at{};
    std::uint64_t tokens = 0;
  };
  std::vector<Production> productions;
  for (const TimedFiring& firing : path_.firings) {
    const Transition& t = net_[firing.transition];
    Production one{firing.commit, 0};
    for (std::size_t o = 0; o < t.outputs.size(); ++o) {
      if (net_[t.outputs[o].place].done) one.tokens += firing.produced[o];
    }
    if (one.tokens > 0) productions.push_back(one);
  }
  Differences differences(path_.timing, space_);
  for (std::size_t i = 1; i < productions.size(); ++i) {
    for (std::size_t j = i; j > 0; --j) {
      Production &before = productions[j - 1], &after = productions[j];
      if (differences.upper(before.at, after.at) <= 0) break;
      if (differences.upper(after.at, before.at) > 0) {
        throw Error(
            "E-partition",
            fmt::format("{}: within a class it depends on the input which of two transitions "
                        "produces done token {}; reachable states, or a run of every input, "
                        "tell when",
                        declared_.name, k));
      }
      std::swap(before, after);
    }
  }
  std::uint64_t produced = 0;
  for (const Production& one : productions) {
    produced += one.tokens;
    if (k >= 1 && produced >= k) return {{{1, one.at}}, 0};
  }
  throw Error("E-measure", fmt::format("{}: there is no done token {}: {} are produced",
                                       declared_.name, k, produced));
}

Measure Measures::commits(TransitionId transition) {
  Measure measure;
  for (const TimedFiring& firing : path_.firings) {
    if (firing.transition == transition) ++measure.constant;
  }
  return measure;
}

std::int64_t value(const Measure& measure, const std::vector<Time>& times) {
  try {
    Exact<Wide> sum = measure.constant;
    for (const auto& [weight, instant] : measure.instants) {
      sum += Exact<Wide>{weight} * times[static_cast<std::size_t>(instant)];
    }
    return sum.narrow();
  } catch (const Inexact&) {
    throw Error("E-overflow", "a sum of instants of this input does not fit in 64 bits");
  }
}

}  // namespace lpn::smt

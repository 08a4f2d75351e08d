#include "lpn/smt/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"
#include "lpn/classes/differences.h"
#include "lpn/net/lower.h"

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

Measure Measures::stall(TransitionId transition, PlaceId place) {
  const Transition& t = net_[transition];
  const auto concerns = [&](const InputArc& arc) {
    return !arc.inhibit && (arc.place == place || net_[arc.place].credit_of == place);
  };
  if (std::none_of(t.inputs.begin(), t.inputs.end(), concerns)) {
    throw Error("E-measure",
                fmt::format("{} never waits for {}: it neither takes tokens from it nor fills it "
                            "while it is bounded",
                            t.name, net_[place].name));
  }
  Measure measure;
  for (std::size_t n = 0; n < path_.firings.size(); ++n) {
    if (path_.firings[n].transition != transition) continue;
    const TimedFiring firing = path_.firings[n];
    std::vector<Timing::Arc> others = firing.other, all = firing.other;
    for (std::size_t a = 0; a < t.inputs.size(); ++a) {
      all.push_back({firing.ready[a], zero_});
      if (!concerns(t.inputs[a])) others.push_back({firing.ready[a], zero_});
    }
    const InstantId ready = latest(std::move(all)), otherwise = latest(std::move(others));
    if (ready == otherwise) continue;
    measure.instants.emplace_back(1, ready);
    measure.instants.emplace_back(-1, otherwise);
  }
  return measure;
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
        throw Error("E-measure", fmt::format("{}: it depends on the input which of two transitions "
                                             "produces done token {}; ask for the latency instead",
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
  Wide sum = measure.constant;
  for (const auto& [weight, instant] : measure.instants) {
    sum += Wide{weight} * times[static_cast<std::size_t>(instant)];
  }
  if (sum != static_cast<std::int64_t>(sum)) {
    throw Error("E-overflow", "a sum of instants of this input does not fit in 64 bits");
  }
  return static_cast<std::int64_t>(sum);
}

}  // namespace lpn::smt

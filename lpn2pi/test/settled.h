// The pace of a net by simulation: the interpreter runs until rounds repeat exactly.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "lpn/pi/cycles.h"
#include "lpn/run/interp.h"

namespace lpn::pi {

class Starts : public Observer {
 public:
  explicit Starts(std::size_t transitions) : of(transitions) {}
  void on_commit(const Commit& commit) override {
    auto& times = of[static_cast<std::size_t>(commit.transition)];
    if (commit.firing >= times.size()) times.resize(commit.firing + 1, -1);
    times[commit.firing] = commit.start;
  }
  std::vector<std::vector<Time>> of;
};

// The gap that a simulation settles at: over the shortest number of rounds after which the last
// three quarters of the run repeat exactly. None: not settled yet.
inline std::optional<Ratio> settled(const std::vector<std::vector<Time>>& starts,
                                    const std::vector<std::int64_t>& repetitions,
                                    std::size_t rounds) {
  for (std::size_t cycle = 1; cycle <= rounds / 4; ++cycle) {
    std::optional<Time> shift;
    bool repeats = true;
    for (std::size_t t = 0; t < starts.size() && repeats; ++t) {
      const auto r = static_cast<std::size_t>(repetitions[t]);
      for (std::size_t k = rounds / 4 * r; k + cycle * r < rounds * r && repeats; ++k) {
        const Time here = starts[t][k + cycle * r] - starts[t][k];
        if (!shift) shift = here;
        repeats = here == *shift;
      }
    }
    if (repeats && shift) return make_ratio(*shift, static_cast<std::int64_t>(cycle));
  }
  return std::nullopt;
}

// Rounds of the net that a simulation has completed.
inline std::size_t rounds_of(const Starts& starts, const std::vector<std::int64_t>& repetitions) {
  std::size_t rounds = SIZE_MAX;
  for (std::size_t t = 0; t < repetitions.size(); ++t)
    rounds = std::min(rounds, starts.of[t].size() / static_cast<std::size_t>(repetitions[t]));
  return rounds;
}

// Ticks per round in the long run; `repetitions`: firings per round of each transition. None: the
// net comes to a stop.
inline std::optional<Ratio> simulated_round(const Net& net,
                                            const std::vector<std::int64_t>& repetitions) {
  InterpOptions options;
  options.trace = true;
  options.group_limit = 10'000;  // at one instant: what is endless there ends soon
  Interp interp(net, {}, Marking(net), options);
  Starts starts(net.transitions.size());
  for (Time limit = 2'000;; limit *= 3) {
    REQUIRE(limit < 20'000'000);
    if (interp.run(limit, &starts).ending == Ending::kQuiet) return std::nullopt;
    const std::size_t rounds = rounds_of(starts, repetitions);
    if (rounds < 40) continue;
    const std::optional<Ratio> round = settled(starts.of, repetitions, rounds - 2);
    if (round) return round;
  }
}

}  // namespace lpn::pi

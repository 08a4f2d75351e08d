// Random nets that do something: small, of every feature, biased towards running for a while.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "case.h"

namespace lpn::bench {

// splitmix64: the same numbers on every machine, for ever.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }
  std::int64_t between(std::int64_t lo, std::int64_t hi) { return lo + below(hi - lo + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename Items>
  const auto& pick(const Items& items) {
    return items[static_cast<std::size_t>(below(static_cast<std::int64_t>(items.size())))];
  }

 private:
  std::uint64_t state_;
};

// What the nets are to be about. All but the usual ones are small: most of what goes wrong needs
// few transitions, and a small net compiles several times as fast.
enum class Profile {
  kUsual,   // a little of everything
  kTies,    // contested places, everything at the same instants
  kFar,     // times up to the last instant there is
  kErrors,  // formulas that are not wrapped into the range that their use demands
  kClocks,  // clocks and intervals, of every period, also far ones
  kWide,    // up to 64 properties
  kCounts,  // many tokens at once
  kBits,    // operators on bits
  kStatic,  // firings that repeat in a sequence known beforehand (static_net.h)
  kEqual,   // copies of a part (equal_net.h)
  kRoutes,  // tokens told apart by a value, for a transition each (random_route.h)
  kSystem,  // parts with clocks and single servers, asking at ports (system_net.h)
  kFolds,   // folds over tokens that several formulas of a transition have
};
inline constexpr int kProfiles = 13;
const char* profile_name(Profile profile);
// Throws lpn::Error "E-case" naming those there are.
Profile profile_named(const std::string& name);

// Always passes verify(); the fuzzer reports it as a difference when it does not.
Net random_net(Random& random, Profile profile = Profile::kUsual);

// Parameters and tokens for `net`, and one run without limit.
Case random_inputs(const Net& net, Random& random);

// What is done to the case from outside, over about [0, horizon]: runs step by step, pushes.
std::vector<Step> random_steps(const Case& c, Time horizon, Random& random,
                               Profile profile = Profile::kUsual);

}  // namespace lpn::bench

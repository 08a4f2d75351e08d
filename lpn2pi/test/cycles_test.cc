#include "lpn/pi/cycles.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "lpn/base/error.h"

using namespace lpn;
using namespace lpn::pi;

TEST_CASE("cycles: ratios are exact and in lowest terms") {
  CHECK(make_ratio(6, 4) == Ratio{3, 2});
  CHECK(make_ratio(0, 7) == Ratio{0, 1});
  CHECK(Ratio{1, 3} < Ratio{2, 5});
  CHECK(!(Ratio{2, 5} < Ratio{2, 5}));
}

namespace {

bool forever() { return true; }

std::optional<Cycle> slowest(std::size_t events, const std::vector<EventArc>& arcs) {
  return slowest_cycle(events, arcs, forever);
}

}  // namespace

TEST_CASE("cycles: of two that share an event the slower one is found") {
  // 0 -> 1 -> 0 takes 3 + 4 for 2 tokens, 0 -> 2 -> 0 takes 3 + 1 for 1.
  const auto found = slowest(3, {{0, 1, 3, 0}, {1, 0, 4, 2}, {0, 2, 3, 0}, {2, 0, 1, 1}});
  REQUIRE(found);
  CHECK(found->ratio == Ratio{4, 1});
  CHECK(found->arcs == std::vector<std::size_t>{2, 3});
}

TEST_CASE("cycles: of several components the slowest one counts") {
  const auto found =
      slowest(4, {{0, 0, 5, 1}, {0, 1, 1, 0}, {1, 1, 2, 1}, {1, 2, 1, 0}, {3, 2, 9, 0}});
  REQUIRE(found);
  CHECK(found->ratio == Ratio{5, 1});
  CHECK(found->arcs == std::vector<std::size_t>{0});
}

TEST_CASE("cycles: arcs of fewer tokens than none, and cycles of none") {
  // -2 and 3 tokens: one token for 4.
  CHECK(slowest(2, {{0, 1, 1, -2}, {1, 0, 3, 3}})->ratio == Ratio{4, 1});
  CHECK(slowest(2, {{0, 1, 1, 0}, {1, 0, 1, 0}})->ratio == Ratio{1, 0});
  CHECK(slowest(2, {{0, 1, 1, -2}, {1, 0, 1, 1}})->ratio == Ratio{1, 0});
  // Neither delay nor tokens says nothing, alone or chosen first.
  CHECK(!slowest(2, {{0, 1, 0, 0}, {1, 0, 0, 0}}));
  CHECK(!slowest(2, {{0, 1, 0, 2}, {1, 0, 0, -2}}));
  CHECK(!slowest(1, {{0, 0, 0, 1}}));
  const auto found = slowest(3, {{0, 1, 0, 0}, {1, 0, 0, 0}, {1, 2, 0, 1}, {2, 1, 7, 1}});
  REQUIRE(found);
  CHECK(found->ratio == Ratio{7, 2});
}

TEST_CASE("cycles: random ones against all cycles enumerated") {
  std::mt19937_64 random(1);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int seed = 0; seed < 3'000; ++seed) {
    CAPTURE(seed);
    const auto events = static_cast<std::size_t>(1 + below(5));
    std::vector<EventArc> arcs;
    const std::int64_t count = 1 + below(10);
    for (std::int64_t k = 0; k < count; ++k) {
      arcs.push_back({static_cast<std::size_t>(below(static_cast<std::int64_t>(events))),
                      static_cast<std::size_t>(below(static_cast<std::int64_t>(events))), below(6),
                      below(5) - 1});
    }
    // Simple cycles by depth-first search from their least event.
    std::optional<Ratio> most;
    bool endless = false, backwards = false;
    std::vector<char> on_path(events);
    const std::function<void(std::size_t, std::size_t, std::int64_t, std::int64_t)> walk =
        [&](std::size_t root, std::size_t v, std::int64_t delay, std::int64_t tokens) {
          for (const EventArc& arc : arcs) {
            if (arc.from != v || arc.to < root || on_path[arc.to]) continue;
            const std::int64_t d = delay + arc.delay, t = tokens + arc.tokens;
            if (arc.to != root) {
              on_path[arc.to] = 1;
              walk(root, arc.to, d, t);
              on_path[arc.to] = 0;
              continue;
            }
            if (t <= 0 && d > 0) endless = true;
            if (t < 0 && d == 0) backwards = true;
            if (t > 0 && d > 0 && (!most || *most < make_ratio(d, t))) most = make_ratio(d, t);
          }
        };
    for (std::size_t root = 0; root < events; ++root) walk(root, root, 0, 0);
    const auto found = slowest(events, arcs);
    if (endless) {
      REQUIRE(found);
      CHECK(found->ratio == Ratio{1, 0});
    } else if (!backwards) {
      CHECK(found.has_value() == most.has_value());
      if (found && most) CHECK(found->ratio == *most);
    }
  }
}

TEST_CASE("cycles: no events, what leaves 64 bits, and a stop") {
  CHECK(!slowest(0, {}));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_WITH_AS(slowest(2, {{0, 1, kMost, 0}, {1, 0, kMost, 1}}),
                       "the delays of a loop add up to more than 64 bits hold", Error);
  CHECK_THROWS_AS(slowest_cycle(1, {{0, 0, 1, 1}}, [] { return false; }), Stopped);
  // Products that only 128 bits hold.
  constexpr std::int64_t kLarge = std::int64_t{1} << 40;
  const auto found = slowest(2, {{0, 1, kLarge, 1}, {1, 0, kLarge + 1, kLarge}, {0, 0, 2, 1}});
  REQUIRE(found);
  CHECK(found->ratio == Ratio{2, 1});  // the other is 1 / (kLarge + 1) less
}

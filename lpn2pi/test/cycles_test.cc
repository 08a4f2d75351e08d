#include "lpn/pi/cycles.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
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

TEST_CASE("cycles: of two that share an event the slower one is found") {
  // 0 -> 1 -> 0 takes 3 + 4 for 2 tokens, 0 -> 2 -> 0 takes 3 + 1 for 1.
  const Cycles found = slowest_cycles(3, {{0, 1, 3, 0}, {1, 0, 4, 2}, {0, 2, 3, 0}, {2, 0, 1, 1}});
  REQUIRE(found.cycles.size() == 1);
  CHECK(found.cycles[0].ratio == Ratio{4, 1});
  CHECK(found.cycles[0].arcs.size() == 2);
  CHECK(found.of_event == std::vector<std::size_t>{0, 0, 0});
}

TEST_CASE("cycles: an event is paced by the slowest cycle that leads to it") {
  // A loop of 5 feeds a loop of 2 and an event without a loop; nothing leads to the event 3.
  const Cycles found =
      slowest_cycles(4, {{0, 0, 5, 1}, {0, 1, 1, 0}, {1, 1, 2, 1}, {1, 2, 1, 0}, {3, 2, 9, 0}});
  REQUIRE(found.cycles.size() == 2);
  const std::size_t slow = found.of_event[0], fast = found.of_event[1];
  CHECK(found.cycles[slow].ratio == Ratio{5, 1});
  CHECK(found.cycles[fast].ratio == Ratio{2, 1});
  CHECK(found.of_event[2] == kNoCycle);
  CHECK(found.paced_by[0] == slow);
  CHECK(found.paced_by[1] == slow);
  CHECK(found.paced_by[2] == slow);
  CHECK(found.paced_by[3] == kNoCycle);
}

TEST_CASE("cycles: no events, and what cannot be") {
  CHECK(slowest_cycles(0, {}).cycles.empty());
  CHECK_THROWS_WITH_AS(slowest_cycles(2, {{0, 1, 1, 0}, {1, 0, 1, 0}}),
                       "deadlock: a loop holds no tokens", Error);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_WITH_AS(slowest_cycles(2, {{0, 1, kMost, 0}, {1, 0, kMost, 1}}),
                       "the delays of a loop add up to more than 64 bits hold", Error);
}

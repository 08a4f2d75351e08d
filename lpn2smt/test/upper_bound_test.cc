#include "upper_bound.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "by_hand.h"

using namespace lpn;
using namespace lpn::smt;

TEST_CASE("upper bound: the longest path, each unit charged once") {
  // x0 + x1 + x2 of five that add up to 20 at most.
  ByHand s;
  const std::vector<ExprId> x = s.variables(5, 0, 9);
  s.space.constraints = {s.build().le(s.sum(x), s.number(20))};
  s.chain({x[0], x[1], x[2]});
  PathUnits p(s.space, s.path, measure_of(s.target(), false));
  UpperBound bound(p, s.path.latency);
  const Box box = whole(p);

  const UpperBound::Result free = bound.solve(box, {});
  CHECK(free.total == 27);
  CHECK(free.choice == Choice{9, 9, 9, kUnset, kUnset});
  CHECK(free.slack[0] == 20 - 27);

  // The limit as a budget of which every entry is a table's.
  const UpperBound::Result kept = bound.solve(box, {.budget = 0, .multipliers = {}, .tolls = {}});
  CHECK(kept.total == 20);
  CHECK(kept.whole[0] + kept.whole[1] + kept.whole[2] == 20);
  CHECK(kept.slack[0] == 0);
  // Coarser: uses are rounded down to multiples of 8, of which the budget has 2.
  const UpperBound::Result coarse =
      bound.solve(box, {.budget = 0, .quantum = 8, .multipliers = {}, .tolls = {}});
  CHECK(coarse.total == 9 + 9 + 7);

  // As a multiplier: what a tuple adds it pays for.
  CHECK(bound.solve(box, {.budget = {}, .multipliers = {1}, .tolls = {}}).total == 20);
  CHECK(bound.solve(box, {.scale = 4, .budget = {}, .multipliers = {3}, .tolls = {}}).total ==
        3 * 20 + 27);

  // In a part of the inputs.
  Box half = box;
  half[0] = {0, 3};
  CHECK(bound.solve(half, {}).total == 2 + 9 + 9);
}

TEST_CASE("upper bound: a unit that is read twice takes one tuple") {
  ByHand s;
  const ExprId x = s.variable("x", 0, 9);
  // x, then 9 - x; or 5.
  s.path.latency =
      s.latest({{s.latest({{kTimeZero, x}}), s.linear(-1, x, 9)}, {kTimeZero, s.number(5)}});
  PathUnits p(s.space, s.path, measure_of(s.target(), false));
  UpperBound bound(p, s.path.latency);
  CHECK(bound.solve(whole(p), {}).total == 9);
  CHECK(!bound.split());
}

TEST_CASE("upper bound: gates are late by what differences allow, clocks by a period") {
  ByHand s;
  const ExprId x = s.variable("x", 0, 3), zero = s.number(0);
  const InstantId start = s.latest({{kTimeZero, x}});
  const InstantId closes = s.latest({{kTimeZero, s.number(2)}});
  const InstantId opens = s.latest({{closes, s.number(7)}});
  const InstantId gate = s.path.timing.add(
      {.kind = Timing::Kind::kGate, .after = {{start, zero}, {closes, zero}, {opens, zero}}});
  s.path.latency = s.path.timing.add(
      {.kind = Timing::Kind::kEdge, .after = {{gate, zero}}, .period = 5, .phase = 1});
  PathUnits p(s.space, s.path, measure_of(s.target(), false));
  CHECK(UpperBound(p, gate).solve(whole(p), {}).total == 9);
  const Wide edge = UpperBound(p, s.path.latency).solve(whole(p), {}).total;
  CHECK(edge >= 11);  // the first edge at or after 9
  CHECK(edge <= 9 + 4);
}

TEST_CASE(
    "upper bound: a gate is passed as it opens, or so late after the start, if that is less") {
  // It closes at y and opens a while later; what starts at x, at 3 at most, then waits at most that
  // while. Where x is read again behind the gate the two are of different units.
  for (const bool again : {false, true}) {
    for (const std::int64_t open : {0, 5, 9}) {
      for (const std::int64_t stays : {1, 4}) {
        CAPTURE(again);
        CAPTURE(open);
        CAPTURE(stays);
        ByHand s;
        const ExprId x = s.variable("x", 0, 3), y = s.variable("y", 0, open), zero = s.number(0);
        const InstantId start = s.latest({{kTimeZero, x}});
        const InstantId closes = s.latest({{kTimeZero, y}});
        const InstantId opens = s.latest({{closes, s.number(stays)}});
        const InstantId gate = s.path.timing.add(
            {.kind = Timing::Kind::kGate, .after = {{start, zero}, {closes, zero}, {opens, zero}}});
        s.path.latency = again ? s.latest({{gate, x}}) : gate;
        PathUnits p(s.space, s.path, measure_of(s.target(), false));
        Time worst = 0;
        for (std::int64_t a = 0; a <= 3; ++a) {
          for (std::int64_t b = 0; b <= open; ++b) {
            const auto times = evaluate(s.path.timing, s.space, {a, b});
            worst = std::max(worst, times[static_cast<std::size_t>(s.path.latency)]);
          }
        }
        const Wide bound = UpperBound(p, s.path.latency).solve(whole(p), {}).total;
        CHECK(bound >= worst);
        const Wide behind = again ? 3 : 0;
        CHECK(bound == behind + std::max<Wide>(3, std::min(open, std::int64_t{3}) + stays));
      }
    }
  }
}

TEST_CASE("upper bound: of more than 64 units, too, each takes one tuple") {
  ByHand s;
  const std::vector<ExprId> x = s.variables(70, 0, 9);
  for (const std::size_t twice :
       {std::size_t{0}, std::size_t{63}, std::size_t{64}, std::size_t{69}}) {
    // x, all the others, and 9 - x.
    std::vector<ExprId> delays{x[twice]};
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (k != twice) delays.push_back(x[k]);
    }
    delays.push_back(s.linear(-1, x[twice], 9));
    s.chain(delays);
    PathUnits p(s.space, s.path, measure_of(s.target(), false));
    REQUIRE(p.units().size() == 70);
    CHECK(UpperBound(p, s.path.latency).solve(whole(p), {}).total == 69 * 9 + 9);
  }
}

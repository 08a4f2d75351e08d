#include "path_units.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "by_hand.h"

using namespace lpn;
using namespace lpn::smt;

TEST_CASE("path units: what a relation ties together is a unit, a sum over units is a limit") {
  const Related s;
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  REQUIRE(p.units().size() == 6);
  const Unit& ab = p.units()[0];
  CHECK(ab.variables == std::vector<std::uint32_t>{0, 1});
  CHECK(ab.tuples == std::vector<std::int64_t>{1, 2, 2, 1});
  CHECK(p.units()[1].size == 10);
  REQUIRE(p.limits().size() == 1);
  CHECK(p.limits()[0].cap == 12);
  CHECK(p.limits()[0].functions.size() == 6);
  CHECK(p.function(p.limits()[0].functions[0]).values == std::vector<std::int64_t>{1, 2});
  CHECK(p.exact());
  CHECK(p.complete());

  // a + b is 3 for both tuples, so the first delay is a number.
  const Sum& first = p.arcs(1)[0].delay;
  CHECK(first.constant == 3);
  CHECK(first.functions.empty());
  const Sum& second = p.arcs(2)[0].delay;
  CHECK(p.least(second) == 0);
  CHECK(p.most(second) == 18);
}

TEST_CASE("path units: a choice of tuples is an input") {
  const Related s;
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  const Choice choice{1, 4, 0, 0, 0, 9};
  const Assignment input = p.assignment(choice);
  CHECK(input == Assignment{2, 1, 4, 0, 0, 0, 9});
  CHECK(p.choice(input) == choice);
  CHECK(p.estimate(choice) == 3 + 8);
  CHECK(!p.within_limits(choice));  // 2 + 4 + 9
  CHECK(!p.value(input));
  CHECK(p.within_limits({1, 4, 0, 0, 0, 6}));
  CHECK(p.value({2, 1, 4, 0, 0, 0, 6}) == 3 + 8);
  CHECK(!p.choice({1, 1, 0, 0, 0, 0, 0}));
}

TEST_CASE("path units: no tuple, no input") {
  Related s;
  s.path.conditions.push_back(s.build().lt(s.x[4], s.number(0)));
  CHECK(PathUnits(s.space, s.path, measure_of(s.target(), false)).empty());
}

TEST_CASE("path units: a condition that is no sum is left out, and said so") {
  Related s;
  s.path.conditions.push_back(s.build().eq(s.build().mod(s.sum(s.x), s.number(7)), s.number(3)));
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  CHECK(!p.exact());
  CHECK(p.relaxed() ==
        std::vector<std::string>{
            "a condition that is not a sum over few values is left out of the bound"});
  CHECK(!p.value({1, 2, 4, 0, 0, 0, 0}));  // but an input has to meet it
  CHECK(p.value({1, 2, 3, 0, 0, 0, 0}) == 3 + 6);
}

TEST_CASE("path units: no instant is beyond the magnitude, ticks of clocks counted") {
  ByHand s;
  const ExprId x = s.variable("x", 0, 9);
  const InstantId ready = s.latest({{kTimeZero, x}});
  s.path.latency = s.path.timing.add(
      {.kind = Timing::Kind::kEdge, .after = {{ready, s.number(0)}}, .period = 100});
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  CHECK(p.value({1}) == 100);
  REQUIRE(p.magnitude());
  CHECK(*p.magnitude() >= 100);
}

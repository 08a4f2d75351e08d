#include "path_units.h"

#include <doctest/doctest.h>

#include <vector>

#include "box.h"
#include "branching.h"
#include "by_hand.h"
#include "neighbourhood.h"

using namespace lpn;
using namespace lpn::smt;

namespace {

// a * b = 2, and what a adds to the five x is a limit of 12; the latency is a + b + 2 x0.
struct Sample : ByHand {
  Sample() {
    const ExprId a = variable("a", 0, 3), b = variable("b", 0, 3);
    x = variables(5, 0, 9);
    space.constraints = {build().eq(build().mul(a, b), number(2)),
                         build().le(build().add(a, sum(x)), number(12))};
    chain({build().add(a, b), linear(2, x[0], 0)});
  }
  std::vector<ExprId> x;
};

}  // namespace

TEST_CASE("path units: what a relation ties together is a unit, a sum over units is a limit") {
  const Sample s;
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
  const Sample s;
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
  Sample s;
  s.path.conditions.push_back(s.build().lt(s.x[4], s.number(0)));
  CHECK(PathUnits(s.space, s.path, measure_of(s.target(), false)).empty());
}

TEST_CASE("path units: a condition that is no sum is left out, and said so") {
  Sample s;
  s.path.conditions.push_back(s.build().eq(s.build().mod(s.sum(s.x), s.number(7)), s.number(3)));
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  CHECK(!p.exact());
  CHECK(p.relaxed() ==
        std::vector<std::string>{
            "a condition that is not a sum over few values is left out of the bound"});
  CHECK(!p.value({1, 2, 4, 0, 0, 0, 0}));  // but an input has to meet it
  CHECK(p.value({1, 2, 3, 0, 0, 0, 0}) == 3 + 6);
}

TEST_CASE("boxes: what limits leave of them") {
  const Sample s;
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  Box box = whole(p);
  CHECK(least_use(p, box) == std::vector<std::int64_t>{1});
  CHECK(binding(p, box, 0));
  CHECK(quantum(p, box, 0, 1, 100) == 1);
  CHECK(quantum(p, box, 0, 1, 4) == 3);  // 11 more than the least, in 4 entries
  for (std::size_t u = 1; u < box.size(); ++u) box[u] = {0, 2};
  CHECK(!binding(p, box, 0));  // 2 and five times 1
}

TEST_CASE("branching: where the delays vary most, between what is mixed") {
  const Sample s;
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  const DelayFunctions reads = delay_functions(p);
  CHECK(reads[0].empty());
  CHECK(reads[1].size() == 1);
  const Box box = whole(p);
  const Split widest = widest_split(p, reads, box, Choice(box.size(), 0));
  CHECK(widest.unit == 1);
  CHECK(widest.tuple == 5);
  MixedInput mixed(box.size(), {{0, 1.0}});
  mixed[1] = {{2, 0.5}, {8, 0.5}};
  const Split between = mixed_split(p, reads, box, mixed);
  CHECK(between.unit == 1);
  CHECK(between.tuple == 6);
  CHECK(rounded(p, reads, box, mixed) == Choice{0, 5, 0, 0, 0, 0});
}

TEST_CASE("neighbourhood: a choice is made an input, and the input a better one") {
  const Sample s;
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  Neighbourhood near(p, true, 1);
  Choice choice{0, 9, 9, kUnset, kUnset, kUnset};
  REQUIRE(near.repair(choice, whole(p)));
  CHECK(p.within_limits(choice));
  Time best = p.estimate(choice);
  near.polish(choice, 2000, [&](const Choice& moved, Time estimate) {
    CHECK(p.within_limits(moved));
    CHECK(estimate > best);
    best = estimate;
    return true;
  });
  CHECK(best == 3 + 18);
  Box tight = whole(p);
  for (std::size_t u = 1; u < tight.size(); ++u) tight[u] = {9, 10};
  Choice none(6, kUnset);
  CHECK(!near.repair(none, tight));
}

#include "neighbourhood.h"

#include <doctest/doctest.h>

#include <vector>

#include "by_hand.h"

using namespace lpn;
using namespace lpn::smt;

TEST_CASE("neighbourhood: a choice is made an input, and the input a better one") {
  const Related s;
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

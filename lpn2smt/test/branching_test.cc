#include "branching.h"

#include <doctest/doctest.h>

#include <vector>

#include "by_hand.h"

using namespace lpn;
using namespace lpn::smt;

TEST_CASE("branching: where the delays vary most, between what is mixed") {
  const Related s;
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

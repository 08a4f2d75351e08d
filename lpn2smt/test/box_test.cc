#include "box.h"

#include <doctest/doctest.h>

#include <vector>

#include "by_hand.h"

using namespace lpn;
using namespace lpn::smt;

TEST_CASE("boxes: what limits leave of them") {
  const Related s;
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  Box box = whole(p);
  CHECK(least_use(p, box) == std::vector<std::int64_t>{1});
  CHECK(binding(p, box, 0));
  CHECK(quantum(p, box, 0, 1, 100) == 1);
  CHECK(quantum(p, box, 0, 1, 4) == 3);  // 11 more than the least, in 4 entries
  for (std::size_t u = 1; u < box.size(); ++u) box[u] = {0, 2};
  CHECK(!binding(p, box, 0));  // 2 and five times 1
}

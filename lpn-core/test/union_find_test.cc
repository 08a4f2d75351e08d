#include "lpn/graph/union_find.h"

#include <doctest/doctest.h>

using namespace lpn;

TEST_CASE("union-find: the leader is that of the set joined to") {
  UnionFind sets(5);
  sets.join(0, 1);
  sets.join(2, 3);
  CHECK(sets.find(0) == 1);
  CHECK(sets.find(2) != sets.find(0));
  sets.join(0, 2);
  for (const std::uint32_t k : {0u, 1u, 2u, 3u}) CHECK(sets.find(k) == 3);
  CHECK(sets.find(4) == 4);
}

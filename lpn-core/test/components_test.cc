#include "lpn/graph/components.h"

#include <doctest/doctest.h>

using namespace lpn;

TEST_CASE("components come after those they lead to") {
  // 0 -> {1, 2, 3} -> 4, and 5 -> 5
  const std::vector<std::vector<std::uint32_t>> next = {{1}, {2}, {3}, {1, 4}, {}, {5}};
  const std::vector<std::vector<std::uint32_t>> expected = {{4}, {1, 2, 3}, {0}, {5}};
  CHECK(strong_components(next) == expected);
  CHECK(strong_components({}).empty());
  // 2 leads to a component that was left before
  CHECK(strong_components({{1, 2}, {}, {1}}) ==
        std::vector<std::vector<std::uint32_t>>{{1}, {2}, {0}});
}

TEST_CASE("a chain of 100 000 nodes needs no deep stack") {
  std::vector<std::vector<std::uint32_t>> next(100'000);
  for (std::uint32_t v = 0; v + 1 < next.size(); ++v) next[v].push_back(v + 1);
  CHECK(strong_components(next).size() == next.size());
  next.back().push_back(0);
  CHECK(strong_components(next).size() == 1);
}

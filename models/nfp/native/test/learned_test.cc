#include "learned.h"

#include <doctest/doctest.h>

#include <unordered_map>

using namespace lpn::nfp;

TEST_CASE("learned: a path that meets both of two conditions ends, one that passes them does not") {
  Learned learned;
  const std::unordered_map<TermId, std::uint32_t> where{{7, 1}, {9, 3}};
  CHECK(learned.learn({9, 7}, Learned::kImpossible, where));
  CHECK_FALSE(learned.learn({7, 9}, Learned::kImpossible, where));  // nothing new
  learned.restart();
  const Learned::Step first = learned.step(0, 0, false, {7}, 1);
  CHECK(first.state != 0);
  CHECK(first.size == 0);
  CHECK(learned.step(first.state, 1, true, {9}, 3).state == kNone);
  CHECK(learned.step(first.state, 1, false, {8}, 3).state == 0);  // 9 cannot be met any more
}

TEST_CASE("learned: conditions that together need a larger packet say so when both are met") {
  Learned learned;
  learned.learn({4, 5}, 100, {{4, 2}, {5, 2}});
  learned.restart();
  CHECK(learned.step(0, 0, true, {4, 5}, 2).size == 100);
  CHECK(learned.step(0, 1, true, {4}, 2).size == 0);
}

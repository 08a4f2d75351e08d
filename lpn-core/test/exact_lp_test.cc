// Linear programmes in fractions: solved exactly, or given up, never rounded.
#include "structure/exact_lp.h"

#include <doctest/doctest.h>

namespace lpn {
namespace {

Programme programme(std::size_t columns,
                    const std::vector<std::map<std::uint32_t, std::int64_t>>& rows) {
  Programme made;
  made.columns.resize(columns);
  for (const auto& row : rows) made.add_row(row);
  return made;
}

TEST_CASE("Rational: lowest terms, a positive denominator, and no rounding") {
  const Rational half(2, 4), third(-1, -3);
  CHECK((half.num == 1 && half.den == 2));
  const Rational sum = half + third;
  CHECK((sum.num == 5 && sum.den == 6));
  CHECK(third < half);
  const Rational minus = negated(inverse(half));
  CHECK((minus.num == -2 && minus.den == 1));
  const Wide big = Wide{1} << 126;
  CHECK_THROWS_AS(times(big, 4), GiveUp);
  CHECK_THROWS_AS(plus(big, big), GiveUp);
}

TEST_CASE("forced: weights along a chain follow one from another") {
  // Firings that take 2 of y0 and give 3 of y1; take 1 of y1 and give 1 of y2: 2 y0 >= 3 y1 >= ...
  const Programme chain = programme(3, {{{0, -3}, {1, 2}}, {{1, -1}, {2, 1}}});
  const Forced found = forced(chain, 0);
  REQUIRE(found.decided);
  REQUIRE(found.weights);
  const Rational y1 = found.weights->at(1);
  CHECK((y1.num == 3 && y1.den == 2));
  const Rational y2 = found.weights->at(2);
  CHECK((y2.num == 3 && y2.den == 2));
}

TEST_CASE(
    "forced: none where a firing takes from no other column, nothing where there is a choice") {
  const Forced none = forced(programme(1, {{{0, -1}}}), 0);
  CHECK((none.decided && !none.weights));
  CHECK_FALSE(forced(programme(3, {{{0, -1}, {1, 1}, {2, 1}}}), 0).decided);
}

TEST_CASE("Simplex: the cheapest of two ways, in fractions") {
  // y0 <= 3 y1 + 2 y2, costs 0, 7 and 5; y0 >= 1: 7/3 by y1, 5/2 by y2.
  const Programme p = programme(3, {{{0, -1}, {1, 3}, {2, 2}}});
  const std::vector<std::int64_t> cost = {0, 7, 5};
  std::int64_t budget = 1'000'000;
  const auto solution = Simplex(p, cost, Simplex::kMuchWork, budget).solve({{0, 1}});
  REQUIRE(solution);
  CHECK((solution->at(1).num == 1 && solution->at(1).den == 3));
  CHECK_FALSE(solution->contains(2));
}

TEST_CASE("Simplex: no solution is an answer, and too little work is not one") {
  const Programme p = programme(2, {{{0, -1}}, {{0, -1}, {1, 1}}});
  std::int64_t budget = 1'000'000;
  CHECK_FALSE(Simplex(p, {1, 1}, Simplex::kMuchWork, budget).solve({{0, 1}}));
  const Programme q = programme(3, {{{0, -1}, {1, 3}, {2, 2}}});
  CHECK_THROWS_AS(Simplex(q, {0, 7, 5}, 0, budget).solve({{0, 1}}), GiveUp);
}

}  // namespace
}  // namespace lpn

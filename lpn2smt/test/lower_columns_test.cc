#include "lower_columns.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "by_hand.h"

using namespace lpn;
using namespace lpn::smt;

TEST_CASE("lower columns: chains make the mean longer, tuples make it shorter") {
  // The latest of x0, x1 and three more that add up to 10 at least.
  ByHand s;
  const std::vector<ExprId> x = s.variables(5, 0, 9);
  s.space.constraints = {s.build().le(s.number(10), s.sum(x))};
  std::vector<Timing::Arc> after;
  for (const ExprId each : x) after.push_back({kTimeZero, each});
  s.path.latency = s.latest(after);
  PathUnits p(s.space, s.path, measure_of(s.target(), false));
  Chains chains(p);
  std::vector<std::size_t> numbers;
  for (std::uint32_t k = 0; k < 5; ++k)
    numbers.push_back(chains.keep(chains.of(s.path.latency, {k})));
  const Box box = whole(p);
  LowerColumns columns(p, box, chains);
  CHECK(!columns.add_tuple(0, 0));  // the ends of a unit are there at first

  // With x0 alone the other four have the sum.
  CHECK(columns.add_chain(numbers[0]));
  CHECK(!columns.add_chain(numbers[0]));
  REQUIRE(columns.solve());
  CHECK(columns.length() == doctest::Approx(0));
  CHECK(columns.excess() == doctest::Approx(0));
  for (std::size_t k = 1; k < 5; ++k) columns.add_chain(numbers[k]);
  REQUIRE(columns.solve());
  CHECK(columns.length() == doctest::Approx(2));
  const auto [bound, step] = columns.bound();
  CHECK(bound == 2);
  CHECK(step.chains.size() == 5);
  CHECK(!columns.no_input());
  MixedInput mixed;
  columns.mixed(mixed);
  double sum = 0;
  for (const auto& shares : mixed) {
    for (const auto& [row, share] : shares) sum += row * share;
  }
  CHECK(sum == doctest::Approx(10));
}

TEST_CASE("lower columns: a tuple between the ends of its unit") {
  // max(table(x), 8 - 2 x): at the ends 5 and 9, between them 2 at least.
  ByHand s;
  const ExprId x = s.variable("x", 0, 4);
  s.path.latency =
      s.latest({{kTimeZero, s.pool().lookup({5, 5, 1, 2, 9}, x)}, {kTimeZero, s.linear(-2, x, 8)}});
  PathUnits p(s.space, s.path, measure_of(s.target(), false));
  Chains chains(p);
  const Box box = whole(p);
  LowerColumns columns(p, box, chains);
  for (std::uint32_t k = 0; k < 2; ++k)
    columns.add_chain(chains.keep(chains.of(s.path.latency, {k})));
  REQUIRE(columns.solve());
  const double before = columns.length();
  const auto shorter = columns.shorter_tuples();
  REQUIRE(shorter.size() == 1);
  CHECK((shorter[0].second == 2 || shorter[0].second == 3));
  CHECK(columns.add_tuple(shorter[0].first, shorter[0].second));
  REQUIRE(columns.solve());
  CHECK(columns.length() < before);
}

TEST_CASE("lower columns: of a box only its own tuples") {
  // As above from x = 1 on; what would be best lies behind the box.
  ByHand s;
  const ExprId x = s.variable("x", 0, 9);
  s.path.latency = s.latest({{kTimeZero, s.pool().lookup({5, 5, 5, 1, 2, 9, 0, 0, 0, 0}, x)},
                             {kTimeZero, s.linear(-1, x, 8)}});
  PathUnits p(s.space, s.path, measure_of(s.target(), false));
  Chains chains(p);
  const Box box{{1, 6}};
  LowerColumns columns(p, box, chains);
  for (std::uint32_t k = 0; k < 2; ++k)
    columns.add_chain(chains.keep(chains.of(s.path.latency, {k})));
  REQUIRE(columns.solve());
  const auto shorter = columns.shorter_tuples();
  REQUIRE(shorter.size() == 1);
  CHECK((shorter[0].second == 3 || shorter[0].second == 4));
}

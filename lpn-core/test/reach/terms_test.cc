// Sets of values, and what terms have on them.
#include "reach/terms.h"

#include <doctest/doctest.h>

namespace lpn::reach {
namespace {

struct Two {  // variables, x and y
  ExprPool pool;
  ExprBuilder build{pool};
  ExprId x = pool.param(0), y = pool.param(1);
  TermSets sets{pool, 2};

  ExprId number(std::int64_t value) { return pool.constant(value); }
};

}  // namespace

TEST_CASE("TermSets: a set of values is kept once, neighbours as one range") {
  Two t;
  const DomainId a = t.sets.domain({{1, 2}, {3, 5}, {7, 7}});
  CHECK(t.sets[a].ranges == std::vector<Range>{{1, 5}, {7, 7}});
  CHECK(t.sets[a].count == 6);
  CHECK(t.sets[a].hull() == Range{1, 7});
  CHECK(t.sets.domain({{1, 5}, {7, 7}}) == a);
  CHECK(t.sets.domain({{1, 5}, {8, 8}}) != a);
  CHECK(t.sets.domain({}) == kForgotten);
  const Range all{std::numeric_limits<std::int64_t>::min(),
                  std::numeric_limits<std::int64_t>::max()};
  CHECK(t.sets[t.sets.domain({all})].count == UINT64_MAX);
  CHECK(t.sets[t.sets.domain({{0, std::numeric_limits<std::int64_t>::max()}})].count ==
        std::uint64_t{1} << 63);
}

TEST_CASE("TermSets: which variables a term reads, and whether it is a number") {
  Two t;
  const ExprId both = t.build.add(t.x, t.build.mul(t.y, t.number(2)));
  CHECK(t.sets.variables(both) == std::vector<std::uint32_t>{0, 1});
  CHECK(t.sets.variables(t.y) == std::vector<std::uint32_t>{1});
  CHECK(t.sets.variables(t.number(3)).empty());
  CHECK(t.sets.value(t.number(3)) == Value{3, Value::kNumber});
  CHECK(t.sets.value(t.build.lt(t.number(1), t.number(2))) == Value{1, Value::kNumber});
  CHECK(t.sets.value(t.build.lt(t.number(2), t.number(1))) == Value{0, Value::kNumber});
  CHECK_FALSE(t.sets.value(both).decided());
}

TEST_CASE("TermSets: with a variable decided a term is a number or a smaller term") {
  Two t;
  const Value both = t.sets.value(t.build.add(t.x, t.build.mul(t.y, t.number(2))));
  const Value one = t.sets.decided(both, 1, 5);
  CHECK_FALSE(one.decided());
  CHECK(t.sets.variables(one.id()) == std::vector<std::uint32_t>{0});
  CHECK(t.sets.decided(one, 0, 3) == Value{13, Value::kNumber});
  CHECK(t.sets.decided(one, 1, 9) == one);  // it reads it no more
  CHECK(t.sets.decided(Value{4, Value::kNumber}, 0, 3) == Value{4, Value::kNumber});
  CHECK(t.sets.decided(t.sets.value(t.x), 0, 3) == Value{3, Value::kNumber});
  CHECK(t.sets.decided(t.sets.value(t.x), 1, 3) == t.sets.value(t.x));
  // What has no value stays a term: it fails where it is read.
  const Value division = t.sets.value(t.build.floor_div(t.number(6), t.x));
  CHECK(t.sets.decided(division, 0, 2) == Value{3, Value::kNumber});
  CHECK_FALSE(t.sets.decided(division, 0, 0).decided());
}

TEST_CASE("TermSets: where each value of a term is had, and where it has none") {
  Two t;
  const DomainId domain = t.sets.domain({{-2, 2}, {4, 4}});
  const Cases* squares = t.sets.cases(t.build.mul(t.x, t.x), 0, domain);
  REQUIRE(squares != nullptr);
  CHECK_FALSE(squares->fails);
  REQUIRE(squares->values.size() == 4);
  const std::vector<std::pair<std::int64_t, std::vector<Range>>> expected{
      {0, {{0, 0}}}, {1, {{-1, -1}, {1, 1}}}, {4, {{-2, -2}, {2, 2}}}, {16, {{4, 4}}}};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(squares->values[k].first == expected[k].first);
    CHECK(t.sets[squares->values[k].second].ranges == expected[k].second);
  }
  const Cases* parts = t.sets.cases(t.build.floor_div(t.number(4), t.x), 0, domain);
  REQUIRE(parts != nullptr);
  CHECK(parts->fails);
  for (const auto& [value, where] : parts->values) {
    for (const Range& range : t.sets[where].ranges) CHECK_FALSE((range.lo <= 0 && range.hi >= 0));
  }
  const DomainId wide = t.sets.domain({{0, static_cast<std::int64_t>(TermSets::kMostValues)}});
  CHECK(t.sets.cases(t.x, 0, wide) == nullptr);
  const DomainId last = t.sets.domain(
      {{std::numeric_limits<std::int64_t>::max() - 1, std::numeric_limits<std::int64_t>::max()}});
  CHECK(t.sets.cases(t.x, 0, last)->values.size() == 2);
}

TEST_CASE("TermSets: the range of a term holds all its values, of one variable exactly those") {
  Two t;
  const DomainId few = t.sets.domain({{1, 1}, {5, 6}}), wide = t.sets.domain({{0, 1 << 20}});
  const Span mod = t.sets.span(t.build.mod(t.x, t.number(5)), {few, kForgotten});
  CHECK(mod.range == Range{0, 1});
  CHECK(mod.different == 2);
  CHECK_FALSE(mod.may_fail);
  const Span sum = t.sets.span(t.build.sub(t.x, t.y), {few, wide});
  CHECK(sum.range == Range{1 - (1 << 20), 6});
  CHECK(sum.different == 0);
  CHECK_FALSE(sum.may_fail);
  CHECK(t.sets.span(t.build.floor_div(t.y, t.x), {wide, wide}).may_fail);
  CHECK_FALSE(t.sets.span(t.build.floor_div(t.y, t.x), {few, wide}).may_fail);
  const Span none =
      t.sets.span(t.build.floor_div(t.number(1), t.x), {t.sets.domain({{0, 0}}), kForgotten});
  CHECK(none.may_fail);
}

}  // namespace lpn::reach

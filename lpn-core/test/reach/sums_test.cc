// Conditions of a space as sums, against all assignments.
#include "reach/sums.h"

#include <doctest/doctest.h>

#include "lpn/expr/eval.h"

namespace lpn::reach {
namespace {

struct Three {  // variables
  ExprPool pool;
  ExprBuilder build{pool};
  ExprId x = pool.param(0), y = pool.param(1), z = pool.param(2);
  TermSets sets{pool, 3};
  std::vector<DomainId> domains;

  Three() { domains.assign(3, sets.domain({{0, 3}})); }
  ExprId number(std::int64_t value) { return pool.constant(value); }
};

// Whether some values of the domains meet all constraints.
bool some(Three& t, const std::vector<ExprId>& constraints, const std::vector<DomainId>& domains) {
  std::vector<std::int64_t> at(3, 0);
  const auto holds = [&](std::size_t k) {
    const auto& ranges = t.sets[domains[k]].ranges;
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const Range& r) { return r.lo <= at[k] && at[k] <= r.hi; });
  };
  for (at[0] = -4; at[0] <= 4; ++at[0]) {
    for (at[1] = -4; at[1] <= 4; ++at[1]) {
      for (at[2] = -4; at[2] <= 4; ++at[2]) {
        if (!holds(0) || !holds(1) || !holds(2)) continue;
        if (std::all_of(constraints.begin(), constraints.end(),
                        [&](ExprId c) { return eval_params(t.pool, c, at) != 0; })) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

TEST_CASE("Sums: one condition is met exactly where its sum can be small enough") {
  Three t;
  const ExprId twice = t.build.mul(t.y, t.number(2));
  const std::vector<ExprId> conditions = {
      t.build.le(t.build.add(t.x, t.build.add(twice, t.z)), t.number(6)),
      t.build.lt(t.build.add(t.x, twice), t.build.sub(t.z, t.number(1))),
      t.build.ge(t.build.sub(t.x, t.y), t.z),
      t.build.le(t.build.neg(t.build.add(t.x, t.y)), t.number(-5)),
      t.build.eq(t.build.add(t.x, t.y), t.number(4)),
      t.build.le(t.build.add(t.build.mul(t.x, t.x), t.y), t.number(5)),
  };
  for (std::size_t k = 0; k < conditions.size(); ++k) {
    CAPTURE(k);
    Sums sums(t.sets, {conditions[k]}, t.domains);
    CHECK(sums.count() == (k == 4 ? 2 : 1));
    const std::vector<std::int64_t> spent(sums.count(), 0);
    for (std::int64_t a = 0; a <= 3; ++a) {
      for (std::int64_t b = a; b <= 3; ++b) {
        for (std::int64_t c = 0; c <= 3; ++c) {
          const std::vector<DomainId> parts = {t.sets.domain({{a, b}}), t.sets.domain({{c, c}}),
                                               t.sets.domain({{a, 3}})};
          const bool truth = some(t, {conditions[k]}, parts);
          // Of an equation its two sides are looked at one by one: a superset.
          if (k == 4) {
            CHECK((!truth || sums.fit(parts, spent)));
          } else {
            CHECK(sums.fit(parts, spent) == truth);
          }
        }
      }
    }
  }
}

TEST_CASE("Sums: a condition on one variable narrows its domain") {
  Three t;
  const ExprId even = t.build.eq(t.build.mod(t.x, t.number(2)), t.number(0));
  Sums sums(t.sets, {t.build.logical_and(even, t.build.le(t.y, t.number(1)))}, t.domains);
  CHECK(sums.count() == 0);
  CHECK(t.sets[t.domains[0]].ranges == std::vector<Range>{{0, 0}, {2, 2}});
  CHECK(t.sets[t.domains[1]].ranges == std::vector<Range>{{0, 1}});
  CHECK(t.sets[t.domains[2]].ranges == std::vector<Range>{{0, 3}});
  Sums none(t.sets, {t.build.lt(t.z, t.number(0))}, t.domains);
  CHECK(t.domains[2] == kForgotten);
}

TEST_CASE("Sums: what a forgotten variable had at least stays spent") {
  Three t;
  Sums sums(t.sets, {t.build.le(t.build.add(t.x, t.build.add(t.y, t.z)), t.number(5))}, t.domains);
  REQUIRE(sums.count() == 1);
  std::vector<std::int64_t> spent(1, 0);
  std::vector<DomainId> domains = t.domains;
  sums.forget(0, t.sets.domain({{2, 3}}), spent);
  domains[0] = kForgotten;
  CHECK(spent[0] == 2);
  domains[1] = t.sets.domain({{3, 3}});
  CHECK(sums.fit(domains, spent));  // 2 + 3 + 0
  domains[2] = t.sets.domain({{1, 3}});
  CHECK_FALSE(sums.fit(domains, spent));
  spent[0] = 1;
  CHECK(sums.fit(domains, spent));
}

TEST_CASE("Sums: variables with the same part in every sum have one role") {
  Three t;
  const ExprId sum = t.build.le(t.build.add(t.x, t.y), t.number(3));
  Sums sums(t.sets, {sum}, t.domains);
  CHECK(sums.role(0) == sums.role(1));
  CHECK(sums.role(0) != 0);
  CHECK(sums.role(2) == 0);
  CHECK(sums.reads(0, 0));
  CHECK_FALSE(sums.reads(0, 2));
  Sums others(t.sets,
              {sum, t.build.le(t.build.add(t.x, t.build.mul(t.z, t.number(2))), t.number(5))},
              t.domains);
  CHECK(others.role(0) != others.role(1));
  CHECK(others.role(0) != others.role(2));
  CHECK(others.role(1) != others.role(2));
}

TEST_CASE("Sums: what is no sum is taken to hold") {
  Three t;
  const ExprId product = t.build.mul(t.x, t.y);
  for (const ExprId condition :
       {t.build.logical_or(t.build.le(t.x, t.y), t.build.le(t.y, t.z)), t.build.ne(t.x, t.y)}) {
    Sums sums(t.sets, {condition}, t.domains);
    CHECK(sums.count() == 0);
  }
  // A product counts as little as it can be.
  Sums sums(t.sets, {t.build.le(t.build.add(product, t.z), t.number(2))}, t.domains);
  const std::vector<std::int64_t> spent(sums.count(), 0);
  std::vector<DomainId> domains = t.domains;
  CHECK(sums.fit(domains, spent));
  domains[2] = t.sets.domain({{3, 3}});
  CHECK_FALSE(sums.fit(domains, spent));
  // x - y*z >= 1: the product at most 9, so nothing is known.
  Sums more(t.sets, {t.build.ge(t.build.sub(t.x, t.build.mul(t.y, t.z)), t.number(3))}, t.domains);
  domains.assign(3, t.sets.domain({{3, 3}}));
  CHECK(more.fit(domains, std::vector<std::int64_t>(more.count(), 0)));
  domains[0] = t.sets.domain({{0, 2}});
  CHECK_FALSE(more.fit(domains, std::vector<std::int64_t>(more.count(), 0)));
}

}  // namespace lpn::reach

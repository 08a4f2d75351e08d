#include "sum_bound.h"

#include <doctest/doctest.h>

#include <vector>

#include "by_hand.h"

using namespace lpn;
using namespace lpn::smt;

namespace {

// The sum's bound over all inputs of the path.
Time bound_of(const ByHand& s, const Measure& measure) {
  PathUnits p(s.space, s.path, measure);
  SumBound bound(p);
  const Box box = whole(p);
  const Step step = bound.first(box, Choice(p.units().size(), 0));
  const SumBound::Result result = bound.solve(box, step, 40);
  CHECK(result.step.kind == Step::Kind::kRelaxation);
  CHECK(!result.step.parts.empty());
  return result.bound;
}

}  // namespace

TEST_CASE("sum bound: an instant less one before it") {
  ByHand s;
  const std::vector<ExprId> x = s.variables(2, 0, 9);
  const InstantId first = s.latest({{kTimeZero, s.linear(2, x[0], 1)}});
  const InstantId second = s.latest({{first, x[1]}});
  CHECK(bound_of(s, {{{1, second}, {-1, first}}, 0}) == 9);
  CHECK(bound_of(s, {{{3, second}, {-3, first}}, 5}) == 32);
  // A path to the one less a chain to the other, of the same input: 19 + 9 - 2 * 19 at x0 = 9, and
  // 1 + 9 - 2 * 1 at x0 = 0.
  CHECK(bound_of(s, {{{1, second}, {-2, first}}, 0}) == 8);
}

TEST_CASE("sum bound: several instants, of an input each") {
  ByHand s;
  const std::vector<ExprId> x = s.variables(2, 0, 9);
  const InstantId a = s.latest({{kTimeZero, x[0]}});
  const InstantId b = s.latest({{kTimeZero, x[1]}});
  CHECK(bound_of(s, {{{1, a}, {2, b}}, -1}) == 26);
  CHECK(bound_of(s, {{{-1, a}, {-2, b}}, 0}) == 0);
}

#include "lower_bound.h"

#include <doctest/doctest.h>

#include <vector>

#include "by_hand.h"

using namespace lpn;
using namespace lpn::smt;

namespace {

const auto kGoOn = [](const LowerBound::Result&) { return true; };

}  // namespace

TEST_CASE("lower bound: a mean of chains that no input makes shorter") {
  // The latest of five that add up to 12 at least: one of them is 3.
  ByHand s;
  const std::vector<ExprId> x = s.variables(5, 0, 9);
  s.space.constraints = {s.build().le(s.number(12), s.sum(x))};
  std::vector<Timing::Arc> after;
  for (const ExprId each : x) after.push_back({kTimeZero, each});
  s.path.latency = s.latest(after);
  PathUnits p(s.space, s.path, measure_of(s.target(), false));
  LowerBound bound(p);
  const LowerBound::Result result = bound.solve(whole(p), kGoOn);
  CHECK(result.bound == 3);  // 12 / 5, rounded up
  CHECK(result.step.kind == Step::Kind::kRelaxation);
  CHECK(result.step.chains.size() == 5);
  CHECK(result.step.multipliers.size() == 1);
  std::int64_t weights = 0;
  for (const Step::Chain& chain : result.step.chains) weights += chain.weight;
  CHECK(weights == result.step.denominator);
  // The mixed input is near 12 / 5 each.
  double sum = 0;
  for (const auto& shares : result.mixed) {
    for (const auto& [row, share] : shares) sum += row * share;
  }
  CHECK(sum == doctest::Approx(12));

  Box box = whole(p);
  box[0] = {7, 10};
  CHECK(bound.solve(box, kGoOn).bound == 7);
}

TEST_CASE("lower bound: limits that exclude each other prove that there is no input") {
  ByHand s;
  const std::vector<ExprId> x = s.variables(5, 0, 9);
  s.space.constraints = {s.build().le(s.number(12), s.sum(x)),
                         s.build().le(s.sum(x), s.number(11))};
  s.chain({x[0]});
  PathUnits p(s.space, s.path, measure_of(s.target(), false));
  const LowerBound::Result result = LowerBound(p).solve(whole(p), kGoOn);
  CHECK(!result.bound);
  CHECK(result.step.kind == Step::Kind::kNoInput);
  // Each limit once: 12 <= sum and sum <= 11.
  CHECK(result.step.multipliers[0] == result.step.multipliers[1]);
}

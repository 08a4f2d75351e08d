#include "lpn/smt/certificate.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "by_hand.h"
#include "lpn/smt/z3_feasibility.h"

using namespace lpn;
using namespace lpn::smt;

namespace {

// x0 + x1 + x2 of five that add up to 20 at most.
struct Sample : ByHand {
  Sample() {
    const std::vector<ExprId> x = variables(5, 0, 9);
    space.constraints = {build().le(sum(x), number(20))};
    chain({x[0], x[1], x[2]});
  }
  std::string why(const PathCertificate& certificate, const Trusted& trusted = {}) const {
    return check(space, target(), certificate, trusted).value_or("it holds");
  }
};

Step relaxation(std::vector<std::int64_t> multipliers, std::optional<std::uint32_t> budget) {
  Step step;
  step.multipliers = std::move(multipliers);
  step.budget = budget;
  return step;
}

}  // namespace

TEST_CASE("certificate: a bound is derived again from its steps") {
  const Sample s;
  // With the limit kept, with a multiplier for it, and without it.
  CHECK(s.why({.bound = 20, .steps = {relaxation({}, 0)}}) == "it holds");
  CHECK(s.why({.bound = 20, .steps = {relaxation({1}, {})}}) == "it holds");
  CHECK(s.why({.bound = 27, .steps = {relaxation({}, {})}}) == "it holds");
  CHECK(s.why({.bound = 19, .steps = {relaxation({}, 0)}}) ==
        "the longest path is beyond the bound");
  CHECK(s.why({.bound = 26, .steps = {relaxation({}, {})}}) ==
        "the longest path is beyond the bound");
  CHECK(s.why({.bound = 20, .steps = {}}) == "a box is left without a step");
  CHECK(s.why({.bound = 20, .steps = {relaxation({1, 1}, {})}}) == "not one multiplier per limit");
  CHECK(s.why({.bound = 20, .steps = {relaxation({-1}, {})}}) == "a negative multiplier");
}

TEST_CASE("certificate: a box may be split, and each half has steps of its own") {
  const Sample s;
  Step split;
  split.kind = Step::Kind::kSplit;
  split.unit = 0;
  split.tuple = 3;  // x0 < 3, x0 >= 3
  const Step half = relaxation({}, {});
  PathCertificate certificate{.bound = 27, .steps = {split, half, half}};
  CHECK(s.why(certificate) == "it holds");
  certificate.bound = 26;
  CHECK(s.why(certificate) == "the longest path is beyond the bound");  // in the second
  certificate.steps.pop_back();
  CHECK(s.why(certificate) == "a box is left without a step");
  certificate.steps[0].tuple = 10;
  CHECK(s.why(certificate) == "a split outside its box");
  certificate.steps[0].unit = 5;  // one for each of five variables
  CHECK(s.why(certificate) == "a split of a unit that is not there");
}

TEST_CASE("certificate: the least, by chains with weights") {
  const Sample s;
  Step step;
  step.chains = {{1, {0, 0, 0}}};
  CHECK(s.why({.maximum = false, .bound = 0, .steps = {step}}) == "it holds");
  CHECK(s.why({.maximum = false, .bound = 1, .steps = {step}}) ==
        "chains that do not reach the bound");
  step.chains[0].weight = 2;
  CHECK(s.why({.maximum = false, .bound = 0, .steps = {step}}) ==
        "weights that are more than a mean");
  step.chains = {{1, {0, 7}}};
  CHECK(s.why({.maximum = false, .bound = 0, .steps = {step}}) == "an arc that is not there");
}

TEST_CASE("certificate: what a solver said needs somebody who vouches for it") {
  ByHand s;
  s.chain({s.variable("x", 0, 7)});
  Step step;
  step.kind = Step::Kind::kSolver;
  step.threshold = 7;
  Z3Feasibility solver;
  const ExprId x = solver.term(solver.integer("x", {0, 7}));
  const ExprId t1 = solver.term(solver.integer("t1", {0, kForever}));
  ExprBuilder build(solver.pool());
  solver.require(build.eq(t1, x));
  solver.require(build.lt(solver.pool().constant(7), t1));
  step.smtlib = solver.smtlib();
  std::vector<std::string> asked;
  Trusted trusted{.solver = [] { return std::make_unique<Z3Feasibility>(); },
                  .unsatisfiable =
                      [&](const std::string& smtlib) {
                        asked.push_back(smtlib);
                        return true;
                      }};
  PathCertificate certificate{.bound = 7, .steps = {step}};
  CHECK(check(s.space, s.target(), certificate, trusted) == std::nullopt);
  CHECK(asked == std::vector<std::string>{step.smtlib});
  CHECK(check(s.space, s.target(), certificate) == "a formula not shown unsatisfiable");
  certificate.bound = 6;
  CHECK(check(s.space, s.target(), certificate, trusted) ==
        "a solver was asked about another bound");
  certificate.bound = 7;
  certificate.steps[0].threshold = 6;
  CHECK(check(s.space, s.target(), certificate, trusted) == "a formula about something else");
}

TEST_CASE("certificate: numbers that are too large are refused before anything is made of them") {
  const Sample s;
  // Three halves, x >= 8 in the last box: more than the limit, so it has no input.
  std::vector<Step> steps;
  for (std::uint32_t unit = 0; unit < 3; ++unit) {
    Step split;
    split.kind = Step::Kind::kSplit;
    split.unit = unit;
    split.tuple = 8;
    steps.push_back(split);
    steps.push_back(relaxation({}, {}));
  }
  steps.push_back(relaxation({1}, {}));
  CHECK(s.why({.bound = 27, .steps = steps}) == "it holds");
  steps.back() = relaxation({std::int64_t{1} << 57}, {});
  CHECK(s.why({.bound = 27, .steps = steps}) == "numbers too large");
}

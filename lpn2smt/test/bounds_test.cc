#include "lpn/bounds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "lpn/expr_build.h"
#include "lpn/expr_eval.h"
#include "lpn/z3_feasibility.h"

using namespace lpn;
using namespace lpn::smt;

namespace {

// A space and one path of it, made by hand.
struct Case {
  InputSpace space;
  Path path;

  ExprBuilder build() { return ExprBuilder(space.variables.exprs); }
  ExprPool& pool() { return space.variables.exprs; }
  ExprId number(std::int64_t value) { return pool().constant(value); }
  ExprId variable(const std::string& name, std::int64_t lo, std::int64_t hi) {
    const auto index = static_cast<std::uint32_t>(space.variables.params.size());
    space.variables.params.push_back(
        {.name = name, .value = lo, .range = Range{lo, hi}, .source = {}});
    return pool().param(index);
  }
  ExprId sum(const std::vector<ExprId>& terms) {
    ExprId total = number(0);
    for (const ExprId term : terms) total = build().add(total, term);
    return total;
  }
  // a * x + c
  ExprId linear(std::int64_t a, ExprId x, std::int64_t c) {
    return build().add(build().mul(number(a), x), number(c));
  }
  InstantId latest(std::vector<Timing::Arc> after) {
    return path.timing.add({.kind = Timing::Kind::kMax, .after = std::move(after)});
  }
  std::vector<Target> targets() const { return {{&path, path.latency}}; }
};

// t[i][j] = max(t[i][j-1], t[i-1][j], t[i-2][j+1]) + d_j(x_i), sum of x <= budget.
Case pipeline(int blocks, std::int64_t budget) {
  constexpr std::int64_t kConstant[] = {6, 66, 40, 65}, kSlope[] = {3, 0, 1, 0};
  Case c;
  std::vector<ExprId> x;
  for (int i = 0; i < blocks; ++i) x.push_back(c.variable("x" + std::to_string(i), 0, 63));
  c.space.constraints.push_back(c.build().le(c.sum(x), c.number(budget)));
  std::vector<std::vector<InstantId>> t(static_cast<std::size_t>(blocks), std::vector<InstantId>(4));
  for (std::size_t i = 0; i < t.size(); ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const ExprId delay = c.linear(kSlope[j], x[i], kConstant[j]);
      std::vector<Timing::Arc> after;
      if (j > 0) after.push_back({t[i][j - 1], delay});
      if (i > 0) after.push_back({t[i - 1][j], delay});
      if (i > 1 && j < 3) after.push_back({t[i - 2][j + 1], delay});
      if (after.empty()) after.push_back({kTimeZero, delay});
      t[i][j] = c.latest(std::move(after));
    }
  }
  c.path.latency = t.back()[3];
  return c;
}

Time value_of(const Case& c, const BoundResult& result) {
  REQUIRE(contains(c.space, result.witness));
  REQUIRE(follows(c.path, c.space, result.witness));
  return evaluate(c.path.timing, c.space, result.witness)[static_cast<std::size_t>(c.path.latency)];
}

void require_exact(const Case& c, const BoundResult& result, Time expected) {
  REQUIRE(result.proved);
  CHECK(*result.proved == expected);
  REQUIRE(result.found);
  CHECK(*result.found == expected);
  CHECK(value_of(c, result) == expected);
  CHECK(result.exact);
  REQUIRE(result.certificates.size() == 1);
  CHECK(check(c.space, c.targets()[0], result.certificates[0]) == std::nullopt);
}

}  // namespace

TEST_CASE("bounds: a pipeline's largest latency with a budget, as other methods found it") {
  const std::pair<int, Time> known[] = {{6, 853}, {12, 1508}, {18, 2215}, {48, 5561}};
  for (const auto& [blocks, expected] : known) {
    CAPTURE(blocks);
    const Case c = pipeline(blocks, 18 * blocks);
    const auto targets = c.targets();
    const BoundResult result = maximize(c.space, targets);
    require_exact(c, result, expected);
    MESSAGE(blocks << ": " << result.seconds << " s, " << result.boxes << " boxes");
  }
}

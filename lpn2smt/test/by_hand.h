// A space and one path of it, made by hand.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lpn/classes/input_space.h"
#include "lpn/classes/timing.h"
#include "lpn/expr/build.h"
#include "lpn/smt/measures.h"

namespace lpn::smt {

struct ByHand {
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
  // x0, x1, ...
  std::vector<ExprId> variables(int count, std::int64_t lo, std::int64_t hi) {
    std::vector<ExprId> x;
    for (int k = 0; k < count; ++k) x.push_back(variable("x" + std::to_string(k), lo, hi));
    return x;
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
  // One after the other, from time 0; the last is the latency.
  void chain(const std::vector<ExprId>& delays) {
    path.latency = kTimeZero;
    for (const ExprId delay : delays) path.latency = latest({{path.latency, delay}});
  }
  Target target() const { return {.path = &path, .instant = path.latency}; }
  std::vector<Target> targets() const { return {target()}; }
};

// a * b = 2, and what a adds to five x is a limit of 12; the latency is a + b + 2 x0.
struct Related : ByHand {
  Related() {
    const ExprId a = variable("a", 0, 3), b = variable("b", 0, 3);
    x = variables(5, 0, 9);
    space.constraints = {build().eq(build().mul(a, b), number(2)),
                         build().le(build().add(a, sum(x)), number(12))};
    chain({build().add(a, b), linear(2, x[0], 0)});
  }
  std::vector<ExprId> x;
};

}  // namespace lpn::smt

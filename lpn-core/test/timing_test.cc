#include "lpn/classes/timing.h"

#include <doctest/doctest.h>

#include "lpn/base/error.h"
#include "lpn/classes/differences.h"

using namespace lpn;

namespace {

// One variable from 0 to 9.
struct Fixture {
  InputSpace space;
  ExprId x{}, zero{};
  Timing timing;

  Fixture() {
    space.variables.params.push_back({.name = "x", .value = 0, .range = Range{0, 9}, .source = {}});
    x = pool().param(0);
    zero = pool().constant(0);
  }
  ExprPool& pool() { return space.variables.exprs; }
  ExprId number(std::int64_t n) { return pool().constant(n); }
  Time at(InstantId v, std::int64_t value) {
    return evaluate(timing, space, {value})[static_cast<std::size_t>(v)];
  }
};

}  // namespace

TEST_CASE("what the kinds of instants mean") {
  Fixture f;
  const InstantId after_x = f.timing.add({.after = {{kTimeZero, f.x}}});
  const InstantId both =
      f.timing.add({.after = {{kTimeZero, f.number(5)}, {after_x, f.number(1)}}});
  CHECK(f.at(both, 3) == 5);
  CHECK(f.at(both, 7) == 8);
  const InstantId edge = f.timing.add(
      {.kind = Timing::Kind::kEdge, .after = {{after_x, f.zero}}, .period = 4, .phase = 1});
  CHECK(f.at(edge, 0) == 1);
  CHECK(f.at(edge, 5) == 5);
  CHECK(f.at(edge, 6) == 9);
  const InstantId gate = f.timing.add(
      {.kind = Timing::Kind::kGate,
       .after = {{after_x, f.zero}, {kTimeZero, f.number(4)}, {kTimeZero, f.number(8)}}});
  CHECK(f.at(gate, 3) == 3);
  CHECK(f.at(gate, 4) == 8);
  CHECK(f.at(gate, 9) == 9);
}

TEST_CASE("the latest of one instant without delay is that instant") {
  Fixture f;
  const InstantId a = f.timing.add({.after = {{kTimeZero, f.x}}});
  CHECK(f.timing.latest({{a, f.zero}}, f.zero) == a);
  CHECK(f.timing.latest({{kTimeZero, f.zero}, {a, f.zero}}, f.zero) == a);
  CHECK(f.timing.latest({{a, f.number(1)}}, f.zero) != a);
  CHECK(f.timing.latest({}, f.zero) == kTimeZero);
  CHECK(f.timing.latest({{kTimeZero, f.zero}}, f.zero) == kTimeZero);
  CHECK(f.timing.size() == 3);
}

TEST_CASE("an input follows a path by its conditions and orders") {
  Fixture f;
  Path path;
  const InstantId a = path.timing.add({.after = {{kTimeZero, f.x}}});
  const InstantId b = path.timing.add({.after = {{kTimeZero, f.number(4)}}});
  path.orders.push_back({a, b, true});
  path.conditions.push_back(f.pool().binary(Op::kLe, f.number(2), f.x));
  CHECK_FALSE(follows(path, f.space, {1}));
  CHECK(follows(path, f.space, {3}));
  CHECK_FALSE(follows(path, f.space, {4}));
}

TEST_CASE("a time beyond 64 bits is an error") {
  Fixture f;
  const InstantId a = f.timing.add({.after = {{kTimeZero, f.number(kForever)}}});
  f.timing.add({.after = {{a, f.number(1)}}});
  CHECK_THROWS_AS(evaluate(f.timing, f.space, {0}), Error);
}

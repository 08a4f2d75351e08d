#include "lpn/classes/differences.h"

#include <doctest/doctest.h>

using namespace lpn;

namespace {

// a is x after time 0, b 3 after a, c 5 after time 0; x from 0 to 9.
struct Fixture {
  InputSpace space;
  Timing timing;
  InstantId a{}, b{}, c{};

  Fixture() {
    space.variables.params.push_back({.name = "x", .value = 0, .range = Range{0, 9}, .source = {}});
    ExprPool& pool = space.variables.exprs;
    a = timing.add({.after = {{kTimeZero, pool.param(0)}}});
    b = timing.add({.after = {{a, pool.constant(3)}}});
    c = timing.add({.after = {{kTimeZero, pool.constant(5)}}});
  }
};

}  // namespace

TEST_CASE("how early and late an instant can be") {
  Fixture f;
  Differences d(f.timing, f.space);
  CHECK(d.earliest(f.b) == 3);
  CHECK(d.latest(f.b) == 12);
  CHECK(d.earliest(f.c) == 5);
}

TEST_CASE("bounds of differences, along what both come from") {
  Fixture f;
  Differences d(f.timing, f.space);
  CHECK(d.upper(f.a, f.b) == -3);  // whatever x is
  CHECK(d.upper(f.b, f.a) == 3);
  CHECK(d.upper(f.a, f.c) == 4);
  CHECK(d.upper(f.c, f.a) == 5);
}

TEST_CASE("what is learnt sharpens them") {
  Fixture f;
  Differences d(f.timing, f.space);
  d.learn(f.a, f.c, 2);  // c comes 2 after a at least
  CHECK(d.upper(f.a, f.c) == -2);
}

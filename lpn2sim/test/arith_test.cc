// Exact arithmetic: a result, or a failure that says where.

#include "lpnrt/arith.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>

namespace lpnrt {
namespace {

constexpr i64 kMost = std::numeric_limits<i64>::max(), kLeast = std::numeric_limits<i64>::min();

template <typename Act>
Failure failure(const Act& act) {
  try {
    act();
  } catch (const Failure& f) {
    return f;
  }
  return {-1, 0, 0};
}

TEST_CASE("what leaves 64 bits fails at its site") {
  CHECK(add(kMost - 1, 1, 9) == kMost);
  const Failure f = failure([] { add(kMost, 1, site(3, 1, 2)); });
  CHECK(f.code == kOverflow);
  CHECK(f.site == site(3, 1, 2));
  CHECK(failure([] { sub(kLeast, 1, 0); }).code == kOverflow);
  CHECK(failure([] { mul(kMost, 2, 0); }).code == kOverflow);
  CHECK(failure([] { neg(kLeast, 0); }).code == kOverflow);
  CHECK(failure([] { abs(kLeast, 0); }).code == kOverflow);
  CHECK(abs(-4, 0) == 4);
}

TEST_CASE("division rounds down or up, by positive numbers only") {
  CHECK(floor_div(-7, 2) == -4);
  CHECK(ceil_div(-7, 2) == -3);
  CHECK(ceil_div(7, 2) == 4);
  CHECK(mod(-7, 4) == 1);
  const Failure f = failure([] { divisor(-2, 5); });
  CHECK(f.code == kDivisor);
  CHECK(f.value == -2);
}

TEST_CASE("a table has an entry for each index or fails") {
  constexpr i64 kTable[] = {3, 1, 4};
  CHECK(lookup(kTable, 2, 0) == 4);
  CHECK(failure([&] { lookup(kTable, 3, 0); }).code == kLookup);
  CHECK(failure([&] { lookup(kTable, -1, 0); }).code == kLookup);
}

TEST_CASE("a choice without a branch is a choice") {
  for (const i64 x : {i64{0}, i64{-1}, i64{7}, kMost, kForever}) {
    for (const i64 y : {i64{0}, i64{-1}, i64{7}, kMost, kForever}) {
      CHECK(pick(true, x, y) == x);
      CHECK(pick(false, x, y) == y);
    }
  }
}

TEST_CASE("clock edges") {
  for (i64 period = 1; period < 6; ++period) {
    for (i64 phase = 0; phase < 12; ++phase) {
      for (i64 at = 0; at < 30; ++at) {
        i64 expected = at;
        while (mod(expected - phase, period) != 0) ++expected;
        CHECK(edge(at, period, phase) == expected);
      }
    }
  }
  CHECK(edge(kForever - 1, 1000, 0) == kForever);
  CHECK(edge(kForever - 1, 1000, (kForever - 1) % 1000) == kForever - 1);
  CHECK(edge(0, kForever, kForever - 1) == kForever - 1);
}

TEST_CASE("the last instant is one, what lies behind it fails") {
  CHECK(instant_after(5, 3, 0) == 8);
  CHECK(instant_after(kForever - 4, 3, 0) == kForever - 1);
  CHECK(failure([] { instant_after(kForever - 3, 3, 0); }).code == kOverflow);
  CHECK(failure([] { instant_after(kMost, 3, site(3, 1, 2)); }).site == site(3, 1, 2));
}

}  // namespace
}  // namespace lpnrt

// The containers of order-free runs, where small random nets rarely take them.

#include "lpnrt/flow.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "lpnrt/observe.h"

namespace lpnrt {
namespace {

TEST_CASE("tokens that are handed over stay where they are while they follow one another") {
  std::vector<i64> source;
  for (i64 k = 0; k < 20; ++k) source.push_back(k);
  const auto values = [](const Out<2>& out) {
    std::vector<i64> all;
    for (u64 k = 0; k < out.size(); ++k) all.insert(all.end(), out.row(k), out.row(k) + 2);
    return all;
  };

  Out<2> out;
  out.borrow(source.data(), 3);
  out.borrow(source.data() + 6, 2);  // what follows: no copy
  CHECK(out.borrowed());
  CHECK(out.size() == 5);
  CHECK(out.row(0) == source.data());
  CHECK(values(out) == std::vector<i64>(source.begin(), source.begin() + 10));

  out.borrow(source.data() + 14, 2);  // not what follows
  CHECK_FALSE(out.borrowed());
  std::vector<i64> expected(source.begin(), source.begin() + 10);
  expected.insert(expected.end(), source.begin() + 14, source.begin() + 18);
  CHECK(values(out) == expected);
  out.borrow(source.data() + 18, 1);  // a copy from then on
  CHECK_FALSE(out.borrowed());
  i64* const made = out.push();
  made[0] = 100, made[1] = 101;
  expected.insert(expected.end(), {18, 19, 100, 101});
  CHECK(values(out) == expected);
  for (i64 k = 0; k < 20; ++k) CHECK(source[static_cast<std::size_t>(k)] == k);
}

template <bool Counted>
void check_releases(u64 kept) {
  CAPTURE(kept);
  Releases<Counted> all;
  u64 first = 0;
  for (u64 k = 0; k < 1000; ++k) {
    if (k - first > kept) first = k - kept / 2;
    if (all.full()) all.make_room(first);
    REQUIRE_FALSE(all.full());
    all.push(k / 3, k + 7);
    CHECK(all.end() == k + 1);
    for (const u64 j : {first, (first + k) / 2, k}) {
      CHECK(all.instant(j) == j / 3);
      if constexpr (Counted) CHECK(all.count(j) == j + 7);
    }
  }
}

TEST_CASE("when tokens were given back is kept for as long as somebody may ask") {
  for (const u64 kept : {1u, 31u, 32u, 63u, 64u, 65u, 200u, 999u}) {
    check_releases<false>(kept);
    check_releases<true>(kept);
  }
}

TEST_CASE("what was given back at an instant is gone at that instant, not before") {
  Releases<false> all;
  all.make_room(0);
  for (const u64 at : {5u, 7u, 7u}) all.push(at);
  CHECK_FALSE(all.gone(0, 4));
  CHECK(all.gone(0, 5));
  CHECK(all.gone(1, 7));
  CHECK(all.gone(2, 7));
  CHECK_FALSE(all.gone(2, 6));
  CHECK_FALSE(all.gone(3, 100));  // not yet given back
  CHECK_FALSE(all.gone(0, ~u64{0}));
}

}  // namespace
}  // namespace lpnrt

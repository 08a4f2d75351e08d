// The containers of generated simulators against plain ones: what small random nets reach rarely,
// such as sets of more than 4096 transitions.

#include "lpnrt/rings.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lpnrt/briefs.h"
#include "lpnrt/outside.h"

namespace lpnrt {
namespace {

template <u32 N>
void check_set() {
  CAPTURE(N);
  std::mt19937_64 random(N);
  const auto set = std::make_unique<Set<N>>();
  std::set<u32> plain;
  for (int step = 0; step < 20000; ++step) {
    CHECK(set->empty() == plain.empty());
    if (random() % 3 != 0 || plain.empty()) {
      const u32 k = static_cast<u32>(random() % N);
      set->insert(k);
      plain.insert(k);
    } else {
      CHECK(set->take_least() == *plain.begin());
      plain.erase(plain.begin());
    }
    if (step % 5000 == 0) {
      for (; !plain.empty(); plain.erase(plain.begin())) CHECK(set->take_least() == *plain.begin());
    } else if (step % 1000 == 0) {
      std::vector<u32> seen;
      set->drain([&](u32 k) { seen.push_back(k); });
      CHECK(seen == std::vector<u32>(plain.begin(), plain.end()));
      plain.clear();
    }
  }
}

TEST_CASE("sets of transitions give their least member") {
  check_set<1>();
  check_set<64>();
  check_set<65>();
  check_set<1000>();
  check_set<4096>();
  check_set<4097>();
  check_set<100000>();
}

TEST_CASE("rings and rows are FIFOs") {
  std::mt19937_64 random(11);
  Ring<i64> ring;
  Rows<3> rows;
  Held<3> held;
  std::deque<i64> plain;
  i64 next = 0;
  for (int step = 0; step < 100000; ++step) {
    // Long phases of growing and of shrinking.
    const bool grow = step / 500 % 2 == 0 ? random() % 4 != 0 : random() % 4 == 0;
    if (grow || plain.empty()) {
      ring.push() = next;
      i64* const row = rows.push();
      i64* const other = held.push();
      for (int k = 0; k < 3; ++k) row[k] = other[k] = next * 3 + k;
      plain.push_back(next++);
    } else {
      ring.pop();
      rows.pop(1);
      held.pop(1);
      plain.pop_front();
    }
    CHECK(ring.size() == plain.size());
    if (plain.empty()) continue;
    CHECK(ring.front() == plain.front());
    CHECK(ring[plain.size() - 1] == plain.back());
    CHECK(rows.row(0)[2] == plain.front() * 3 + 2);
    CHECK(rows.row(plain.size() - 1)[0] == plain.back() * 3);
    CHECK(held.row(0)[2] == plain.front() * 3 + 2);
    CHECK(held.row(plain.size() - 1)[0] == plain.back() * 3);
  }
}

TEST_CASE("a place that was empty uses the row that it used last") {
  Held<2> place;
  const i64* const first = place.push();
  for (int k = 0; k < 9; ++k) {
    place.pop(1);
    CHECK(place.push() == first);
  }
  CHECK(reinterpret_cast<std::uintptr_t>(&place) % 64 == 0);
}

#if !LPNRT_TRACE && !LPNRT_PATH
TEST_CASE("records of firings without delay take turns in the same memory") {
  struct Small {
    i64 x;
    Near y;
  };
  Briefs<2 * kBrief<Small>> all;
  Brief<Small> one, two;
  Small& first = one.begin(all);
  first = {1, 2};
  Small& second = two.begin(all);
  second = {3, 4};
  CHECK(&one.end(all) == &first);
  CHECK(one.end(all).x == 1);
  all.used = 2 * kBrief<Small>;
  one.end(all), two.end(all);
  CHECK(all.used == 0);
  CHECK(&two.begin(all) == &first);
}
#endif

TEST_CASE("a ring of what owns memory keeps it when it grows") {
  Ring<std::vector<i64>> ring;
  for (i64 k = 0; k < 3; ++k) ring.push() = {k, k + 1};
  ring.pop();
  for (i64 k = 3; k < 50; ++k) ring.push() = {k, k + 1};
  CHECK(ring.size() == 49);
  for (i64 k = 1; k < 50; ++k, ring.pop()) CHECK(ring.front() == std::vector<i64>{k, k + 1});
}

TEST_CASE("a pool gives slots again, the last one first") {
  Pool<int> pool;
  const u32 a = pool.take(), b = pool.take();
  CHECK(a != b);
  pool[b] = 7;
  pool.give(b);
  CHECK(pool.take() == b);
  CHECK(pool.slots() == 2);
}

TEST_CASE("rows change places without being copied, where they do not lie in the place itself") {
  Rows<2> from, to;
  for (i64 k = 0; k < 20; ++k) {
    i64* const row = from.push();
    row[0] = k, row[1] = -k;
  }
  const i64* const third = from.row(2);
  from.pop(20);  // what a run has used up stays where it was
  REQUIRE(to.take(from, third, 18));
  CHECK(to.row(0) == third);
  CHECK(to.row(17)[1] == -19);
  Rows<2> few;
  few.push()[0] = 1;
  few.pop(1);
  CHECK_FALSE(Rows<2>().take(few, few.row(0), 1));
}

TEST_CASE("tokens from outside come at their times: those fed before those pushed, each in order") {
  Arrivals arrivals;
  const auto feed = [&](u32 place, std::vector<i64> values, std::vector<i64> times) {
    CHECK(arrivals.in_order(place, times.data(), times.size()));
    arrivals.feed(place, 1, times.size(), values.data(), times.data());
  };
  arrivals.push(7, {3, {70}});
  feed(1, {10, 11, 12}, {2, 7, 7});
  feed(2, {20}, {2});
  arrivals.push(7, {1, {71}});
  const std::vector<i64> early{6};
  CHECK_FALSE(arrivals.in_order(1, early.data(), 1));
  CHECK(arrivals.in_order(2, early.data(), 1));
  std::string seen;
  const auto take_all = [&] {
    for (seen.clear(); !arrivals.none();) {
      const i64 now = arrivals.next;
      seen += std::to_string(now) + ":";
      arrivals.take(now, [&](u32 place, const i64* values) {
        seen += " " + std::to_string(place) + "=" + std::to_string(values[0]);
      });
      seen += "; ";
    }
  };
  take_all();
  CHECK(seen == "2: 1=10 2=20; 7: 1=11 1=12 3=70 1=71; ");
  feed(1, {13}, {9});  // behind what has arrived and is forgotten
  feed(1, {14, 15}, {9, 11});
  take_all();
  CHECK(seen == "9: 1=13 1=14; 11: 1=15; ");
}

TEST_CASE("of tokens that are taken out it is known when each came") {
  Stamps stamps;
  stamps.add(3, 0, 2);
  stamps.add(3, 1, 1);
  stamps.add(8, 0, 3);
  std::vector<lpn_instant> when(5, lpn_instant{-1, 99});
  const auto at = [&](std::size_t k) { return std::pair<i64, u64>(when[k].time, when[k].group); };
  stamps.take(4, when.data());
  CHECK(at(0) == std::pair<i64, u64>(3, 0));
  CHECK(at(1) == std::pair<i64, u64>(3, 0));
  CHECK(at(2) == std::pair<i64, u64>(3, 1));
  CHECK(at(3) == std::pair<i64, u64>(8, 0));
  CHECK(at(4) == std::pair<i64, u64>(-1, 99));
  stamps.take(1, nullptr);
  stamps.take(1, when.data());
  CHECK(at(0) == std::pair<i64, u64>(8, 0));
  CHECK(stamps.runs.size() == 0);
}

}  // namespace
}  // namespace lpnrt

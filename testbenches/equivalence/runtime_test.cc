// The containers of generated simulators against plain ones: what small random nets reach rarely,
// such as sets of more than 4096 transitions and a wheel that has turned many times.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "lpnrt/runtime.h"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>

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

TEST_CASE("the wheel gives every node at its time") {
  constexpr u32 kNodes = 40;
  std::mt19937_64 random(7);
  const auto wheel = std::make_unique<Wheel<kNodes>>();
  std::map<i64, std::set<u32>> plain;
  std::set<u32> idle;
  for (u32 k = 0; k < kNodes; ++k) idle.insert(k);
  i64 now = 0;
  for (int step = 0; step < 200000; ++step) {
    while (!idle.empty() && random() % 4 != 0) {
      const u32 node = *idle.begin();
      idle.erase(idle.begin());
      const i64 reach = random() % 2 == 0 ? 8 : Wheel<kNodes>::kSlots - 1;
      const i64 due = now + 1 + static_cast<i64>(random() % static_cast<u64>(reach));
      wheel->insert(due, node);
      plain[due].insert(node);
    }
    CHECK(wheel->empty() == plain.empty());
    if (plain.empty()) continue;
    REQUIRE(wheel->earliest(now) == plain.begin()->first);
    now = plain.begin()->first;
    const std::set<u32> expected = plain.begin()->second;
    CHECK(wheel->only(now) == (expected.size() == 1 ? *expected.begin() : Wheel<kNodes>::kNone));
    std::set<u32> got;
    for (u32 node = wheel->take(now); node != Wheel<kNodes>::kNone; node = wheel->after(node)) {
      got.insert(node);
    }
    CHECK(got == expected);
    idle.insert(got.begin(), got.end());
    plain.erase(plain.begin());
  }
}

TEST_CASE("rings and rows are FIFOs") {
  std::mt19937_64 random(11);
  Ring<i64> ring;
  Rows<3> rows;
  std::deque<i64> plain;
  i64 next = 0;
  for (int step = 0; step < 100000; ++step) {
    // Long phases of growing and of shrinking.
    const bool grow = step / 500 % 2 == 0 ? random() % 4 != 0 : random() % 4 == 0;
    if (grow || plain.empty()) {
      ring.push() = next;
      i64* const row = rows.push();
      for (int k = 0; k < 3; ++k) row[k] = next * 3 + k;
      plain.push_back(next++);
    } else {
      ring.pop();
      rows.pop(1);
      plain.pop_front();
    }
    CHECK(ring.size() == plain.size());
    if (plain.empty()) continue;
    CHECK(ring.front() == plain.front());
    CHECK(ring[plain.size() - 1] == plain.back());
    CHECK(rows.row(0)[2] == plain.front() * 3 + 2);
    CHECK(rows.row(plain.size() - 1)[0] == plain.back() * 3);
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
}

}  // namespace
}  // namespace lpnrt

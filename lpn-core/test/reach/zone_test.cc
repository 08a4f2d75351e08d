// Zones against the sets of instants that they stand for, written out.
#include "reach/zone.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace lpn::reach {
namespace {

constexpr std::size_t S = Zone::kStart, N = Zone::kNow;
constexpr Time kSpan = 9;  // instants are looked at from 0 to this, the start at 0

using Points = std::set<std::vector<Time>>;

// All instants of a zone; the start is 0.
Points points(const Zone& zone) {
  Points found;
  std::vector<Time> at(zone.size(), 0);
  const auto fill = [&](auto&& self, std::size_t k) -> void {
    if (k == zone.size()) {
      found.insert(at);
      return;
    }
    for (at[k] = 0; at[k] <= kSpan; ++at[k]) {
      bool fits = true;
      for (std::size_t j = 0; fits && j < k; ++j) {
        fits = at[k] - at[j] <= zone.most(k, j) && at[j] - at[k] <= zone.most(j, k);
      }
      if (fits) self(self, k + 1);
    }
  };
  fill(fill, 1);
  return found;
}

template <typename Keep>
Points kept(const Points& from, Keep&& keep) {
  Points found;
  for (const auto& at : from) {
    if (keep(at)) found.insert(at);
  }
  return found;
}

// Each bound is the tightest that the others imply: some point has it.
void check_closed(const Zone& zone) {
  const Points all = points(zone);
  REQUIRE(!all.empty());
  for (std::size_t i = 0; i < zone.size(); ++i) {
    for (std::size_t j = 0; j < zone.size(); ++j) {
      Time most = -kSpan;
      for (const auto& at : all) most = std::max(most, at[i] - at[j]);
      CHECK(zone.most(i, j) == most);
      CHECK(zone.least(j, i) == -most);
    }
  }
}

// Now, and events 1 to 3 later.
struct Some {
  std::mt19937 random;
  explicit Some(unsigned seed) : random(seed) {}
  Time draw(Time lo, Time hi) { return std::uniform_int_distribution<Time>(lo, hi)(random); }
  std::size_t which(const Zone& zone) {
    return static_cast<std::size_t>(draw(0, static_cast<Time>(zone.size()) - 1));
  }
  Zone zone() {
    Zone made;
    const std::size_t first = made.add({draw(0, 1), draw(1, 3)});
    made.advance(first);
    for (Time more = draw(1, 2); more > 0; --more) {
      const Time lo = draw(0, 2);
      made.add({lo, lo + draw(0, 3)});
    }
    return made;
  }
};

}  // namespace

TEST_CASE("Zone: a new one is the start, which is now; an event is so much after now") {
  Zone zone;
  CHECK(zone.size() == 2);
  CHECK(zone.most(N, S) == 0);
  CHECK(zone.least(N, S) == 0);
  const std::size_t a = zone.add({2, 5});
  CHECK(a == 2);
  CHECK(zone.most(a, N) == 5);
  CHECK(zone.least(a, N) == 2);
  CHECK(zone.most(a, S) == 5);
  zone.advance(a);
  CHECK(zone.size() == 2);
  CHECK(zone.most(N, S) == 5);
  CHECK(zone.least(N, S) == 2);
  const std::size_t b = zone.add({1, 1}), c = zone.add({0, kNoBound});
  CHECK(zone.least(b, S) == 3);
  CHECK(zone.most(b, S) == 6);
  CHECK(zone.most(c, S) == kNoBound);
  CHECK(zone.least(c, S) == 2);
  CHECK(zone.most(b, c) == 1);
}

TEST_CASE("Zone: may() says whether require() leaves something, which it does exactly") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    Some some(seed);
    Zone zone = some.zone();
    check_closed(zone);
    for (int step = 0; step < 3; ++step) {
      const std::size_t i = some.which(zone), j = some.which(zone);
      const Time by = some.draw(-4, 4);
      CAPTURE(i);
      CAPTURE(j);
      CAPTURE(by);
      const Points left =
          kept(points(zone), [&](const std::vector<Time>& at) { return at[i] - at[j] <= by; });
      CHECK(zone.may(i, j, by) == !left.empty());
      Zone less = zone;
      REQUIRE(less.require(i, j, by) == !left.empty());
      if (left.empty()) continue;
      CHECK(points(less) == left);
      check_closed(less);
      zone = less;
    }
  }
}

TEST_CASE("Zone: nothing is required of a bound that is not known") {
  Zone zone;
  const std::size_t a = zone.add({0, kNoBound}), b = zone.add({3, 3});
  CHECK(zone.may(a, b, 100));
  CHECK(zone.most(a, b) == kNoBound);
  REQUIRE(zone.require(a, b, 4));
  CHECK(zone.most(a, S) == 7);
  CHECK(zone.most(b, a) == 3);
  CHECK_FALSE(zone.may(a, N, -1));
  CHECK(zone.may(b, a, -4 + 1));
  REQUIRE(zone.require(b, a, -4));
  CHECK(zone.least(a, N) == 7);
}

TEST_CASE("Zone: what happens is now, and its number goes to those behind it") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Some some(seed);
    Zone zone = some.zone();
    const auto event = static_cast<std::size_t>(some.draw(2, static_cast<Time>(zone.size()) - 1));
    // The first of all.
    bool possible = true;
    for (std::size_t other = 2; possible && other < zone.size(); ++other) {
      possible = zone.require(event, other, 0);
    }
    if (!possible) continue;
    Points after;
    for (std::vector<Time> at : points(zone)) {
      at[N] = at[event];
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(event));
      after.insert(at);
    }
    const std::size_t before = zone.size();
    zone.advance(event);
    CHECK(zone.size() == before - 1);
    CHECK(points(zone) == after);
    check_closed(zone);
  }
}

TEST_CASE("Zone: remove() and permute() keep what is known of the others") {
  Zone zone;
  zone.add({1, 4});
  zone.add({2, 3});
  zone.add({0, 6});
  REQUIRE(zone.require(2, 3, -1));
  const Zone before = zone;
  zone.permute({S, N, 4, 2, 3});
  const std::vector<std::size_t> was{S, N, 4, 2, 3};
  for (std::size_t i = 0; i < was.size(); ++i) {
    for (std::size_t j = 0; j < was.size(); ++j) {
      CHECK(zone.most(i, j) == before.most(was[i], was[j]));
    }
  }
  zone.remove(2);
  CHECK(zone.size() == 4);
  CHECK(zone.most(2, 3) == -1);
  CHECK(zone.least(3, N) == 2);
  CHECK(zone.most(2, N) == 2);  // one before an event that is due after at most 3
}

TEST_CASE("Zone: includes() is that of the sets, and join() the least zone around both") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Some some(seed);
    Zone a, b;
    for (Zone* zone : {&a, &b}) {
      const std::size_t first = zone->add({some.draw(0, 1), some.draw(1, 3)});
      zone->advance(first);
      const Time lo = some.draw(0, 2);
      zone->add({lo, lo + some.draw(0, 3)});
    }
    const Points in_a = points(a), in_b = points(b);
    const bool inside = std::includes(in_a.begin(), in_a.end(), in_b.begin(), in_b.end());
    CHECK(a.includes(b) == inside);
    Zone both = a;
    both.join(b);
    CHECK(both.includes(a));
    CHECK(both.includes(b));
    check_closed(both);
    // No bound could be less.
    for (std::size_t i = 0; i < both.size(); ++i) {
      for (std::size_t j = 0; j < both.size(); ++j) {
        CHECK(both.most(i, j) == std::max(a.most(i, j), b.most(i, j)));
      }
    }
    if (inside) CHECK(points(both) == in_a);
  }
}

TEST_CASE("Zone: of the time since the start one side may be forgotten, and nothing else") {
  Zone zone;
  zone.advance(zone.add({4, 7}));
  const std::size_t a = zone.add({1, 2});
  Zone least = zone, most = zone;
  least.forget_least();
  CHECK(least.most(N, S) == 7);
  CHECK(least.most(a, S) == 9);
  CHECK(least.least(N, S) == 0);
  CHECK(least.least(a, S) == 1);
  most.forget_most();
  CHECK(most.most(N, S) == kNoBound);
  CHECK(most.most(a, S) == kNoBound);
  CHECK(most.least(N, S) == 4);
  CHECK(most.least(a, S) == 5);
  for (const Zone& each : {least, most}) {
    CHECK(each.includes(zone));
    CHECK(each.most(a, N) == 2);
    CHECK(each.least(a, N) == 1);
  }
}

}  // namespace lpn::reach

// What is due when, against a plain map: a wheel that has turned many times.

#include "lpnrt/wheel.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <random>
#include <set>

namespace lpnrt {
namespace {

TEST_CASE("the wheel gives every node at its time") {
  constexpr u32 kNodes = 40;
  std::mt19937_64 random(7);
  const auto wheel = std::make_unique<Wheel<kNodes>>();
  std::map<i64, std::set<u32>> plain;
  std::set<u32> idle;
  for (u32 k = 0; k < kNodes; ++k) idle.insert(k);
  std::map<i64, std::multiset<u32>> firings;  // of slots that may be overtaken, beside the nodes
  Slots batch;
  i64 now = 0;
  for (int step = 0; step < 200000; ++step) {
    while (!idle.empty() && random() % 4 != 0) {
      const u32 node = *idle.begin();
      idle.erase(idle.begin());
      const i64 reach = random() % 2 == 0 ? 8 : Wheel<kNodes>::kSlots - 1;
      const i64 due = now + 1 + static_cast<i64>(random() % static_cast<u64>(reach));
      wheel->insert(due, node);
      plain[due].insert(node);
      if (random() % 2 != 0) continue;
      const u32 slot = static_cast<u32>(random() % 5);
      wheel->insert_firing(due, 3, slot, batch);
      firings[due].insert(slot);
    }
    CHECK(wheel->empty() == plain.empty());
    if (plain.empty()) continue;
    REQUIRE(wheel->earliest(now) == plain.begin()->first);
    now = plain.begin()->first;
    const std::set<u32> expected = plain.begin()->second;
    std::set<u32> got;
    std::multiset<u32> slots;
    for (u32 node = wheel->take(now); node != Wheel<kNodes>::kNone;) {
      if (node < kNodes) {
        got.insert(node);
        node = wheel->after(node);
        continue;
      }
      const auto firing = wheel->release(node);
      CHECK(firing.transition == 3);
      CHECK(firing.batch == &batch);
      slots.insert(firing.slot);
      node = firing.next;
    }
    CHECK(got == expected);
    CHECK(slots == firings[now]);
    idle.insert(got.begin(), got.end());
    plain.erase(plain.begin());
  }
}

TEST_CASE("the heap gives what is due first") {
  Events events;
  for (const i64 due : {5000, 3000, 4000}) events.push({due, static_cast<u32>(due / 1000), kFront});
  CHECK(events.top().transition == 3);
  events.pop();
  CHECK(events.top().due == 4000);
}

}  // namespace
}  // namespace lpnrt

// What is due when: a bucket wheel for the near future, a Boost.Heap for what is further away.
#pragma once

#include <algorithm>
#include <boost/heap/d_ary_heap.hpp>
#include <iterator>
#include <vector>

#include "lpnrt/codes.h"

namespace lpnrt {

// Firings of a transition that are due and may overtake one another, by their slots.
using Slots = std::vector<u32>;

// What is due within the next kSlots ticks: a list of nodes per tick, found through a bitmap. A
// node is in at most one list, so links live in one array and nothing is allocated; firings that
// may be overtaken have nodes of their own, from Nodes on, which are used again. Cost does not grow
// with the number of pending events, which a heap's does.
template <u32 Nodes>
class Wheel {
 public:
  static constexpr i64 kSlots = 1024;
  static constexpr u32 kNone = ~u32{0};

  Wheel() { std::fill(std::begin(heads_), std::end(heads_), kNone); }
  bool empty() const { return summary_ == 0; }
  // REQUIRES now <= due < now + kSlots, and node in no list.
  void insert(i64 due, u32 node) { next_[node] = put(due, node); }
  // A firing of transition `k`, which is in that slot, for its list of those that are due. REQUIRES
  // now <= due < now + kSlots.
  [[gnu::noinline]] void insert_firing(i64 due, u32 k, u32 slot, Slots& batch) {
    if (unused_ == kNone) {
      unused_ = Nodes + static_cast<u32>(firings_.size());
      firings_.push_back({kNone, 0, 0, nullptr});
    }
    const u32 node = unused_;
    Firing& firing = firings_[node - Nodes];
    unused_ = firing.next;
    firing = {put(due, node), k, slot, &batch};
  }
  struct Firing {
    u32 next, transition, slot;
    Slots* batch;
  };
  // That of a node from Nodes on, which is free then; `next` is what comes after it.
  Firing release(u32 node) {
    Firing& firing = firings_[node - Nodes];
    const Firing found = firing;
    firing.next = unused_;
    unused_ = node;
    return found;
  }
  // The earliest due time. REQUIRES !empty() and nothing due before now.
  i64 earliest(i64 now) const {
    const u32 slot = static_cast<u32>(now) & (kSlots - 1);
    const u32 word = slot / 64;
    if (const u64 bits = words_[word] >> (slot % 64)) return now + __builtin_ctzll(bits);
    const u32 turned = (summary_ | summary_ << kWords) >> (word + 1) & ((1u << kWords) - 1);
    const u32 found = (word + 1 + static_cast<u32>(__builtin_ctz(turned))) % kWords;
    const u32 at = found * 64 + static_cast<u32>(__builtin_ctzll(words_[found]));
    return now + ((at - slot) & (kSlots - 1));
  }
  // Empties the list of `now`; its first node (kNone: nothing was due), the others by after().
  u32 take(i64 now) {
    const u32 slot = static_cast<u32>(now) & (kSlots - 1);
    const u32 first = heads_[slot];
    if (first == kNone) return kNone;
    heads_[slot] = kNone;
    const u64 rest = words_[slot / 64] &= ~(u64{1} << (slot % 64));
    if (rest == 0) summary_ &= ~(1u << (slot / 64));
    return first;
  }
  u32 after(u32 node) const { return next_[node]; }  // REQUIRES node < Nodes

 private:
  static constexpr u32 kWords = kSlots / 64;
  static_assert(kWords <= 16);
  // The node that it goes before.
  u32 put(i64 due, u32 node) {
    const u32 slot = static_cast<u32>(due) & (kSlots - 1);
    const u32 next = heads_[slot];
    heads_[slot] = node;
    words_[slot / 64] |= u64{1} << (slot % 64);
    summary_ |= 1u << (slot / 64);
    return next;
  }
  u32 summary_ = 0;
  u64 words_[kWords] = {};
  u32 heads_[kSlots];
  u32 next_[Nodes];
  u32 unused_ = kNone;
  std::vector<Firing> firings_;
};

struct Event {
  i64 due;
  u32 transition;
  u32 slot;  // of a firing that may be overtaken; kFront: the oldest one; kWake: look again
  Slots* batch = nullptr;  // of such a slot
};
inline constexpr u32 kFront = ~u32{0};
inline constexpr u32 kWake = ~u32{0} - 1;

struct Later {
  bool operator()(const Event& x, const Event& y) const { return x.due > y.due; }
};
using Events = boost::heap::d_ary_heap<Event, boost::heap::arity<4>, boost::heap::compare<Later>>;

}  // namespace lpnrt

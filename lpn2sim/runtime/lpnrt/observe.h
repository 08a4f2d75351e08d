// What order-free runs keep for their statistics (LPNRT_STATS).
#pragma once

#include "lpnrt/runtime.h"

namespace lpnrt {

// When the firings of a transition gave back their tokens, numbered from 0; what no place will ask
// for again is forgotten. With `Counted`, how many tokens they were.
template <bool Counted>
class Releases {
  static constexpr u64 kWidth = Counted ? 2 : 1;

 public:
  Releases() = default;
  Releases(const Releases&) = delete;
  Releases& operator=(const Releases&) = delete;
  ~Releases() { ::operator delete(items_); }
  u64 end() const { return tail_; }
  bool full() const { return tail_ - head_ > mask_ || items_ == nullptr; }
  u64 instant(u64 k) const { return items_[(k & mask_) * kWidth]; }
  // Whether the k-th is known to have been at `at` or before; false too for what is forgotten.
  bool gone(u64 k, u64 at) const {
    return k - head_ < tail_ - head_ && instant(k) <= at && at != ~u64{0};
  }
  u64 count(u64 k) const { return items_[(k & mask_) * kWidth + 1]; }
  // REQUIRES !full().
  void push(u64 instant, u64 count = 0) {
    u64* const item = items_ + (tail_++ & mask_) * kWidth;
    item[0] = instant;
    if constexpr (Counted) item[1] = count;
  }
  // All anew: those from `first` to before `end`, which stand at `instants`.
  void restart(u64 first, u64 end, const u64* instants) {
    static_assert(!Counted);
    for (head_ = tail_ = first; tail_ != end;) {
      if (full()) make_room(first);
      push(*instants++);
    }
  }
  // Forgets those before `first`, and makes room where that is not enough.
  [[gnu::noinline, gnu::cold]] void make_room(u64 first) {
    head_ = first;
    const u64 capacity = items_ == nullptr ? 64 : mask_ + 1;
    if (items_ != nullptr && tail_ - head_ <= capacity / 2) return;
    const u64 wanted = items_ == nullptr ? capacity : capacity * 2;
    charge(wanted * kWidth * sizeof(u64));
    u64* const bigger = static_cast<u64*>(::operator new(wanted* kWidth * sizeof(u64)));
    for (u64 k = head_; k < tail_; ++k) {
      std::memcpy(bigger + (k & (wanted - 1)) * kWidth, items_ + (k & mask_) * kWidth,
                  kWidth * sizeof(u64));
    }
    if (items_ != nullptr) refund(capacity * kWidth * sizeof(u64));
    ::operator delete(items_);
    items_ = bigger;
    mask_ = wanted - 1;
  }

 private:
  u64 head_ = 0, tail_ = 0, mask_ = 0;
  u64* items_ = nullptr;
};

// How full a place was. `taken` tokens have been looked at: the next one found no more than
// taken + 1 - released in it when it came, itself included, `released` being known to have left.
struct Level {
  u64 taken = 0, released = 0, peak = 0;
  u64 limit = 0;  // peak + released: nothing is to be learnt from tokens below
};

// The instants of a transition's firings, summed up.
struct Seen {
  i64 waited[8] = {};
  i64 busy = 0, busy_until = 0;
  u64 own = 0;                     // ticks of its last start
  i64 for_token = 0, guarded = 0;  // of its actor's sums, when it started last
  u128 commits = 0;                // sum of the ticks of its commits
};

}  // namespace lpnrt

// What straight-line code tells of a static part whose firings it only writes down (streams.h,
// stream_path.h): the streams of instants, and who waits for which number of which stream.
#pragma once

#include <cstring>

#include "lpnrt/budget.h"
#include "lpnrt/codes.h"

#ifndef LPNRT_STREAM_BLOCK
#define LPNRT_STREAM_BLOCK 4096  // most iterations of a block; tests set less
#endif
// Least firings of an iteration that reads the one before it from the streams: a shorter one would
// wait for what it has just written. Tests set less.
#ifndef LPNRT_READ_BACK
#define LPNRT_READ_BACK 32
#endif

namespace lpnrt {

inline constexpr i64 kStreamHistory = 64;  // iterations for which there is room before a block

// One number per firing: the instants of commits, or from which on an interval allows a start.
struct Stream {
  u64 firings;  // per iteration
  u64 offset;   // of the block that straight-line code writes, behind the history
};
// Firing n of a transition does not start before firing (n * taken + needed - 1 - initial) /
// emitted of `stream`; where that is negative, before nothing.
struct StreamWait {
  u32 stream, reason;
  i64 emitted, taken, needed, initial;
};
// Its own stream has its own number.
struct StreamTransition {
  u32 waits;   // how many, of those that no other transition before it has
  bool alone;  // one server
};
// For the critical path: the transition's number in the net; the stream of its commits as they
// were without those before them, where it commits in order, else 0.
struct StreamCauses {
  u32 by, raw;
};
struct StreamPlace {
  u32 producer, consumer;
  i64 emitted, taken;
  bool leaves_first;  // of a token that leaves and one that comes at one instant
  i64 most;           // tokens that a cycle with the place has; -1: none is known
};
// The transitions' streams come first, those for causes alone last.
struct StreamPart {
  const Stream* streams;
  const StreamTransition* transitions;
  const StreamWait* waits;
  const StreamPlace* places;
  const StreamCauses* causes;
  u32 stream_count, transition_count, wait_count, place_count;
  u32 for_causes;  // streams behind the others
  u64 block;       // iterations at most
  u64 words;       // of a block and its history
};

// The last numbers of a stream, side by side; 0 before the first.
template <typename Item>
class StreamTail {
 public:
  StreamTail() = default;
  // At the same places of a page the numbers of many streams would drive each other out of a cache.
  void stand_apart(u32 stream) { apart_ = stream * 40 % 512; }
  StreamTail(const StreamTail&) = delete;
  StreamTail& operator=(const StreamTail&) = delete;
  ~StreamTail() { drop(); }
  i64 end() const { return end_; }
  // Of number k on, as far as they are kept.
  const Item* at(i64 k) const { return items_ + (k - first_); }
  Item* at(i64 k) { return items_ + (k - first_); }
  u64 room() const { return capacity_ - static_cast<u64>(end_ - first_); }
  // Before anything is kept: `first` comes next.
  void begin_at(i64 first) { first_ = end_ = first; }
  // Where the next ones go; then added().
  Item* next() { return items_ + (end_ - first_); }
  void added(u64 count) { end_ += static_cast<i64>(count); }
  // Forgets what is before `first`, which may be negative; room for `more` at least.
  void keep(i64 first, u64 more) {
    if (items_ == nullptr) first_ = first;
    const i64 from = first < first_ ? first_ : first;
    const u64 kept = static_cast<u64>(end_ - from);
    if (items_ != nullptr && kept * 2 + more <= capacity_) {
      std::memmove(items_, at(from), kept * sizeof(Item));
    } else {
      const u64 wanted = kept * 4 + more * 2;
      charge((wanted + apart_) * sizeof(Item));
      Item* const bigger =
          static_cast<Item*>(::operator new((wanted + apart_) * sizeof(Item))) + apart_;
      if (items_ == nullptr) {
        std::memset(bigger, 0, kept * sizeof(Item));
      } else {
        std::memcpy(bigger, at(from), kept * sizeof(Item));
      }
      drop();
      items_ = bigger;
      capacity_ = wanted;
    }
    first_ = from;
  }

 private:
  void drop() {
    if (items_ == nullptr) return;
    refund((capacity_ + apart_) * sizeof(Item));
    ::operator delete(items_ - apart_);
  }
  Item* items_ = nullptr;
  u64 capacity_ = 0, apart_ = 0;
  i64 first_ = 0, end_ = 0;
};

inline i64 floor_of(i64 x, i64 by) { return x >= 0 ? x / by : -((by - 1 - x) / by); }
inline i64 ceil_of(i64 x, i64 by) { return -floor_of(-x, by); }

}  // namespace lpnrt

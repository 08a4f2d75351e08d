// The streams of a part in one buffer, a block of numbers each, with the last ones before the block
// in front of it: what is looked at stands side by side, and nothing is copied but these.
//
// Instants that move on little in a block are kept as their low 32 bits. Which is later is known
// of those that are near to each other; whether they are is seen from the ends of their streams.
// Straight-line code that reads them back (ready()) has them from an origin on that moves along, so
// that they compare as numbers do.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "lpnrt/flow.h"
#include "lpnrt/stream_tables.h"

namespace lpnrt {

template <typename Word>
class StreamLines {
 public:
  static constexpr bool kLow = sizeof(Word) < sizeof(u64);
  // Low words that are compared are not further apart than four times this; in a stream not than
  // this, else it is the turn of the event-driven engine.
  static constexpr u64 kNear = u64{1} << 29;
  struct Line {
    i64 base = 0;    // numbers before the block
    u64 added = 0;   // in the block
    i64 kept = 1;    // so many are needed of those before the next one
    i64 stood = 0;   // before the block
    u64 last = 0;    // instant of the last
    u64 before = 0;  // of the last before the block
    u64 first = 0;   // of the first that stands there
  };

  void begin(const StreamPart& part) {
    part_ = &part;
    lines_ = std::vector<Line>(part.stream_count);
    for (u32 s = 0; s < part.stream_count; ++s) lines_[s].stood = room(s);
    ended_.resize(part.stream_count);
    // Only what stands before the first block is read before it is written, and the first number.
    // From a line of the cache on: a vector that starts in a stream's first place lies in one.
    void* const lines = ::operator new[](part.words * sizeof(Word), std::align_val_t{kLineBytes});
    block_.reset(static_cast<Word*>(lines));
    block_[0] = 0;
    for (u32 s = 0; s < part.stream_count; ++s) {
      std::fill_n(block() + offset(s) - room(s), room(s), Word{0});
    }
  }
  const Line& operator[](u32 s) const { return lines_[s]; }
  // Before a block that reads back what it wrote: each number that stands is exact, as are those of
  // the block unless that goes on for kNear or more.
  void ready() {
    exact_ = true;
    if (latest() - origin_ >= 2 * kNear) move_origin();
  }
  // Of all streams; the n-th last of one, of those that stand.
  u64 latest() const {
    u64 last = 0;
    for (const Line& line : lines_) last = std::max(last, line.last);
    return last;
  }
  u64 earlier(u32 s, i64 n) const { return full(s, *near(s, end(s) - n)); }
  Word low(u64 instant) const { return static_cast<Word>(instant - origin_); }

  Word* block() { return block_.get(); }
  const Word* block() const { return block_.get(); }
  u64 offset(u32 s) const { return part_->streams[s].offset; }
  i64 end(u32 s) const { return lines_[s].base + static_cast<i64>(lines_[s].added); }
  // Number k and those behind it.
  const Word* near(u32 s, i64 k) const { return block_.get() + offset(s) + (k - lines_[s].base); }
  bool stands(u32 s, i64 k) const { return k >= lines_[s].base - lines_[s].stood; }
  // As many may stand before a block.
  i64 room(u32 s) const { return static_cast<i64>(part_->streams[s].firings) * kStreamHistory; }
  u64 full(u32 s, Word word) const {
    const u64 last = lines_[s].last;
    return last - static_cast<Word>(low(last) - word);
  }

  // Number `k` will be looked at with the next block.
  void reach(u32 s, i64 k) { lines_[s].kept = std::max(lines_[s].kept, end(s) - k); }
  // Low words say little of the last instant: before grow().
  void ended(u32 s, u64 instant) { ended_[s] = instant; }
  // So many have been written.
  void grow(u32 s, u64 added) {
    Line& line = lines_[s];
    line.added = added;
    line.before = line.last;
    line.last = !kLow || exact_ ? origin_ + near(s, line.base)[added - 1] : ended_[s];
    if (kLow && line.last - line.first >= kNear) bail();
  }
  // The next block comes.
  void keep(u32 s) {
    Line& line = lines_[s];
    constexpr i64 kLine = kLineBytes / sizeof(Word);
    Word* const to = block_.get() + offset(s);
    line.stood = std::min(line.kept, room(s));
    if (line.stood <= kLine) {
      Word last[kLine];  // a short block's lie over those before it
      std::memcpy(last, to + line.added - kLine, sizeof last);
      std::memcpy(to - kLine, last, sizeof last);
    } else {
      std::memmove(to - line.stood, to + line.added - line.stood,
                   static_cast<u64>(line.stood) * sizeof(Word));
    }
    line.base += static_cast<i64>(line.added);
    line.added = 0;
    if (kLow) line.first = full(s, to[-line.stood]);
  }
  // Whether low words up to this are compared as they are, else as if their highest bit were a
  // sign: then of those that are half of all at most before it none is taken for a later one.
  bool late(u64 last) const { return kLow && (low(last) >> 31 & 1) != 0; }

 private:
  static constexpr u64 kLineBytes = 64;
  struct Aligned {
    void operator()(Word* words) const { ::operator delete[](words, std::align_val_t{kLineBytes}); }
  };
  // To the first instant that stands.
  [[gnu::noinline, gnu::cold]] void move_origin() {
    u64 first = latest();
    for (const Line& line : lines_) first = std::min(first, line.first);
    if (latest() - first >= 2 * kNear) bail();
    const Word by = low(first);
    for (u32 s = 0; s < lines_.size(); ++s) {
      Word* const to = block_.get() + offset(s);
      for (i64 k = -room(s); k < 0; ++k) to[k] -= by;
    }
    origin_ = first;
  }

  const StreamPart* part_ = nullptr;
  std::vector<Line> lines_;
  std::vector<u64> ended_;
  std::unique_ptr<Word[], Aligned> block_;
  u64 origin_ = 0;  // what the number 0 stands for
  bool exact_ = false;
};

}  // namespace lpnrt

// The streams of a part in one buffer, a block of numbers each, with the last ones before the block
// in front of it: what is looked at stands side by side, and nothing is copied but these.
//
// Instants that move on little in a block are kept as their low 32 bits. Which is later is known
// of those that are near to each other; whether they are is seen from the ends of their streams.
#pragma once

#include <algorithm>
#include <cstring>
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
    block_ = std::vector<Word>(part.words);
  }
  const Line& operator[](u32 s) const { return lines_[s]; }
  Word* block() { return block_.data(); }
  const Word* block() const { return block_.data(); }
  u64 offset(u32 s) const { return part_->streams[s].offset; }
  i64 end(u32 s) const { return lines_[s].base + static_cast<i64>(lines_[s].added); }
  // Number k and those behind it.
  const Word* near(u32 s, i64 k) const { return block_.data() + offset(s) + (k - lines_[s].base); }
  bool stands(u32 s, i64 k) const { return k >= lines_[s].base - lines_[s].stood; }
  // As many may stand before a block.
  i64 room(u32 s) const { return static_cast<i64>(part_->streams[s].firings) * kStreamHistory; }
  static u64 full(u64 last, Word low) {
    return last - static_cast<Word>(static_cast<Word>(last) - low);
  }
  u64 full(u32 s, Word low) const { return full(lines_[s].last, low); }

  // Number `k` will be looked at with the next block.
  void reach(u32 s, i64 k) { lines_[s].kept = std::max(lines_[s].kept, end(s) - k); }
  // Low words say little of the last instant: before grow().
  void ended(u32 s, u64 instant) { ended_[s] = instant; }
  // So many have been written.
  void grow(u32 s, u64 added) {
    Line& line = lines_[s];
    line.added = added;
    line.before = line.last;
    if constexpr (kLow) {
      line.last = ended_[s];
      if (line.last - line.first >= kNear) bail();
    } else {
      line.last = near(s, line.base)[added - 1];
    }
  }
  // The next block comes.
  void keep(u32 s) {
    Line& line = lines_[s];
    constexpr i64 kLine = 64 / sizeof(Word);
    Word* const to = block_.data() + offset(s);
    line.stood = std::min(line.kept, room(s));
    if (line.stood <= kLine) {
      std::memcpy(to - kLine, to + line.added - kLine, kLine * sizeof(Word));
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
  static bool late(u64 last) { return kLow && (last >> 31 & 1) != 0; }

 private:
  const StreamPart* part_ = nullptr;
  std::vector<Line> lines_;
  std::vector<u64> ended_;
  std::vector<Word> block_;
};

}  // namespace lpnrt

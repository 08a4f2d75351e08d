// What straight-line code for static parts stands on (lpn2sim/src/write/straight_line.h).
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "lpnrt/flow.h"
#include "lpnrt/vectors.h"
#if LPNRT_STATS
#include "lpnrt/streams.h"
#endif
#if LPNRT_PATH
#include "lpnrt/low_path.h"
#include "lpnrt/stream_path.h"
#endif

namespace lpnrt {

// In long straight-line code the compiler's search for vectors inside one iteration costs more
// than it finds: values go to memory and come back as parts of vectors.
#if defined(__GNUC__) && !defined(__clang__)
#define LPNRT_STRAIGHT __attribute__((optimize("no-tree-slp-vectorize", "no-tree-vectorize")))
#else
#define LPNRT_STRAIGHT
#endif

// Queues of more tokens are left to the flow engine.
inline constexpr u64 kMostInRing = u64{1} << 20;

#ifdef LPNRT_TEST_STATIC
[[gnu::visibility("default")]] inline u64 static_iterations = 0, read_back = 0, lane_iterations = 0,
                                          lane_rebases = 0;
#define LPNRT_TESTED(...) __VA_ARGS__
#else
#define LPNRT_TESTED(...)
#endif

template <typename T>
[[gnu::always_inline]] inline T later(T x, T y) {
  return x > y ? x : y;
}
[[gnu::always_inline]] inline u64 fewer(u64 x, u64 y) { return x < y ? x : y; }

// The same numbers by a name of their own: the compiler, which does not know that they are what is
// written under the other one, reads them there. Else it would keep each in a second place.
template <typename T>
[[gnu::always_inline]] inline T* other_name(T* numbers) {
#ifdef __GNUC__
  __asm__("" : "+r"(numbers));
#endif
  return numbers;
}

// Whole iterations that `tokens` last for, each taking `rate`; the last firing sees `beyond` more
// than it takes.
inline u64 iterations(u64 tokens, u64 rate, u64 beyond) {
  return tokens < beyond ? 0 : (tokens - beyond) / rate;
}

// Size - 1 of a ring for `tokens`.
inline u64 mask_for(u64 tokens) {
  u64 size = 1;
  while (size < tokens) size *= 2;
  return size - 1;
}

// The j-th of the last `count` commits; 0 where there were not so many.
template <int W>
inline u64 latest_of(const Chan<W>& commits, u64 j, u64 count) {
  const u64 missing = count - commits.size();
  return j < missing ? 0 : commits.instant(j - missing);
}

// A token of several by a computed index.
template <std::size_t N>
inline i64 pick(const i64 (&values)[N], i64 which, u64 where) {
  if (static_cast<u64>(which) >= N) fail(kTokenIndex, where, which);
  return values[which];
}

// ---- several inputs in lock step ------------------------------------------------------------

using LaneKernel = void (*)(u32* state, const u32* const* columns, u32* const* rings, u64* at,
                            u64 n);

// The last commit of a transition, and the longest of its delays.
struct LaneSlot {
  u32 slot;
  u32 delay;
};

// A static part whose instants are 32-bit numbers, relative to a base per lane.
struct LanePart {
  u32 slots;     // variables kept between calls of the kernel
  u32 instants;  // of which the first are instants
  u32 rings;
  u64 growth;  // most ticks that an iteration adds
  u64 zeros;   // firings of an iteration that may take no time
  const LaneSlot* lasts;
  u32 transitions;
  LaneKernel wide, narrow;
};

// Memory for vectors, zero at first; large blocks ask for large pages.
class LaneMemory {
 public:
  explicit LaneMemory(u64 words, bool zero = true) {
    constexpr u64 kLarge = u64{1} << 21;
    const u64 bytes = (words + 1) * sizeof(u32);
    const u64 unit = bytes >= kLarge ? kLarge : 64;
    const u64 size = (bytes + unit - 1) / unit * unit;
    words_ = static_cast<u32*>(std::aligned_alloc(unit, size));
    if (words_ == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    if (unit == kLarge) ::madvise(words_, size, MADV_HUGEPAGE);
#endif
    if (zero) std::memset(words_, 0, size);
  }
  LaneMemory(LaneMemory&& other) noexcept : words_(other.words_) { other.words_ = nullptr; }
  LaneMemory& operator=(LaneMemory&& other) noexcept {
    std::swap(words_, other.words_);
    return *this;
  }
  ~LaneMemory() { std::free(words_); }
  u32* words() const { return words_; }

 private:
  u32* words_ = nullptr;
};

// One property of the tokens of a source, per lane.
struct LaneRows {
  const i64* at[kMostLanes];
};

// Up to kMostLanes runs of a part side by side.
class LaneBlock {
 public:
  void begin(const LanePart& part, u32 lanes, u64 iterations) {
    part_ = &part;
    lanes_ = lanes;
    left_ = iterations;
    done_ = group_ = group_before_ = 0;
    state_ = LaneMemory(u64{part.slots} * lanes);
    queues_.clear();
    at_.clear();
    rings_.clear();
    columns_.clear();
    for (u32 lane = 0; lane < kMostLanes; ++lane) base_[lane] = separate_[lane] = 0;
  }
  // A ring of `count` tokens at instant 0 with `fields` values each.
  void queue(u64 count, u64 rate, u64 fields) {
    const u64 mask = mask_for(count + rate);
    queues_.push_back({count, rings_.size()});
    at_.resize(queues_.size() * 3);
    at_[at_.size() - 3] = mask;
    at_[at_.size() - 2] = 0;
    at_[at_.size() - 1] = count;
    for (u64 f = 0; f <= fields; ++f) rings_.emplace_back((mask + 1) * lanes_);
  }
  void set(u64 slot, u32 lane, i64 x) { state_.words()[slot * lanes_ + lane] = word(x); }
  void put(u64 ring, u64 j, u32 lane, i64 x) { rings_[ring].words()[j * lanes_ + lane] = word(x); }
  // The next column of the kernel: `rate` values per iteration and `beyond` after the last. False
  // when a value has to be looked at and is outside [lo, hi].
  bool column(const LaneRows& rows, u64 rate, u64 beyond, u64 stride, bool check, i64 lo, i64 hi) {
    const u64 count = left_ * rate + beyond;
    columns_.push_back({LaneMemory(count * lanes_, false), rate});
    u32* const to = columns_.back().values.words();
    return lanes_ == 16 ? interleave<16>(to, rows, count, stride, check, lo, hi)
                        : interleave<8>(to, rows, count, stride, check, lo, hi);
  }

  // All iterations for which 32 bits suffice. False when it cannot be excluded that an instant has
  // more groups than are allowed.
  bool advance() {
    std::vector<const u32*> columns;
    std::vector<u32*> rings;
    for (const LaneMemory& r : rings_) rings.push_back(r.words());
    bool rebased = false;
    while (left_ != 0) {
      u64 chunk = fewer(left_, (room() - fewer(room(), latest())) / part_->growth);
      if (part_->zeros != 0) chunk = fewer(chunk, kGroupLimit / 8 / part_->zeros);
      if (chunk < fewer(left_, 16)) {
        if (rebased) return true;
        rebase();
        rebased = true;
        continue;
      }
      rebased = false;
      chunk = fewer(chunk, 16 + (u64{1} << 24) / (part_->transitions + 1));
      if (group() + chunk * part_->zeros > kGroupLimit) return false;
      columns.clear();
      for (const Column& c : columns_)
        columns.push_back(c.values.words() + done_ * c.rate * lanes_);
      (lanes_ == 16 ? part_->wide : part_->narrow)(state_.words(), columns.data(), rings.data(),
                                                   at_.data(), chunk);
      LPNRT_TESTED(lane_iterations += chunk;)
      done_ += chunk;
      left_ -= chunk;
      if (part_->zeros != 0) count_groups(chunk);
      rest();
    }
    return true;
  }

  u64 done() const { return done_; }
  // At least the groups that an instant may have had by now.
  u64 group() const { return group_ + group_before_; }
  u64 instant(u64 slot, u32 lane) const {
    return base_[lane] + state_.words()[slot * lanes_ + lane];
  }
  i64 value(u64 slot, u32 lane) const {
    return static_cast<std::int32_t>(state_.words()[slot * lanes_ + lane]);
  }
  u64 queued(u64 queue) const { return queues_[queue].count; }
  u64 ring_instant(u64 queue, u64 ring, u64 j, u32 lane) const {
    return base_[lane] + in_ring(queue, ring, j, lane);
  }
  i64 ring_value(u64 queue, u64 ring, u64 j, u32 lane) const {
    return static_cast<std::int32_t>(in_ring(queue, ring, j, lane));
  }

 private:
  struct Queue {
    u64 count;
    u64 ring;  // of its instants
  };
  struct Column {
    LaneMemory values;
    u64 rate;
  };
  // Instants stay below this, relative to their base; in tests they have to be rebased often.
  u64 room() const {
    LPNRT_TESTED(return fewer(~u32{0}, part_->growth * 17);)
    return ~u32{0};
  }
  static u32 word(i64 x) { return static_cast<u32>(x); }

  template <u32 L>
  static bool interleave(u32* to, const LaneRows& rows, u64 count, u64 stride, bool check, i64 lo,
                         i64 hi) {
    bool bad = false;
    for (u64 i = 0; i < count; ++i) {
      for (u32 lane = 0; lane < L; ++lane) {
        const i64 x = rows.at[lane][i * stride];
        to[i * L + lane] = word(x);
        if (check) bad |= x < lo || x > hi;
      }
    }
    return !bad;
  }

  u32 in_ring(u64 queue, u64 ring, u64 j, u32 lane) const {
    return rings_[ring].words()[((at_[queue * 3 + 1] + j) & at_[queue * 3]) * lanes_ + lane];
  }

  u64 latest() const {
    u32 most = 0;
    for (u64 i = 0; i < u64{part_->instants} * lanes_; ++i) {
      most = most < state_.words()[i] ? state_.words()[i] : most;
    }
    return most;
  }
  // No firing to come starts before this.
  u32 earliest(u32 lane) const {
    u64 least = ~u32{0};
    for (u32 k = 0; k < part_->transitions; ++k) {
      const LaneSlot& last = part_->lasts[k];
      const u64 commit = state_.words()[u64{last.slot} * lanes_ + lane];
      least = fewer(least, commit < last.delay ? 0 : commit - last.delay);
    }
    return static_cast<u32>(least);
  }

  // Instants before the earliest start to come are as good as that start.
  void rebase() {
    for (u32 lane = 0; lane < lanes_; ++lane) {
      const u32 by = earliest(lane);
      if (by == 0) continue;
      LPNRT_TESTED(++lane_rebases;)
      base_[lane] += by;
      const auto shift = [by](u32& x) { x = x < by ? 0 : x - by; };
      for (u64 i = 0; i < part_->instants; ++i) shift(state_.words()[i * lanes_ + lane]);
      for (u64 q = 0; q < queues_.size(); ++q) {
        for (u64 i = 0; i <= at_[q * 3]; ++i) {
          shift(rings_[queues_[q].ring].words()[i * lanes_ + lane]);
        }
      }
    }
  }

  // Groups are not kept. A chain of firings in one instant is at most as long as those firings
  // since the last time but one at which all that had happened before was past.
  void count_groups(u64 iterations) {
    group_ += iterations * part_->zeros;
    for (u32 lane = 0; lane < lanes_; ++lane) {
      if (base_[lane] + earliest(lane) <= separate_[lane]) return;
    }
    for (u32 lane = 0; lane < lanes_; ++lane) {
      u32 most = 0;
      for (u64 i = 0; i < part_->instants; ++i) {
        const u32 x = state_.words()[i * lanes_ + lane];
        most = most < x ? x : most;
      }
      separate_[lane] = base_[lane] + most;
    }
    group_before_ = group_;
    group_ = 0;
  }

  const LanePart* part_ = nullptr;
  u32 lanes_ = 0;
  u64 left_ = 0, done_ = 0;
  u64 group_ = 0, group_before_ = 0;
  u64 base_[kMostLanes] = {};
  u64 separate_[kMostLanes] = {};
  LaneMemory state_{0};
  std::vector<Queue> queues_;
  std::vector<u64> at_;
  std::vector<LaneMemory> rings_;
  std::vector<Column> columns_;
};

}  // namespace lpnrt

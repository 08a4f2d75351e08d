// Statistics of straight-line code (LPNRT_STATS): it only writes down when its firings committed.
// All else follows from these streams of instants, a block at a time and with vectors: a start is
// the latest of what it waited for, and what decided it is the reason; the longest queue shows
// where a token came while one far ahead of it had not left.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "lpnrt/flow.h"
#include "lpnrt/observe.h"
#include "lpnrt/stream_tables.h"
#include "lpnrt/vectors.h"

namespace lpnrt {

// ---- what is done with a block of numbers ----------------------------------------------------

// `Vector` is i64 or a vector of them; instants are below 2^63, sums are modulo 2^64.
template <typename Vector, typename Unsigned, int kShift>
struct StreamLoops {
  static constexpr u64 kWidth = sizeof(Vector) / sizeof(u64);
  [[gnu::always_inline]] static void get(Vector& x, const u64* from) {
    std::memcpy(&x, from, sizeof x);
  }
  [[gnu::always_inline]] static void add(Unsigned& sum, const Vector& x) {
    sum += (Unsigned)x >> kShift;
  }
  [[gnu::always_inline]] static u64 total(const Unsigned& x) {
    u64 each[kWidth], all = 0;
    std::memcpy(each, &x, sizeof x);
    for (u64 i = 0; i < kWidth; ++i) all += each[i];
    return all;
  }
  // Copies; the sum of the ticks.
  [[gnu::always_inline]] static u64 copy(u64* to, const u64* from, u64 n) {
    Unsigned sum{};
    Vector x;
    u64 i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      get(x, from + i);
      add(sum, x);
      std::memcpy(to + i, &x, sizeof x);
    }
    u64 all = total(sum);
    for (; i < n; ++i) all += (to[i] = from[i]) >> kShift;
    return all;
  }
  // The later of each pair, and the sum of their ticks. `to` may be one of them.
  [[gnu::always_inline]] static u64 latest(u64* to, const u64* one, const u64* other, u64 n) {
    Unsigned sum{};
    Vector x, y;
    u64 i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      get(x, one + i);
      get(y, other + i);
      x = x > y ? x : y;
      add(sum, x);
      std::memcpy(to + i, &x, sizeof x);
    }
    u64 all = total(sum);
    for (; i < n; ++i) all += (to[i] = one[i] > other[i] ? one[i] : other[i]) >> kShift;
    return all;
  }
  // Firings that start at the latest of N instants each, `start` being the start before them: how
  // far a start has come with its first w + 1 waits, summed up in sums[w]. The last start.
  template <int N>
  [[gnu::always_inline]] static u64 upto(const u64* const* waits, u64 start, u64 n, u64* sums) {
    Vector x[N], before, now, far;
    Unsigned all[N] = {};
    u64 each[kWidth] = {};
    each[kWidth - 1] = start;
    get(before, each);
    u64 i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      for (int w = 0; w < N; ++w) get(x[w], waits[w] + i);
      now = x[0];
      for (int w = 1; w < N; ++w) now = now > x[w] ? now : x[w];
      if constexpr (kWidth == 8) {
        far = __builtin_shufflevector(before, now, 7, 8, 9, 10, 11, 12, 13, 14);
      } else if constexpr (kWidth == 4) {
        far = __builtin_shufflevector(before, now, 3, 4, 5, 6);
      } else {
        far = before;
      }
      before = now;
      for (int w = 0; w + 1 < N; ++w) {
        far = far > x[w] ? far : x[w];
        add(all[w], far);
      }
      add(all[N - 1], now);
    }
    std::memcpy(each, &before, sizeof before);
    start = each[kWidth - 1];
    for (int w = 0; w < N; ++w) sums[w] = total(all[w]);
    for (; i < n; ++i) {
      for (int w = 0; w < N; ++w) {
        start = start > waits[w][i] ? start : waits[w][i];
        sums[w] += start >> kShift;
      }
    }
    return start;
  }
  // Whether some number of the first plus `more`, 0 or 1, is above that of the second.
  [[gnu::always_inline]] static bool any_above(const u64* one, u64 more, const u64* other, u64 n) {
    Unsigned found{};
    Vector x, y;
    u64 i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      get(x, one + i);
      get(y, other + i);
      found |= (Unsigned)(x + static_cast<i64>(more) > y);
    }
    bool any = total(found) != 0;
    for (; i < n; ++i) any |= one[i] + more > other[i];
    return any;
  }
};

// The loops with the widest vectors of this machine.
template <int kShift>
class StreamWork {
  typedef i64 Wide __attribute__((vector_size(64)));
  typedef u64 WideUnsigned __attribute__((vector_size(64)));
  typedef i64 Narrow __attribute__((vector_size(32)));
  typedef u64 NarrowUnsigned __attribute__((vector_size(32)));
  using Plain = StreamLoops<i64, u64, kShift>;
  using Wides = StreamLoops<Wide, WideUnsigned, kShift>;
  using Narrows = StreamLoops<Narrow, NarrowUnsigned, kShift>;

 public:
  explicit StreamWork(u32 lanes = lanes_here()) : lanes_(lanes) {}
  u64 copy(u64* to, const u64* from, u64 n) const {
    return lanes_ == 16  ? wide_copy(to, from, n)
           : lanes_ == 8 ? narrow_copy(to, from, n)
                         : Plain::copy(to, from, n);
  }
  u64 latest(u64* to, const u64* one, const u64* other, u64 n) const {
    return lanes_ == 16  ? wide_latest(to, one, other, n)
           : lanes_ == 8 ? narrow_latest(to, one, other, n)
                         : Plain::latest(to, one, other, n);
  }
  static constexpr u32 kMostUpto = 3;
  // 1 <= `many` <= kMostUpto
  u64 upto(u32 many, const u64* const* waits, u64 start, u64 n, u64* sums) const {
    return lanes_ == 16  ? wide_upto(many, waits, start, n, sums)
           : lanes_ == 8 ? narrow_upto(many, waits, start, n, sums)
                         : any_upto<Plain>(many, waits, start, n, sums);
  }
  bool any_above(const u64* one, u64 more, const u64* other, u64 n) const {
    return lanes_ == 16  ? wide_any_above(one, more, other, n)
           : lanes_ == 8 ? narrow_any_above(one, more, other, n)
                         : Plain::any_above(one, more, other, n);
  }

 private:
  template <typename Loops>
  [[gnu::always_inline]] static u64 any_upto(u32 many, const u64* const* waits, u64 start, u64 n,
                                             u64* sums) {
    if (many == 1) return Loops::template upto<1>(waits, start, n, sums);
    if (many == 2) return Loops::template upto<2>(waits, start, n, sums);
    return Loops::template upto<3>(waits, start, n, sums);
  }
  LPNRT_AVX512 u64 wide_copy(u64* to, const u64* from, u64 n) { return Wides::copy(to, from, n); }
  LPNRT_AVX2 u64 narrow_copy(u64* to, const u64* from, u64 n) { return Narrows::copy(to, from, n); }
  LPNRT_AVX512 u64 wide_latest(u64* to, const u64* one, const u64* other, u64 n) {
    return Wides::latest(to, one, other, n);
  }
  LPNRT_AVX2 u64 narrow_latest(u64* to, const u64* one, const u64* other, u64 n) {
    return Narrows::latest(to, one, other, n);
  }
  LPNRT_AVX512 u64 wide_upto(u32 many, const u64* const* waits, u64 start, u64 n, u64* sums) {
    return any_upto<Wides>(many, waits, start, n, sums);
  }
  LPNRT_AVX2 u64 narrow_upto(u32 many, const u64* const* waits, u64 start, u64 n, u64* sums) {
    return any_upto<Narrows>(many, waits, start, n, sums);
  }
  LPNRT_AVX512 bool wide_any_above(const u64* one, u64 more, const u64* other, u64 n) {
    return Wides::any_above(one, more, other, n);
  }
  LPNRT_AVX2 bool narrow_any_above(const u64* one, u64 more, const u64* other, u64 n) {
    return Narrows::any_above(one, more, other, n);
  }
  u32 lanes_;
};

// ---- the streams of a part -------------------------------------------------------------------

template <bool Packed>
class StreamWatch {
  static constexpr int kShift = Packed ? kGroupBits : 0;
  static i64 ticks(u64 instant) { return static_cast<i64>(instant >> kShift); }

 public:
  explicit StreamWatch(u32 lanes = lanes_here()) : work_(lanes) {}
  bool begun() const { return part_ != nullptr; }
  // Before the first block; then how many tokens stand where the table does not say it, and what
  // the places hold.
  void begin(const StreamPart& part) {
    part_ = &part;
    waits_.assign(part.waits, part.waits + part.wait_count);
    tails_ = std::vector<StreamTail<u64>>(part.stream_count);
    for (u32 s = 0; s < part.stream_count; ++s) tails_[s].stand_apart(s);
    seen_.resize(part.transition_count);
    peaks_.resize(part.place_count);
    held_.resize(part.place_count);
    block_ = std::vector<u64>(part.words);
  }
  void initial(u32 wait, u64 tokens) { waits_[wait].initial = static_cast<i64>(tokens); }
  void holds(u32 place, u64 tokens) { peaks_[place] = held_[place] = static_cast<i64>(tokens); }

  // Where straight-line code writes so many iterations.
  u64* block() { return block_.data(); }
  u64 most() const { return fewer_of(part_->block, LPNRT_STREAM_BLOCK); }

  // The block holds so many more.
  void observe(u64 iterations) {
    for (u32 s = 0; s < part_->stream_count; ++s) {
      if (tails_[s].room() >= part_->streams[s].firings * iterations) continue;
      make_room();
      break;
    }
    for (u32 s = 0; s < part_->stream_count; ++s) {
      const u64 count = part_->streams[s].firings * iterations;
      StreamTail<u64>& tail = tails_[s];
      const u64* const from = block_.data() + part_->streams[s].offset;
      const u64 sum = work_.copy(tail.next(), from, count);
      if (s < part_->transition_count) {
        seen_[s].sum = sum;
        add_commits(seen_[s], from, count, sum);
      }
      tail.added(count);
    }
    const StreamWait* waits = waits_.data();
    for (u32 k = 0; k < part_->transition_count; ++k) {
      starts(k, waits, part_->streams[k].firings * iterations);
      waits += part_->transitions[k].waits;
    }
    for (u32 p = 0; p < part_->place_count; ++p) {
      peak(p, part_->streams[part_->places[p].producer].firings * iterations);
    }
  }

  // What has come of it, for the flow engine to go on from: of a transition, and its last start.
  void settle(u32 k, Seen& seen, u64& last) const {
    const Sums& sums = seen_[k];
    for (u32 w = 0; w < 8; ++w) seen.waited[w] = static_cast<i64>(sums.waited[w]);
    seen.busy = static_cast<i64>(sums.busy);
    seen.busy_until = ticks(*tails_[k].at(tails_[k].end() - 1));
    seen.commits = sums.commits;
    last = sums.last;
  }
  // Of a place; which release it asks for next.
  u64 settle(u32 p, Level& level) const {
    const StreamPlace& place = part_->places[p];
    const u64 left = static_cast<u64>(unreleased(p));
    level.taken = static_cast<u64>(tails_[place.consumer].end() * place.taken);
    level.released = left * static_cast<u64>(place.taken);
    level.peak = static_cast<u64>(peaks_[p]);
    level.limit = level.peak + level.released;
    return left;
  }
  // The releases of a transition from `first` on.
  void settle(u32 k, u64 first, Releases<false>& releases) const {
    const StreamTail<u64>& tail = tails_[k];
    releases.restart(first, static_cast<u64>(tail.end()), tail.at(static_cast<i64>(first)));
  }

 private:
  struct Sums {
    u64 waited[8] = {};
    u64 busy = 0;
    u64 last = 0;  // instant of the last start
    u64 sum = 0;   // of the commits in this block
    u128 commits = 0;
  };
  static u64 fewer_of(u64 x, u64 y) { return x < y ? x : y; }
  static i64 before(const StreamWait& w, i64 firing) {
    return floor_of(firing * w.taken + w.needed - 1 - w.initial, w.emitted);
  }
  i64 fired(u32 k) const { return tails_[k].end(); }

  // Sums modulo 2^64 suffice but for this one.
  static void add_commits(Sums& seen, const u64* from, u64 count, u64 sum) {
    if (count == 0) return;
    const u64 first = from[0] >> kShift, span = (from[count - 1] >> kShift) - first;
    if (span < u64{1} << 40 && count < u64{1} << 20) {
      seen.commits += static_cast<u128>(first) * count + (sum - first * count);
      return;
    }
    for (u64 i = 0; i < count; ++i) seen.commits += from[i] >> kShift;
  }

  // The numbers that firings from `n` on look at; in `to` unless they stand side by side.
  const u64* seen_by(const StreamWait& w, i64 n, u64 count, std::vector<u64>& to) const {
    const StreamTail<u64>& tail = tails_[w.stream];
    if (w.emitted == w.taken) return tail.at(before(w, n));
    if (to.size() < count) to.resize(count);
    i64 above = n * w.taken + w.needed - 1 - w.initial;
    i64 at = floor_of(above, w.emitted);
    above -= at * w.emitted;
    const i64 whole = w.taken / w.emitted, rest = w.taken % w.emitted;
    for (u64 i = 0; i < count; ++i) {
      to[i] = *tail.at(at);
      at += whole;
      if ((above += rest) >= w.emitted) above -= w.emitted, ++at;
    }
    return to.data();
  }

  // The streams have grown; the transition is where it was before the block.
  void starts(u32 k, const StreamWait* waits, u64 count) {
    const u32 many = part_->transitions[k].waits;
    const i64 n = fired(k) - static_cast<i64>(count);
    Sums& seen = seen_[k];
    if (looked_.size() < many) looked_.resize(many), gathered_.resize(many), upto_.resize(many);
    for (u32 w = 0; w < many; ++w) looked_[w] = seen_by(waits[w], n, count, gathered_[w]);
    const i64 from = ticks(seen.last);
    const bool alone = part_->transitions[k].alone;
    if (many != 0 && many <= StreamWork<kShift>::kMostUpto && alone) {
      seen.last = work_.upto(many, looked_.data(), seen.last, count, upto_.data());
    } else {
      starts_by_parts(k, many, n, count);
    }
    if (many == 0) return;
    // How long for each wait: from where the one before it had come to.
    const u64 begun = upto_[many - 1];
    u64 so_far = begun - static_cast<u64>(ticks(seen.last) - from);
    for (u32 w = 0; w < many; ++w) {
      seen.waited[waits[w].reason] += upto_[w] - so_far;
      so_far = upto_[w];
    }
    if (alone) seen.busy += seen.sum - begun;
  }
  // With many waits, or several servers.
  void starts_by_parts(u32 k, u32 many, i64 n, u64 count) {
    Sums& seen = seen_[k];
    if (starts_.size() < count + 1) starts_.resize(count + 1), far_.resize(count + 1);
    u64* const start = starts_.data() + 1;
    start[-1] = seen.last;
    if (many == 0) {
      std::memset(start, 0, count * sizeof(u64));
    } else {
      work_.copy(start, looked_[0], count);
      for (u32 w = 1; w < many; ++w) work_.latest(start, start, looked_[w], count);
    }
    const u64* far = start - 1;
    for (u32 w = 0; w < many; ++w) {
      upto_[w] = work_.latest(far_.data(), far, looked_[w], count);
      far = far_.data();
    }
    if (!part_->transitions[k].alone) {
      seen.busy += seen.sum - work_.latest(far_.data(), start, tails_[k].at(n - 1), count);
    }
    seen.last = start[count - 1];
  }

  // Releases before this one are all gone when the next token comes.
  i64 unreleased(u32 p) const {
    const StreamPlace& place = part_->places[p];
    const i64 tokens = held_[p] + place.emitted * fired(place.producer);
    const i64 known = ceil_of(tokens - peaks_[p], place.taken);
    return known < 0 ? 0 : known;
  }

  // The last so many firings of the producer may have brought more tokens than were ever there.
  void peak(u32 p, u64 count) {
    const StreamPlace& place = part_->places[p];
    const StreamTail<u64>& in = tails_[place.producer];
    const StreamTail<u64>& out = tails_[place.consumer];
    i64 n = in.end() - static_cast<i64>(count);
    const i64 end = in.end();
    i64& peak = peaks_[p];
    const u64 more = place.leaves_first ? 0 : 1;  // a release at the same instant comes too late
    // One more than `peak` are there after firing n unless this release has come.
    const auto needed = [&](i64 firing) {
      return ceil_of(held_[p] + place.emitted * (firing + 1) - peak, place.taken) - 1;
    };
    if (place.emitted == 1 && place.taken == 1) {
      if (const i64 known = needed(n); known < 0) n -= known;
      if (n >= end) return;
      if (!work_.any_above(out.at(needed(n)), more, in.at(n), static_cast<u64>(end - n))) return;
    }
    for (; n < end; ++n) {
      for (i64 q = needed(n); q >= 0 && *out.at(q) + more > *in.at(n); q = needed(n)) ++peak;
    }
  }

  [[gnu::noinline, gnu::cold]] void make_room() {
    std::vector<i64> first(part_->stream_count);
    for (u32 s = 0; s < part_->stream_count; ++s) first[s] = tails_[s].end() - 1;
    const StreamWait* w = waits_.data();
    for (u32 k = 0; k < part_->transition_count; ++k) {
      for (u32 i = 0; i < part_->transitions[k].waits; ++i, ++w) {
        first[w->stream] = std::min(first[w->stream], before(*w, fired(k)));
      }
    }
    for (u32 p = 0; p < part_->place_count; ++p) {
      i64& of = first[part_->places[p].consumer];
      of = std::min(of, std::max(unreleased(p) - 1, i64{0}));
    }
    for (u32 s = 0; s < part_->stream_count; ++s) {
      tails_[s].keep(first[s], part_->streams[s].firings * most());
    }
  }

  const StreamPart* part_ = nullptr;
  StreamWork<kShift> work_;
  std::vector<StreamWait> waits_;
  std::vector<StreamTail<u64>> tails_;
  std::vector<Sums> seen_;
  std::vector<i64> peaks_, held_;
  std::vector<u64> block_, starts_, far_, upto_;
  std::vector<const u64*> looked_;
  std::vector<std::vector<u64>> gathered_;
};

}  // namespace lpnrt

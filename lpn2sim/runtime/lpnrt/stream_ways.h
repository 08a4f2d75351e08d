// The ways back through a block of firings of which each waits for some firing of each of a few
// streams, always equally far from its own number: what decided is found for all of them with
// vectors, and a way then goes from cell to cell of one array.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "lpnrt/flow.h"
#include "lpnrt/path.h"
#include "lpnrt/stream_lines.h"
#include "lpnrt/stream_loops.h"
#include "lpnrt/vectors.h"

namespace lpnrt {

// Cells from `first` on get the cell of the latest of kWaits instants, `cell[w]` + i of at[w][i],
// or what they have if that is as late as `start` says. The first time they have nothing.
template <typename Vector, typename Cells>
struct WayLoops {
  static constexpr u64 kWidth = sizeof(Vector) / sizeof(u64);
  template <u32 kWaits>
  [[gnu::always_inline]] static void decide(const u64* const* at, const u64* cell, u64 n,
                                            bool first, u64* start, u32* back) {
    Vector step, best, x, from, none{};
    i64 each[kWidth];
    for (u64 i = 0; i < kWidth; ++i) each[i] = static_cast<i64>(i);
    std::memcpy(&step, each, sizeof step);
    u64 i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      if (first) {
        best = none, from = none;
      } else {
        Cells had;
        std::memcpy(&best, start + i, sizeof best);
        std::memcpy(&had, back + i, sizeof had);
        if constexpr (kWidth == 1) {
          from = static_cast<Vector>(had);
        } else {
          from = __builtin_convertvector(had, Vector);
        }
      }
      for (u32 w = 0; w < kWaits; ++w) {
        std::memcpy(&x, at[w] + i, sizeof x);
        from = x > best ? step + static_cast<i64>(cell[w] + i) : from;
        best = x > best ? x : best;
      }
      std::memcpy(start + i, &best, sizeof best);
      Cells now;
      if constexpr (kWidth == 1) {
        now = static_cast<Cells>(from);
      } else {
        now = __builtin_convertvector(from, Cells);
      }
      std::memcpy(back + i, &now, sizeof now);
    }
    for (; i < n; ++i) {
      u64 latest = first ? 0 : start[i];
      u32 cells = first ? 0 : back[i];
      for (u32 w = 0; w < kWaits; ++w) {
        if (at[w][i] > latest) latest = at[w][i], cells = static_cast<u32>(cell[w] + i);
      }
      start[i] = latest;
      back[i] = cells;
    }
  }
};

// The same for the low words of instants; the first time the first wait is had.
template <typename Vector, typename Cells>
struct LowWayLoops {
  static constexpr u64 kWidth = sizeof(Vector) / sizeof(u32);
  using Number = std::conditional_t<std::is_same_v<Vector, Cells>, u32, std::int32_t>;
  template <u32 kWaits>
  [[gnu::always_inline]] static void decide(const u32* const* at, const u64* cell, u64 n,
                                            bool first, u32* start, u32* back) {
    Cells step, from[kWaits], had;
    Vector best, x;
    u32 each[kWidth];
    for (u64 i = 0; i < kWidth; ++i) each[i] = static_cast<u32>(i);
    std::memcpy(&step, each, sizeof step);
    for (u32 w = 0; w < kWaits; ++w) from[w] = step + static_cast<u32>(cell[w]);
    u64 i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      if (first) {
        std::memcpy(&best, at[0] + i, sizeof best);
        had = from[0];
      } else {
        std::memcpy(&best, start + i, sizeof best);
        std::memcpy(&had, back + i, sizeof had);
      }
      for (u32 w = 0; w < kWaits; ++w) {
        std::memcpy(&x, at[w] + i, sizeof x);
        had = x > best ? from[w] : had;
        best = x > best ? x : best;
        from[w] += static_cast<u32>(kWidth);
      }
      std::memcpy(start + i, &best, sizeof best);
      std::memcpy(back + i, &had, sizeof had);
    }
    for (; i < n; ++i) {
      u32 latest = first ? at[0][i] : start[i];
      u32 cells = first ? static_cast<u32>(cell[0] + i) : back[i];
      for (u32 w = 0; w < kWaits; ++w) {
        if (static_cast<Number>(at[w][i]) <= static_cast<Number>(latest)) continue;
        latest = at[w][i], cells = static_cast<u32>(cell[w] + i);
      }
      start[i] = latest;
      back[i] = cells;
    }
  }
};

// With `Word` u32 of instants in one buffer (stream_lines.h), whose places are the cells.
template <bool Packed, typename Word = u64>
class StreamWays {
  static constexpr bool kLow = sizeof(Word) < sizeof(u64);

 public:
  // Firing n waits for firing n + shift of k.
  struct Wait {
    u32 k;
    i64 shift;
  };
  // Of the block, from 0; below, one before it.
  struct Firing {
    u32 k;
    i64 n;
  };

  // What each transition waits for, and its most firings in a block. False: some look too far back.
  bool begin(std::vector<std::vector<Wait>> waits, const std::vector<u64>& firings) {
    waits_ = std::move(waits);
    std::vector<i64> behind(firings.size(), 0);
    for (const auto& of : waits_) {
      for (const Wait& w : of) behind[w.k] = std::max(behind[w.k], -w.shift);
    }
    // Cell 0 is that of nothing.
    u64 cells = kPage, most = 0;
    transition_.assign(1, static_cast<u32>(firings.size()));
    first_.clear();
    for (u32 k = 0; k < firings.size(); ++k) {
      if (behind[k] > kFarBack) return false;
      first_.push_back(static_cast<u32>(cells) + static_cast<u32>(behind[k]));
      cells += (static_cast<u64>(behind[k]) + firings[k] + kPage - 1) / kPage * kPage;
      if (cells >= kSeen) return false;
      transition_.resize(cells / kPage, k);
      most = std::max(most, firings[k]);
    }
    back_.assign(cells, kOld);
    steps_.resize(cells);
    start_.resize(most);
    at_.resize(firings.size() + 1);
    sums_.resize(firings.size());
    return true;
  }

  // The same for low words. No page has cells of two streams.
  void begin(std::vector<std::vector<Wait>> waits, const StreamPart& part,
             const StreamLines<Word>& lines) {
    waits_ = std::move(waits);
    low_ = &lines;
    const u32 many = part.transition_count;
    u64 most = 0;
    transition_.assign(part.words / kPage + 1, many);
    for (u32 k = 0; k < many; ++k) {
      const u64 firings = part.streams[k].firings;
      const u64 first = lines.offset(k), end = first + firings * part.block;
      first_.push_back(static_cast<u32>(first));
      most = std::max(most, end - first);
      const u64 page = (first - firings * kStreamHistory) / kPage;
      std::fill(transition_.begin() + static_cast<i64>(page),
                transition_.begin() + static_cast<i64>((end - 1) / kPage + 1), k);
    }
    back_.assign(part.words, kOld);
    steps_.resize(part.words);
    start_.resize(most);
    sums_.resize(many);
  }
  // `start`: when the last firing before the block started, for each transition.
  void decide(const std::vector<u64>& start) {
    made_ = 0;
    chains_.clear(), hits_.clear(), rows_.clear();
    for (u32 k = 0; k < first_.size(); ++k) {
      const u64 count = (*low_)[k].added;
      u32* const back = back_.data() + first_[k];
      const u32* at[3];
      u64 cell[3];
      u32 some = 0;
      bool first = true;
      const auto compare = [&] {
        decide_low(low_->late((*low_)[k].last), some, at, cell, count, first, back);
        first = false;
        some = 0;
      };
      for (const Wait& of : waits_[k]) {
        cell[some] = first_[of.k] + static_cast<u64>(of.shift);
        at[some] = low_->block() + cell[some];
        // What was there before that keeps nobody waiting, and may be too far back to compare.
        if (low_->full(of.k, at[some][count - 1]) < start[k]) continue;
        if (++some == 3) compare();
      }
      if (some != 0) compare();
      if (first) std::memset(back, 0, count * sizeof(u32));
    }
  }
  // After that: when a firing started.
  u64 started(u32 k, i64 n) const {
    const u32 cell = back_[first_[k] + static_cast<u32>(n)];
    return cell == 0 ? 0 : instant(cell);
  }

  // A new block: number[k][base[k]] is the first of so many instants of k, and behind it are
  // others.
  void decide(const std::vector<const u64*>& number, const std::vector<i64>& base,
              const std::vector<u64>& counts) {
    made_ = 0;
    chains_.clear(), hits_.clear(), rows_.clear();
    at_[first_.size()] = &kZero;
    for (u32 k = 0; k < first_.size(); ++k) at_[k] = number[k] + base[k] - first_[k];
    for (u32 k = 0; k < first_.size(); ++k) {
      u32* const back = back_.data() + first_[k];
      const auto& waits = waits_[k];
      if (waits.empty()) std::memset(back, 0, counts[k] * sizeof(u32));
      for (std::size_t w = 0; w < waits.size();) {
        const std::size_t some = std::min<std::size_t>(waits.size() - w, 3);
        const u64* at[3];
        u64 cell[3];
        for (std::size_t i = 0; i < some; ++i) {
          const Wait& of = waits[w + i];
          cell[i] = first_[of.k] + static_cast<u64>(of.shift);
          at[i] = at_[of.k] + cell[i];
        }
        decide(static_cast<u32>(some), at, cell, counts[k], w == 0, back);
        w += some;
      }
    }
  }

  // From a firing to where others have been, or out of the block.
  void go_back(u32 k, i64 n) {
    u32 cell = first_[k] + static_cast<u32>(n);
    u32 from = back_[cell];
    if (from >= kSeen) {
      hits_.push_back(from - kSeen);
      return;
    }
    const u32 begin = made_;
    // What these point to does not move, which a compiler cannot know of members.
    u32* const back = back_.data();
    u32* const steps = steps_.data();
    const u32* const transition = transition_.data();
    Sum* const sums = sums_.data();
    const Word* words = nullptr;
    if constexpr (kLow) words = low_->block();
    u32 made = made_;
    do {
      steps[made] = cell;
      back[cell] = kSeen + made++;
      Sum& sum = sums[transition[cell / kPage]];
      ++sum.count;
      sum.cycles +=
          kLow ? static_cast<i64>(static_cast<Word>(words[cell] - words[from])) : apart(from, cell);
      cell = from;
      from = back[cell];
    } while (from < kSeen);
    made_ = made;
    const bool seen = from != kOld;
    if (seen) hits_.push_back(from - kSeen);
    chains_.push_back({begin, made_, cell, seen, static_cast<u32>(rows_.size()), 0});
    take_sums(begin);
    chains_.back().rows_end = static_cast<u32>(rows_.size());
  }

  u64 steps() const { return made_; }
  u64 most_nodes() const { return chains_.size() + hits_.size(); }

  // Makes nodes, of all steps if `single`, else of those that others come to. `before(firing)`: the
  // node of one before the block; `make(firing, start, commit, parent, oldest, rows)`: a node, of
  // all that lies between the firing and its parent the oldest firing and the sums.
  template <typename Before, typename Make>
  void keep(bool single, const Before& before, const Make& make) {
    std::sort(hits_.begin(), hits_.end());
    std::vector<Causes::Row> between;
    for (const Chain& chain : chains_) {
      u32 parent = chain.end == 0 ? u32{Causes::kNone}
                   : chain.seen   ? back_[chain.end]
                                  : before(firing(chain.end));
      const auto cause = [&](u32 step) {
        return step + 1 == chain.to ? chain.end : steps_[step + 1];
      };
      const auto node = [&](u32 step, u32 oldest) {
        between.clear();
        total_.take(between);
        parent = make(firing(steps_[step]), instant(cause(step)), instant(steps_[step]), parent,
                      firing(steps_[oldest]), between);
        back_[steps_[step]] = parent;
      };
      auto hit = std::lower_bound(hits_.begin(), hits_.end(), chain.to);
      for (u32 step, behind = chain.to; behind > chain.from; behind = step) {
        step = behind - 1;
        if (!single) {
          while (hit != hits_.begin() && hit[-1] >= behind) --hit;
          step = hit == hits_.begin() ? chain.from : std::max(hit[-1], chain.from);
          if (behind == chain.to && chain.rows != chain.rows_end) {
            // Most steps are behind the last hit: their sums are those of all less the others.
            for (u32 r = chain.rows; r < chain.rows_end; ++r) total_.add(rows_[r]);
            add_up(chain.from, step + 1, cause(step), -1);
          } else {
            add_up(step + 1, behind, cause(behind - 1), 1);
          }
        }
        node(step, behind - 1);
      }
    }
  }
  // After that, of a firing from which a way went back.
  u32 node(u32 k, i64 n) const { return back_[first_[k] + static_cast<u32>(n)]; }

 private:
  static constexpr int kShift = Packed ? kGroupBits : 0;
  static constexpr i64 kFarBack = 4096;
  static constexpr u32 kPage = 64;          // cells are of one transition
  static constexpr u32 kSeen = 1u << 31;    // and the step
  static constexpr u32 kOld = 0xffffffffu;  // before the block
  static constexpr u64 kZero = 0;
  static constexpr u32 kFewSteps = 64;
  static constexpr u64 kEntries = 4;  // looking at so many sums is as much work as at one step
  // Steps [from, to), the latest first, the cell where it ended, and what they sum up to, if many.
  struct Chain {
    u32 from, to, end;
    bool seen;
    u32 rows, rows_end;
  };
  struct Sum {
    u64 count = 0;
    i64 cycles = 0;
  };

  static i64 ticks(u64 instant) { return static_cast<i64>(instant >> kShift); }
  u64 instant(u32 cell) const {
    const u32 k = transition_[cell / kPage];
    if constexpr (kLow) {
      return k == first_.size() ? 0 : low_->full(k, low_->block()[cell]);
    } else {
      return at_[k][cell];
    }
  }
  i64 apart(u32 from, u32 to) const {
    if constexpr (kLow) {
      return static_cast<Word>(low_->block()[to] - low_->block()[from]);
    } else {
      return ticks(instant(to)) - ticks(instant(from));
    }
  }
  Firing firing(u32 cell) const {
    const u32 k = transition_[cell / kPage];
    return {k, static_cast<i64>(cell) - static_cast<i64>(first_[k])};
  }
  // The delays of steps [from, to), of which the last began with the commit of `before`.
  void add_up(u32 from, u32 to, u32 before, i64 sign) {
    const u32* const steps = steps_.data();
    const u32* const transition = transition_.data();
    for (u32 step = to; step-- > from;) {
      const u32 cell = steps[step];
      total_.add({transition[cell / kPage], static_cast<u64>(sign), sign * apart(before, cell)});
      before = cell;
    }
  }
  // What all steps from `from` on sum up to: to rows, where there are many steps; few are looked at
  // once more. There is no sum then.
  void take_sums(u32 from) {
    if (made_ - from <= kFewSteps + sums_.size() / kEntries) {
      for (u32 step = from; step < made_; ++step) sums_[transition_[steps_[step] / kPage]] = {};
      return;
    }
    for (u32 k = 0; k < sums_.size(); ++k) {
      if (sums_[k].count != 0) rows_.push_back({k, sums_[k].count, sums_[k].cycles});
      sums_[k] = {};
    }
  }

  typedef i64 Wide __attribute__((vector_size(64)));
  typedef u32 WideCells __attribute__((vector_size(32)));
  typedef i64 Narrow __attribute__((vector_size(32)));
  typedef u32 NarrowCells __attribute__((vector_size(16)));
  template <typename Loops>
  [[gnu::always_inline]] static void any_decide(u32 many, const Word* const* at, const u64* cell,
                                                u64 n, bool first, Word* start, u32* back) {
    if (many == 1) return Loops::template decide<1>(at, cell, n, first, start, back);
    if (many == 2) return Loops::template decide<2>(at, cell, n, first, start, back);
    return Loops::template decide<3>(at, cell, n, first, start, back);
  }
  LPNRT_AVX512 void wide(u32 many, const u64* const* at, const u64* cell, u64 n, bool first,
                         u64* start, u32* back) {
    any_decide<WayLoops<Wide, WideCells>>(many, at, cell, n, first, start, back);
  }
  LPNRT_AVX2 void narrow(u32 many, const u64* const* at, const u64* cell, u64 n, bool first,
                         u64* start, u32* back) {
    any_decide<WayLoops<Narrow, NarrowCells>>(many, at, cell, n, first, start, back);
  }
  LPNRT_AVX512 void wide_low(bool late, u32 many, const u32* const* at, const u64* cell, u64 n,
                             bool first, u32* start, u32* back) {
    any_low<64>(late, many, at, cell, n, first, start, back);
  }
  LPNRT_AVX2 void narrow_low(bool late, u32 many, const u32* const* at, const u64* cell, u64 n,
                             bool first, u32* start, u32* back) {
    any_low<32>(late, many, at, cell, n, first, start, back);
  }
  template <u64 kBytes>
  [[gnu::always_inline]] static void any_low(bool late, u32 many, const u32* const* at,
                                             const u64* cell, u64 n, bool first, u32* start,
                                             u32* back) {
    using Of = NumberVectors<u32, kBytes>;
    using Cells = typename Of::Unsigned;
    if (late) return any_decide<LowWayLoops<Cells, Cells>>(many, at, cell, n, first, start, back);
    any_decide<LowWayLoops<typename Of::Signed, Cells>>(many, at, cell, n, first, start, back);
  }
  void decide_low(bool late, u32 many, const u32* const* at, const u64* cell, u64 n, bool first,
                  u32* back) {
    const u32 lanes = lanes_here();
    if (lanes == 16) {
      wide_low(late, many, at, cell, n, first, start_.data(), back);
    } else if (lanes == 8) {
      narrow_low(late, many, at, cell, n, first, start_.data(), back);
    } else {
      any_low<4>(late, many, at, cell, n, first, start_.data(), back);
    }
  }
  void decide(u32 many, const u64* const* at, const u64* cell, u64 n, bool first, u32* back) {
    const u32 lanes = lanes_here();
    if (lanes == 16) {
      wide(many, at, cell, n, first, start_.data(), back);
    } else if (lanes == 8) {
      narrow(many, at, cell, n, first, start_.data(), back);
    } else {
      any_decide<WayLoops<i64, u32>>(many, at, cell, n, first, start_.data(), back);
    }
  }

  std::vector<std::vector<Wait>> waits_;
  std::vector<u32> first_;       // per transition: the cell of its first firing of a block
  std::vector<u32> transition_;  // per page
  std::vector<u32> back_;        // per cell: the one that decided
  std::vector<u32> steps_;
  std::vector<Word> start_;
  std::vector<const u64*> at_;  // per transition: its instants, by their cells
  const StreamLines<Word>* low_ = nullptr;
  u32 made_ = 0;
  std::vector<Chain> chains_;
  std::vector<u32> hits_;          // steps that others came to
  std::vector<Sum> sums_;          // per transition, of a chain
  std::vector<Causes::Row> rows_;  // by transition, of chains
  RowSums total_;                  // the same, of what lies before a node
};

}  // namespace lpnrt

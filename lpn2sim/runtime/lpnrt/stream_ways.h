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

template <bool Packed>
class StreamWays {
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
    count_.assign(firings.size(), 0);
    cycles_.assign(firings.size(), 0);
    return true;
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
    u64 ended = instant(cell);
    do {
      steps_[made_] = cell;
      back_[cell] = kSeen + made_++;
      const u64 begun = instant(from);
      add(transition_[cell / kPage], ticks(ended) - ticks(begun));
      ended = begun;
      cell = from;
      from = back_[cell];
    } while (from < kSeen);
    const bool seen = from != kOld;
    if (seen) hits_.push_back(from - kSeen);
    chains_.push_back({begin, made_, cell, seen, static_cast<u32>(rows_.size()), 0});
    take(rows_);
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
      const auto begun = [&](u32 step) {
        return instant(step + 1 == chain.to ? chain.end : steps_[step + 1]);
      };
      const auto node = [&](u32 step, u32 oldest) {
        between.clear();
        take(between);
        parent = make(firing(steps_[step]), begun(step), instant(steps_[step]), parent,
                      firing(steps_[oldest]), between);
        back_[steps_[step]] = parent;
      };
      const auto delay = [&](u32 step) {
        return ticks(instant(steps_[step])) - ticks(begun(step));
      };
      u32 oldest = chain.to - 1;
      auto hit = std::lower_bound(hits_.begin(), hits_.end(), chain.to);
      u32 step = chain.to;  // the node before this one is still to be made
      if (!single) {
        // Most steps are behind the last hit: their sums are those of all less the others.
        const bool any = hit != hits_.begin() && hit[-1] >= chain.from;
        const u32 last = any ? hit[-1] : chain.from;
        for (u32 r = chain.rows; r < chain.rows_end; ++r) {
          const Causes::Row& row = rows_[r];
          count_[row.what] = row.count, cycles_[row.what] = row.cycles;
          touched_.push_back(row.what);
        }
        for (u32 s = chain.from; s <= last; ++s) {
          const u32 k = transition_[steps_[s] / kPage];
          --count_[k];
          cycles_[k] -= delay(s);
        }
        node(last, oldest);
        step = last;
        oldest = last - 1;
      }
      while (step-- > chain.from) {
        while (hit != hits_.begin() && hit[-1] > step) --hit;
        const bool named =
            single || step == chain.from || (hit != hits_.begin() && hit[-1] == step);
        if (!named) {
          add(transition_[steps_[step] / kPage], delay(step));
          continue;
        }
        node(step, oldest);
        oldest = step - 1;
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
  // Steps [from, to), the latest first, and the cell where it ended; what all its steps sum up to.
  struct Chain {
    u32 from, to, end;
    bool seen;
    u32 rows, rows_end;
  };

  static i64 ticks(u64 instant) { return static_cast<i64>(instant >> kShift); }
  u64 instant(u32 cell) const { return at_[transition_[cell / kPage]][cell]; }
  Firing firing(u32 cell) const {
    const u32 k = transition_[cell / kPage];
    return {k, static_cast<i64>(cell) - static_cast<i64>(first_[k])};
  }
  [[gnu::always_inline]] void add(u32 k, i64 cycles) {
    if (count_[k]++ == 0) touched_.push_back(k);
    cycles_[k] += cycles;
  }
  void take(std::vector<Causes::Row>& rows) {
    std::sort(touched_.begin(), touched_.end());
    for (const u32 k : touched_) {
      if (count_[k] == 0) continue;
      rows.push_back({k, count_[k], cycles_[k]});
      count_[k] = 0;
      cycles_[k] = 0;
    }
    touched_.clear();
  }

  typedef i64 Wide __attribute__((vector_size(64)));
  typedef u32 WideCells __attribute__((vector_size(32)));
  typedef i64 Narrow __attribute__((vector_size(32)));
  typedef u32 NarrowCells __attribute__((vector_size(16)));
  template <typename Loops>
  [[gnu::always_inline]] static void any_decide(u32 many, const u64* const* at, const u64* cell,
                                                u64 n, bool first, u64* start, u32* back) {
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
  std::vector<u64> start_;
  std::vector<const u64*> at_;  // per transition: its instants, by their cells
  u32 made_ = 0;
  std::vector<Chain> chains_;
  std::vector<u32> hits_;          // steps that others came to
  std::vector<Causes::Row> rows_;  // by transition
  std::vector<u64> count_;
  std::vector<i64> cycles_;
  std::vector<u32> touched_;
};

}  // namespace lpnrt

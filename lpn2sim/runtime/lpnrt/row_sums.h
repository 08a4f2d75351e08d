// What contributed how many cycles, added up by what it is.
#pragma once

#include <algorithm>
#include <vector>

#include "lpnrt/codes.h"

namespace lpnrt {

class RowSums {
 public:
  struct Row {
    u32 what = 0;
    u64 count = 0;
    i64 cycles = 0;
  };

  // For all below `what` at once; there is room for others when they come.
  [[gnu::noinline, gnu::cold]] void room(u64 what) {
    if (what <= totals_.size()) return;
    totals_.resize(what);
    touched_.resize((what + kBits - 1) / kBits);
  }
  [[gnu::always_inline]] void add(u32 what, i64 cycles) { add({what, 1, cycles}); }
  // A count may go down again by ~0, and the cycles with it.
  [[gnu::always_inline]] void add(const Row& row) {
    if (row.what >= totals_.size()) [[unlikely]]
      room(u64{row.what} + 1);
    Total& total = totals_[row.what];
    if (total.count == 0) touch(row.what);
    total.count += row.count;
    total.cycles += row.cycles;
  }
  // Behind `rows` those with a count, by `what`; then there are none.
  void take(std::vector<Row>& rows) {
    std::sort(words_.begin(), words_.end());
    for (const u32 word : words_) {
      for (u64 bits = touched_[word]; bits != 0; bits &= bits - 1) {
        const u32 what = word * kBits + static_cast<u32>(__builtin_ctzll(bits));
        Total& total = totals_[what];
        if (total.count != 0) rows.push_back({what, total.count, total.cycles});
        total = {};
      }
      touched_[word] = 0;
    }
    words_.clear();
  }

  u64 bytes() const { return totals_.capacity() * sizeof(Total); }

 private:
  static constexpr u32 kBits = 64;
  struct Total {
    u64 count = 0;
    i64 cycles = 0;
  };

  void touch(u32 what) {
    u64& bits = touched_[what / kBits];
    if (bits == 0) words_.push_back(what / kBits);
    bits |= u64{1} << what % kBits;
  }

  std::vector<Total> totals_;
  std::vector<u64> touched_;  // a bit each
  std::vector<u32> words_;    // of them, those with some
};

}  // namespace lpnrt

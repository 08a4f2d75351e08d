// What a host puts into a run and takes out of it while it goes on.
#pragma once

#include <algorithm>
#include <vector>

#include "lpnrt/abi.h"
#include "lpnrt/rings.h"

namespace lpnrt {

// A token from outside, or (place: of credits, values: how many) slots that it gives back. Not part
// of Engine: each instance of its map would cost compile time.
struct Arrival {
  u32 place;
  std::vector<i64> values;
};

// When the tokens of a place that the net does not read arrived, for whoever takes them out.
struct Stamp {
  i64 time;
  u64 group, count;
};
struct Stamps {
  bool on = false;
  Ring<Stamp> runs;
  [[gnu::noinline]] void add(i64 time, u64 group, u64 count) { runs.push() = {time, group, count}; }
  void take(u64 count, lpn_instant* when) {
    while (count > 0) {
      Stamp& run = runs.front();
      const u64 part = std::min(count, run.count);
      for (u64 k = 0; when != nullptr && k < part; ++k) *when++ = {run.time, run.group};
      count -= part;
      if ((run.count -= part) == 0) runs.pop();
    }
  }
};
inline constexpr u32 kNoCredit = ~u32{0};

}  // namespace lpnrt

// Where the free tokens of a place come from (LPNRT_PATH): nodes of the graph of causes (path.h).
#pragma once

#include <algorithm>

#include "lpnrt/rings.h"
#include "lpnrt/variants.h"
#if LPNRT_PATH
#include "lpnrt/path.h"
#endif

namespace lpnrt {

#if LPNRT_PATH
// Half of a delay, rounded up.
inline i64 halved_if(bool halve, i64 delay) { return halve ? delay - delay / 2 : delay; }
// The same without a choice: all bits of `mask` are set, or none. Errors stay errors.
inline i64 halved_by(i64 mask, i64 delay) { return delay - ((delay / 2) & mask); }

// The nodes of the free tokens of a place, in their order.
class Origins {
 public:
  void push(u32 node, u64 count) {
    if (count == 0) return;
    runs_.push() = {node, count};
    total_ += count;
  }
  // Of the `free` tokens of the place the k-th, from 0; others were taken by the outside.
  u32 at(u64 k, u64 free) {
    if (total_ > free) pop(total_ - free);
    for (u64 r = 0; r < runs_.size(); ++r) {
      if (k < runs_[r].count) return runs_[r].node;
      k -= runs_[r].count;
    }
    return 0;
  }
  void pop(u64 count) {
    total_ -= count;
    while (count > 0) {
      Run& run = runs_.front();
      const u64 part = std::min(count, run.count);
      count -= part;
      run.count -= part;
      if (run.count == 0) runs_.pop();
    }
  }
  template <typename Visit>
  void each(const Visit& visit) {
    for (u64 r = 0; r < runs_.size(); ++r) visit(runs_.at(r).node);
  }

 private:
  struct Run {
    u32 node;
    u64 count;
  };
  Ring<Run> runs_;
  u64 total_ = 0;
};
#endif

}  // namespace lpnrt

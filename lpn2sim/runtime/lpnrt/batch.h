// Many runs of one net on several threads.
#pragma once

#include <algorithm>

#include "lpnrt/abi.h"
#include "lpnrt/budget.h"
#include "lpnrt/codes.h"

namespace lpnrt {

// Instances that threads take in portions.
template <typename Net>
struct Batch {
  lpn_sim* const* sims;
  u64 count;
  lpn_result* results;
  int32_t* statuses;
  u64 next = 0;    // atomic
  u64 layout = 0;  // atomic

  static Net* of(lpn_sim* s) { return reinterpret_cast<Net*>(s); }

  static u64 portion() {
    if constexpr (Net::kFlow)
      return Net::lanes();
    else
      return 1;
  }

  void work() {
    for (;;) {
      const u64 from = __atomic_fetch_add(&next, portion(), __ATOMIC_RELAXED);
      if (from >= count) return;
      const u64 some = std::min(portion(), count - from);
      if constexpr (Net::kFlow) {
        if (some > 1) {
          const auto* const first = reinterpret_cast<Net* const*>(sims + from);
          const u64 spent = Net::prepare_lanes(first, static_cast<u32>(some));
          __atomic_fetch_add(&layout, spent, __ATOMIC_RELAXED);
        }
      }
      for (u64 k = from; k < from + some; ++k) {
        statuses[k] = of(sims[k])->run(kForever, &results[k]);
      }
    }
  }
  static void* enter(void* batch) {
    static_cast<Batch*>(batch)->work();
    return nullptr;
  }
};

}  // namespace lpnrt

// Statistics of a transition and of a place (LPNRT_STATS).
#pragma once

#include "lpnrt/codes.h"

namespace lpnrt {

struct TransitionMeter {
  u64 commits = 0;
  u64 in_flight = 0;
  i64 busy = 0, busy_since = 0;
  u32 wait = kReady;
  i64 wait_since = 0;
  i64 waited[8] = {};

  void start(i64 now) {
    if (in_flight++ == 0) busy_since = now;
  }
  void commit(i64 now) {
    ++commits;
    if (--in_flight == 0) busy += now - busy_since;
  }
  void observe(u32 why, i64 now) {
    if (why == wait) return;
    waited[wait] += now - wait_since;
    wait = why;
    wait_since = now;
  }
};

struct PlaceMeter {
  i64 since = 0;
  i128 weighted = 0;  // exact: order-free runs add up other terms
  u64 peak = 0;
  void before(u64 occupancy, i64 now) {
    weighted += static_cast<i128>(occupancy) * (now - since);  // pushes may lie after the end
    since = now;
  }
};

}  // namespace lpnrt

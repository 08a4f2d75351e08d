// Statistics of a transition and of a place (LPNRT_STATS).
//
// A quiet run ends with its last commit, though tokens may arrive after it. So what such an arrival
// changes is also kept as it stood at the last commit.
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
  i64 settled = -1;  // a last commit that the wait changed after; what had been waited by then:
  i64 settled_waited[8] = {};

  void start(i64 now) {
    if (in_flight++ == 0) busy_since = now;
  }
  void commit(i64 now) {
    ++commits;
    if (--in_flight == 0) busy += now - busy_since;
  }
  void observe(u32 why, i64 now, i64 last_commit) {
    if (why == wait) return;
    if (now > last_commit && settled != last_commit) {
      waited_until(last_commit, settled_waited);
      settled = last_commit;
    }
    waited[wait] += now - wait_since;
    wait = why;
    wait_since = now;
  }
  // `end`: not before the last commit.
  void waited_until(i64 end, i64 (&out)[8]) const {
    const bool settled_then = end < wait_since;
    for (u32 w = 0; w < 8; ++w) out[w] = settled_then ? settled_waited[w] : waited[w];
    if (!settled_then) out[wait] += end - wait_since;
  }
};

struct PlaceMeter {
  i64 since = 0;
  i128 weighted = 0;  // exact: order-free runs add up other terms
  u64 peak = 0;
  i64 settled = -1;
  i128 settled_weighted = 0;
  void before(u64 occupancy, i64 now, i64 last_commit) {
    if (now > last_commit && settled != last_commit) {
      settled_weighted = weighted_until(last_commit, occupancy);
      settled = last_commit;
    }
    weighted = weighted_until(now, occupancy);
    since = now;
  }
  // `end`: not before the last commit. `occupancy`: that of now.
  i128 weighted_until(i64 end, u64 occupancy) const {
    if (end < since) return settled_weighted;
    return weighted + static_cast<i128>(occupancy) * (end - since);
  }
};

}  // namespace lpnrt

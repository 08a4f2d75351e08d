// Statistics of a transition and of a place while a run goes on.
//
// A quiet run ends with its last commit, though tokens may arrive after it. So what such an arrival
// changes is also kept as it stood at the last commit. Ends asked for are not before that.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "lpn/base/wide.h"
#include "lpn/run/run.h"

namespace lpn::interp {

struct TransitionMeter {
  std::uint64_t commits = 0;
  Time busy = 0, busy_since = 0;
  Wait wait = Wait::kNone;
  Time wait_since = 0;
  std::array<Time, kWaits> waited{};
  Time settled = -1;  // a last commit that the wait changed after; what had been waited by then:
  std::array<Time, kWaits> settled_waited{};

  void observe(Wait why, Time now, Time last_commit) {
    if (why == wait) return;
    if (now > last_commit && settled != last_commit) {
      settled_waited = waited_until(last_commit);
      settled = last_commit;
    }
    waited[static_cast<std::size_t>(wait)] += now - wait_since;
    wait = why;
    wait_since = now;
  }
  std::array<Time, kWaits> waited_until(Time end) const {
    if (end < wait_since) return settled_waited;
    std::array<Time, kWaits> total = waited;
    total[static_cast<std::size_t>(wait)] += end - wait_since;
    return total;
  }
  TransitionStats until(Time end, bool in_flight) const {
    return {commits, busy + (in_flight ? end - busy_since : 0), waited_until(end)};
  }
};

struct PlaceMeter {
  Time since = 0;
  Wide weighted = 0;  // exact, so that engines may add up in any order
  std::uint64_t peak = 0;
  Time settled = -1;
  Wide settled_weighted = 0;

  // Before the occupancy changes.
  void before(std::uint64_t occupancy, Time now, Time last_commit) {
    if (now > last_commit && settled != last_commit) {
      settled_weighted = weighted_until(last_commit, occupancy);
      settled = last_commit;
    }
    weighted = weighted_until(now, occupancy);
    since = now;
  }
  // After an append.
  void filled(std::uint64_t occupancy) { peak = std::max(peak, occupancy); }
  Wide weighted_until(Time end, std::uint64_t occupancy) const {
    if (end < since) return settled_weighted;
    return weighted + static_cast<Wide>(occupancy) * (end - since);
  }
  // `occupancy`: that of now.
  PlaceStats until(Time end, std::uint64_t occupancy) const {
    const double mean =
        end == 0 ? static_cast<double>(occupancy)
                 : static_cast<double>(weighted_until(end, occupancy)) / static_cast<double>(end);
    return {mean, std::max(peak, occupancy)};
  }
};

}  // namespace lpn::interp

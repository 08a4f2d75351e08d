// Statistics of a transition and of a place (LPNRT_STATS).
//
// Time is added up by instants: what begins at t counts -t, what ends at t counts t, and what goes
// on at the end counts the end. So a change costs two additions, and none has to be undone where
// several happen at one instant.
//
// A quiet run ends with its last commit, though tokens may arrive after it. So what such an arrival
// changes is also kept as it stood at the last commit.
#pragma once

#include "lpnrt/codes.h"

namespace lpnrt {

// How it is known what a transition waits for: one of enum WaitCode is all, or
enum : unsigned char { kByTimes = 8, kAskedWhy };

struct TransitionMeter {
  u64 commits = 0;
  i128 instants = 0;  // sum of those of its commits
  u64 in_flight = 0;
  i64 busy = 0, busy_since = 0;
  i64 busy_to = 0;  // with one server: until when the last firing is
  i64 begun = 0;    // the last start, where waits are known at the starts (WaitsLeft)
  u32 wait = kReady;
  i64 waited[8] = {};  // but for the end of the last wait
  i64 since = 0;       // the last change after all commits until then
  i64 settled = -1;    // a last commit that the wait changed after; what had been waited by then:
  i64 settled_waited[8] = {};

  // Any number of servers.
  void start(i64 now) {
    if (in_flight++ == 0) busy_since = now;
  }
  void commit(i64 now) {
    commit_at_once(now);
    if (--in_flight == 0) busy += now - busy_since;
  }
  // One server; commits at `due`, at once.
  void start_alone(i64 now, i64 due) {
    busy += due - now;
    busy_to = due;
  }
  // One server or no delay: nothing else is to be done.
  void commit_at_once(i64 now) {
    ++commits;
    instants += static_cast<u64>(now);
  }
  i64 busy_until(i64 end) const {
    return busy + (in_flight != 0 ? end - busy_since : 0) - (busy_to > end ? busy_to - end : 0);
  }

  // At an instant with a commit.
  void turn(u32 why, i64 now) {
    if (why == wait) return;
    waited[wait] += now;
    waited[why] -= now;
    wait = why;
  }
  void turn_late(u32 why, i64 now, i64 last_commit) {
    if (why == wait) return;
    if (now > last_commit && settled != last_commit) {
      waited_until(last_commit, settled_waited);
      settled = last_commit;
    }
    turn(why, now);
    since = now;
  }
  // `end`: not before the last commit.
  void waited_until(i64 end, i64 (&out)[8]) const {
    const bool settled_then = end < since;
    for (u32 w = 0; w < 8; ++w) out[w] = settled_then ? settled_waited[w] : waited[w];
    if (!settled_then) out[wait] += end;
  }
};

// How long a transition waited for each reason, where nobody but itself takes what it needs. Then
// what it waited for is known at its start: one after the other, from where the one before it had
// come to; what is left at the end is found here in the same way. The first reason is what remains
// of the time.
class WaitsLeft {
 public:
  void begin(const TransitionMeter& meter, i64 end, i64 (&out)[8]) {
    out_ = out;
    end_ = end;
    upto_ = meter.begun;
    for (u32 w = 0; w < 8; ++w) out[w] = meter.waited[w];
  }
  // Of one thing: whether it is there, and when that came; false: nothing behind it matters.
  bool there(u32 reason, bool is, i64 came) {
    until(reason, is && came < end_ ? came : end_);
    return is;
  }
  void until(u32 reason, i64 time) {
    if (time <= upto_) return;
    out_[reason] += time - upto_;
    upto_ = time;
  }
  void rest(u32 reason) { until(reason, end_); }
  void first_is(u32 reason) {
    out_[reason] = end_;
    for (u32 w = 0; w < 8; ++w) out_[reason] -= w == reason ? 0 : out_[w];
  }

 private:
  i64* out_ = nullptr;
  i64 end_ = 0, upto_ = 0;
};

// Commits of a transition change a place by so many tokens, always.
struct Flux {
  u32 place, transition;
  i64 tokens;
};

// The integral of its tokens over time, but for those changes.
struct PlaceMeter {
  i128 weighted = 0;
  u64 peak = 0;
  i64 since = 0;  // the last change from outside
  i64 settled = -1;
  i128 settled_weighted = 0;
  u64 settled_occupancy = 0;

  // At a commit.
  void change(i64 tokens, i64 now) { weighted -= static_cast<i128>(tokens) * now; }
  // `occupancy`: before it.
  void change_outside(i64 tokens, u64 occupancy, i64 now, i64 last_commit) {
    if (now > last_commit && settled != last_commit) {
      settled_weighted = weighted;
      settled_occupancy = occupancy;
      settled = last_commit;
    }
    change(tokens, now);
    since = now;
  }
  // `end`: not before the last commit. `occupancy`: that of now.
  i128 weighted_until(i64 end, u64 occupancy) const {
    const bool settled_then = end < since;  // no commit has changed anything since
    return (settled_then ? settled_weighted : weighted) +
           static_cast<i128>(settled_then ? settled_occupancy : occupancy) * end;
  }
};

}  // namespace lpnrt

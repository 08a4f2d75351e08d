// The critical path of straight-line code (LPNRT_PATH) whose firings wait for one firing of each of
// some streams, always equally far back, and commit in order by themselves: of the low words of
// their instants (stream_lines.h), where they stand. To others it is as a StreamTrace.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "lpnrt/flow.h"
#include "lpnrt/path.h"
#include "lpnrt/stream_lines.h"
#include "lpnrt/stream_tables.h"
#include "lpnrt/stream_ways.h"

namespace lpnrt {

class LowTrace {
  using Ways = StreamWays<false, u32>;
  using Firing = Ways::Firing;

 public:
  bool begun() const { return part_ != nullptr; }
  void begin(const StreamPart& part, Causes& causes) {
    part_ = &part;
    causes_ = &causes;
    if (causes.budget == 0) causes.lose();
    lines_.begin(part);
    node_.assign(part.words, Causes::kNone);
    start_.assign(part.transition_count, 0);
    std::vector<std::vector<Ways::Wait>> waits(part.transition_count);
    u32 wait = 0;
    for (u32 k = 0; k < part.transition_count; ++k) {
      first_wait_.push_back(wait);
      for (u32 w = 0; w < part.transitions[k].waits; ++w, ++wait) {
        const StreamWait& of = part.waits[wait];
        const i64 shift = floor_of(of.needed - 1 - of.initial, of.emitted);
        waits[k].push_back({of.stream, shift});
        lines_.reach(of.stream, shift);
        looks_.push_back(static_cast<i64>(lines_.offset(of.stream)) + shift);
      }
    }
    ways_.begin(std::move(waits), part, lines_);
  }

  // As of StreamWatch.
  void ready() { lines_.ready(); }
  u64 earlier(u32 k, i64 n) const { return lines_.earlier(k, n); }
  u64 latest() const { return lines_.latest(); }
  // Where straight-line code writes so many iterations; then the last commits, and observe().
  u32* block() { return lines_.block(); }
  u64 most() const { return std::min<u64>(part_->block, LPNRT_STREAM_BLOCK); }
  void ended(u32 k, u64 instant) { lines_.ended(k, instant); }
  template <typename Run>
  void observe(Run& run, u64 iterations, bool last) {
    if (causes_->lost) return;
    const u32 many = part_->transition_count;
    for (u32 k = 0; k < many; ++k) {
      lines_.grow(k, part_->streams[k].firings * iterations);
      if (lines_[k].last - start_[k] >= StreamLines<u32>::kNear) bail();
    }
    ways_.decide(start_);
    for (u32 k = 0; k < many; ++k) start_[k] = ways_.started(k, added(k) - 1);
    for (u32 k = 0; k < many; ++k) {
      for (i64 n = std::max(added(k) - kept(k), i64{0}); n < added(k); ++n) ways_.go_back(k, n);
    }
    const bool single = (last || !folded_) && causes_->make_room(run, ways_.steps(), last);
    folded_ |= !single;
    if (!single) causes_->make_room(run, ways_.most_nodes(), true, true);
    if (causes_->lost) return;
    ways_.keep(
        single, [this](const Firing& f) { return *at(f.k, f.n); },
        [this](const Firing& f, u64 begun, u64 ended, u32 parent, const Firing& oldest,
               std::vector<Causes::Row>& rows) {
          const i64 start = static_cast<i64>(begun), commit = static_cast<i64>(ended);
          const u32 by = part_->causes[f.k].by;
          const Cause how = cause_of(oldest);
          if (rows.empty()) return causes_->add(start, 0, commit, parent, by, how);
          for (Causes::Row& row : rows)
            row.what = part_->causes[row.what].by * kRowsEach + kDelayRow;
          return causes_->add_folded(start, 0, commit, parent, by, how, rows.data(), rows.size());
        });
    for (u32 k = 0; k < many; ++k) {
      for (i64 n = -kept(k); n < 0; ++n) {
        const i64 from = n + added(k);
        *at(k, n) = from < 0 ? *at(k, from) : ways_.node(k, from);
      }
      lines_.keep(k);
    }
  }

  template <typename Visit>
  void each(const Visit& visit) {
    for (u32 k = 0; begun() && k < part_->transition_count; ++k) {
      for (i64 n = -lines_[k].stood; n < 0; ++n) visit(*at(k, n));
    }
  }

  u32 ended(u32 k) const { return causes_->lost ? 0 : *at(k, -1); }
  u32 begun(u32 k) const { return ended(k); }
  u64 last(u32 k) const { return causes_->lost ? 0 : start_[k]; }
  u32 token(u32 k, u32 wait, u64 j) const {
    if (causes_->lost) return 0;
    const StreamWait& w = part_->waits[wait];
    const i64 n = lines_.end(k) * w.taken + static_cast<i64>(j) - w.initial;
    const i64 number = floor_of(n, w.emitted);
    if (number < 0 || !lines_.stands(w.stream, number)) return 0;
    return *at(w.stream, number - lines_.end(w.stream));
  }

 private:
  i64 added(u32 k) const { return static_cast<i64>(lines_[k].added); }
  i64 kept(u32 k) const { return lines_[k].kept; }
  // The node of a firing before the block, counted from its first.
  u32* at(u32 k, i64 n) { return node_.data() + lines_.offset(k) + n; }
  const u32* at(u32 k, i64 n) const { return node_.data() + lines_.offset(k) + n; }

  Cause cause_of(const Firing& f) const {
    u64 start = 0;
    Cause cause = Cause::kInitial;
    const u32 first = first_wait_[f.k];
    for (u32 w = first; w < first + part_->transitions[f.k].waits; ++w) {
      const StreamWait& wait = part_->waits[w];
      const u64 x = lines_.full(wait.stream, lines_.block()[looks_[w] + f.n]);
      if (x <= start) continue;
      start = x;
      cause = wait.reason == kServer ? Cause::kServer : Cause::kToken;
    }
    return cause;
  }

  const StreamPart* part_ = nullptr;
  Causes* causes_ = nullptr;
  bool folded_ = false;
  StreamLines<u32> lines_;
  Ways ways_;
  std::vector<u32> first_wait_;  // of a transition
  std::vector<i64> looks_;       // per wait: what the first firing of a block looks at
  std::vector<u32> node_;        // by the places of the buffer: of firings before the block
  std::vector<u64> start_;       // of the last firings
};

}  // namespace lpnrt

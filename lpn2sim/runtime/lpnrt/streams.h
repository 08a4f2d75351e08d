// Statistics of straight-line code (LPNRT_STATS): it only writes down when its firings committed.
// All else follows from these streams of instants, a block at a time and with vectors: a start is
// the latest of what it waited for, and what decided it is the reason; the longest queue shows
// where a token came while one far ahead of it had not left.
//
// What looks further back than the buffer reaches (stream_lines.h) finds copies.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "lpnrt/flow.h"
#include "lpnrt/observe.h"
#include "lpnrt/stream_lines.h"
#include "lpnrt/stream_loops.h"
#include "lpnrt/stream_tables.h"

namespace lpnrt {

// With `Word` u32: no interval, and an iteration moves on so little that a block hardly ever goes
// too far.
template <bool Packed, typename Word = u64>
class StreamWatch {
  static constexpr bool kLow = sizeof(Word) < sizeof(u64);
  static constexpr int kShift = Packed ? kGroupBits : 0;
  static constexpr u64 kNear = StreamLines<Word>::kNear;
  static_assert(!(Packed && kLow));
  using Line = typename StreamLines<Word>::Line;
  static i64 ticks(u64 instant) { return static_cast<i64>(instant >> kShift); }

 public:
  explicit StreamWatch(u32 lanes = lanes_here()) : work_(lanes) {}
  bool begun() const { return part_ != nullptr; }
  // Before the first block; then how many tokens stand where the table does not say it, and what
  // the places hold.
  void begin(const StreamPart& part) {
    part_ = &part;
    waits_.assign(part.waits, part.waits + part.wait_count);
    tails_ = std::vector<StreamTail<u64>>(part.stream_count);
    lines_.begin(part);
    copied_.assign(part.stream_count, false);
    for (u32 s = 0; s < part.stream_count; ++s) tails_[s].stand_apart(s);
    moves_.resize(part.transition_count);
    levels_.resize(part.place_count);
    looks_.resize(part.wait_count);
  }
  void initial(u32 wait, u64 tokens) { waits_[wait].initial = static_cast<i64>(tokens); }
  void holds(u32 place, u64 tokens) {
    Filled& of = levels_[place];
    of.peak = of.held = of.known = static_cast<i64>(tokens);
  }

  // Where straight-line code writes so many iterations.
  Word* block() { return lines_.block(); }
  u64 most() const { return fewer_of(part_->block, LPNRT_STREAM_BLOCK); }

  // Straight-line code that reads back what it wrote: before a block; then the n-th last commit of
  // a transition, and the last of all.
  void ready() { lines_.ready(); }
  u64 earlier(u32 k, i64 n) const { return lines_.earlier(k, n); }
  u64 latest() const { return lines_.latest(); }
  // Other low words say little of the last commit of a transition.
  void ended(u32 k, u64 instant) { lines_.ended(k, instant); }
  // The block holds so many more.
  void observe(u64 iterations) {
    if (!planned_) plan();
    for (u32 s = 0; s < part_->stream_count; ++s) grow(s, part_->streams[s].firings * iterations);
    for (u32 k = 0; k < part_->transition_count; ++k) starts(k);
    bool higher = false;
    for (u32 p = 0; p < part_->place_count; ++p) {
      const i64 come = end(part_->places[p].producer) - levels_[p].behind;
      if (levels_[p].checked < come) check(p, come);
      higher |= levels_[p].peak != levels_[p].known;
      levels_[p].known = levels_[p].peak;
    }
    if (higher) look_back();
    for (u32 s = 0; s < part_->stream_count; ++s) lines_.keep(s);
  }

  // What has come of it, for the flow engine to go on from: of a transition, and its last start.
  void settle(u32 k, Seen& seen, u64& last) const {
    const Moves& of = moves_[k];
    for (u32 w = 0; w < 8; ++w) seen.waited[w] = static_cast<i64>(of.waited[w]);
    seen.busy = static_cast<i64>(of.busy);
    seen.busy_until = ticks(lines_[k].last);
    seen.commits = of.commits;
    last = of.last;
  }
  // Of a place; which release it asks for next.
  u64 settle(u32 p, Level& level) {
    const StreamPlace& place = part_->places[p];
    check(p, end(place.producer));
    const u64 left = static_cast<u64>(unreleased(p));
    level.taken = static_cast<u64>(end(place.consumer) * place.taken);
    level.released = left * static_cast<u64>(place.taken);
    level.peak = static_cast<u64>(levels_[p].peak);
    level.limit = level.peak + level.released;
    return left;
  }
  // The releases of a transition from `first` on.
  void settle(u32 k, u64 first, Releases<false>& releases) const {
    std::vector<u64> instants;
    for (i64 n = static_cast<i64>(first); n < end(k); ++n) instants.push_back(at(k, n));
    releases.restart(first, static_cast<u64>(end(k)), instants.data());
  }

 private:
  // What a wait looks at.
  struct Look {
    bool plain = false;  // numbers side by side in the buffer: from here on
    u64 offset = 0;
  };
  // A transition.
  struct Moves {
    u32 first = 0, end = 0;      // its waits
    bool alone = false;          // its loop is that of AloneLoop:
    u32 groups = 0;              // of waits for the same reason
    u32 ends[2] = {};            // of each
    u32 place = kNone;           // of the first wait, if its peak is found in the same loop
    u32 full = 0;                // as of StreamLoops::alone, of
    const Word* left = nullptr;  // these releases
    u64 waited[8] = {};
    u64 busy = 0;
    u64 last = 0;  // instant of the last start
    u128 commits = 0;
  };
  // A place.
  struct Filled {
    i64 peak = 0, held = 0;  // held: at the start
    i64 known = 0;           // the peak that look_back() knows
    i64 checked = 0;         // firings of its producer
    i64 behind = 0;          // so many of its last ones are checked with a later block
  };
  static constexpr u32 kNone = ~u32{0};

  static u64 fewer_of(u64 x, u64 y) { return x < y ? x : y; }
  static i64 before(const StreamWait& w, i64 firing) {
    return floor_of(firing * w.taken + w.needed - 1 - w.initial, w.emitted);
  }
  i64 end(u32 s) const { return lines_.end(s); }
  const Word* near(u32 s, i64 k) const { return lines_.near(s, k); }
  u64 at(u32 s, i64 k) const {
    return copied_[s] ? *tails_[s].at(k) : lines_.full(s, *lines_.near(s, k));
  }
  i64 room(u32 s) const { return lines_.room(s); }

  // ---- how far one has to look back ----------------------------------------------------------

  void plan() {
    u32 w = 0;
    for (u32 k = 0; k < part_->transition_count; ++k) {
      Moves& of = moves_[k];
      of.first = w;
      of.end = w += part_->transitions[k].waits;
      for (u32 i = of.first; i < of.end; ++i) {
        const StreamWait& wait = waits_[i];
        const i64 number = before(wait, 0);
        looks_[i].plain = wait.emitted == wait.taken && -number <= room(wait.stream);
        looks_[i].offset = part_->streams[wait.stream].offset + static_cast<u64>(number);
      }
      find_loop(k);
    }
    for (u32 i = 0; i < part_->wait_count; ++i) gathered_.emplace_back();
    for (u32 k = 0; k < part_->transition_count; ++k) find_place(k);
    look_back();
    planned_ = true;
  }
  // Waits for one or two reasons, and then for the only server.
  void find_loop(u32 k) {
    Moves& of = moves_[k];
    if (!part_->transitions[k].alone || of.first == of.end) return;
    const StreamWait& server = waits_[of.end - 1];
    if (server.reason != kServer || server.stream != k || server.initial != 1) return;
    for (u32 w = of.first; w + 1 < of.end; ++w) {
      if (w != of.first && waits_[w].reason == waits_[w - 1].reason) {
        ++of.ends[of.groups - 1];
        continue;
      }
      if (of.groups == 2) return;
      of.ends[of.groups++] = w + 1;
    }
    of.alone = true;
  }
  void find_place(u32 k) {
    Moves& of = moves_[k];
    if (!of.alone || of.groups != 1 || of.ends[0] != of.first + 1) return;
    const StreamWait& w = waits_[of.first];
    if (!looks_[of.first].plain || w.emitted != 1 || w.taken != 1) return;
    for (u32 p = 0; p < part_->place_count; ++p) {
      const StreamPlace& place = part_->places[p];
      if (place.consumer != k || place.producer != w.stream) continue;
      if (place.emitted != 1 || place.taken != 1) continue;
      const i64 behind = -before(w, 0);
      if (behind < 0) continue;
      of.place = p;
      levels_[p].behind = behind;
      return;
    }
  }
  // The release that has come when no more than the peak is there after a firing of the producer.
  i64 needed(u32 p, i64 firing) const {
    const StreamPlace& place = part_->places[p];
    return ceil_of(levels_[p].held + place.emitted * (firing + 1) - levels_[p].peak, place.taken) -
           1;
  }
  // What will be looked at with the next block.
  void look_back() {
    for (u32 k = 0; k < part_->transition_count; ++k) {
      for (u32 w = moves_[k].first; w < moves_[k].end; ++w) {
        lines_.reach(waits_[w].stream, before(waits_[w], end(k)));
      }
    }
    for (u32 p = 0; p < part_->place_count; ++p) {
      const StreamPlace& place = part_->places[p];
      const i64 next = end(place.producer) - levels_[p].behind;
      lines_.reach(place.producer, next);
      lines_.reach(place.consumer, needed(p, next - 1));
    }
    for (u32 s = 0; s < part_->stream_count; ++s) {
      if (!copied_[s] && lines_[s].kept > room(s)) go_far(s);
    }
    for (Moves& of : moves_) {
      if (of.place != kNone) find_left(of);
    }
  }
  // The releases that the loop of a transition compares with the tokens that come; where they
  // stand when the next block does.
  void find_left(Moves& of) {
    const StreamPlace& place = part_->places[of.place];
    const i64 number = needed(of.place, end(place.producer) - levels_[of.place].behind);
    const i64 from = number - end(place.consumer);
    const bool stands = -from <= room(place.consumer) && from < 0;
    of.full = !stands || levels_[of.place].peak == place.most ? 0 : place.leaves_first ? 1 : 2;
    of.left = lines_.block() + lines_.offset(place.consumer) + from;
  }
  // What stands in the buffer is copied; before the first block there was nothing.
  [[gnu::noinline, gnu::cold]] void go_far(u32 s) {
    const auto& line = lines_[s];
    StreamTail<u64>& tail = tails_[s];
    const u64 more = part_->streams[s].firings * most();
    if (end(s) == 0) {
      tail.keep(-line.kept, more);
    } else {
      tail.begin_at(line.base - line.stood);
      tail.keep(line.base - line.stood, static_cast<u64>(end(s) - line.base + line.stood) + more);
      for (i64 k = line.base - line.stood; k < end(s); ++k) {
        *tail.next() = lines_.full(s, *near(s, k));
        tail.added(1);
      }
    }
    copied_[s] = true;
  }

  // ---- a block -------------------------------------------------------------------------------

  void grow(u32 s, u64 added) {
    lines_.grow(s, added);
    if (!copied_[s]) return;
    const auto& line = lines_[s];
    StreamTail<u64>& tail = tails_[s];
    if (tail.room() < added) tail.keep(line.base - line.kept, added);
    u64* const to = tail.next();
    const Word* const from = near(s, line.base);
    for (u64 i = 0; i < added; ++i) to[i] = lines_.full(s, from[i]);
    tail.added(added);
  }

  // What the firings of the block look at, `start` being the last one before them. What is not
  // later than that keeps nobody waiting, however far back it is.
  const Word* look(u32 i, u32 k, u64 start) {
    const StreamWait& w = waits_[i];
    const u64 count = lines_[k].added;
    if (looks_[i].plain) {
      const Word* const from = lines_.block() + looks_[i].offset;
      if (!kLow || lines_.full(w.stream, from[count - 1]) > start) return from;
    }
    std::vector<Word>& to = gathered_[i];
    if (to.size() < count) to.resize(count);
    i64 above = lines_[k].base * w.taken + w.needed - 1 - w.initial;
    i64 number = floor_of(above, w.emitted);
    above -= number * w.emitted;
    const i64 whole = w.taken / w.emitted, rest = w.taken % w.emitted;
    for (u64 j = 0; j < count; ++j) {
      to[j] = lines_.low(std::max(at(w.stream, number), start));
      number += whole;
      if ((above += rest) >= w.emitted) above -= w.emitted, ++number;
    }
    return to.data();
  }
  bool late(u32 k) const { return lines_.late(lines_[k].last); }

  void starts(u32 k) {
    Moves& of = moves_[k];
    const auto& line = lines_[k];
    if (kLow && line.last - of.last >= kNear) bail();
    if (of.alone) {
      starts_alone(k, of, line);
    } else {
      starts_by_parts(k, of, line);
    }
  }
  void starts_alone(u32 k, Moves& of, const Line& line) {
    AloneLoop<Word> loop;
    loop.commits = near(k, line.base);
    loop.start = lines_.low(of.last);
    u32 w = of.first;
    for (u32 g = 0; g < of.groups; ++g) {
      loop.waits[g] = look(w, k, of.last);
      while (++w < of.ends[g]) {
        Word* const both = gathered(k, g);
        work_.latest(late(k), both, loop.waits[g], look(w, k, of.last), line.added);
        loop.waits[g] = both;
      }
    }
    const bool in_place = loop.waits[0] == lines_.block() + looks_[of.first].offset;
    const u32 full_if = in_place ? of.full : 0;
    loop.left = of.left;
    work_.alone(late(k), of.groups, full_if, loop, line.added);
    const i64 from = ticks(of.last);
    of.last = lines_.full(k, loop.start);
    // How long for each reason: from where the one before it had come to.
    Word so_far = loop.of_starts - static_cast<Word>(ticks(of.last) - from);
    for (u32 g = 0; g < of.groups; ++g) {
      of.waited[waits_[of.ends[g] - 1].reason] += static_cast<Word>(loop.upto[g] - so_far);
      so_far = loop.upto[g];
    }
    of.waited[kServer] += static_cast<Word>(loop.of_starts - so_far);
    of.busy += static_cast<Word>(loop.of_commits - loop.of_starts);
    add_commits(of, k, loop.of_commits);
    if (full_if == 0 || loop.above) return;
    Filled& place = levels_[of.place];
    place.checked = std::max(place.checked, end(waits_[of.first].stream) - place.behind);
  }
  // With many waits, several servers or an interval.
  void starts_by_parts(u32 k, Moves& of, const Line& line) {
    const u64 count = line.added;
    const Word* const commits = near(k, line.base);
    const Word sum = work_.sum(commits, count);
    add_commits(of, k, sum);
    if (starts_.size() < count + 1) starts_.resize(count + 1), far_.resize(count + 1);
    Word* const start = starts_.data() + 1;
    start[-1] = lines_.low(of.last);
    Word begun = 0;
    looked_.clear();
    for (u32 w = of.first; w < of.end; ++w) {
      const Word* const next = look(w, k, of.last);
      begun = work_.latest(late(k), start, w == of.first ? next : start, next, count);
      looked_.push_back(next);
    }
    if (of.first == of.end) std::memset(start, 0, count * sizeof(Word));
    const u64 before = of.last;
    of.last = lines_.full(k, start[count - 1]);
    const Word* far = start - 1;
    Word so_far = begun - static_cast<Word>(ticks(of.last) - ticks(before));
    for (u32 w = of.first; w < of.end; ++w) {
      const Word upto = work_.latest(late(k), far_.data(), far, looked_[w - of.first], count);
      far = far_.data();
      of.waited[waits_[w].reason] += static_cast<Word>(upto - so_far);
      so_far = upto;
    }
    if (!part_->transitions[k].alone) {
      begun = work_.latest(late(k), far_.data(), start, commits - 1, count);
    } else if (of.first == of.end) {
      return;
    }
    of.busy += static_cast<Word>(sum - begun);
  }
  Word* gathered(u32 k, u32 group) {
    std::vector<Word>& to = merged_[group];
    if (to.size() < lines_[k].added) to.resize(lines_[k].added);
    return to.data();
  }
  // Other sums are less than a word holds, or modulo 2^64.
  void add_commits(Moves& of, u32 k, Word sum) {
    const auto& line = lines_[k];
    const u64 first = static_cast<u64>(ticks(line.before)),
              last = static_cast<u64>(ticks(line.last));
    if (static_cast<u128>(last - first) * line.added >> (sizeof(Word) * 8 - 1) == 0) {
      // How far they are behind the last one.
      const Word behind = static_cast<Word>(static_cast<Word>(lines_.low(last) * line.added) - sum);
      of.commits += static_cast<u128>(last) * line.added - behind;
      return;
    }
    for (i64 n = line.base; n < end(k); ++n) {
      of.commits += static_cast<u64>(ticks(lines_.full(k, *near(k, n))));
    }
  }

  // ---- peaks ---------------------------------------------------------------------------------

  // Releases before this one are all gone when the next token comes.
  i64 unreleased(u32 p) const {
    return std::max(needed(p, end(part_->places[p].producer) - 1) + 1, i64{0});
  }
  // Firings of the producer before `come` may have brought more tokens than were ever there.
  void check(u32 p, i64 come) {
    const StreamPlace& place = part_->places[p];
    Filled& level = levels_[p];
    i64 n = level.checked;
    level.checked = std::max(come, n);
    const bool single = place.emitted == 1 && place.taken == 1;
    while (n < come && level.peak != place.most) {
      if (single) {
        if (const i64 known = needed(p, n); known < 0) n -= known;
        if (n >= come || !rises(p, n, come)) return;
      }
      // Where a few of them do not bring more, they are passed over.
      i64 until = std::min(come, n + kFew);
      if (single && !rises(p, n, until)) n = until;
      for (; n < until; ++n) exceed(p, n);
    }
  }
  static constexpr i64 kFew = 32;
  // Whether firings [n, until) may do so.
  bool rises(u32 p, i64 n, i64 until) const {
    const StreamPlace& place = part_->places[p];
    const i64 first = needed(p, n), last = needed(p, until - 1);
    if (!lines_.stands(place.producer, n) || !lines_.stands(place.consumer, first)) return true;
    // Low words that are not far apart.
    const u64 apart = at(place.producer, until - 1) - at(place.consumer, last);
    if (kLow && apart + kNear >= kNear * 2) return true;
    const Word more = place.leaves_first ? 0 : 1;  // a release at the same instant comes too late
    return work_.any_above(near(place.consumer, first), more, near(place.producer, n),
                           static_cast<u64>(until - n));
  }
  void exceed(u32 p, i64 n) {
    const StreamPlace& place = part_->places[p];
    const u64 more = place.leaves_first ? 0 : 1;
    const u64 came = at(place.producer, n);
    for (i64 q = needed(p, n); q >= 0 && at(place.consumer, q) + more > came; q = needed(p, n)) {
      ++levels_[p].peak;
    }
  }

  const StreamPart* part_ = nullptr;
  StreamWork<Word, kShift> work_;
  bool planned_ = false;
  std::vector<StreamWait> waits_;
  StreamLines<Word> lines_;
  std::vector<bool> copied_;  // more are looked at than may stand there: those have copies
  std::vector<Look> looks_;
  std::vector<Moves> moves_;
  std::vector<Filled> levels_;
  std::vector<StreamTail<u64>> tails_;
  std::vector<Word> starts_, far_, merged_[2];
  std::vector<std::vector<Word>> gathered_;
  std::vector<const Word*> looked_;
};

}  // namespace lpnrt

// Statistics from streams of instants, against the same figures firing by firing.

#include "lpnrt/streams.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace lpnrt {
namespace {

using Dice = std::mt19937_64;
i64 roll(Dice& dice, i64 least, i64 most) {
  return std::uniform_int_distribution<i64>(least, most)(dice);
}

// `maker` fires `makes` times an iteration and puts `emitted` tokens; `taker` fires `takes` times
// and takes `taken`. `room` slots go back; both have servers, the taker an interval.
struct Shape {
  i64 makes = 1, takes = 1, emitted = 1, taken = 1, ahead = 0;
  i64 initial = 0, room = 0;
  i64 servers[2] = {1, 1};
  i64 interval = 0, slow = 0;  // slow: how much longer the taker takes
  i64 unit = 1;                // of all delays
  bool leaves_first = false;
  bool crowded = false;  // one by one, by a fast maker and a slow taker: the queue grows and grows
};

Shape some_shape(Dice& dice) {
  static constexpr i64 kRates[][2] = {{1, 1}, {1, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 1}};
  Shape s;
  const auto& rate = kRates[roll(dice, 0, 5)];
  s.emitted = rate[0], s.taken = rate[1];
  s.makes = s.taken, s.takes = s.emitted;
  s.ahead = roll(dice, 0, 1);
  // Whole iterations: no firing waits for one that comes later.
  s.initial = roll(dice, 0, 4) + s.ahead;
  // Now and then more than stands before a block.
  s.room = s.emitted * s.makes + roll(dice, 0, 40) + roll(dice, 0, 3) / 3 * roll(dice, 0, 600);
  s.servers[0] = roll(dice, 1, 3), s.servers[1] = roll(dice, 1, 3);
  s.interval = roll(dice, 0, 6);
  s.slow = roll(dice, 0, 4) * roll(dice, 0, 3);
  s.leaves_first = roll(dice, 0, 1) != 0;
  s.crowded = roll(dice, 0, 9) == 0;
  if (s.crowded) {
    s.emitted = s.taken = s.makes = s.takes = 1;
    s.servers[0] = s.servers[1] = 1;
    s.interval = 0;
    s.slow = 6;
    s.room = 700;
  }
  return s;
}

// What the flow engine would have kept.
struct Figures {
  Seen seen[2];
  u64 last[2] = {};
  i64 peak = 0;
};

u64 instant_of(const std::vector<u64>& all, i64 k) {
  return k < 0 ? 0 : all[static_cast<std::size_t>(k)];
}

// Firings one after the other, at most so many in an iteration.
template <int kShift>
struct Run {
  Shape s;
  std::vector<u64> commits[2], next;
  std::vector<u64> paces;
  Figures figures;

  static i64 ticks(u64 x) { return static_cast<i64>(x >> kShift); }
  u64 after(u64 start, i64 delay) const {
    if (kShift != 0 && delay == 0) return start + 1;
    return ((start >> kShift) + static_cast<u64>(delay)) << kShift;
  }
  void fire(int k, const std::vector<std::pair<u32, u64>>& waits, i64 delay) {
    Seen& seen = figures.seen[k];
    u64 start = figures.last[k];
    for (const auto& [reason, at] : waits) {
      const i64 before = ticks(start);
      start = std::max(start, at);
      seen.waited[reason] += ticks(start) - before;
    }
    u64 commit = after(start, delay);
    if (!commits[k].empty()) commit = std::max(commit, commits[k].back());
    seen.busy += ticks(commit) - std::max(ticks(start), seen.busy_until);
    seen.busy_until = ticks(commit);
    seen.commits += static_cast<u64>(ticks(commit));
    figures.last[k] = start;
    commits[k].push_back(commit);
  }
  void iteration(Dice& dice) {
    for (i64 f = 0; f < s.makes; ++f) {
      const auto n = static_cast<i64>(commits[0].size());
      const i64 slot = floor_of((n + 1) * s.emitted - 1 - s.room, s.taken);
      fire(0,
           {{kCredit, instant_of(commits[1], slot)},
            {kServer, instant_of(commits[0], n - s.servers[0])}},
           roll(dice, kShift != 0 ? 0 : 1, 5) * s.unit);
    }
    for (i64 f = 0; f < s.takes; ++f) {
      const auto n = static_cast<i64>(commits[1].size());
      const i64 token = floor_of(n * s.taken + s.taken + s.ahead - 1 - s.initial, s.emitted);
      const u64 pace = paces.empty() ? 0 : after(figures.last[1], s.interval) * (s.interval != 0);
      paces.push_back(pace);
      fire(1,
           {{kToken, instant_of(commits[0], token)},
            {kServer, instant_of(commits[1], n - s.servers[1])},
            {kInterval, pace}},
           (roll(dice, 1, 5) + s.slow) * s.unit);
    }
  }
  i64 peak() const {
    i64 most = s.initial;
    for (std::size_t n = 0; n < commits[0].size(); ++n) {
      const u64 at = commits[0][n];
      const auto gone = s.leaves_first ? std::upper_bound(commits[1].begin(), commits[1].end(), at)
                                       : std::lower_bound(commits[1].begin(), commits[1].end(), at);
      most = std::max(most, s.initial + s.emitted * static_cast<i64>(n + 1) -
                                s.taken * (gone - commits[1].begin()));
    }
    return most;
  }
};

// With low words no intervals.
template <bool Packed, typename Word>
void check(Dice& dice, u32 lanes) {
  Run<Packed ? kGroupBits : 0> run;
  Shape& s = run.s = some_shape(dice);
  constexpr bool kLow = sizeof(Word) == 4;
  const bool paced = !kLow && roll(dice, 0, 1) != 0;
  if (!paced) s.interval = 0;
  // Low words come round now and then.
  s.unit = kLow && roll(dice, 0, 1) != 0 ? 50'000 : 1;
  const bool reads_back = kLow && roll(dice, 0, 1) != 0;
  constexpr u64 kBlock = 40;
  const u64 of_maker = static_cast<u64>(s.makes), of_taker = static_cast<u64>(s.takes);
  constexpr u64 kRoom = kStreamHistory;
  // What is looked at in front of a stream is nobody's, and never late.
  constexpr u64 kNobody = 1000;
  const u64 second = of_maker * (kRoom + kBlock) + kNobody + of_taker * kRoom;
  const u64 third = second + of_taker * (kBlock + kRoom) + 2;
  const Stream streams[] = {{of_maker, of_maker * kRoom}, {of_taker, second}, {of_taker, third}};
  // Enough of what is there anyway keeps nobody waiting, but is looked at.
  const u32 more = s.crowded ? 0 : static_cast<u32>(roll(dice, 0, 2));
  std::vector<StreamWait> waits = {{1, kCredit, s.taken, s.emitted, s.emitted, 0},
                                   {0, kServer, 1, 1, 1, s.servers[0]}};
  if (!s.crowded && roll(dice, 0, 1) != 0) {  // for the same reason
    waits.push_back({0, kToken, s.emitted, s.taken, s.taken, s.initial + 3});
  }
  waits.push_back({0, kToken, s.emitted, s.taken, s.taken + s.ahead, s.initial});
  if (more == 1) waits.push_back({0, kCredit, s.emitted, s.taken, s.taken, s.initial});
  waits.push_back({1, kServer, 1, 1, 1, s.servers[1]});
  if (paced) waits.push_back({2, kInterval, 1, 1, 1, 0});
  if (more == 2) waits.push_back({1, kClock, 1, 1, 1, s.servers[1] + 1});
  const StreamTransition transitions[] = {{2, s.servers[0] == 1},
                                          {static_cast<u32>(waits.size()) - 2, s.servers[1] == 1}};
  const StreamPlace places[] = {{0, 1, s.emitted, s.taken, s.leaves_first, -1}};
  const StreamPart part = {streams,
                           transitions,
                           waits.data(),
                           places,
                           nullptr,
                           kLow ? 2u : 3u,
                           2,
                           static_cast<u32>(waits.size()),
                           1,
                           0,
                           kBlock,
                           third + of_taker * kBlock};
  StreamWatch<Packed, Word> watch(lanes);
  CHECK_FALSE(watch.begun());
  watch.begin(part);
  CHECK(watch.begun());
  watch.initial(0, static_cast<u64>(s.room));
  watch.holds(0, static_cast<u64>(s.initial));
  for (int block = 0; block < (s.unit == 1 ? 30 : 250); ++block) {
    const i64 iterations = roll(dice, 1, kBlock);
    const std::size_t before[] = {run.commits[0].size(), run.commits[1].size()};
    for (i64 i = 0; i < iterations; ++i) run.iteration(dice);
    const auto write = [&](const std::vector<u64>& from, std::size_t first, const Stream& to) {
      Word* out = watch.block() + to.offset;
      for (std::size_t n = first; n < from.size(); ++n, ++out) {
        // The low words, where it keeps no more.
        *out = static_cast<Word>(reads_back ? out[-1] + from[n] - (n == 0 ? 0 : from[n - 1])
                                            : from[n]);
      }
    };
    if (reads_back) watch.ready();
    write(run.commits[0], before[0], streams[0]);
    write(run.commits[1], before[1], streams[1]);
    if (paced) write(run.paces, before[1], streams[2]);
    for (u32 k = 0; k < 2 && !reads_back; ++k) watch.ended(k, run.commits[k].back());
    watch.observe(static_cast<u64>(iterations));
    if (reads_back) {
      CHECK(watch.latest() == std::max(run.commits[0].back(), run.commits[1].back()));
      CHECK(watch.earlier(0, 1) == run.commits[0].back());
    }
  }
  for (u32 k = 0; k < 2; ++k) {
    CAPTURE(k);
    Seen seen;
    u64 last = 0;
    watch.settle(k, seen, last);
    const Seen& expected = run.figures.seen[k];
    for (u32 w = 0; w < 8; ++w) {
      CAPTURE(w);
      CHECK(seen.waited[w] == expected.waited[w]);
    }
    CHECK(seen.busy == expected.busy);
    CHECK(seen.busy_until == expected.busy_until);
    CHECK((seen.commits == expected.commits));
    CHECK(last == run.figures.last[k]);
  }
  Level level;
  const u64 left = watch.settle(0, level);
  CHECK(level.peak == static_cast<u64>(run.peak()));
  CHECK(level.taken == run.commits[1].size() * static_cast<u64>(s.taken));
  CHECK(level.limit == level.peak + level.released);
  // What is forgotten had left before the last token came: it tells nothing of those to come.
  const u64 came = run.commits[0].back() + (s.leaves_first ? 1 : 0);
  if (left != 0) CHECK(run.commits[1][left - 1] < came);
  Releases<false> releases;
  watch.settle(1, left, releases);
  CHECK(releases.end() == run.commits[1].size());
  bool same = true;
  for (u64 k = left; k < releases.end(); ++k) same &= releases.instant(k) == run.commits[1][k];
  CHECK(same);
}

TEST_CASE("figures from streams are those of firings one by one") {
  for (const u32 lanes : {0u, 8u, 16u}) {
    if (lanes > lanes_here()) continue;
    Dice dice(20261123);
    for (int k = 0; k < 150; ++k) {
      CAPTURE(lanes);
      CAPTURE(k);
      check<false, u64>(dice, lanes);
      check<true, u64>(dice, lanes);
      check<false, u32>(dice, lanes);
    }
  }
}

TEST_CASE("sums of instants are exact where 64 bits are too few, or far apart") {
  for (const u64 apart : {u64{1}, u64{1} << 50}) {
    const Stream streams[] = {{1, kStreamHistory}};
    const StreamTransition transitions[] = {{0, true}};
    const StreamPart part = {streams, transitions, nullptr, nullptr, nullptr, 1,
                             1,       0,           0,       0,       1024,    1024 + 64};
    StreamWatch<false> watch;
    watch.begin(part);
    u128 sum = 0;
    u64 at = u64{1} << 61;
    for (int block = 0; block < 2; ++block) {
      for (u64 k = 0; k < 1024; ++k) sum += watch.block()[kStreamHistory + k] = at += apart;
      watch.observe(1024);
    }
    Seen seen;
    u64 last = 0;
    watch.settle(0, seen, last);
    CHECK((seen.commits == sum));
  }
}

}  // namespace
}  // namespace lpnrt

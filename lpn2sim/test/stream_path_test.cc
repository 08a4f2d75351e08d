// The critical path from streams of instants, against the same path firing by firing.

#include "lpnrt/stream_path.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "lpnrt/low_path.h"

namespace lpnrt {
namespace {

using Dice = std::mt19937_64;
i64 roll(Dice& dice, i64 least, i64 most) {
  return std::uniform_int_distribution<i64>(least, most)(dice);
}

// `maker` fires `makes` times an iteration and puts `emitted` tokens; `taker` fires `takes` times
// and takes `taken`, in order. `room` slots go back; both have servers, the taker an interval.
struct Shape {
  i64 makes = 1, takes = 1, emitted = 1, taken = 1, ahead = 0;
  i64 initial = 0, room = 0;
  i64 servers[2] = {1, 1};
  i64 interval = 0;
  i64 unit = 1;        // of all delays
  bool plain = false;  // one server each, as many taken as put, no interval
};

Shape some_shape(Dice& dice) {
  static constexpr i64 kRates[][2] = {{1, 1}, {1, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 1}};
  Shape s;
  const auto& rate = kRates[roll(dice, 0, 5)];
  s.emitted = rate[0], s.taken = rate[1];
  s.makes = s.taken, s.takes = s.emitted;
  s.ahead = roll(dice, 0, 1);
  s.initial = roll(dice, 0, 4) + s.ahead;
  s.room = s.emitted * s.makes + roll(dice, 0, roll(dice, 0, 1) * 40);
  s.servers[0] = roll(dice, 1, 3), s.servers[1] = roll(dice, 1, 3);
  s.interval = roll(dice, 0, 4);
  s.plain = roll(dice, 0, 1) != 0;
  if (s.plain) {
    s.emitted = s.taken = roll(dice, 1, 3);
    s.makes = s.takes = roll(dice, 1, 3);
    s.room += s.emitted * s.makes;
    s.servers[0] = s.servers[1] = 1;
    s.interval = 0;
  }
  return s;
}

constexpr u64 kBlock = 90;         // some ways are longer than StreamWays looks at twice
constexpr u32 kNumber[] = {5, 7};  // of the transitions in the net

// Firings one after the other, each with its nodes in a tree that is never folded.
template <bool Packed, typename Trace>
struct Run {
  using Instant = Instants<Packed>;
  struct Wait {
    Cause cause;
    u64 at;
    u32 node;
  };
  Shape s;
  Causes all{8}, causes{8};
  std::vector<u64> commits[2], due[2], paces;
  std::vector<u32> ended[2];
  u32 begun[2] = {};
  u64 last[2] = {};
  Trace trace;

  void collect() {
    causes.collect([this](const auto& visit) { trace.each(visit); });
  }
  static u64 after(u64 start, i64 delay) { return Instant::after(start, static_cast<u64>(delay)); }
  template <typename T>
  static T number(const std::vector<T>& of, i64 k) {
    return k < 0 ? 0 : of[static_cast<std::size_t>(k)];
  }
  Wait commit_of(Cause cause, int k, i64 n) const {
    return {cause, number(commits[k], n), number(ended[k], n)};
  }
  // Tokens first, then what may be no matter.
  void fire(int k, const std::vector<Wait>& waits, i64 delay) {
    u64 start = 0;
    u32 why = 0;
    Cause how = Cause::kInitial;
    for (const Wait& w : waits) {
      if (w.at <= start || (w.cause != Cause::kToken && w.at <= last[k])) continue;
      start = w.at, why = w.node, how = w.cause;
    }
    if (last[k] > start) start = last[k], why = begun[k], how = Cause::kOrder;
    const u64 alone = after(start, delay), before = number(commits[k], count(k) - 1);
    const u64 commit = std::max(alone, before);
    if (all.full()) all.grow(2);
    const auto group = static_cast<u32>(Instant::group(start));
    begun[k] = all.add(Instant::ticks(start), group, Instant::ticks(commit), why, kNumber[k], how);
    ended[k].push_back(alone < before
                           ? all.add_ordered(ended[k].back(), kNumber[k], Instant::ticks(start))
                           : begun[k]);
    commits[k].push_back(commit);
    due[k].push_back(alone);
    last[k] = start;
  }
  i64 count(int k) const { return static_cast<i64>(commits[k].size()); }
  void iteration(Dice& dice) {
    const i64 least = Packed ? 0 : 1;
    for (i64 f = 0; f < s.makes; ++f) {
      const i64 n = count(0);
      const i64 slot = floor_of((n + 1) * s.emitted - 1 - s.room, s.taken);
      fire(0, {commit_of(Cause::kToken, 1, slot), commit_of(Cause::kServer, 0, n - s.servers[0])},
           roll(dice, least, 4) * s.unit);
    }
    for (i64 f = 0; f < s.takes; ++f) {
      const i64 n = count(1);
      const i64 token = floor_of(n * s.taken + s.taken + s.ahead - 1 - s.initial, s.emitted);
      const u64 then = last[1] & ~Instant::kMask;
      paces.push_back(n == 0 || s.interval == 0 ? 0 : after(then, s.interval));
      fire(1,
           {commit_of(Cause::kToken, 0, token),
            commit_of(Cause::kServer, 1, n - s.servers[1]),
            {Cause::kInterval, paces.back(), begun[1]}},
           roll(dice, least, 5) * s.unit);
    }
  }
};

bool same(const Causes::Row& a, const Causes::Row& b) {
  return a.what == b.what && a.count == b.count && a.cycles == b.cycles;
}
bool same(const Causes::Step& a, const Causes::Step& b) {
  return a.by == b.by && a.to_commit == b.to_commit && a.start == b.start && a.commit == b.commit;
}
template <typename T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return same(x, y); });
}

// A LowTrace takes plain ones only, and how many tokens there are from its table.
template <bool Packed, typename Trace = StreamTrace<Packed>>
void check(Dice& dice, bool& folded) {
  constexpr bool kLow = std::is_same_v<Trace, LowTrace>;
  Run<Packed, Trace> run;
  Shape& s = run.s = some_shape(dice);
  while (kLow && !s.plain) s = some_shape(dice);
  // Low words come round now and then.
  s.unit = kLow && roll(dice, 0, 1) != 0 ? 50'000 : 1;
  const bool reads_back = kLow && roll(dice, 0, 1) != 0;
  const auto of_maker = static_cast<u64>(s.makes), of_taker = static_cast<u64>(s.takes);
  // Each with its history, from a multiple of 64 on; the first ones are nobody's.
  Stream streams[5];
  u64 words = 64;
  for (u32 k = 0; k < 5; ++k) {
    const u64 firings = k == 0 || k == 3 ? of_maker : of_taker;
    streams[k] = {firings, words + firings * kStreamHistory};
    words += (firings * (kStreamHistory + kBlock) + 63) / 64 * 64;
  }
  std::vector<StreamWait> waits = {{1, kCredit, s.taken, s.emitted, s.emitted, kLow ? s.room : 0},
                                   {0, kServer, 1, 1, 1, s.servers[0]},
                                   {0, kToken, s.emitted, s.taken, s.taken + s.ahead, s.initial},
                                   {1, kServer, 1, 1, 1, s.servers[1]}};
  if (s.plain) {  // more of them than are compared at once, which changes nothing
    waits.insert(waits.end(), static_cast<std::size_t>(roll(dice, 0, 5)), waits[2]);
  } else {
    waits.push_back({2, kInterval, 1, 1, 1, 0});
  }
  const auto count = static_cast<u32>(waits.size());
  const StreamTransition transitions[] = {{2, s.servers[0] == 1}, {count - 2, s.servers[1] == 1}};
  const StreamCauses causes[] = {{kNumber[0], s.plain ? 0u : 3u}, {kNumber[1], s.plain ? 0u : 4u}};
  const StreamPart part = {streams,        transitions, waits.data(), nullptr, causes,
                           kLow ? 2u : 3u, 2,           count,        0,       s.plain ? 0u : 2u,
                           kBlock,         words};
  auto& trace = run.trace;
  CHECK_FALSE(trace.begun());
  trace.begin(part, run.causes);
  CHECK(trace.begun());
  if constexpr (!kLow) trace.initial(0, static_cast<u64>(s.room));
  // Few firings all have their nodes; of many only some have.
  const i64 blocks = roll(dice, 1, roll(dice, 0, 1) != 0 ? 5 : 300);
  for (i64 block = 0; block < blocks; ++block) {
    const bool last = block + 1 == blocks || roll(dice, 0, 30) == 0;
    const i64 iterations = roll(dice, 1, kBlock);
    const i64 made = run.count(0), took = run.count(1);
    for (i64 i = 0; i < iterations; ++i) run.iteration(dice);
    const auto write = [&](u32 to, const std::vector<u64>& from, i64 first) {
      auto* out = trace.block() + streams[to].offset;
      for (auto n = static_cast<std::size_t>(first); n < from.size(); ++n, ++out) {
        *out = static_cast<std::remove_reference_t<decltype(*out)>>(
            reads_back ? out[-1] + from[n] - (n == 0 ? 0 : from[n - 1]) : from[n]);
      }
    };
    if constexpr (kLow) {
      if (reads_back) trace.ready();
    }
    write(0, run.commits[0], made), write(1, run.commits[1], took);
    if constexpr (kLow) {
      for (u32 k = 0; k < 2 && !reads_back; ++k) trace.ended(k, run.commits[k].back());
    } else {
      write(2, run.paces, took);
    }
    if (!s.plain) write(3, run.due[0], made), write(4, run.due[1], took);
    trace.observe(run, static_cast<u64>(iterations), last);
    for (u32 k = 0; k < 2 && last; ++k) {
      std::vector<Causes::Row> rows, expected;
      std::vector<Causes::Step> steps, all;
      run.causes.path(trace.ended(k), rows, steps);
      run.all.path(run.ended[k].back(), expected, all);
      CHECK(all_same(rows, expected));
      CHECK(trace.last(k) == run.last[k]);
      CHECK(run.causes.start(trace.begun(k)) == run.all.start(run.begun[k]));
      // As many steps as there are nodes for; where some were folded, the last is the least known.
      const bool whole = steps.size() == all.size();
      folded |= !whole;
      REQUIRE(steps.size() <= all.size());
      if (!whole) steps.pop_back(), all.resize(steps.size());
      CHECK(all_same(steps, all));
    }
    for (u64 j = 0; j < static_cast<u64>(s.initial); ++j) {
      const i64 at = run.count(1) * s.taken + static_cast<i64>(j) - s.initial;
      if (static_cast<i64>(j) < s.taken + s.ahead - 1) continue;  // nobody looks at these again
      const u32 node = trace.token(1, 2, j);
      CHECK(run.causes.start(node) ==
            run.all.start(Run<Packed, Trace>::number(run.ended[0], floor_of(at, s.emitted))));
    }
  }
}

TEST_CASE("what decided follows from the streams of commits") {
  Dice dice(20261123);
  bool folded = false;
  for (int round = 0; round < 60; ++round) {
    check<false>(dice, folded);
    check<true>(dice, folded);
    check<false, LowTrace>(dice, folded);
  }
  CHECK(folded);
}

TEST_CASE("what decided is written for so many firings, and no more") {
  const u64 waits[] = {3, 9, 4, 7, 8, 1, 2};
  for (u64 n = 0; n < 7; ++n) {
    const u64 *at = waits, cell = 100;
    u64 start[8];
    u32 back[8];
    std::fill(start, start + 8, 77);
    std::fill(back, back + 8, 66);
    WayLoops<u64, u32>::decide<1>(&at, &cell, n, true, start, back);
    for (u64 i = 0; i < 8; ++i) {
      CHECK(start[i] == (i < n ? waits[i] : 77));
      CHECK(back[i] == (i < n ? 100 + i : 66));
    }
  }
}

TEST_CASE("ways need a number for every firing of a block") {
  using Ways = StreamWays<false>;
  CHECK(Ways().begin({{}}, {u64{1} << 20}));
  CHECK_FALSE(Ways().begin({{}}, {u64{1} << 31}));
}

TEST_CASE("without memory there is no path") {
  Causes causes(1);
  causes.budget = 0;
  StreamTrace<false> trace;
  const Stream streams[] = {{1, 0}};
  const StreamTransition transitions[] = {{0, false}};
  const StreamCauses of[] = {{0, 0}};
  trace.begin({streams, transitions, nullptr, nullptr, of, 1, 1, 0, 0, 0, 4, 4}, causes);
  struct {
    void collect() {}
  } run;
  trace.observe(run, 4, true);
  CHECK(causes.lost);
  CHECK(trace.ended(0) == 0);
  CHECK(trace.last(0) == 0);
}

}  // namespace
}  // namespace lpnrt

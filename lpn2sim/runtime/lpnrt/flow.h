// What order-free simulators are made of: FIFOs of tokens that carry the instant at which they
// appear, so that every actor can run ahead of the others as far as its tokens reach.
//
// An instant is ticks, or ticks and group in one word where some delay may be 0. All starts up to a
// horizon are made before it moves on; that bounds how far actors run ahead, and with it memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "lpnrt/runtime.h"
#if LPNRT_STATS
#include "lpnrt/observe.h"
#endif

namespace lpnrt {

inline constexpr u32 kGroupBits = 21;
static_assert(kGroupLimit <= u64{1} << (kGroupBits - 1));

// Why an order-free run gave up; the event-driven engine then answers instead.
struct Bail {};
[[noreturn, gnu::cold, gnu::noinline]] inline void bail() { throw Bail{}; }

// What the plan assumed does not hold in this run.
struct Misjudged : Bail {};
[[noreturn, gnu::cold, gnu::noinline]] inline void misjudged() { throw Misjudged{}; }
// Of a place that several actors append to: that they do so in the order of time, by id at one
// instant. `last` and `by`: the commit before, and whose it was.
[[gnu::always_inline]] inline void in_order(u64 commit, u64& last, u64 k, u64& by) {
  if (commit <= last && (commit < last || k < by)) misjudged();
  last = commit;
  by = k;
}

// Tokens that a firing may emit in a run ahead.
inline constexpr u64 kMostAhead = u64{1} << 16;
// A firing that emits many tokens, or a number of them that is an error.
template <typename Net>
[[gnu::noinline, gnu::cold]] void emits_many(Net& net, i64 count) {
  if (static_cast<u64>(count) > kMostAhead) bail();
  net.spend(count);
}

template <bool Packed>
struct Instants {
  static constexpr u64 kMask = Packed ? (u64{1} << kGroupBits) - 1 : 0;
  static constexpr u32 kShift = Packed ? kGroupBits : 0;
  // Ticks beyond this are left to the event-driven engine.
  static constexpr u64 kTooLate = Packed ? u64{1} << (63 - kGroupBits) : u64{1} << 62;
  static constexpr u64 kNever = ~u64{0};

  static i64 ticks(u64 instant) { return static_cast<i64>(instant >> kShift); }
  static u64 group(u64 instant) { return instant & kMask; }
  static u64 at(u64 ticks) { return ticks << kShift; }
  // The commit of a firing that starts at `start` and takes `delay` >= 0 ticks.
  static u64 after(u64 start, u64 delay) {
    if (delay >= kTooLate) bail();
    const u64 commit = Packed && delay == 0 ? start + 1 : (start & ~kMask) + (delay << kShift);
    if (commit >= kTooLate << kShift) bail();
    if (Packed && delay == 0 && (commit & kMask) > kGroupLimit) bail();
    return commit;
  }
  static u64 on_edge(u64 start, i64 period, i64 phase) {
    const i64 now = ticks(start);
    const i64 on = edge(now, period, phase);
    if (on == now) return start;
    if (static_cast<u64>(on) >= kTooLate) bail();
    return at(static_cast<u64>(on));
  }
};

// FIFO of rows of an instant and W values.
template <int W>
class Chan {
 public:
  Chan() = default;
  Chan(const Chan&) = delete;
  Chan& operator=(const Chan&) = delete;
  ~Chan() {
    if (rows_ != first_) drop();
  }
  u64 size() const { return tail_ - head_; }
  u64 instant(u64 k) const { return static_cast<u64>(at(static_cast<u32>(k))[0]); }
  const i64* row(u64 k) const { return at(static_cast<u32>(k)) + 1; }
  // The values of a new token, to be filled in.
  i64* push(u64 instant) {
    if (tail_ - head_ > mask_) [[unlikely]]
      grow();
    i64* const row = rows_ + (tail_++ & mask_) * u64{W + 1};
    row[0] = static_cast<i64>(instant);
    return row + 1;
  }
  void pop(u64 count) { head_ += static_cast<u32>(count); }
  // Room for so many tokens in all.
  void reserve(u64 count) {
    if (count > mask_ + u64{1}) grow(count);
  }

 private:
  static constexpr u32 kFirst = W <= 3 ? 8 : 2;
  i64* at(u32 k) const { return rows_ + ((head_ + k) & mask_) * u64{W + 1}; }
  void drop() {
    refund((mask_ + u64{1}) * (W + 1) * sizeof(i64));
    ::operator delete(rows_);
  }
  [[gnu::noinline, gnu::cold]] void grow(u64 least = 0) {
    u64 capacity = (mask_ + u64{1}) * 2;
    while (capacity < least) capacity *= 2;
    if (capacity > u64{1} << 30) throw std::bad_alloc();
    charge(capacity * (W + 1) * sizeof(i64));
    i64* const bigger = static_cast<i64*>(::operator new(capacity*(W + 1) * sizeof(i64)));
    const u32 count = tail_ - head_;
    for (u32 k = 0; k < count; ++k) std::memcpy(bigger + k * u64{W + 1}, at(k), (W + 1) * 8);
    if (rows_ != first_) drop();
    rows_ = bigger;
    mask_ = static_cast<u32>(capacity - 1);
    head_ = 0;
    tail_ = count;
  }
  u32 head_ = 0, tail_ = 0, mask_ = kFirst - 1;  // u32: stores of instants cannot alias them
  i64* rows_ = first_;
  i64 first_[kFirst * (W + 1)];
};

// The tokens that a place without producers has at the start, all at instant 0.
struct Source {
  const i64* rows = nullptr;
  u64 count = 0;
  u64 next = 0;
  u64 size() const { return count - next; }
};

// The tokens of a place that nobody takes from. Rows may stand elsewhere: those of a source that
// arrive as they left need no copy.
template <int W>
class Out {
 public:
  Out() = default;
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  ~Out() {
    if (!borrowed_) drop();
  }
  u64 size() const { return size_; }
  const i64* row(u64 k) const { return rows_ + k * W; }
  i64* push() {
    if (size_ == capacity_) [[unlikely]]
      reserve(capacity_ == 0 ? 64 : capacity_ * 2);
    return rows_ + size_++ * W;
  }
  // Space for `count` more rows; add() then makes them tokens.
  i64* room(u64 count) {
    if (size_ + count > capacity_) reserve(std::max(size_ + count, capacity_ * 2));
    return rows_ + size_ * W;
  }
  void add(u64 count) { size_ += count; }
  // The next `count` tokens have the values at `rows`, which outlive this.
  void borrow(const i64* rows, u64 count) {
    if (size_ == 0 && capacity_ == 0) {
      rows_ = const_cast<i64*>(rows);
      borrowed_ = true;
      size_ = capacity_ = count;
    } else if (borrowed_ && size_ == capacity_ && rows == rows_ + size_ * W) {
      size_ = capacity_ = size_ + count;
    } else {
      std::memcpy(room(count), rows, count * W * sizeof(i64));
      add(count);
    }
  }
  bool borrowed() const { return borrowed_; }
  [[gnu::noinline]] void reserve(u64 capacity) {
    if (capacity <= capacity_) return;
    charge(capacity * W * sizeof(i64));
    i64* const bigger = static_cast<i64*>(::operator new(capacity* W * sizeof(i64)));
    if (size_ != 0) std::memcpy(bigger, rows_, size_ * W * sizeof(i64));
    if (!borrowed_) drop();
    borrowed_ = false;
    rows_ = bigger;
    capacity_ = capacity;
  }

 private:
  void drop() {
    if (rows_ == nullptr) return;
    refund(capacity_ * W * sizeof(i64));
    ::operator delete(rows_);
  }
  i64* rows_ = nullptr;
  u64 size_ = 0, capacity_ = 0;
  bool borrowed_ = false;
};

// Actors with new tokens, visited in turn from the sources of the graph to its ends.
template <u32 N>
class Turn {
  static constexpr u32 kWords = (N + 63) / 64;

 public:
  void insert(u32 k) { words_[k / 64] |= u64{1} << (k % 64); }
  void insert_all() {
    for (u32 k = 0; k < N; ++k) insert(k);
  }
  // The one nearest to the sources; false when there is none. What takes turns then has many tokens
  // in front of it that came one by one.
  bool take_least(u32& k) {
    u32 w = 0;
    while (words_[w] == 0) {
      if (++w == kWords) return false;
    }
    k = w * 64 + static_cast<u32>(__builtin_ctzll(words_[w]));
    words_[w] &= words_[w] - 1;
    return true;
  }
  // The next actor after the last one taken; false when there is none.
  bool take(u32& k) {
    const u32 from = next_ / 64;
    if (const u64 bits = words_[from] >> (next_ % 64)) {
      k = next_ + static_cast<u32>(__builtin_ctzll(bits));
    } else {
      u32 w = from;
      u32 seen = 0;
      do {
        w = w + 1 == kWords ? 0 : w + 1;
        if (++seen > kWords) return false;
      } while (words_[w] == 0);
      k = w * 64 + static_cast<u32>(__builtin_ctzll(words_[w]));
    }
    words_[k / 64] &= ~(u64{1} << (k % 64));
    next_ = k + 1 == N ? 0 : k + 1;
    return true;
  }

 private:
  u64 words_[kWords] = {};
  u32 next_ = 0;
};

// `Run` derives from Flow<Run, N, Packed> and provides
//   void act(u32 a)   starts the firings of actor a that have their tokens, up to the horizon
//   void verify()     where Run::kAssumes: that what is done up to the horizon is as it had to be
// and, where Run::kMixed, for the transitions that an event-driven Net runs:
//   std::unique_ptr<Net> ev
//   u64 next_arrival() const   the first instant at which an actor's tokens reach it
//   void arrive(u64 at)        marks the actors' transitions whose commits bring them as due
//   void drain()               moves the tokens that it made for actors, with their instants
template <typename Run, u32 N, bool Packed>
struct Flow : Instants<Packed> {
  using Instant = Instants<Packed>;
  u64 horizon = 0;
  u64 wake = Instant::kNever;  // the earliest start that the horizon held back
  u64 made = 0;                // firings
  i64 complete = -1;           // all is made up to this time
  Turn<N> turn;
  u64 held[(N + 63) / 64] = {};  // actors that the horizon held back

  void hold(u32 a, u64 start) {
    if (start < wake) wake = start;
    held[a / 64] |= u64{1} << (a % 64);
  }

  // The event-driven part up to the horizon: all that reaches it by then is known.
  void simulate_events() {
    Run& self = static_cast<Run&>(*this);
    auto& ev = *self.ev;
    const i64 limit = Instant::ticks(horizon);
    if (!ev.begun) {
      ev.begun = true;
      for (u32 k = 0; k < std::remove_reference_t<decltype(ev)>::kTransitions; ++k) {
        ev.dirty.insert(k);
      }
      instant(ev, true);
    }
    for (;;) {
      i64 next = ev.wheel.empty() ? kForever : ev.wheel.earliest(ev.now);
      if (!ev.events.empty()) next = min(next, ev.events.top().due);
      if (const u64 at = self.next_arrival(); at != Instant::kNever) {
        next = min(next, Instant::ticks(at));
      }
      if (next == kForever) return;
      if (next > limit) {
        const u64 at = Instant::at(static_cast<u64>(next));
        if (static_cast<u64>(next) >= Instant::kTooLate) bail();
        if (at < wake) wake = at;
        return;
      }
      const i64 before = ev.now;
      ev.now = next;
      if (!instant(ev, false)) ev.now = before;
    }
  }

  // As Engine::instant, with commits of actors among its own.
  template <typename Net>
  bool instant(Net& ev, bool first) {
    Run& self = static_cast<Run&>(*this);
    const u64 begin = Instant::at(static_cast<u64>(ev.now));
    ev.group = 0;
    const u64 arrival = self.next_arrival();
    if (arrival == begin) self.arrive(begin);
    const bool firing = ev.gather() || arrival == begin;
    const bool any = ev.woken.empty() || ev.look_again(!first && !firing);
    if (firing)
      ev.commit_group(ev.due);
    else if (!first && !any && (arrival == Instant::kNever || Instant::ticks(arrival) != ev.now))
      return false;
    ev.starts();
    for (;;) {
      const u64 at = self.next_arrival();
      const bool arrives = at != Instant::kNever && Instant::ticks(at) == ev.now;
      if (!ev.zero.empty())
        ++ev.group;
      else if (arrives)
        ev.group = Instant::group(at);
      else
        return true;
      if (ev.group > kGroupLimit) bail();
      ev.due = ev.zero;
      ev.zero = {};
      if (arrives && Instant::group(at) == ev.group) self.arrive(at);
      ev.commit_group(ev.due);
      ev.starts();
    }
  }

  // False when `poll` asked to stop.
  template <typename Poll>
  bool flow(const Poll& poll) {
    Run& self = static_cast<Run&>(*this);
    u64 window = 64;  // small at first: tokens may multiply
    u64 polled = 0, asked = 0;
    const auto go = [&] {
      for (u32 a; Run::kAssumes ? turn.take_least(a) : turn.take(a);) {
        self.act(a);
        if (made - asked < u64{1} << 20) continue;
        asked = made;
        self.net.ask(lpnrt::max(complete, i64{0}), made);
      }
    };
    horizon = Instant::at(window) | Instant::kMask;
    turn.insert_all();
    for (;;) {
      // Between two rounds there is a time to stop at; within one only when it is endless.
      const u64 before = asked = made;
      go();
      if constexpr (Run::kMixed) {
        const u64 events = self.ev->commits;
        simulate_events();
        made += self.ev->commits - events;
        self.drain();
        go();
      }
      if constexpr (Run::kAssumes) self.verify();
      complete = Instant::ticks(horizon);
      if (wake == Instant::kNever) return true;
      if (made - polled > u64{1} << 22) {
        polled = made;
        if (!poll(Instant::ticks(horizon))) return false;
      }
      // A round of some thousand firings keeps its tokens in the cache.
      const u64 round = made - before;
      if (round < 2048 && window < u64{1} << 40) window *= round < 256 ? 8 : 2;
      if (round > 16384 && window > 1) window /= 2;
      const u64 from = static_cast<u64>(Instant::ticks(wake));
      horizon = Instant::at(from + window) | Instant::kMask;
      wake = Instant::kNever;
      for (u32 w = 0; w < (N + 63) / 64; ++w) {
        for (u64 bits = held[w]; bits != 0; bits &= bits - 1) {
          turn.insert(w * 64 + static_cast<u32>(__builtin_ctzll(bits)));
        }
        held[w] = 0;
      }
    }
  }
};

}  // namespace lpnrt

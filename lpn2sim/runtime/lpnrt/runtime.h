// What generated simulators are made of. Header-only; included by generated code alone.
//
// A generated net is one struct derived from Engine: members for its places and its transitions'
// firings in flight, a `try_k` and a `commit_k` per transition. The engine keeps the time: an
// event per transition with firings in flight (its earliest), on a bucket wheel when it is due
// within 1024 ticks, else on a Boost.Heap, where also firings wait that may be overtaken; and two
// sets of transitions, `dirty` (to be looked at) and `due` (to commit in this group), visited
// from the least id upwards as the semantics demand.
//
// LPNRT_TRACE=1 keeps token identities for an observer, LPNRT_STATS=1 keeps statistics,
// LPNRT_PATH=1 the causes of firings (path.h); they are fixed at compile time, so that the plain
// simulator pays for none.
#pragma once

#ifndef LPNRT_TRACE
#define LPNRT_TRACE 0
#endif
#ifndef LPNRT_STATS
#define LPNRT_STATS 0
#endif
#ifndef LPNRT_PATH
#define LPNRT_PATH 0
#endif
#if LPNRT_PATH && LPNRT_STATS
#error "statistics and the critical path are variants of their own"
#endif

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/heap/d_ary_heap.hpp>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include "lpnrt/abi.h"

namespace lpnrt {

using i64 = std::int64_t;
using u64 = std::uint64_t;
using u32 = std::uint32_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

inline constexpr i64 kForever = std::numeric_limits<i64>::max();
inline constexpr i64 kMaxTokens = i64{1} << 31;  // lpn::kMaxTokens
#ifndef LPNRT_GROUP_LIMIT
#define LPNRT_GROUP_LIMIT (1ull << 20)  // lpn::kDefaultGroupLimit; tests set a smaller one
#endif
inline constexpr u64 kGroupLimit = LPNRT_GROUP_LIMIT;

// The order of lpn::Fault and lpn::Wait.
enum FaultCode : int {
  kOverflow,
  kDivisor,
  kNegativeDelay,
  kNegativeWeight,
  kNegativeCount,
  kNegativeInterval,
  kTooMany,
  kRange,
  kLookup,
  kTokenIndex,
  kEmpty,
  kAssume,
  kTakesNothing,
  kZeroDelay,
};
enum WaitCode : u32 { kReady, kToken, kCredit, kGuard, kInhibited, kServer, kInterval, kClock };

// Which expression of which transition: kind 4 bits, transition 20, arc 11, emission 10, field 6.
constexpr u64 site(u64 transition, u64 kind, u64 arc = 0, u64 emission = 0, u64 field = 0) {
  return kind << 47 | transition << 27 | arc << 16 | emission << 6 | field;
}

struct Failure {
  int code;
  u64 site;
  i64 value;
};
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(int code, u64 where, i64 value = 0) {
  throw Failure{code, where, value};
}
// For a failure in the middle of an expression.
[[noreturn, gnu::cold, gnu::noinline]] inline i64 fail_value(int code, u64 where, i64 value = 0) {
  throw Failure{code, where, value};
}

// ---- exact arithmetic -----------------------------------------------------------------------

inline i64 add(i64 x, i64 y, u64 where) {
  i64 r;
  if (__builtin_add_overflow(x, y, &r)) fail(kOverflow, where);
  return r;
}
inline i64 sub(i64 x, i64 y, u64 where) {
  i64 r;
  if (__builtin_sub_overflow(x, y, &r)) fail(kOverflow, where);
  return r;
}
inline i64 mul(i64 x, i64 y, u64 where) {
  i64 r;
  if (__builtin_mul_overflow(x, y, &r)) fail(kOverflow, where);
  return r;
}
inline i64 neg(i64 x, u64 where) { return sub(0, x, where); }
inline i64 abs(i64 x, u64 where) { return x < 0 ? sub(0, x, where) : x; }
inline i64 divisor(i64 x, u64 where) {
  if (x <= 0) fail(kDivisor, where, x);
  return x;
}
inline i64 floor_div(i64 x, i64 y) { return x / y - ((x % y) < 0 ? 1 : 0); }
inline i64 ceil_div(i64 x, i64 y) { return x / y + ((x % y) > 0 ? 1 : 0); }
inline i64 mod(i64 x, i64 y) {
  const i64 r = x % y;
  return r < 0 ? r + y : r;
}
[[gnu::always_inline]] inline i64 min(i64 x, i64 y) { return x < y ? x : y; }
[[gnu::always_inline]] inline i64 max(i64 x, i64 y) { return x > y ? x : y; }
template <std::size_t N>
inline i64 lookup(const i64 (&table)[N], i64 x, u64 where) {
  if (static_cast<u64>(x) >= N) fail(kLookup, where, x);
  return table[x];
}

// The first multiple of the period, seen from the phase, that is not before `at`.
inline i64 edge(i64 at, i64 period, i64 phase) {
  const i64 past = mod(at - phase, period);
  if (past == 0) return at;
  i64 r;
  return __builtin_add_overflow(at, period - past, &r) ? kForever : r;
}

// ---- containers without allocation in steady state -------------------------------------------

// The little of std::vector that rings need: a net has a ring per transition, each of its own type,
// and a std::vector per type is most of the time that compiling a large net takes.
template <typename T>
class Array {
 public:
  Array() = default;
  explicit Array(u64 size) : items_(new T[size]()), size_(size) {}
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { delete[] items_; }
  void swap(Array& other) {
    T* const items = items_;
    items_ = other.items_;
    other.items_ = items;
    const u64 size = size_;
    size_ = other.size_;
    other.size_ = size;
  }
  u64 size() const { return size_; }
  T& operator[](u64 k) { return items_[k]; }
  const T& operator[](u64 k) const { return items_[k]; }

 private:
  T* items_ = nullptr;
  u64 size_ = 0;
};

// FIFO of fixed-size items; T is trivially copyable or cheap to move.
template <typename T>
class Ring {
 public:
  u64 size() const { return size_; }
  void swap(Ring& other) {
    items_.swap(other.items_);
    std::swap(head_, other.head_);
    std::swap(size_, other.size_);
    std::swap(mask_, other.mask_);
  }
  T& front() { return items_[head_]; }
  const T& operator[](u64 k) const { return items_[(head_ + k) & mask_]; }
  T& at(u64 k) { return items_[(head_ + k) & mask_]; }
  T& push() {
    if (size_ == items_.size()) grow();
    return items_[(head_ + size_++) & mask_];
  }
  void pop() {
    head_ = (head_ + 1) & mask_;
    --size_;
  }

 private:
  [[gnu::noinline]] void grow() {
    const u64 capacity = std::max<u64>(4, items_.size() * 2);
    Array<T> bigger(capacity);
    for (u64 k = 0; k < size_; ++k) bigger[k] = std::move(items_[(head_ + k) & mask_]);
    items_.swap(bigger);
    head_ = 0;
    mask_ = capacity - 1;
  }
  // Empty at first: a constructor that cannot fail keeps nets of many places quick to compile.
  Array<T> items_;
  u64 head_ = 0, size_ = 0, mask_ = 0;
};

// FIFO of rows of W values: the free tokens of a place. The first few rows lie in the place
// itself, next to its counters: most places never hold more. Never moved once constructed.
template <int W>
class Rows {
 public:
  Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    if (values_ != first_) ::operator delete(values_);
  }
  const i64* row(u64 k) const { return values_ + ((head_ + k) & mask_) * W; }
  i64* push() {
    if (size_ > mask_) grow(size_ + 1);
    return values_ + ((head_ + size_++) & mask_) * W;
  }
  void pop(u64 count) {
    head_ = static_cast<u32>(head_ + count) & mask_;
    size_ -= static_cast<u32>(count);
  }
  [[gnu::noinline]] void append(u64 count, const i64* values) {
    if (size_ + count > mask_ + u64{1}) grow(size_ + count);
    if (head_ + u64{size_} + count <= mask_ + u64{1}) {
      std::memcpy(values_ + (head_ + u64{size_}) * W, values, count * W * sizeof(i64));
      size_ += static_cast<u32>(count);
      return;
    }
    for (u64 k = 0; k < count; ++k) std::memcpy(push(), values + k * W, W * sizeof(i64));
  }
  // Takes over `count` rows that stood in `from` at `first`; false when one of both is not empty
  // or the rows are elsewhere.
  bool take(Rows& from, const i64* first, u64 count) {
    const i64* const end = from.values_ + (from.mask_ + u64{1}) * W;
    if (size_ != 0 || from.size_ != 0 || from.values_ == from.first_) return false;
    if (std::less<const i64*>()(first, from.values_) || !std::less<const i64*>()(first, end)) {
      return false;
    }
    if (values_ != first_) ::operator delete(values_);
    values_ = from.values_;
    mask_ = from.mask_;
    head_ = static_cast<u32>((first - values_) / W);
    size_ = static_cast<u32>(count);
    from.values_ = from.first_;
    from.mask_ = kFirst - 1;
    from.head_ = 0;
    return true;
  }
  [[gnu::noinline]] void copy(u64 count, i64* values) const {
    for (u64 k = 0; k < count; ++k) std::memcpy(values + k * W, row(k), W * sizeof(i64));
  }

 private:
  static constexpr u32 kFirst = W <= 4 ? 4 : 1;
  [[gnu::noinline, gnu::cold]] void grow(u64 least) {
    u64 capacity = (mask_ + u64{1}) * 2;
    while (capacity < least) capacity *= 2;
    if (capacity > u64{1} << 31) throw std::bad_alloc();
    i64* const bigger = static_cast<i64*>(::operator new(capacity* W * sizeof(i64)));
    for (u64 k = 0; k < size_; ++k) std::memcpy(bigger + k * W, row(k), W * sizeof(i64));
    if (values_ != first_) ::operator delete(values_);
    values_ = bigger;
    head_ = 0;
    mask_ = static_cast<u32>(capacity - 1);
  }
  i64* values_ = first_;
  u32 head_ = 0, size_ = 0, mask_ = kFirst - 1;
  i64 first_[kFirst * W];
};

// A set of transitions 0..N-1, visited from the least upwards. A summary bit per word, and a
// summary of summaries above 4096, keep the visit independent of N.
template <u32 N>
class Set {
  static constexpr u32 kWords = (N + 63) / 64;
  static constexpr u32 kTops = (kWords + 63) / 64;
  static constexpr u32 kRoots = (kTops + 63) / 64;
  static_assert(kRoots <= 1 || N <= 64u * 64 * 64 * 64);

 public:
  void insert(u32 k) { insert_word(k / 64, u64{1} << (k % 64)); }
  void insert_word(u32 w, u64 bits) {
    words_[w] |= bits;
    if constexpr (kWords > 1) {
      tops_[w / 64] |= u64{1} << (w % 64);
      if constexpr (kTops > 1) root_ |= u64{1} << (w / 64);
    }
  }
  bool empty() const {
    if constexpr (kWords == 1)
      return words_[0] == 0;
    else if constexpr (kTops == 1)
      return tops_[0] == 0;
    else
      return root_ == 0;
  }
  // REQUIRES !empty().
  u32 take_least() {
    u32 w = 0;
    if constexpr (kWords > 1) {
      u32 top = 0;
      if constexpr (kTops > 1) top = static_cast<u32>(__builtin_ctzll(root_));
      w = top * 64 + static_cast<u32>(__builtin_ctzll(tops_[top]));
    }
    const u64 word = words_[w];
    const u64 rest = word & (word - 1);
    words_[w] = rest;
    if constexpr (kWords > 1) {
      if (rest == 0) {
        u64& top = tops_[w / 64];
        top &= ~(u64{1} << (w % 64));
        if constexpr (kTops > 1) {
          if (top == 0) root_ &= ~(u64{1} << (w / 64));
        }
      }
    }
    return w * 64 + static_cast<u32>(__builtin_ctzll(word));
  }

 private:
  u64 words_[kWords] = {};
  u64 tops_[kTops] = {};
  u64 root_ = 0;
};

// What is due within the next kSlots ticks: a list of nodes per tick, found through a bitmap. A
// node is in at most one list, so links live in one array and nothing is allocated. Cost does not
// grow with the number of pending events, which a heap's does.
template <u32 Nodes>
class Wheel {
 public:
  static constexpr i64 kSlots = 1024;
  static constexpr u32 kNone = ~u32{0};

  Wheel() { std::fill(std::begin(heads_), std::end(heads_), kNone); }
  bool empty() const { return summary_ == 0; }
  // REQUIRES now <= due < now + kSlots, and node in no list.
  void insert(i64 due, u32 node) {
    const u32 slot = static_cast<u32>(due) & (kSlots - 1);
    next_[node] = heads_[slot];
    heads_[slot] = node;
    words_[slot / 64] |= u64{1} << (slot % 64);
    summary_ |= 1u << (slot / 64);
  }
  // The earliest due time. REQUIRES !empty() and nothing due before now.
  i64 earliest(i64 now) const {
    const u32 slot = static_cast<u32>(now) & (kSlots - 1);
    const u32 word = slot / 64;
    if (const u64 bits = words_[word] >> (slot % 64)) return now + __builtin_ctzll(bits);
    const u32 turned = (summary_ | summary_ << kWords) >> (word + 1) & ((1u << kWords) - 1);
    const u32 found = (word + 1 + static_cast<u32>(__builtin_ctz(turned))) % kWords;
    const u32 at = found * 64 + static_cast<u32>(__builtin_ctzll(words_[found]));
    return now + ((at - slot) & (kSlots - 1));
  }
  // Empties the list of `now`; its first node (kNone: nothing was due), the others by after().
  u32 take(i64 now) {
    const u32 slot = static_cast<u32>(now) & (kSlots - 1);
    const u32 first = heads_[slot];
    if (first == kNone) return kNone;
    heads_[slot] = kNone;
    const u64 rest = words_[slot / 64] &= ~(u64{1} << (slot % 64));
    if (rest == 0) summary_ &= ~(1u << (slot / 64));
    return first;
  }
  u32 after(u32 node) const { return next_[node]; }
  // The node of `now` when there is exactly one, else kNone.
  u32 only(i64 now) const {
    const u32 first = heads_[static_cast<u32>(now) & (kSlots - 1)];
    return first != kNone && next_[first] == kNone ? first : kNone;
  }

 private:
  static constexpr u32 kWords = kSlots / 64;
  static_assert(kWords <= 16);
  u32 summary_ = 0;
  u64 words_[kWords] = {};
  u32 heads_[kSlots];
  u32 next_[Nodes];
};

struct Event {
  i64 due;
  u32 transition;
  u32 slot;  // of a firing that may be overtaken; kFront: the oldest one; kWake: look again
};
inline constexpr u32 kFront = ~u32{0};
inline constexpr u32 kWake = ~u32{0} - 1;

struct Later {
  bool operator()(const Event& x, const Event& y) const { return x.due > y.due; }
};
using Events = boost::heap::d_ary_heap<Event, boost::heap::arity<4>, boost::heap::compare<Later>>;

// Firings whose commits may overtake one another: records in reused slots.
template <typename T>
class Pool {
 public:
  u32 take() {
    if (free_.empty()) {
      items_.emplace_back();
      return static_cast<u32>(items_.size() - 1);
    }
    const u32 slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give(u32 slot) { free_.push_back(slot); }
  u32 slots() const { return static_cast<u32>(items_.size()); }
  T& operator[](u32 slot) { return items_[slot]; }

 private:
  std::vector<T> items_;
  std::vector<u32> free_;
};

// ---- token identities (LPNRT_TRACE) ----------------------------------------------------------

#if LPNRT_TRACE
using IdRuns = Ring<lpn_token_run>;

inline void take_ids(IdRuns& ids, u64 count, u32 input, std::vector<lpn_token_run>& into) {
  while (count > 0) {
    lpn_token_run& run = ids.front();
    const u64 part = std::min(count, run.count);
    into.push_back({input, run.initial, run.source, run.arc, run.firing, run.index, part});
    count -= part;
    run.count -= part;
    run.index += part;
    if (run.count == 0) ids.pop();
  }
}

// A commit that is reported when the order of all is known.
struct FlowCommit {
  u64 commit;  // instant
  i64 start;
  u32 transition;
  u64 firing;
  std::vector<lpn_token_run> taken;
  std::vector<u64> produced;
  bool operator<(const FlowCommit& other) const {
    if (commit != other.commit) return commit < other.commit;
    return transition != other.transition ? transition < other.transition : firing < other.firing;
  }
};
#endif

// ---- statistics (LPNRT_STATS) ----------------------------------------------------------------

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

// ---- the engine ------------------------------------------------------------------------------

// A token from outside, or (place: of credits, values: how many) slots that it gives back. Not part
// of Engine: each instance of its map would cost compile time.
struct Arrival {
  u32 place;
  std::vector<i64> values;
};

// When the tokens of a place that the net does not read arrived, for whoever takes them out.
struct Stamp {
  i64 time;
  u64 group, count;
};
struct Stamps {
  bool on = false;
  Ring<Stamp> runs;
  [[gnu::noinline]] void add(i64 time, u64 group, u64 count) { runs.push() = {time, group, count}; }
  void take(u64 count, lpn_instant* when) {
    while (count > 0) {
      Stamp& run = runs.front();
      const u64 part = std::min(count, run.count);
      for (u64 k = 0; when != nullptr && k < part; ++k) *when++ = {run.time, run.group};
      count -= part;
      if ((run.count -= part) == 0) runs.pop();
    }
  }
};
inline constexpr u32 kNoCredit = ~u32{0};

#if LPNRT_PATH
}  // namespace lpnrt
#include "lpnrt/path.h"
namespace lpnrt {
// Half of a delay, rounded up.
inline i64 halved_if(bool halve, i64 delay) { return halve ? delay - delay / 2 : delay; }

// The nodes of the free tokens of a place, in their order.
class Origins {
 public:
  void push(u32 node, u64 count) {
    if (count == 0) return;
    runs_.push() = {node, count};
    total_ += count;
  }
  // Of the `free` tokens of the place the k-th, from 0; others were taken by the outside.
  u32 at(u64 k, u64 free) {
    if (total_ > free) pop(total_ - free);
    for (u64 r = 0; r < runs_.size(); ++r) {
      if (k < runs_[r].count) return runs_[r].node;
      k -= runs_[r].count;
    }
    return 0;
  }
  void pop(u64 count) {
    total_ -= count;
    while (count > 0) {
      Run& run = runs_.front();
      const u64 part = std::min(count, run.count);
      count -= part;
      run.count -= part;
      if (run.count == 0) runs_.pop();
    }
  }
  template <typename Visit>
  void each(const Visit& visit) {
    for (u64 r = 0; r < runs_.size(); ++r) visit(runs_.at(r).node);
  }

 private:
  struct Run {
    u32 node;
    u64 count;
  };
  Ring<Run> runs_;
  u64 total_ = 0;
};
#endif

// How an order-free run ended.
enum : int { kFlowed, kBailed, kStopped };

// Net derives from Engine<Net, N> and provides
//   void begin()                  credits from capacities, once all initial tokens are there
//   void start(u32 k)             try_k: starts k as often as it is ready and least
//   void commit(u32 k)            commits all firings of k that are due now
//   void start_here, commit_here  the same, as part of the caller where the net is small
//   void overtaken(u32 k, u32 slot)  a firing of k that is due now
//   bool undrained() const        some place that must drain has tokens
//   void arrive(u32 place, const i64* values)  a token, or credits that come back
//   u64* credits(u32 place)       the free slots, of a place with a capacity
//   i64 room(u32 place) const     the same also before begin()
//   u64 take(u32 place, u64 most, i64* values, lpn_instant* when)
//   Stamps* stamps(u32 place)     of a place that the net does not read, else null
//   bool waiting(u32 k, bool ask) k was woken; if asked, whether it is ready but for the time
//   bool any_waiting()            some transition waits for the time alone
//   int run_flow()                where Net::kFlow: from the initial tokens to quiet (flow.h)
//   u32 why(u32 k)                (LPNRT_STATS) why k cannot start
//   void touch_rivals()           (LPNRT_STATS) who may have another reason, of contested places
template <typename Net, u32 N>
struct Engine {
  i64 now = 0;
  Set<N> dirty;
  Set<N> due;              // to commit in the current group
  Set<N> zero;             // have firings for the next group of this instant
  Wheel<2 * N> wheel;      // node k: the oldest firing of transition k; node N + k: look at k again
  std::vector<u32> woken;  // of the instant: see gather
  Events events;           // what is due later than the wheel reaches, or may be overtaken
  u64 commits = 0;
  u64 starts_made = 0;  // counted where Net::kTimed: some transition has an interval or a clock
  u64 done_tokens = 0;
  i64 done_target = -1;
  i64 latency = -1;
  i64 last_commit = 0;
  u64 group = 0;
  bool armed = false;  // the initial tokens are complete
  bool begun = false;
  bool over = false;
  bool dead = false;
  bool rows_lost = false;  // ran in lock step: tokens that nobody takes were only counted
  int32_t mode = LPN_AUTO;
  int32_t order_free = 0;  // see lpn_result
  lpn_poll poll = nullptr;
  void* poll_user = nullptr;
  lpn_fault fault = {};
  std::map<i64, std::vector<Arrival>> arrivals;
  // Where in an instant a caller of enter() is; kNone: no instant is under way.
  enum class Phase : unsigned char { kNone, kEntered, kCommitted, kStarted };
  Phase phase = Phase::kNone;
  std::vector<i64> held;  // per place: slots that the outside holds; empty: none
  bool joined = false;    // the outside held slots or collects tokens: only events serve it
#if LPNRT_TRACE
  lpn_observer observer = nullptr;
  void* observer_user = nullptr;
#endif
#if LPNRT_STATS
  Set<N> touched;
  i64 end = 0;
  TransitionMeter meters[N];
#endif
#if LPNRT_PATH
  Causes causes{N};
  bool halved[N] = {};
  u32 done_node = 0, last_node = 0;  // of the last done token and the last commit
  u64 flowed = 0;                    // commits of the order-free run
#endif

  Engine() {
    events.reserve(N + 16);
    woken.reserve(16);
  }

  // Whether a token's values keep the ranges of its properties.
  static bool in_range(u32 place, const i64* values) {
    const u32 first = Net::kFirstRange[place];
    for (u32 f = 0; f < Net::kPlaceFields[place]; ++f) {
      if (values[f] < Net::kRangeLo[first + f] || values[f] > Net::kRangeHi[first + f])
        return false;
    }
    return true;
  }

  Net& self() { return static_cast<Net&>(*this); }

  // ---- for generated code
  void schedule(i64 when, u32 k) {
    if (when - now < Wheel<2 * N>::kSlots)
      wheel.insert(when, k);
    else
      schedule_far({when, k, kFront});
  }
  [[gnu::noinline]] void schedule_far(const Event& event) { events.push(event); }
  void schedule_slot(i64 when, u32 k, u32 slot) { schedule_far({when, k, slot}); }
  void wake_at(i64 when, u32 k, i64& planned) {
    if (when == kForever || planned == when) return;
    if (planned <= now && when - now < Wheel<2 * N>::kSlots)
      wheel.insert(when, N + k);
    else
      schedule_far({when, k, kWake});
    planned = when;
  }
  void touch(u32 k) {
#if LPNRT_STATS
    touched.insert(k);
#else
    (void)k;
#endif
  }

  // ---- the run
  void starts() {
    while (!dirty.empty()) self().start(dirty.take_least());
  }

  // Gathers what is due now, firings in `due` and transitions to look at again in `woken`; whether
  // there was a firing.
  bool gather() {
    bool any = false;
    for (u32 node = wheel.take(now); node != wheel.kNone; node = wheel.after(node)) {
      if (node < N) {
        due.insert(node);
        any = true;
      } else {
        woken.push_back(node - N);
      }
    }
    while (!events.empty() && events.top().due == now) {
      const Event event = events.top();
      events.pop();
      if (event.slot == kWake) {
        woken.push_back(event.transition);
        continue;
      }
      if (event.slot != kFront) self().overtaken(event.transition, event.slot);
      due.insert(event.transition);
      any = true;
    }
    return any;
  }

  void commit_group() {
    last_commit = now;
    while (!due.empty()) self().commit(due.take_least());
  }

  // Looks at the woken again. When nothing else happens at this instant, only at those that still
  // have what they waited with; false when there is none.
  bool look_again(bool alone) {
    bool any = false;
    for (const u32 k : woken) {
      if (!self().waiting(k, alone)) continue;
      any = true;
      dirty.insert(k);
      touch(k);
    }
    woken.clear();
    return any;
  }

  // False when there was nothing at this instant.
  bool instant() {
    group = 0;
    bool alone = begun;
    begun = true;
    if (!arrivals.empty() && arrivals.begin()->first == now) {
      for (const Arrival& a : arrivals.begin()->second) self().arrive(a.place, a.values.data());
      arrivals.erase(arrivals.begin());
      alone = false;
    }
    const bool firing = gather();
    // Before the commits: what a transition had when it began to wait is what counts.
    const bool any = woken.empty() || look_again(alone && !firing);
    if (firing)
      commit_group();
    else if (alone && !any)
      return false;
    starts();
    if (!zero.empty()) further_groups();
    observe();
    return true;
  }

  [[gnu::noinline]] void further_groups() {
    while (!zero.empty()) {
      if (++group > kGroupLimit) {
        fail(kZeroDelay, site(zero.take_least(), 7), static_cast<i64>(kGroupLimit));
      }
      due = zero;
      zero = {};
      commit_group();
      starts();
    }
  }

  // Instants at which one firing is due and nothing else happens, which most are, as long as they
  // follow one another. REQUIRES begun, and no number of done tokens to stop at.
  void lone_firings(i64 limit) {
    while (arrivals.empty() && !wheel.empty()) {
      const i64 next = wheel.earliest(now);
      if (next > limit) return;
      const u32 only = wheel.only(next);
      if (only >= N || (!events.empty() && events.top().due <= next)) return;
      now = next;
      wheel.take(now);
      last_commit = now;
      group = 0;
      self().commit_here(only);
      while (!dirty.empty()) self().start_here(dirty.take_least());
      if (!zero.empty()) further_groups();
      observe();
    }
  }

  // At the end of an instant.
  void observe() {
#if LPNRT_STATS
    self().touch_rivals();
    while (!touched.empty()) {
      const u32 k = touched.take_least();
      meters[k].observe(self().why(k), now);
    }
#endif
  }

  // ---- an instant in steps
  bool outside_may_act_at(i64 time) const {
    return time >= 0 && !over && (!begun || time > now || (time == now && phase != Phase::kNone));
  }

  i64 next() const {
    if (over || dead) return kForever;
    if (!begun) return 0;
    if (phase == Phase::kEntered || phase == Phase::kCommitted || !zero.empty()) return now;
    i64 at = wheel.empty() ? kForever : wheel.earliest(now);
    if (!events.empty()) at = min(at, events.top().due);
    if (!arrivals.empty()) at = min(at, arrivals.begin()->first);
    return at;
  }

  int32_t enter(i64 time) {
    if (dead) return LPN_FAULT;
    if (phase != Phase::kNone && (phase != Phase::kStarted || !zero.empty())) return LPN_BAD_CALL;
    if (begun ? time <= now : time < 0) return LPN_LATE;
    if (over || time > next()) return LPN_BAD_CALL;
    return guarded([&] {
      if (phase == Phase::kStarted) observe();
      if (!begun) {
        if (!armed && !self().begin()) return LPN_FULL;
        armed = true;
        for (u32 k = 0; k < N; ++k) {
          dirty.insert(k);
          touch(k);
        }
      }
      begun = true;
      now = time;
      group = 0;
      phase = Phase::kEntered;
      if (!arrivals.empty() && arrivals.begin()->first == now) {
        for (const Arrival& a : arrivals.begin()->second) self().arrive(a.place, a.values.data());
        arrivals.erase(arrivals.begin());
      }
      gather();
      look_again(false);
      return LPN_OK;
    });
  }

  int32_t commit_next() {
    if (dead) return LPN_FAULT;
    if (phase != Phase::kEntered && phase != Phase::kStarted) return LPN_BAD_CALL;
    return guarded([&] {
      if (phase == Phase::kStarted) {
        ++group;
        if (!zero.empty()) {
          if (group > kGroupLimit) {
            fail(kZeroDelay, site(zero.take_least(), 7), static_cast<i64>(kGroupLimit));
          }
          due = zero;
          zero = {};
        }
      }
      phase = Phase::kCommitted;
      if (!due.empty()) commit_group();
      return LPN_OK;
    });
  }

  int32_t start_ready(int32_t* more) {
    if (dead) return LPN_FAULT;
    if (phase != Phase::kCommitted) return LPN_BAD_CALL;
    return guarded([&] {
      phase = Phase::kStarted;
      starts();
      if (more != nullptr) *more = !zero.empty();
      return LPN_OK;
    });
  }

  // Completes an instant that was begun in steps.
  int32_t leave() {
    while (phase != Phase::kStarted || !zero.empty()) {
      const int32_t status = phase == Phase::kCommitted ? start_ready(nullptr) : commit_next();
      if (status != LPN_OK) return status;
    }
    phase = Phase::kNone;
    return guarded([&] {
      observe();
      return LPN_OK;
    });
  }

  int32_t run(i64 limit, lpn_result* result) {
    if (phase != Phase::kNone) {
      if (const int32_t status = leave(); status != LPN_OK) return status;
    }
    return guarded([&] { return simulate(limit, result); });
  }

  template <typename Part>
  int32_t guarded(const Part& part) {
    if (dead) return LPN_FAULT;
    try {
      return part();
    } catch (const Failure& f) {
      dead = true;
      fault.fault = f.code;
      fault.time = now;
      fault.group = group;
      fault.site_kind = static_cast<u32>(f.site >> 47 & 0xf);
      fault.transition = static_cast<u32>(f.site >> 27 & 0xfffff);
      fault.site_arc = static_cast<u32>(f.site >> 16 & 0x7ff);
      fault.site_emission = static_cast<u32>(f.site >> 6 & 0x3ff);
      fault.site_field = static_cast<u32>(f.site & 0x3f);
      fault.value = f.value;
      return LPN_FAULT;
    } catch (const std::bad_alloc&) {
      dead = true;
      return LPN_NO_MEMORY;
    }
  }

  int32_t simulate(i64 limit, lpn_result* result) {
    if (!begun && limit >= 0) {
      if (!armed && !self().begin()) return LPN_FULL;
      armed = true;
      if constexpr (Net::kFlow) {
        if (order_free == 0 && flows(limit)) {
          const int how = self().run_flow();
#if LPNRT_PATH
          if (how == kBailed) causes.clear();
#endif
          order_free = how == kBailed ? -1 : 1;
          if (how != kBailed) {
            begun = true;
            dead = how == kStopped;
            return finish(dead ? LPN_STOPPED : LPN_QUIET, limit, result);
          }
        }
      }
      for (u32 k = 0; k < N; ++k) {
        dirty.insert(k);
        touch(k);
      }
      instant();
    }
    for (;;) {
      if (done_target >= 0 && done_tokens >= static_cast<u64>(done_target)) over = true;
      if (over) return finish(LPN_DONE, limit, result);
      if (done_target < 0) lone_firings(limit);
      bool some = !wheel.empty();
      i64 next = some ? wheel.earliest(now) : kForever;
      if (!events.empty() && (!some || events.top().due < next)) {
        next = events.top().due;
        some = true;
      }
      if (!arrivals.empty() && (!some || arrivals.begin()->first < next)) {
        next = arrivals.begin()->first;
        some = true;
      }
      if (!some) return finish(LPN_QUIET, limit, result);
      if (next > limit) {
        // Wake-ups of transitions that no longer have what they waited with are nothing to come.
        const bool quiet =
            Net::kTimed && starts_made == commits && arrivals.empty() && !self().any_waiting();
        return finish(quiet ? LPN_QUIET : LPN_LIMIT, limit, result);
      }
      const i64 before = now;
      now = next;
      if (!instant()) now = before;
    }
  }

  // Whether a run goes from the initial tokens to quiet, whatever happens.
  bool flows(i64 limit) const {
    if (limit != kForever || done_target >= 0 || !arrivals.empty() || joined) return false;
    return mode == LPN_ORDER_FREE || (mode == LPN_AUTO && LPNRT_TRACE == 0);
  }

  bool ask_stop(i64 at, u64 so_far) { return poll != nullptr && poll(poll_user, at, so_far) != 0; }

  int32_t finish(int32_t ending, i64 limit, lpn_result* result) {
#if LPNRT_STATS
    end = ending == LPN_LIMIT ? limit : last_commit;
#else
    (void)limit;
#endif
    result->ending = ending;
    result->stalled =
        ending == LPN_QUIET &&
        (self().undrained() || (done_target >= 0 && done_tokens < static_cast<u64>(done_target)));
    result->has_latency = latency >= 0 || !Net::kHasDone;
    result->latency = Net::kHasDone ? latency : last_commit;
    result->last_commit = last_commit;
    result->commits = commits;
    result->done_tokens = done_tokens;
    result->order_free = order_free;
    return LPN_OK;
  }
};

inline u64 clock_ns() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<u64>(at.tv_sec) * 1'000'000'000 + static_cast<u64>(at.tv_nsec);
}

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

// The C interface over a generated net.
template <typename Net>
struct Abi {
  static Net* of(lpn_sim* s) { return reinterpret_cast<Net*>(s); }
  static const Net* of(const lpn_sim* s) { return reinterpret_cast<const Net*>(s); }

  static lpn_sim* create(const i64* params, int32_t* status) {
    int32_t ignored;
    if (status == nullptr) status = &ignored;
    Net* net = new (std::nothrow) Net;
    if (net == nullptr) {
      *status = LPN_NO_MEMORY;
      return nullptr;
    }
    try {
      *status = net->configure(params != nullptr ? params : Net::kParamDefaults);
    } catch (const Failure&) {
      *status = LPN_BAD_PARAM;
    } catch (const std::bad_alloc&) {
      *status = LPN_NO_MEMORY;
    }
    if (*status == LPN_OK) return reinterpret_cast<lpn_sim*>(net);
    delete net;
    return nullptr;
  }
  static void destroy(lpn_sim* s) { delete of(s); }
  static int32_t load(lpn_sim* s, u32 place, u64 count, const i64* values) {
    if (place >= Net::kDeclaredPlaces || of(s)->begun) return LPN_BAD_CALL;
    try {
      return of(s)->load(place, count, values);
    } catch (const std::bad_alloc&) {
      return LPN_NO_MEMORY;
    }
  }
  static int32_t set_done(lpn_sim* s, i64 count) {
    of(s)->done_target = count == -1 ? of(s)->net_done_target : std::max<i64>(count, -1);
    return LPN_OK;
  }
  static int32_t set_observer(lpn_sim* s, lpn_observer observer, void* user) {
#if LPNRT_TRACE
    of(s)->observer = observer;
    of(s)->observer_user = user;
    return LPN_OK;
#else
    (void)s, (void)observer, (void)user;
    return LPN_BAD_CALL;
#endif
  }
  static int32_t set_mode(lpn_sim* s, int32_t mode) {
    if (mode < LPN_AUTO || mode > LPN_ORDER_FREE || of(s)->begun) return LPN_BAD_CALL;
    of(s)->mode = mode;
    return LPN_OK;
  }
  static int32_t set_poll(lpn_sim* s, lpn_poll poll, void* user) {
    of(s)->poll = poll;
    of(s)->poll_user = user;
    return LPN_OK;
  }
  static int32_t run(lpn_sim* s, i64 limit, lpn_result* result) {
    return of(s)->run(limit, result);
  }
  static int32_t push(lpn_sim* s, u32 place, const i64* values, i64 time) {
    Net& net = *of(s);
    if (place >= Net::kDeclaredPlaces) return LPN_BAD_CALL;
    if (!net.outside_may_act_at(time)) return LPN_LATE;
    if (!net.in_range(place, values)) return LPN_BAD_VALUE;
    u64* const credits = net.credits(place);
    if (credits != nullptr && net.room(place) < 1) return LPN_NO_ROOM;
    const int32_t status = at(net, place, values, Net::kPlaceFields[place], time);
    if (status == LPN_OK && credits != nullptr) --*credits;  // before begin(): less than nothing
    return status;
  }
  // At once in an instant that is under way, else when it comes.
  static int32_t at(Net& net, u32 place, const i64* values, u64 width, i64 time) {
    try {
      if (net.begun && time == net.now)
        net.arrive(place, values);
      else
        net.arrivals[time].push_back({place, std::vector<i64>(values, values + width)});
    } catch (const std::bad_alloc&) {
      return LPN_NO_MEMORY;
    }
    return LPN_OK;
  }
  static i64 next(const lpn_sim* s) { return of(s)->next(); }
  static i64 room(const lpn_sim* s, u32 place) {
    return place < Net::kDeclaredPlaces ? of(s)->room(place) : 0;
  }
  static int32_t hold(lpn_sim* s, u32 place, u64 count) {
    Net& net = *of(s);
    u64* const credits = place < Net::kDeclaredPlaces ? net.credits(place) : nullptr;
    if (credits == nullptr) return LPN_BAD_CALL;
    if (count > static_cast<u64>(net.room(place))) return LPN_NO_ROOM;
    if (!make_held(net)) return LPN_NO_MEMORY;
    *credits -= count;
    net.joined = true;
    net.held[place] += static_cast<i64>(count);
    return LPN_OK;
  }
  static bool make_held(Net& net) {
    if (!net.held.empty()) return true;
    try {
      net.held.resize(Net::kDeclaredPlaces);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  static int32_t release(lpn_sim* s, u32 place, u64 count, i64 time) {
    Net& net = *of(s);
    if (place >= Net::kDeclaredPlaces || net.credits(place) == nullptr) return LPN_BAD_CALL;
    if (net.held.empty() || count > static_cast<u64>(net.held[place])) return LPN_BAD_CALL;
    if (!net.outside_may_act_at(time)) return LPN_LATE;
    const i64 slots = static_cast<i64>(count);
    const int32_t status = at(net, Net::kCreditOf[place], &slots, 1, time);
    if (status == LPN_OK) net.held[place] -= slots;
    return status;
  }
  static int32_t collect(lpn_sim* s, u32 place) {
    Stamps* const stamps = place < Net::kDeclaredPlaces ? of(s)->stamps(place) : nullptr;
    if (stamps == nullptr || of(s)->begun) return LPN_BAD_CALL;
    if (stamps->on) return LPN_OK;
    try {
      const u64 count = of(s)->tokens(place, nullptr);
      if (count != 0) stamps->add(0, 0, count);
    } catch (const std::bad_alloc&) {
      return LPN_NO_MEMORY;
    }
    stamps->on = true;
    of(s)->joined = true;
    return LPN_OK;
  }
  static int32_t take(lpn_sim* s, u32 place, u64 most, i64* values, lpn_instant* when, u64* taken) {
    Net& net = *of(s);
    *taken = 0;
    Stamps* const stamps = place < Net::kDeclaredPlaces ? net.stamps(place) : nullptr;
    if (stamps == nullptr || (when != nullptr && !stamps->on)) return LPN_BAD_CALL;
    const bool bounded = Net::kCreditOf[place] != kNoCredit;
    // Before the first run a token is only a mark of what will be there: its slot is not yet taken.
    if (bounded && !net.begun) return LPN_BAD_CALL;
    if (bounded && !make_held(net)) return LPN_NO_MEMORY;
    *taken = net.take(place, most, values, when);
    if (bounded) net.held[place] += static_cast<i64>(*taken);
    return LPN_OK;
  }
  static int32_t enter(lpn_sim* s, i64 time) { return of(s)->enter(time); }
  static int32_t commit(lpn_sim* s) { return of(s)->commit_next(); }
  static int32_t start(lpn_sim* s, int32_t* more) { return of(s)->start_ready(more); }
  static void run_batch(lpn_sim* const* sims, u64 count, u32 threads, lpn_result* results,
                        int32_t* statuses, u64* layout) {
    Batch<Net> batch{sims, count, results, statuses};
    if (threads == 0) threads = static_cast<u32>(sysconf(_SC_NPROCESSORS_ONLN));
    const u64 useful = (count + batch.portion() - 1) / batch.portion();
    std::vector<pthread_t> others;
    while (others.size() + 1 < std::min<u64>(threads, useful)) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, Batch<Net>::enter, &batch) != 0) break;
      others.push_back(thread);
    }
    batch.work();
    for (const pthread_t thread : others) pthread_join(thread, nullptr);
    if (layout != nullptr) *layout = batch.layout;
  }
  static i64 now(const lpn_sim* s) { return of(s)->now; }
  static u64 tokens(const lpn_sim* s, u32 place, i64* values) {
    return place < Net::kDeclaredPlaces ? of(s)->tokens(place, values) : 0;
  }
  static void fault(const lpn_sim* s, lpn_fault* out) { *out = of(s)->fault; }
  static int32_t stats(const lpn_sim* s, lpn_transition_stats* transitions, lpn_place_stats* places,
                       i64* end) {
#if LPNRT_STATS
    const Net& net = *of(s);
    *end = net.end;
    for (u32 k = 0; k < Net::kTransitions; ++k) {
      const TransitionMeter& m = net.meters[k];
      transitions[k].commits = m.commits;
      transitions[k].busy = m.busy + (m.in_flight != 0 ? net.end - m.busy_since : 0);
      for (u32 w = 0; w < 8; ++w) transitions[k].waited[w] = m.waited[w];
      transitions[k].waited[m.wait] += net.end - m.wait_since;
    }
    for (u32 p = 0; p < Net::kDeclaredPlaces; ++p) {
      PlaceMeter m = net.place_meters[p];
      m.before(net.occupancy_of(p), net.end);
      places[p].mean = net.end == 0
                           ? static_cast<double>(net.occupancy_of(p))
                           : static_cast<double>(m.weighted) / static_cast<double>(net.end);
      places[p].peak = m.peak;
    }
    return LPN_OK;
#else
    (void)s, (void)transitions, (void)places, (void)end;
    return LPN_BAD_CALL;
#endif
  }

  static int32_t halve(lpn_sim* s, u32 transition) {
#if LPNRT_PATH
    if (transition >= Net::kTransitions || of(s)->begun) return LPN_BAD_CALL;
    of(s)->halved[transition] = true;
    return LPN_OK;
#else
    (void)s, (void)transition;
    return LPN_BAD_CALL;
#endif
  }
  static int32_t set_path_budget(lpn_sim* s, u64 bytes) {
#if LPNRT_PATH
    if (of(s)->begun) return LPN_BAD_CALL;
    of(s)->causes.budget = bytes;
    return LPN_OK;
#else
    (void)s, (void)bytes;
    return LPN_BAD_CALL;
#endif
  }
  static int32_t path(const lpn_sim* s, lpn_path_row* rows, u64* row_count, lpn_path_step* steps,
                      u64* step_count) {
#if LPNRT_PATH
    const Net& net = *of(s);
    if (net.order_free == 1 && net.flowed != net.commits) return LPN_BAD_CALL;
    if (net.causes.lost) return LPN_NO_MEMORY;
    try {
      std::vector<Causes::Row> sums;
      std::vector<Causes::Step> back;
      net.causes.path(Net::kHasDone ? net.done_node : net.last_node, sums, back);
      if (rows != nullptr) {
        for (u64 k = 0; k < std::min<u64>(*row_count, sums.size()); ++k) {
          const u32 of_transitions = Net::kTransitions * kRowsEach;
          const bool pushed = sums[k].what >= of_transitions;
          rows[k].kind = pushed ? LPN_PATH_PUSHED : static_cast<int32_t>(sums[k].what % kRowsEach);
          rows[k].index = pushed ? sums[k].what - of_transitions : sums[k].what / kRowsEach;
          rows[k].count = sums[k].count;
          rows[k].cycles = sums[k].cycles;
        }
      }
      *row_count = sums.size();
      if (steps != nullptr) {
        for (u64 k = 0; k < std::min<u64>(*step_count, back.size()); ++k) {
          steps[k] = {back[k].by / 8, static_cast<int32_t>(back[k].by % 8), back[k].to_commit,
                      back[k].start, back[k].commit};
        }
      }
      *step_count = back.size();
    } catch (const std::bad_alloc&) {
      return LPN_NO_MEMORY;
    }
    return LPN_OK;
#else
    (void)s, (void)rows, (void)row_count, (void)steps, (void)step_count;
    return LPN_BAD_CALL;
#endif
  }

  static constexpr lpn_sim_api table() {
    return {LPN_SIM_ABI,
            (LPNRT_TRACE ? 1u : 0u) | (LPNRT_STATS ? 2u : 0u) | (Net::kFlow ? 4u : 0u) |
                (LPNRT_PATH ? 8u : 0u),
            Net::kParams,
            Net::kDeclaredPlaces,
            Net::kTransitions,
            Net::kNames,
            Net::kPlaceFields,
            Net::kParamDefaults,
            Net::kPlaceFlags,
            Net::kRangeLo,
            Net::kRangeHi,
            create,
            destroy,
            load,
            set_done,
            set_observer,
            set_mode,
            set_poll,
            run,
            run_batch,
            push,
            now,
            tokens,
            fault,
            stats,
            next,
            room,
            hold,
            release,
            collect,
            take,
            enter,
            commit,
            start,
            halve,
            set_path_budget,
            path};
  }
};

}  // namespace lpnrt

// For code that only one variant needs.
#if LPNRT_STATS
#define LPNRT_IF_STATS(...) __VA_ARGS__
#else
#define LPNRT_IF_STATS(...)
#endif
#if LPNRT_TRACE
#define LPNRT_IF_TRACE(...) __VA_ARGS__
#else
#define LPNRT_IF_TRACE(...)
#endif
#if LPNRT_PATH
#define LPNRT_IF_PATH(...) __VA_ARGS__
#define LPNRT_DELAY(k, ...) lpnrt::halved_if(halved[k], __VA_ARGS__)
#else
#define LPNRT_IF_PATH(...)
#define LPNRT_DELAY(k, ...) __VA_ARGS__
#endif
#if LPNRT_TRACE || LPNRT_PATH
#define LPNRT_IF_RECORD(...) __VA_ARGS__
#else
#define LPNRT_IF_RECORD(...)
#endif

// The event-driven engine, which keeps the time for a generated net.
//
// A generated net is one struct derived from Engine: members for its places and its transitions'
// firings in flight, a `try_k` and a `commit_k` per transition. There is an event per transition
// with firings in flight (its earliest), or one per firing where those may be overtaken, on a
// bucket wheel when it is due within 1024 ticks, else on a Boost.Heap; and two sets of transitions,
// `dirty` (to be looked at) and `due` (to commit in this group), visited from the least id upwards
// as the semantics demand.
#pragma once

#include <atomic>
#include <new>
#include <vector>

#include "lpnrt/abi.h"
#include "lpnrt/arith.h"
#include "lpnrt/briefs.h"
#include "lpnrt/budget.h"
#include "lpnrt/identities.h"
#include "lpnrt/meters.h"
#include "lpnrt/origins.h"
#include "lpnrt/outside.h"
#include "lpnrt/rings.h"
#include "lpnrt/variants.h"
#include "lpnrt/wheel.h"

namespace lpnrt {

// How an order-free run ended.
enum : int { kFlowed, kBailed, kStopped, kAlone };  // kAlone: to be run apart from its batch

// Net derives from Engine<Net, N> and provides
//   bool begin()                  credits from capacities, once all initial tokens are there; or
//                                 too_full() and nothing else
//   void start(u32 k)             try_k: starts k as often as it is ready and least
//   void commit(u32 k)            commits all firings of k that are due now
//   void start_here, commit_here  the same, as part of the caller where the net is small
//   bool kPools                   firings of some transition may be overtaken
//   bool undrained() const        some place that must drain has tokens
//   void arrive(u32 place, const i64* values)  a token, or credits that come back
//   u64* credits(u32 place)       the free slots, of a place with a capacity
//   i64 room(u32 place) const     the same also before begin()
//   u64 take(u32 place, u64 most, i64* values, lpn_instant* when)
//   Stamps* stamps(u32 place)     of a place that the net does not read, else null
//   bool waiting(u32 k)           k was woken: whether it is ready but for the time
//   bool any_waiting()            some transition waits for the time alone
//   int run_flow()                where Net::kFlow: from the initial tokens to quiet (flow.h)
//   u32 why(u32 k)                (LPNRT_STATS) why k cannot start
//   void left(u32 k)              (LPNRT_STATS) what `waits_left` lacks of k, if that is not asked
//   void touch_rivals()           (LPNRT_STATS) who may have another reason, of contested places
template <typename Net, u32 N>
struct Engine {
  i64 now = 0;
  Set<N> dirty;
  Set<N> due;              // to commit in the current group
  Set<N> zero;             // have firings for the next group of this instant
  Wheel<2 * N> wheel;      // node k: the oldest firing of transition k; node N + k: look at k again
  std::vector<u32> woken;  // of the instant: see gather
  Events events;           // what is due later than the wheel reaches
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
  int stop = kGoesOn;  // enum StopCode: why it was stopped; then only the answer is left
  u32 fuel = kSteps;   // steps to the next question whether to go on
  u64 look = std::min<u64>(kGroupLimit, 1024);  // groups of an instant before the first question
  lpn_budget budget = {};
  Account memory;
  u64 entered = 0, spent = 0;  // ns: when this call began, the time of those before
  u64 before = 0;              // commits at the beginning of the instant `asked_at`
  i64 asked_at = -1;
  bool rows_lost = false;  // ran in lock step: tokens that nobody takes were only counted
  int32_t mode = LPN_AUTO;
  int32_t order_free = 0;  // see lpn_result
  lpn_fault fault = {};
  Arrivals arrivals;
  const i64* coming = nullptr;  // of the tokens that come from outside just now
  u64 count_coming = 0;
  // Where in an instant a caller of enter() is; kNone: no instant is under way.
  enum class Phase : unsigned char { kNone, kEntered, kCommitted, kStarted };
  Phase phase = Phase::kNone;
  std::vector<i64> held;  // per place: slots that the outside holds; empty: none
  // What the order-free run of this net assumes did not hold in a run of this process: no other is
  // begun unless it is asked for.
  static inline std::atomic<bool> mistaken = false;
  bool joined = false;  // the outside held slots or collects tokens: only events serve it
#if LPNRT_TRACE
  lpn_observer observer = nullptr;
  void* observer_user = nullptr;
#endif
#if LPNRT_STATS
  Set<N> touched;
  i64 end = 0;
  TransitionMeter meters[N];
  mutable WaitsLeft waits_left;  // of one of those that are not asked why they wait
#endif
#if LPNRT_PATH
  Causes causes{N};
  Recent recent;
  bool halved[N] = {};
  u32 done_node = 0, last_node = 0;  // of the last done token and the last commit
  u64 flowed = 0;                    // commits of the order-free run
#endif

  Engine() {
    events.reserve(N + 16);
    woken.reserve(16);
    memory.engine = this;
    memory.rest = [](void* engine) { static_cast<Engine*>(engine)->breathe(); };
  }

  // ---- what it may use
  // A call during which containers charge this instance and its time counts.
  class Inside {
   public:
    explicit Inside(Engine& engine) : engine_(engine), outer_(account) {
      account = &engine.memory;
      if (engine.budget.nanoseconds != 0) engine.entered = clock_ns();
    }
    Inside(const Inside&) = delete;
    ~Inside() {
      account = outer_;
      if (engine_.budget.nanoseconds != 0) engine_.spent += clock_ns() - engine_.entered;
    }

   private:
    Engine& engine_;
    Account* outer_;
  };
  void set_budget(const lpn_budget& given) {
    budget = given;
    memory.limit = given.memory != 0 ? given.memory : ~u64{0};
    if (given.groups != 0) look = std::min<u64>(look, given.groups);
    if (given.firings != 0) fuel = 1;
  }
  // For a part of this run.
  void lend_budget(Engine& part) const {
    part.set_budget(budget);
    part.entered = entered;
    part.spent = spent;
  }
  // Whether to go on, at that time with so many commits; throws Stopped.
  void ask(i64 at, u64 so_far) {
    fuel = budget.firings != 0 ? 1 : kSteps;
    if (budget.poll != nullptr && budget.poll(budget.user, at, so_far) != 0) throw Stopped{kAsked};
    if (budget.nanoseconds != 0 && spent + (clock_ns() - entered) > budget.nanoseconds) {
      throw Stopped{kOutOfTime};
    }
    if (budget.firings == 0) return;
    if (at != asked_at) {
      asked_at = at;
      before = so_far;
    }
    if (so_far - before > budget.firings) throw Stopped{kFiringsHere};
  }
  [[gnu::noinline, gnu::cold]] void breathe() { ask(now, commits); }
  bool ask_stop(i64 at, u64 so_far) {
    try {
      ask(at, so_far);
      return false;
    } catch (const Stopped& s) {
      stop = s.why;
      return true;
    }
  }
  // After a step of which an instant may have any number; true.
  bool step() {
    if (--fuel == 0) [[unlikely]]
      breathe();
    return true;
  }
  // Many tokens at once are as many steps.
  [[gnu::noinline, gnu::cold]] void spend(i64 count) {
    const u64 steps = static_cast<u64>(count / kFew);
    if (steps >= fuel) return breathe();
    fuel -= static_cast<u32>(steps);
  }
  [[gnu::noinline, gnu::cold]] void many(i64 count, u64 where) {
    if (count > kMaxTokens) fail(kTooMany, where, count);
    spend(count);
  }
  // The tokens that are there at the start.
  void placed(u64 count) {
    const u64 most = budget.tokens;
    if (most != 0 && (count > most || (placed_ += count) > most)) throw Stopped{kTokensAtStart};
  }
  u64 placed_ = 0;

  bool too_full(u32 place) {
    fault.value = place;
    return false;
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

  // The same of many tokens, property by property.
  static bool all_in_range(u32 place, u64 count, const i64* values) {
    const u64 width = Net::kPlaceFields[place];
    bool wrong = false;
    for (u64 f = 0; f < width; ++f) {
      const u64 lo = static_cast<u64>(Net::kRangeLo[Net::kFirstRange[place] + f]);
      const u64 span = static_cast<u64>(Net::kRangeHi[Net::kFirstRange[place] + f]) - lo;
      for (u64 k = f; k < count * width; k += width) {
        wrong |= static_cast<u64>(values[k]) - lo > span;
      }
    }
    return !wrong;
  }

  [[gnu::always_inline]] Net& self() { return static_cast<Net&>(*this); }

  // ---- for generated code
  void schedule(i64 when, u32 k) {
    if (when - now < Wheel<2 * N>::kSlots)
      wheel.insert(when, k);
    else
      schedule_far({when, k, kFront});
  }
  [[gnu::noinline]] void schedule_far(const Event& event) { events.push(event); }
  void schedule_slot(i64 when, u32 k, u32 slot, Slots& batch) {
    if (when - now < Wheel<2 * N>::kSlots)
      wheel.insert_firing(when, k, slot, batch);
    else
      schedule_far({when, k, slot, &batch});
  }
  void wake_at(i64 when, u32 k, i64& planned) {
    if (when == kForever) fail(kOverflow, site(k, 7));
    if (planned == when) return;
    if (planned <= now && when - now < Wheel<2 * N>::kSlots)
      wheel.insert(when, N + k);
    else
      schedule_far({when, k, kWake});
    planned = when;
  }
  [[gnu::always_inline]] void touch(u32 k) {
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

  // Gathers a list of the wheel, firings in `due` and transitions to look at again in `woken`;
  // whether there was a firing.
  [[gnu::always_inline]] bool gather_near(u32 first) {
    bool any = false;
    for (u32 node = first, next = wheel.kNone; node != wheel.kNone; node = next) {
      if (node < N) {
        next = wheel.after(node);
        due.insert(node);
        any = true;
      } else if (!Net::kPools || node < 2 * N) {
        next = wheel.after(node);
        woken.push_back(node - N);
      } else {
        const auto firing = wheel.release(node);
        next = firing.next;
        firing.batch->push_back(firing.slot);
        due.insert(firing.transition);
        any = true;
      }
    }
    return any;
  }

  // The same for all that is due now.
  bool gather() {
    bool any = gather_near(wheel.take(now));
    while (!events.empty() && events.top().due == now) {
      const Event event = events.top();
      events.pop();
      if (event.slot == kWake) {
        woken.push_back(event.transition);
        continue;
      }
      if (event.batch != nullptr) event.batch->push_back(event.slot);
      due.insert(event.transition);
      any = true;
    }
    return any;
  }

  // Commits a group, `due` or what became due at this instant; a commit makes nothing due.
  void commit_group(Set<N>& which) {
    last_commit = now;
    which.drain([this](u32 k) { self().commit(k); });
  }

  // Looks at the woken again. When nothing else happens at this instant, only at those that still
  // have what they waited with; false when there is none.
  bool look_again(bool alone) {
    bool any = false;
    for (const u32 k : woken) {
      if (alone && !self().waiting(k)) continue;
      any = true;
      dirty.insert(k);
      touch(k);
    }
    woken.clear();
    return any;
  }

  void begin_group(u64 number) {
    group = number;
    LPNRT_IF_PATH(recent.next_group();)
  }

  [[gnu::noinline]] void take_arrivals() {
    arrivals.take(now, [this](u32 place, const i64* values) { self().arrive(place, values); });
  }

  // False when there was nothing at this instant.
  bool instant() {
    begin_group(0);
    bool alone = begun;
    begun = true;
    if (arrivals.next == now) {
      take_arrivals();
      alone = false;
    }
    const bool firing = gather();
    // Before the commits: what a transition had when it began to wait is what counts.
    const bool any = woken.empty() || look_again(alone && !firing);
    if (firing)
      commit_group(due);
    else if (alone && !any)
      return false;
    starts();
    if (!zero.empty()) further_groups();
    observe();
    return true;
  }

  [[gnu::noinline]] void further_groups() {
    while (!zero.empty()) {
      begin_group(group + 1);
      if (group > look) many_groups();
      commit_group(zero);
      starts();
    }
  }
  [[gnu::noinline, gnu::cold]] void many_groups() {
    if (group > kGroupLimit) {
      fail(kZeroDelay, site(zero.take_least(), 7), static_cast<i64>(kGroupLimit));
    }
    if (budget.groups != 0 && group > budget.groups) throw Stopped{kGroupsHere};
    breathe();
  }

  // Instants of what is on the wheel alone, which most are, as long as they follow one another; at
  // most of them there is one firing. REQUIRES begun. `target`: of done tokens, not yet there.
  void near_instants(i64 limit, u64 target) {
    for (u32 more = kSteps; !wheel.empty(); --more) {
      if (more == 0) return breathe();
      const i64 next = wheel.earliest(now);
      if (next > limit || next >= arrivals.next) return;
      if (!events.empty() && events.top().due <= next) return;
      const i64 last = now;
      now = next;
      begin_group(0);
      const u32 first = wheel.take(now);
      if ((Net::kPools && first >= 2 * N) || wheel.after(first) != wheel.kNone ? several(first)
                                                                               : one(first)) {
        while (!dirty.empty()) self().start_here(dirty.take_least());
        if (!zero.empty()) further_groups();
        observe();
        if (done_tokens >= target) return;
      } else {
        now = last;
      }
    }
  }
  // Of such an instant: commits the only firing, or starts the only transition that waits for it;
  // false when that no longer waits.
  [[gnu::always_inline]] bool one(u32 node) {
    if (node < N) {
      last_commit = now;
      self().commit_here(node);
      return true;
    }
#if LPNRT_STATS
    if (!self().waiting(node - N)) return false;
    touch(node - N);
    self().start(node - N);
    return true;
#else
    // Whether it still waits it finds out itself.
    const u64 before = starts_made;
    self().start(node - N);
    return starts_made != before || !dirty.empty();
#endif
  }
  bool several(u32 first) {
    const bool firing = gather_near(first);
    const bool any = woken.empty() || look_again(!firing);
    if (firing) commit_group(due);
    return firing || any;
  }

  // At the end of an instant.
  void observe() {
#if LPNRT_STATS
    self().touch_rivals();
    if (now > last_commit) return observe_late();
    self().each_touched([this](u32 k, u32 why) { meters[k].turn(why, now); });
#endif
  }
#if LPNRT_STATS
  [[gnu::noinline, gnu::cold]] void observe_late() {
    self().each_touched([this](u32 k, u32 why) { meters[k].turn_late(why, now, last_commit); });
  }
#endif

  // ---- an instant in steps
  bool outside_may_act_at(i64 time) const {
    return time >= 0 && time <= kLastInstant && !over &&
           (!begun || time > now || (time == now && phase != Phase::kNone));
  }

  i64 next() const {
    if (over || dead) return kForever;
    if (!begun) return 0;
    if (phase == Phase::kEntered || phase == Phase::kCommitted || !zero.empty()) return now;
    i64 at = wheel.empty() ? kForever : wheel.earliest(now);
    if (!events.empty()) at = min(at, events.top().due);
    return min(at, arrivals.next);
  }

  int32_t enter(i64 time) {
    if (dead) return why_dead();
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
      begin_group(0);
      phase = Phase::kEntered;
      if (arrivals.next == now) take_arrivals();
      gather();
      look_again(false);
      return LPN_OK;
    });
  }

  int32_t commit_next() {
    if (dead) return why_dead();
    if (phase != Phase::kEntered && phase != Phase::kStarted) return LPN_BAD_CALL;
    return guarded([&] {
      if (phase == Phase::kStarted) {
        begin_group(group + 1);
        if (!zero.empty()) {
          if (group > look) many_groups();
          due = zero;
          zero = {};
        }
      }
      phase = Phase::kCommitted;
      if (!due.empty()) commit_group(due);
      return LPN_OK;
    });
  }

  int32_t start_ready(int32_t* more) {
    if (dead) return why_dead();
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
    int32_t status = LPN_OK;
#if !LPNRT_ONLY_RUNS
    if (stop == kGoesOn && phase != Phase::kNone) status = leave();
#endif
    if (status == LPN_OK) status = guarded([&] { return simulate(limit, result); });
    return stop == kGoesOn ? status : finish(LPN_STOPPED, limit, result);
  }

  int32_t why_dead() const { return stop == kGoesOn ? LPN_FAULT : LPN_OVER; }

  template <typename Part>
  int32_t guarded(const Part& part) {
    if (dead) return why_dead();
    const Inside inside(*this);
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
    } catch (const Stopped& s) {
      return stopped(s.why);
    } catch (const std::bad_alloc&) {
      return stopped(kOutOfMemory);
    }
  }
  int32_t stopped(int why) {
    stop = why;
    dead = true;
    return LPN_OVER;
  }

  int32_t simulate(i64 limit, lpn_result* result) {
    if (!begun) {
      if (limit < 0) return finish(LPN_LIMIT, limit, result);  // before every instant
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
    const u64 target = done_target < 0 ? ~u64{0} : static_cast<u64>(done_target);
    const auto enough = [&] { return over = over || done_tokens >= target; };
    for (;;) {
      if (enough()) return finish(LPN_DONE, limit, result);
      if (budget.firings == 0) {
        near_instants(limit, target);
        if (enough()) return finish(LPN_DONE, limit, result);
      }
      bool some = !wheel.empty();
      i64 next = some ? wheel.earliest(now) : kForever;
      if (!events.empty() && (!some || events.top().due < next)) {
        next = events.top().due;
        some = true;
      }
      if (arrivals.next < next) {
        next = arrivals.next;
        some = true;
      }
      if (!some) return finish(LPN_QUIET, limit, result);
      if (next > limit) {
        // Wake-ups of transitions that no longer have what they waited with are nothing to come.
        const bool quiet =
            Net::kTimed && starts_made == commits && arrivals.none() && !self().any_waiting();
        return finish(quiet ? LPN_QUIET : LPN_LIMIT, limit, result);
      }
      const i64 last = now;
      now = next;
      step();
      if (!instant()) now = last;
    }
  }

  // Whether a run goes from the initial tokens to quiet, whatever happens.
  bool flows(i64 limit) const {
    if (limit != kForever || done_target >= 0 || !arrivals.none() || joined) return false;
    if (budget.groups != 0 || budget.firings != 0) return false;  // these are of instants
    return mode == LPN_ORDER_FREE || (mode == LPN_AUTO && LPNRT_TRACE == 0 && !mistaken);
  }

  int32_t finish(int32_t ending, i64 limit, lpn_result* result) {
#if LPNRT_STATS
    end = ending == LPN_LIMIT ? std::max(limit, now) : ending == LPN_STOPPED ? now : last_commit;
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
    result->stop = stop;
    return LPN_OK;
  }
};

}  // namespace lpnrt

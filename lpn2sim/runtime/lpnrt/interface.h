// The C interface (abi.h) of a generated net.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <vector>

#include "lpnrt/abi.h"
#include "lpnrt/arith.h"
#include "lpnrt/batch.h"
#include "lpnrt/meters.h"
#include "lpnrt/origins.h"
#include "lpnrt/outside.h"
#include "lpnrt/variants.h"

namespace lpnrt {

// The C interface over a generated net.
template <typename Net>
struct Abi {
  [[gnu::always_inline]] static Net* of(lpn_sim* s) { return reinterpret_cast<Net*>(s); }
  [[gnu::always_inline]] static const Net* of(const lpn_sim* s) {
    return reinterpret_cast<const Net*>(s);
  }

  static lpn_sim* create(const i64* params, int32_t* status) {
    return create_within(params, nullptr, status, nullptr);
  }
  static lpn_sim* create_within(const i64* params, const lpn_budget* budget, int32_t* status,
                                int32_t* stop) {
    int32_t ignored, nobody;
    if (status == nullptr) status = &ignored;
    if (stop == nullptr) stop = &nobody;
    *stop = LPN_STOP_NONE;
    Net* net = new (std::nothrow) Net;
    if (net == nullptr) {
      *status = LPN_NO_MEMORY;
      return nullptr;
    }
    if (budget != nullptr) net->set_budget(*budget);
    {
      const typename Net::Inside inside(*net);
      try {
        *status = net->configure(params != nullptr ? params : Net::kParamDefaults);
      } catch (const Failure&) {
        *status = LPN_BAD_PARAM;
      } catch (const Stopped& s) {
        *status = LPN_OVER;
        *stop = s.why;
      } catch (const std::bad_alloc&) {
        *status = LPN_NO_MEMORY;
        *stop = LPN_STOP_MEMORY;
      }
    }
    if (*status == LPN_OK) return reinterpret_cast<lpn_sim*>(net);
    delete net;
    return nullptr;
  }
  static void destroy(lpn_sim* s) { delete of(s); }
  static int32_t load(lpn_sim* s, u32 place, u64 count, const i64* values) {
    Net& net = *of(s);
    if (place >= Net::kDeclaredPlaces || net.begun) return LPN_BAD_CALL;
    return net.guarded([&] {
      net.placed(count);
      return net.load(place, count, values);
    });
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
    of(s)->budget.poll = poll;
    of(s)->budget.user = user;
    return LPN_OK;
  }
  static int32_t run(lpn_sim* s, i64 limit, lpn_result* result) {
    return of(s)->run(limit, result);
  }
  static int32_t push(lpn_sim* s, u32 place, const i64* values, i64 time) {
    Net& net = *of(s);
    if (net.dead) return net.why_dead();
    if (place >= Net::kDeclaredPlaces) return LPN_BAD_CALL;
    if (!net.outside_may_act_at(time)) return LPN_LATE;
    if (!net.in_range(place, values)) return LPN_BAD_VALUE;
    u64* const credits = net.credits(place);
    if (credits != nullptr && net.room(place) < 1) return LPN_NO_ROOM;
    const int32_t status = at(net, place, values, Net::kPlaceFields[place], time);
    if (status == LPN_OK && credits != nullptr) --*credits;  // before begin(): less than nothing
    return status;
  }
  static int32_t feed(lpn_sim* s, u32 place, u64 count, const i64* values, const i64* times) {
    Net& net = *of(s);
    if (net.dead) return net.why_dead();
    if (place >= Net::kDeclaredPlaces || net.credits(place) != nullptr) return LPN_BAD_CALL;
    if (count == 0) return LPN_OK;
    if (times[0] < 0 || times[count - 1] > kLastInstant || net.over ||
        (net.begun && times[0] <= net.now) || !net.arrivals.in_order(place, times, count)) {
      return LPN_LATE;
    }
    const u64 width = Net::kPlaceFields[place];
    if (!net.all_in_range(place, count, values)) return LPN_BAD_VALUE;
    return net.guarded([&] {
      net.placed(net.begun ? 0 : count);
      net.arrivals.feed(place, width, count, values, times);
      return LPN_OK;
    });
  }
  // At once in an instant that is under way, else when it comes.
  static int32_t at(Net& net, u32 place, const i64* values, u64 width, i64 time) {
    if (net.begun && time == net.now) {
      return net.guarded([&] {
        net.arrive(place, values);
        return LPN_OK;
      });
    }
    try {
      net.arrivals.push(time, {place, std::vector<i64>(values, values + width)});
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
    if (net.dead) return net.why_dead();
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
    if (net.dead) return net.why_dead();
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
  static u64 occupancy(const lpn_sim* s, u32 place) { return of(s)->occupancy_of(place); }
  static void fault(const lpn_sim* s, lpn_fault* out) { *out = of(s)->fault; }
  static int32_t stats(const lpn_sim* s, lpn_transition_stats* transitions, lpn_place_stats* places,
                       i64* end) {
#if LPNRT_STATS
    const Net& net = *of(s);
    *end = net.end;
    for (u32 k = 0; k < Net::kTransitions; ++k) {
      const TransitionMeter& m = net.meters[k];
      transitions[k].commits = m.commits;
      transitions[k].busy = m.busy_until(net.end);
      net.waited_until(k, net.end, transitions[k].waited);
    }
    std::vector<i128> changes(Net::kDeclaredPlaces + 1);
    for (u32 f = 0; f < Net::kFluxCount; ++f) {
      const Flux& flux = Net::kFluxes[f];
      changes[flux.place] -= flux.tokens * net.meters[flux.transition].instants;
    }
    for (u32 p = 0; p < Net::kDeclaredPlaces; ++p) {
      const PlaceMeter& m = net.place_meters[p];
      const u64 held = net.occupancy_of(p);
      places[p].mean = net.end == 0
                           ? static_cast<double>(held)
                           : static_cast<double>(m.weighted_until(net.end, held) + changes[p]) /
                                 static_cast<double>(net.end);
      places[p].peak = std::max(m.peak, held);  // before instant 0 nothing is accounted for
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
            Net::kParamLo,
            Net::kParamHi,
            Net::kFrequency,
            create,
            destroy,
            load,
            set_done,
            set_observer,
            set_mode,
            set_poll,
            run,
            LPNRT_OUTSIDE(run_batch),
            push,
            now,
            tokens,
            fault,
            stats,
            LPNRT_OUTSIDE(next),
            LPNRT_OUTSIDE(room),
            LPNRT_OUTSIDE(hold),
            LPNRT_OUTSIDE(release),
            LPNRT_OUTSIDE(collect),
            LPNRT_OUTSIDE(take),
            LPNRT_OUTSIDE(enter),
            LPNRT_OUTSIDE(commit),
            LPNRT_OUTSIDE(start),
            halve,
            set_path_budget,
            path,
            create_within,
            feed,
            occupancy};
  }
};

}  // namespace lpnrt

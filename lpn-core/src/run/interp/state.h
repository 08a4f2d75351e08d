// What the state of the interpreter is made of.
#pragma once

#include <cstdint>
#include <deque>
#include <tuple>
#include <vector>

#include "containers.h"
#include "lpn/run/run.h"
#include "meters.h"

namespace lpn::interp {

// `count` tokens with ids first, first+1, ... (by index).
struct IdRun {
  TokenId first;
  std::uint64_t count = 0;
};

struct PlaceState {
  std::size_t width = 0;
  std::uint64_t free = 0;
  std::uint64_t locked = 0;
  Rows rows;                   // values of the free tokens; unused when width is 0
  std::deque<IdRun> ids;       // of the free tokens, when tracing
  std::uint64_t external = 0;  // initial and pushed tokens so far
  bool collects = false;
  std::vector<Time> times;  // when its free tokens arrived, where it collects
  bool done = false;
  PlaceMeter meter;

  std::uint64_t occupancy() const { return free + locked; }
};

struct Firing {
  std::uint64_t number = 0;
  Time start = 0;
  Time due = 0;
  std::vector<std::uint64_t> taken;     // per lowered input arc
  std::vector<std::uint64_t> produced;  // per lowered output arc
  std::uint32_t slot = 0;
  Time not_before = 0;
  bool late = false;
  std::vector<std::int64_t> values;           // rows of all emitted tokens, in arc order
  std::vector<std::vector<IdRun>> taken_ids;  // per declared input arc, when tracing
};

struct ArcPlan {
  std::size_t place = 0;
  bool inhibit = false;
  bool reads_head = false;  // weight or threshold reads the head, so it is needed
};

struct TransitionState {
  std::vector<ArcPlan> arcs;
  std::size_t declared_inputs = 0;
  std::size_t declared_outputs = 0;
  std::uint64_t servers = 0;  // 0: unbounded
  Time period = 0;            // 0: no clock
  Time phase = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t started = 0;
  Time next_start = 0;  // by the interval
  Time last_due = 0;    // of the firing started last
  Time wake = -1;       // scheduled wake-up, -1: none
  TransitionMeter meter;
  std::vector<std::int64_t> probed;
};

struct Event {
  Time due;
  std::uint32_t transition;
  std::uint64_t number;
  std::uint32_t slot;  // kWake: no firing, a transition to look at again
  bool operator>(const Event& o) const {
    return std::tie(due, transition, number) > std::tie(o.due, o.transition, o.number);
  }
};
constexpr std::uint32_t kWake = ~std::uint32_t{0};

}  // namespace lpn::interp

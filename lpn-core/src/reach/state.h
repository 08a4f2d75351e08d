// A state of a run between two steps: tokens, firings in flight, and when what is to come is due.
//
// What tokens hold is a number, or a term over variables of the input space that nothing has
// depended on so far. So a state stands for the states of many inputs; what has been done with a
// variable that no token reads any more is forgotten, and states that differ in nothing else are
// one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "terms.h"
#include "zone.h"

namespace lpn::reach {

// Tokens of a place. Rows are shared between states until one of them changes.
struct Queue {
  std::shared_ptr<std::vector<Value>> rows;  // of free tokens, from `head` on
  std::size_t head = 0;                      // values, not rows
  std::uint64_t free = 0, locked = 0;
};

struct Firing {
  std::vector<std::uint64_t> taken;     // per lowered input arc
  std::vector<std::uint64_t> produced;  // per lowered output arc
  std::vector<Value> values;            // of all emitted tokens, in arc order
};

struct State {
  struct Flight {
    std::uint32_t transition = 0;
    std::size_t due = 0;  // an instant of the zone
    std::shared_ptr<const Firing> firing;
  };
  struct Timer {
    std::uint32_t transition = 0;
    std::size_t due = 0;
  };

  // A token that comes later than 0, of the space.
  struct Arrival {
    std::uint32_t place = 0;
    std::size_t due = 0;
    Value at;  // when
    std::shared_ptr<const std::vector<Value>> row;
  };
  // When a token came whose time of arrival is a term: an instant that is over.
  struct Birth {
    std::uint32_t term = 0;
    std::size_t instant = 0;
  };

  std::uint32_t setup = 0;          // which parameters
  std::vector<Queue> queues;        // per lowered place
  std::vector<Flight> flights;      // by transition, then by start
  std::vector<Timer> gates;         // ends of intervals to come, by transition
  std::vector<Timer> wakes;         // edges of clocks that are waited for
  std::vector<Arrival> arrivals;    // to come, by place, then in order
  std::vector<Birth> births;        // of tokens that are there, by which of their values is first
  std::vector<DomainId> domains;    // per variable
  std::vector<std::int64_t> spent;  // per sum: what forgotten variables have in it at least
  Zone zone;
  std::uint64_t done = 0;  // done tokens produced
  // Commits of the transition that is asked about, or ticks of its firings that have started.
  std::uint64_t counted = 0;
  Time last = 0;              // the least time at which the last done token was produced
  bool produced = false;      // a done token
  bool same_instant = false;  // reached by commits at the instant of the state before
  std::uint64_t commits = 0;  // all, which orders the work

  // Within one instant.
  // Instants of the zone below this one are events to come.
  std::size_t events() const {
    return 2 + flights.size() + gates.size() + wakes.size() + arrivals.size();
  }

  std::vector<std::uint32_t> dirty;    // transitions to look at, ascending
  std::vector<std::uint32_t> on_edge;  // transitions whose clock is known to be on an edge
  std::vector<std::pair<std::uint32_t, std::int64_t>> assumed;  // terms and what they are here
};

// About how much memory it takes, with rows that it may share.
inline std::size_t bytes_of(const State& state) {
  std::size_t bytes = sizeof(State) + state.zone.size() * state.zone.size() * sizeof(Time) +
                      state.queues.size() * sizeof(Queue) + state.domains.size() * sizeof(DomainId);
  for (const Queue& queue : state.queues) {
    if (queue.rows) bytes += queue.rows->size() * sizeof(Value);
  }
  for (const State::Flight& flight : state.flights) {
    bytes += sizeof(Firing) + flight.firing->values.size() * sizeof(Value) + 64;
  }
  for (const State::Arrival& arrival : state.arrivals) {
    bytes += sizeof(State::Arrival) + arrival.row->size() * sizeof(Value) + 64;
  }
  return bytes + state.births.size() * sizeof(State::Birth);
}

}  // namespace lpn::reach

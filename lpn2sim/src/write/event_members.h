// The data of an event-driven simulator: constants of the net, members of places and transitions,
// their initial state.
#pragma once

#include <cstddef>
#include <vector>

#include "write/event_part.h"

namespace lpn::sim {

class EventMembers final : EventPart {
 public:
  EventMembers(const EventNames& names, Writer& out) : EventPart(names, out) {}

  void constants();
  void members();
  void configure();

 private:
  void place_members(std::size_t p, std::vector<bool>& placed);
  void transition_members(std::size_t k);
  // The record of a firing: what its commit must be told.
  void record(std::size_t k);
};

}  // namespace lpn::sim

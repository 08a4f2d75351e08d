// The data of an event-driven simulator: constants of the net, members of places and transitions,
// their initial state.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "write/event_part.h"
#include "write/link.h"

namespace lpn::sim {

class EventMembers final : EventPart {
 public:
  // `members`: all are declared there, and outlive this.
  EventMembers(const EventNames& names, Members& members, Writer& out)
      : EventPart(names, out), members_(members) {}

  void constants();
  void members();
  void configure();

 private:
  void declare(const char* variant, const std::string& type, const char* name, std::size_t id,
               const char* initial = "");
  void place_members(std::size_t p, std::vector<bool>& placed);
  void transition_members(std::size_t k);
  // The record of a firing: what its commit must be told.
  void record(std::size_t k);
  // Statistics: by how many tokens commits change places, where that is always the same.
  void fluxes();

  Members& members_;
};

}  // namespace lpn::sim

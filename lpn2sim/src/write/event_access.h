// How the engine and the outside reach places and transitions by number.
#pragma once

#include <cstddef>
#include <string>

#include "write/equal.h"
#include "write/event_part.h"
#include "write/event_wakes.h"

namespace lpn::sim {

class EventAccess final : EventPart {
 public:
  // `equal`: has the functions that are called.
  EventAccess(const EventNames& names, EventWakes& wakes, const EqualCode& equal, Writer& out)
      : EventPart(names, out), wakes_(wakes), equal_(equal) {}

  // What comes into a place from outside during a run: a token, or slots of a place of credits.
  void arrive_function(std::size_t p);
  // And before it.
  void load_function(std::size_t p);
  void dispatch();
  void access();

 private:
  void each_touched(bool small);
  void waited_until();
  void come();
  void put(std::size_t p, const char* count);
  // These are nobody's firing.
  void arrived(std::size_t p, const char* count);
  // Slots and tokens as a host sees them (abi.h).
  void outside();
  // In the event-driven part of a mixed run the other transitions only deliver their tokens.
  std::string mixed_case(const std::string& verb) const;

  EventWakes& wakes_;
  const EqualCode& equal_;
};

}  // namespace lpn::sim

// Starts: what a transition needs, what is evaluated, taken and kept, and why it cannot start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "write/event_causes.h"
#include "write/event_part.h"
#include "write/event_wakes.h"
#include "write/shared_terms.h"

namespace lpn::sim {

class EventStarts final : EventPart {
 public:
  EventStarts(const EventNames& names, EventWakes& wakes, EventCauses& causes, Writer& out)
      : EventPart(names, out), wakes_(wakes), causes_(causes), terms_(net_, names.printer()) {}

  void try_function(std::size_t k);
  void waiting_function(std::size_t k);
  void why_function(std::size_t k);
  // Statistics: how long it waited for each reason, where that is not asked: at a start, and what
  // is left at the end.
  void waited(std::size_t k);
  void left_function(std::size_t k);

 private:
  // What to do where an arc is not satisfied, for a reason of enum WaitCode.
  using Failed = std::function<std::string(const char* reason)>;
  // What to do with the value of a property.
  using Store = std::function<std::string(std::size_t field)>;

  // Code that leaves through `failed(reason)` at the first arc that is not satisfied. If that is
  // all that a transition lacks, it waits for a contested place, unless the code may change
  // nothing.
  void arcs(std::size_t k, const Failed& failed, bool parks);
  // Waits for the interval and the clock; `late` is what to do when they say later.
  void timing(std::size_t k, const std::string& late);
  // Leaves before the arcs are examined when it is too early and nobody could tell: no formula of
  // theirs can fail. A wake-up for nothing changes nothing.
  void early_timing(std::size_t k);
  void firing_times(std::size_t k);
  void progress(std::size_t k);
  void new_record(std::size_t k);
  // Evaluates what the commit will append, in the order of the definition.
  void emissions(std::size_t k);
  void fields(std::size_t k, std::size_t o, std::size_t e, const Store& store);
  void take(std::size_t k);
  void keep(std::size_t k);
  void marks_of_start(std::size_t k);

  // Computes the terms that a formula shares with others.
  void define(const Formula& f);
  // A formula of transition `k`, what it shares with others computed first.
  std::string value(std::size_t k, const Formula& f, const std::string& where);

  EventWakes& wakes_;
  EventCauses& causes_;
  SharedTerms terms_;
};

}  // namespace lpn::sim

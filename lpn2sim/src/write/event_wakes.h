// Whom a change of a place concerns: who may start now, and whose reason to wait may be another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "write/event_part.h"

namespace lpn::sim {

// Transitions, each once, in the order in which they were found: by arc, so that it is the same
// order for all that are equal (equal.h), whatever their numbers are.
class Woken {
 public:
  void insert(std::uint32_t k) {
    if (found_.insert(k).second) all_.push_back(k);
  }
  void erase(std::uint32_t k) {
    if (found_.erase(k) != 0) all_.erase(std::find(all_.begin(), all_.end(), k));
  }
  void insert(const Woken& others) {
    for (const std::uint32_t k : others.all_) insert(k);
  }
  const std::vector<std::uint32_t>& all() const { return all_; }
  // REQUIRES that there are any.
  std::uint32_t least() const { return *found_.begin(); }

 private:
  std::set<std::uint32_t> found_;
  std::vector<std::uint32_t> all_;
};

class EventWakes final : EventPart {
 public:
  EventWakes(const EventNames& names, Writer& out) : EventPart(names, out) {}

  // Has the transitions looked at that may have become ready. Whoever is left out by its condition
  // is marked by the change that makes the condition true.
  void mark(const Woken& members, std::size_t own);
  // Where many of them wait for one place, whose first token says which of them may start: has that
  // one looked at, and leaves out the others.
  void by_route(Woken& members);
  void look_at_consumers(std::size_t p);
  // Statistics: why these wait has to be asked again at the end of the instant.
  void touch(const std::vector<std::uint32_t>& members);
  // To the rivals for a contested place it matters only whether it has the tokens they need, which
  // touch_rivals compares from instant to instant.
  // `least`: how few tokens were there, before a commit put more or after a start took some: it
  // matters only to those that need more. "": whoever it is.
  void touch_consumers(std::size_t p, const std::string& least = "");
  // The same of tokens that come, `before`: how many were there. Whoever is not asked why it waits
  // has to know when they came.
  void tokens_came(std::size_t p, const std::string& before);
  // Statistics: the place holds more than before.
  void peak(std::size_t p);
  // Statistics: a commit is about to change the place by so many tokens, not always as many, or the
  // outside is.
  void meter(std::size_t p, const std::string& tokens);
  void meter_outside(std::size_t p, const std::string& tokens);
  void call_function(std::size_t p);
  void route_function(std::size_t p);
  void touch_rivals_function();
  // Statistics: how many tokens a place holds, locked ones included.
  std::string occupancy(std::size_t p) const;

 private:
  // How many tokens of the place `m` needs, if nothing else there matters to it; else 0.
  std::int64_t only_need(std::size_t p, std::uint32_t m) const;
  std::vector<std::uint32_t> asked_of(const std::vector<std::uint32_t>& members) const;
};

}  // namespace lpn::sim

// Actors: one loop each that fires as long as the tokens are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "write/flow_part.h"

namespace lpn::sim {

class FlowActors final : FlowPart {
 public:
  FlowActors(const FlowFacts& facts, const FlowStats& stats, Writer& out)
      : FlowPart(facts, stats, out) {}

  // What to do where an arc is not satisfied, for a reason of enum WaitCode: leaves the block.
  using Failed = FlowStats::Failed;
  // What to do after an arc.
  using Passed = std::function<void(std::uint32_t arc, const std::string& instant)>;

  // The loop of an actor.
  void act(std::size_t a);
  // A member of Run: that nobody who has not fired was ready before those who have.
  void verify();
  // The arcs of `k` in order: leaves by `failed(reason)` at the first that is not satisfied; after
  // each that has its tokens, `passed(arc, their instant)`, "" when they were there from the start.
  void arcs(std::uint32_t k, const Failed& failed, const Passed& passed);

 private:
  // Which member of its actor a transition is.
  std::size_t own(std::uint32_t k) const;
  // Before an actor is given a turn: that no place it takes from is short of tokens.
  std::string unless_waiting(std::size_t a) const;
  // Names the variable that gets a property.
  using Name = std::function<std::string(std::size_t field)>;

  void fire(std::size_t a, std::uint32_t k);
  // Of a firing that takes from disputed places: that nobody else was ready before, as far as is
  // known so far.
  void dispute(std::uint32_t k);
  // When the tokens were there that `k` alone takes.
  std::string ready(std::uint32_t k) const;
  void times(std::uint32_t k);
  // Some firing must not take nothing for ever.
  void progress(std::uint32_t k);
  // Counts, and the properties of single tokens; rows that would be read from the place they go to.
  void evaluate(std::uint32_t k);
  // Evaluates the live properties, and those whose evaluation may be an error.
  void fields(std::uint32_t k, std::size_t o, std::size_t e, const Name& name_of);
  void append(std::uint32_t k);
  void push_reference(std::uint32_t k, const Emission& emission, std::size_t p);
  void push_row(std::uint32_t k, std::size_t o, std::size_t e, std::size_t p, bool one,
                bool kept_rows);
  void take_ids(std::uint32_t k);
};

}  // namespace lpn::sim

// What the event-driven simulator of a net is made of: the analysis, without any text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/net/net.h"
#include "lpn/sim/generate.h"
#include "plan/plan.h"
#include "write/copies.h"
#include "write/event_infos.h"
#include "write/event_routes.h"
#include "write/event_waits.h"

namespace lpn::sim {

// Transitions that compete for tokens of a place and may wait in its set, sorted; a net has few.
struct Contest {
  std::int64_t need = 0;  // how many tokens each of them needs
  std::vector<std::uint32_t> rivals;
};

struct EventFacts {
  // Throws Error "E-too-large".
  EventFacts(const Net& declared, const GenerateOptions& options);

  // Arcs that are looked at before anything that can fail, and have constant needs: the first ones.
  std::size_t safe_arcs(std::size_t k) const;
  bool is_rival(std::size_t p, std::uint32_t k) const;
  // Whether the route of place `p`, where it has one, leads to `k`.
  bool is_routed(std::size_t p, std::uint32_t k) const;
  bool is_const(const Formula& f) const;
  std::int64_t const_of(const Formula& f) const;
  // A count that the commit knows without being told.
  bool const_count(const Emission& e) const;
  bool const_total(const OutputArc& arc) const;
  bool is_unit(const OutputArc& arc) const;
  bool one_row(const Emission& e) const;
  // By the bounds of its count; of an emission of `net`.
  bool row_or_none(const Emission& e) const { return lone.count(&e) != 0; }
  // Whether a firing's record holds anything but its due time.
  bool remembers(const Transition& t, const TransitionInfo& info) const;
  // Whether its record is needed for two groups alone, and lies where others' do then.
  bool brief(std::size_t k) const;
  bool flows() const;
  bool mixed() const;
  bool has_done() const;
  static bool timed(const Transition& t);
  bool timed() const;
  // Whether some emission's rows are not just one.
  bool has_rows(const Transition& t) const;
  bool rows(const OutputArc& arc, const Emission& e) const;
  // What reads the place otherwise than by the tokens it needs: any commit there may let it start.
  bool watched(std::size_t p) const;
  // Whether only how many tokens there are, and a free server, lets it start.
  bool only_counts(std::size_t k) const;
  // Whether a start, of its own or of another that takes from the same place, may let it start.
  bool by_starts(std::size_t k) const;
  // Statistics: whether it is kept how many tokens the place holds, locked ones included. Elsewhere
  // none are locked, or they are counted anyway.
  bool level_kept(std::size_t p) const;
  // Whether it is kept when the tokens came that a transition needed.
  bool came_kept(std::size_t p) const;
  // Critical path: whether somebody asks of a place what came in this group; whose each token is,
  // since the clock made them wait; who took from it last.
  bool asked_what_came(std::size_t p) const;
  bool asked_whose(std::size_t p) const;
  bool asked_who_took(std::size_t p) const;
  // What the outside may take tokens from: nothing in the net reads it.
  bool outlet(std::size_t p) const;
  // Keeps when its tokens arrived, when asked to.
  bool stamped(std::size_t p) const;
  // In which variants whole runs can be order-free, for the preprocessor.
  const char* flow_condition() const;
  Error too_large() const;  // to compile

  Net declared;  // as the author made it
  Net net;       // lowered: what runs
  Plan plan;
  bool metered = false;       // statistics of order-free runs
  std::size_t contested = 0;  // how many competitors make a place contested
  bool apart = false;         // each transition has a function of its own, or one with its equals
  std::vector<TransitionInfo> infos;
  std::vector<std::size_t> credits;                   // per place with a capacity: its credit place
  std::vector<std::vector<std::uint32_t>> consumers;  // per place: transitions with an input arc
  std::vector<bool> locked;                           // per place: its locked tokens are counted
  std::vector<Contest> contests;                      // per place; no rivals: not contested
  std::vector<Route> routes;                          // per place
  std::vector<WaitInfo> waits;                        // per transition
  Copies copies;                                      // where `apart`
  std::set<const Emission*> lone;                     // of one row or none

 private:
  void analyse();
  void find_contests();
  static std::vector<const Formula*> formulas_of(const InputArc& arc);
  void choose_keep(const Transition& t, TransitionInfo& info);
};

}  // namespace lpn::sim

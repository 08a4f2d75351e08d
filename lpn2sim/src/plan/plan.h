// Which transitions need no global clock (docs/semantics.md, "Order-free evaluation"), and how
// those that share places are run together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lpn/net/net.h"
#include "lpn/sim/ways.h"

namespace lpn::sim {

// Transitions whose firings follow one another in one order, decided by the tokens of `route` when
// there are several: at most one of them can ever take its head.
struct Actor {
  std::vector<std::uint32_t> members;  // ascending
  std::optional<std::uint32_t> route;
  bool in_order = false;  // the commits of all members together are in order
};

// How the tokens of a place pass, in a run that is order-free as far as can be.
enum class Passage : std::uint8_t {
  kSource,  // nothing appends to it: the tokens it has at the start, for an actor
  kFifo,    // one actor appends in order, one takes
  kSink,    // nothing takes from it, actors append
  kInto,    // actors append (others may too), event-driven transitions take or look
  kOutOf,   // event-driven transitions append, an actor takes
  kEvent,   // only event-driven transitions touch it, if any
};

struct Plan {
  std::vector<Actor> actors;            // order-free ones, sources of the graph first
  std::vector<std::uint32_t> actor_of;  // per transition; kNone
  std::vector<Passage> passage;         // per place, where whole()
  std::vector<std::string> why_not;  // per transition: why it needs the clock; "" when it does not
  // Places that must hold exactly one token at the start for the plan to hold: the engine checks.
  std::vector<std::uint32_t> single_token;
  bool packed = false;  // some delay may be 0: instants need their group
  // What the plan assumes and the run checks, per place; empty: nothing. Of `merged` ones the
  // producers are several actors, which append in the order of their turns; for `disputed` ones
  // several actors take turns, of which no two are ready at once.
  std::vector<bool> merged, disputed;
  bool assumes() const { return !merged.empty(); }
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  bool whole() const;  // every transition is order-free
  // Worth running order-free parts around one event-driven part.
  bool mixed() const;
};

// `net` is lowered.
Plan make_plan(const Net& net, const Solver& solver = {}, Assume assume = Assume::kLikely);

}  // namespace lpn::sim

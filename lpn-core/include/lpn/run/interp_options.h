// What an interpreter is made with.
#pragma once

#include <optional>
#include <vector>

#include "lpn/net/net.h"
#include "lpn/run/condition.h"
#include "lpn/run/run.h"

namespace lpn {

// Instants known from outside, of a recording: firing k of a transition, counted by its starts,
// does not start before starts[k] and does not commit before commits[k], whatever the net would
// allow. Each of its starts evaluates the probes, expressions over its arcs as in its delay, with
// other values of the parameters.
struct Guide {
  struct Probe {
    ExprId expr{};
    std::size_t values = 0;  // number among `values` below
  };
  struct Of {
    std::vector<Time> starts;
    std::vector<Time> commits;
    std::vector<Probe> probes;
  };
  std::vector<Of> transitions;  // by id; fewer are allowed
  std::vector<ParamValues> values;
};

struct InterpOptions {
  std::uint64_t group_limit = kDefaultGroupLimit;
  bool stats = false;
  bool trace = false;  // keep token identities; needed by run() with an observer
  // Look at every transition after every step instead of only at those a step can have made ready.
  // Same behaviour, used to test exactly that.
  bool full_scan = false;
  Budget budget{};
  Poll poll{};  // already while tokens are placed; Interp::set_poll replaces it
  Guide guide{};
  std::optional<TransitionId> halved{};  // its delays and intervals are halved, rounded up
  // The run ends as kCondition with the first instant, 0 included, after which this holds; looked
  // at before all other reasons to end.
  std::optional<Condition> until{};
};

}  // namespace lpn

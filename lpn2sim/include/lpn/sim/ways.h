// Which way a compiled simulator runs each transition, and why not faster.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lpn/net/net.h"

namespace lpn {
class Feasibility;
}

namespace lpn::sim {

// Whether a plan may assume that transitions never meet at a place where nothing proves it, so that
// the whole net is order-free. What is assumed is checked, and a run in which it fails starts over.
enum class Assume : std::uint8_t {
  kNothing,
  kLikely,    // where each waits for tokens that only it takes and that come during the run
  kAnything,  // for tests
};

// Makes, when it is first needed, a solver that may prove that guards exclude each other where
// their syntax does not show it; empty: syntax alone.
using Solver = std::function<Feasibility*()>;

struct Way {
  bool order_free = false;    // needs no global clock (docs/semantics.md)
  std::string why_not;        // what makes it wait for the clock; "" when order-free
  bool lock_step = false;     // and its firings repeat in a sequence known beforehand
  std::string why_no_repeat;  // what they depend on; "" when lock_step
};

// A transition of the net each. A run follows these ways when it goes from the initial tokens to
// the end, without an observer, pushes or a limit; any other is event-driven.
std::vector<Way> ways(const Net& net, const Solver& solver = {});

enum class Runs : std::uint8_t {
  kEvents,  // too few transitions are order-free to be worth an exchange of tokens
  kMixed,   // order-free parts around one event-driven part
  kFree,    // every transition is order-free
};
Runs runs(const Net& net, const Solver& solver = {});

// Whether runs of the net, generated with `assume`, are order-free by an assumption: the whole net
// is, as long as its transitions do not meet.
bool assumes(const Net& net, Assume assume = Assume::kLikely, const Solver& solver = {});

}  // namespace lpn::sim

// Why an instant is not earlier: the chain of delays that decides it for one input.
#pragma once

#include <vector>

#include "lpn/classes/timing.h"

namespace lpn::pi {

// `to` is `delay` after `from`; `extra` more where it waited for a clock's edge.
struct Link {
  InstantId from{}, to{};
  ExprId delay{};
  Time extra = 0;
};

// From time 0 to `target`; the delays and extras add up to when it is. Throws Error "E-overflow".
std::vector<Link> critical_chain(const Timing& timing, const InputSpace& space,
                                 const Assignment& input, InstantId target);

// Whether every instant is the latest of others plus delays: then no chain of delays that leads to
// one, whether it decides or not, adds up to more than when that is.
bool only_waits(const Timing& timing);

}  // namespace lpn::pi

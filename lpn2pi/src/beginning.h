// The phases of a dataflow graph that come once: whether all of them come to pass.
#pragma once

#include <cstddef>
#include <vector>

#include "lpn/pi/dataflow.h"

namespace lpn::pi {

// Fires them as tokens allow, no time counted; what they wait for may include whole iterations of
// others. Per actor: the loop, appended to `loops`, for which it waits for ever, or kNoCycle.
// Throws Error "E-dataflow" when that needs too many firings.
std::vector<std::size_t> begin(const Dataflow& graph, std::vector<Pace>& loops);

}  // namespace lpn::pi

// Capacities as credit places, so that engines know places, arcs and expressions only.
//
// For each place p with a capacity, `lower` appends a credit place: it starts with the capacity
// minus p's initial tokens; a transition that emits n and takes w of p's tokens takes max(n - w, 0)
// credits after its declared arcs, and gives max(w - n, 0) back at commit. It has an arc for
// credits where it puts into p, unless that takes none and no later one may fail. Declared places
// keep their ids; credit places come after them and carry `credit_of`.
#pragma once

#include "lpn/net/net.h"

namespace lpn {

// REQUIRES verify(net).empty(). A credit place's initial count is left to the engine, which knows
// the marking: capacity - tokens(p) at time 0.
Net lower(const Net& net);

}  // namespace lpn

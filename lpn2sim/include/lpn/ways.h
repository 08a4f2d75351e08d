// Which way a compiled simulator runs each transition, and why not faster.
#pragma once

#include <string>
#include <vector>

#include "lpn/net.h"

namespace lpn {
class Feasibility;
}

namespace lpn::sim {

struct Way {
  bool order_free = false;  // needs no global clock (docs/semantics.md)
  std::string why_not;      // what makes it wait for the clock; "" when order-free
};

// A transition of the net each. A run is order-free when all of them are, and it goes from the
// initial tokens to the end without an observer, statistics, pushes or a limit.
std::vector<Way> ways(const Net& net, Feasibility* solver = nullptr);
bool order_free(const Net& net);

}  // namespace lpn::sim

// The order-free simulator of a net none of whose transitions needs the clock.
#pragma once

#include <cstddef>
#include <string>

#include "lpn/net/net.h"
#include "plan/plan.h"
#include "write/link.h"

namespace lpn::sim {

// C++ that defines `struct Run` and `Net::run_flow`, to stand after the definition of `struct Net`
// of the event-driven engine, whose tokens it starts from and whose state it leaves as a run to the
// end does. `net` is lowered; its first `declared` places are the author's. REQUIRES plan.whole().
// `members`: where those of `struct Net` lie, and from then on those of `struct Run`.
std::string generate_flow(const Net& net, std::size_t declared, const Plan& plan, Members& members);

}  // namespace lpn::sim

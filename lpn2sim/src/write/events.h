// The event-driven simulator of a net, which every compiled net has.
#pragma once

#include <string>

#include "write/event_facts.h"
#include "write/link.h"

namespace lpn::sim {

// C++ that defines `struct Net`, without marks, and where its members lie: what is written about
// them afterwards can be linked with that. REQUIRES that the net's tables kTable<k> stand before
// it.
std::string generate_events(const EventFacts& facts, Members& members);

}  // namespace lpn::sim

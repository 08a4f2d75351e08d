// The event-driven simulator of a net, which every compiled net has.
#pragma once

#include <string>

#include "write/event_facts.h"

namespace lpn::sim {

// C++ that defines `struct Net`. REQUIRES that the net's tables kTable<k> stand before it.
std::string generate_events(const EventFacts& facts);

}  // namespace lpn::sim

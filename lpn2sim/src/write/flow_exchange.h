// Mixed runs: what goes into the event-driven part and comes out of it.
#pragma once

#include <cstdint>

#include "write/flow_part.h"

namespace lpn::sim {

class FlowExchange final : FlowPart {
 public:
  FlowExchange(const FlowFacts& facts, const FlowStats& stats, Writer& out)
      : FlowPart(facts, stats, out) {}

  // Members of Run.
  void exchange();
  // What the event-driven part, a Net, calls.
  void deliveries();

 private:
  // The tokens of the commits of `k` at this instant.
  void deliver(std::uint32_t k);
};

}  // namespace lpn::sim

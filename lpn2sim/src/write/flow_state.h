// The data of an order-free run, and how it begins.
#pragma once

#include "write/flow_part.h"

namespace lpn::sim {

class FlowState final : FlowPart {
 public:
  FlowState(const FlowFacts& facts, const FlowStats& stats, Writer& out)
      : FlowPart(facts, stats, out) {}

  void members();
  void start();

 private:
  // The event-driven part starts from its tokens; those of the actors stay here.
  void start_events();
};

}  // namespace lpn::sim

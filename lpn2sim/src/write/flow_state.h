// The data of an order-free run, and how it begins.
#pragma once

#include <cstddef>
#include <string>

#include "write/flow_part.h"
#include "write/link.h"

namespace lpn::sim {

class FlowState final : FlowPart {
 public:
  // `members`: all are declared there.
  FlowState(const FlowFacts& facts, const FlowStats& stats, Members& members, Writer& out)
      : FlowPart(facts, stats, out), members_(members) {}

  void members();
  void start();

 private:
  void declare(const char* variant, const std::string& type, const char* name, std::size_t id,
               const char* initial = "");
  // The event-driven part starts from its tokens; those of the actors stay here.
  void start_events();

  Members& members_;
};

}  // namespace lpn::sim

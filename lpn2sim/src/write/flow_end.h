// How an order-free run ends: what it leaves in the net, or reports when it was stopped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "write/flow_part.h"

namespace lpn::sim {

class FlowEnd final : FlowPart {
 public:
  // `parts`: how many parts of the net are static.
  FlowEnd(const FlowFacts& facts, const FlowStats& stats, std::size_t parts, const Members& members,
          Writer& out)
      : FlowPart(facts, stats, out), parts_(parts), members_(members) {}

  void finish();

 private:
  void last_instant();
  void settle();
  void settle_place(std::size_t p);
  void settle_events(std::size_t p);
  void settle_queue(std::size_t p);
  void settle_transition(std::size_t k);
  void settle_causes();
  void deliver();
  // Every node that something may still name as its cause.
  void name_causes();
  // Of a run that was stopped: complete up to the horizon, or, within straight-line code, up to
  // where the slowest transition is. Firings in flight then are left out where some queue tells how
  // many.
  void report_so_far();
  void settle_sink(std::size_t p);

  std::size_t parts_;
  const Members& members_;
};

}  // namespace lpn::sim

// Statistics of a static part: lpnrt/streams.h makes the figures of the instants of its firings
// (part_streams.h), which flow_stats.h goes on from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "plan/plan.h"
#include "plan/schedule.h"
#include "write/flow_stats.h"
#include "write/part_streams.h"
#include "write/writer.h"

namespace lpn::sim {

class PartStats : private Writer {
 public:
  // All must outlive this. Without `stats.possible()` all text is empty.
  PartStats(const StaticPart& part, const PartStreams& streams, const Plan& plan,
            const FlowStats& stats, std::size_t index)
      : part_(part), streams_(streams), plan_(plan), stats_(stats), index_(index) {}

  // Where `m<q>` are the lengths of the queues that are not fixed.
  std::string begin();
  // Behind the firings, for the flow engine.
  std::string leave();

 private:
  const StaticPart& part_;
  const PartStreams& streams_;
  const Plan& plan_;
  const FlowStats& stats_;
  std::size_t index_;
};

}  // namespace lpn::sim

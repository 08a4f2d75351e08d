// The critical path of a static part: lpnrt/stream_path.h finds what decided from the instants of
// its firings (part_streams.h), and the flow engine goes on from the nodes it leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "plan/plan.h"
#include "plan/schedule.h"
#include "write/part_streams.h"
#include "write/writer.h"

namespace lpn::sim {

class PartPath : private Writer {
 public:
  // All must outlive this.
  PartPath(const StaticPart& part, const PartStreams& streams, const Plan& plan, std::size_t index)
      : part_(part), streams_(streams), plan_(plan), index_(index) {}

  // Where `m<q>` are the lengths of the queues that are not fixed.
  std::string begin();
  // Behind the firings, for the flow engine; then its tokens.
  std::string leave();
  // The node of the token of queue `q` at place `j` from the head; of a sink's last one.
  std::string token(std::size_t q, const std::string& j) const;
  std::string ended(std::uint32_t k) const;

 private:
  const StaticPart& part_;
  const PartStreams& streams_;
  const Plan& plan_;
  std::size_t index_;
};

}  // namespace lpn::sim

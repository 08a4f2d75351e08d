// Statistics of a static part: its code writes the instants of its firings into a block, and
// lpnrt/streams.h makes the figures of them, which flow_stats.h goes on from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/schedule.h"
#include "write/flow_stats.h"
#include "write/writer.h"

namespace lpn::sim {

class PartStats : private Writer {
 public:
  // All must outlive this. Without `stats.possible()` all text is empty.
  PartStats(const Net& net, const StaticPart& part, const Plan& plan, const FlowStats& stats,
            std::size_t index);

  // For namespace scope: `kStreams<index>`.
  std::string tables();
  // Where `m<q>` are the lengths of the queues that are not fixed.
  std::string begin();
  // Around the iterations of a chunk of `chunk`.
  std::string open_chunk();
  std::string close_chunk();
  // Within: a firing's commit `c<k>_<n>`, and `next<k>` before it; the end of an iteration.
  std::string committed(std::uint32_t k, std::uint32_t firing) const;
  std::string waited_for_interval(std::uint32_t k, std::uint32_t firing) const;
  std::string next_iteration() const;
  // Behind the firings, for the flow engine.
  std::string leave();

 private:
  struct Stream {
    std::int64_t firings = 0, offset = 0;
  };
  struct Wait {
    std::size_t stream = 0;
    std::string reason;
    std::int64_t emitted = 1, taken = 1, needed = 1, initial = 0;
    std::size_t queue = kNone;  // whose length is known at run time
  };
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t number(std::uint32_t k) const;
  void add_stream(std::int64_t firings);
  std::vector<Wait> waits_of(std::uint32_t k) const;
  bool metered(const StaticQueue& q) const;
  std::string store(const Stream& to, std::uint32_t firing, const std::string& what) const;

  const Net& net_;
  const StaticPart& part_;
  const Plan& plan_;
  const FlowStats& stats_;
  std::size_t index_;
  std::int64_t block_ = 0, words_ = 0;  // iterations; numbers
  std::vector<Stream> streams_;         // of the transitions, then of their intervals
  std::vector<std::size_t> interval_;   // per transition of the part: its stream, or kNone
};

}  // namespace lpn::sim

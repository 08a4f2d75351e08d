// The function around an iteration, for one input: what has to hold, what is loaded, what is left
// behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "plan/schedule.h"
#include "write/iteration.h"
#include "write/link.h"
#include "write/part_path.h"
#include "write/part_stats.h"
#include "write/part_streams.h"
#include "write/writer.h"

namespace lpn::sim {

// `u64 static_part_<index><kHalved>(R& run, u64 limit)`.
class StraightPart : private Writer {
 public:
  StraightPart(const Net& net, const StaticPart& part, const StaticOptions& options,
               const Plan& plan, const FlowStats& stats, const Members& members, std::size_t index)
      : net_(net),
        part_(part),
        options_(options),
        members_(members),
        index_(index),
        streams_(net, part, stats, index),
        stats_(part, streams_, plan, stats, index),
        path_(part, streams_, plan, index),
        iteration_(net, part, options, &streams_),
        body_(iteration_.body()) {}

  std::string text();
  // As of PartStreams.
  bool low();
  bool low_path();

 private:
  void read_back();
  void begin();
  void chunk();
  void chunk_of_groups();
  void leave();
  std::int64_t per_iteration(const StaticEnd& s) const;
  void produced(std::uint32_t p, std::uint32_t k, std::int64_t count);
  void checks();
  void check(std::size_t q);
  // The instant of the j-th token that the run holds.
  std::string held(const StaticQueue& q, const std::string& j, const std::string& count) const;
  // Earlier commits stand in the queues that they fed, 0 where there were none.
  void history(std::uint32_t k, std::int64_t depth);
  void load(std::size_t q);
  void store(std::size_t q);

  const Net& net_;
  const StaticPart& part_;
  const StaticOptions& options_;
  const Members& members_;
  std::size_t index_;
  PartStreams streams_;
  PartStats stats_;
  PartPath path_;
  Iteration iteration_;
  std::string body_;
};

}  // namespace lpn::sim

// Static parts of a net: every firing's place in one repeating sequence is known beforehand.
//
// A part is a weakly connected set of transitions with constant weights and emission counts, no
// guards, one producer and one consumer per place between them: a synchronous dataflow graph. Its
// balance equations give how often each transition fires per iteration; one admissible sequence of
// those firings returns the part to its marking and can be written down as straight-line code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lpn/net/net.h"

namespace lpn::sim {

// A queue between two transitions of a part; `servers` is one too: a loop of that many permits.
struct StaticQueue {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t place = kNone;  // of the net; kNone: the servers of `producer`
  std::uint32_t producer = 0, consumer = 0;
  std::uint32_t input = kNone;   // of the consumer
  std::uint32_t output = kNone;  // of the producer
  std::int64_t emitted = 0;      // per firing of the producer
  std::int64_t taken = 0;        // per firing of the consumer
  std::int64_t needed = 0;       // >= taken
  std::int64_t rate = 0;         // per iteration
  // fixed: exactly so many tokens at the start, known when compiling. Else the number is known
  // when the run starts and must be at least this.
  bool fixed = false;
  std::int64_t initial = 0;
};

// A place that nothing fills, or that nothing empties.
struct StaticEnd {
  std::uint32_t place = 0;
  std::uint32_t transition = 0;  // the consumer, or a producer
  std::uint32_t arc = 0;         // its input, or output
  std::int64_t count = 0;        // per firing
  std::int64_t needed = 0;       // sources: >= count
};

struct StaticFiring {
  std::uint32_t transition = 0;
  std::uint32_t number = 0;  // in the iteration, of this transition
};

struct StaticPart {
  std::vector<std::uint32_t> transitions;  // ascending
  std::vector<std::int64_t> repetitions;   // of each
  std::vector<StaticQueue> queues;
  std::vector<StaticEnd> sources, sinks;
  std::vector<StaticFiring> order;

  std::int64_t repetition(std::uint32_t transition) const;
};

struct StaticParts {
  std::vector<StaticPart> parts;
  std::vector<std::string> why_not;  // per transition; "" when it is in a part
};

// Most firings in one iteration: they become straight-line code, whose compilation takes more than
// its share of time when it is long.
inline constexpr std::int64_t kMaxIteration = 1024;

// `net` is lowered. Parts without a source are left out: nothing bounds their iterations.
StaticParts static_parts(const Net& net);

}  // namespace lpn::sim

// Of each input the paths of a partition say what the interpreter says.

#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "lpn/classes/partition.h"
#include "lpn/net/marking.h"
#include "lpn/run/interp.h"

namespace lpn {

// One token in each of the first `places` places of the net, with a value of its own.
inline InputSpace one_token_each(std::size_t places, Range range) {
  InputSpace space;
  for (std::size_t p = 0; p < places; ++p) {
    space.variables.params.push_back(
        {.name = "v" + std::to_string(p), .value = 0, .range = range, .source = {}});
    space.tokens.push_back({.place = static_cast<PlaceId>(p),
                            .rows = {{space.variables.exprs.param(static_cast<std::uint32_t>(p))}},
                            .count = {}});
  }
  return space;
}

// The latencies by the interpreter, -1 where there is none, in the order of the inputs.
inline std::vector<Time> agreed(const Net& net, const InputSpace& space) {
  const Partition p = partition(net, space);
  REQUIRE(p.complete);
  std::vector<Time> latencies;
  each_input(p.space, [&](const Assignment& input) {
    CAPTURE(input);
    const std::optional<Time> latency =
        Interp(net, {}, marking_of(net, p.space, input)).run().latency;
    int paths = 0;
    for (const InputClass& one : p.classes) {
      for (const Path& path : one.paths) {
        if (!follows(path, p.space, input)) continue;
        ++paths;
        CHECK((path.outcome == Outcome::kLatency) == latency.has_value());
        if (!latency || path.outcome != Outcome::kLatency) continue;
        const auto times = evaluate(path.timing, p.space, input);
        CHECK(times[static_cast<std::size_t>(path.latency)] == *latency);
      }
    }
    CHECK(paths == 1);
    latencies.push_back(latency.value_or(-1));
    return true;
  });
  return latencies;
}

}  // namespace lpn

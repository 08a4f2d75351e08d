// Nets into larger ones: an instance is a copy of a net under a prefix, joined at places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lpn/net/net.h"

namespace lpn {

struct InstanceSpec {
  std::string prefix;  // "core0": place "p" of the part becomes "core0.p"
  // Per place of the part: the place of the net that it becomes, with the same properties.
  std::vector<std::optional<PlaceId>> connect;
  // Per parameter of the part: an expression over the net's parameters; none: a new parameter
  // "prefix.name" with the part's default and range.
  std::vector<std::optional<ExprId>> params;
  // The part's clock in ticks of the net: its transitions start on these edges, and their delays
  // and intervals count periods. A clock that a transition of the part has counts those, too.
  std::optional<Clock> clock = std::nullopt;
};

struct Instance {
  std::vector<PlaceId> places;  // per place of the part
  std::vector<TransitionId> transitions;
  std::vector<std::optional<std::uint32_t>> params;  // per parameter: the new one, if any
};

// Appends a copy of `part` to `net`. A connected place keeps the net's own start, done and sink; it
// gets the part's initial tokens after its own, the part's capacity when it has none, and must
// drain when either says so. The part's done_count is ignored.
// REQUIRES verify(part).empty(), and vectors as long as the part's; `net` is unchanged on error.
// Throws Error "E-connect" (other properties, two capacities), "E-duplicate" (a name is taken),
// "E-param" (a constant outside the parameter's range), "E-name" (prefix).
Instance add_instance(Net& net, const Net& part, const InstanceSpec& spec);

}  // namespace lpn

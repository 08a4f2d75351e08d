// A net as a dataflow graph: transitions are actors, places channels.
#pragma once

#include <optional>
#include <vector>

#include "lpn/net/marking.h"
#include "lpn/net/net.h"
#include "lpn/pi/dataflow.h"

namespace lpn::pi {

struct NetGraph {
  Dataflow graph;                              // an actor per transition
  std::vector<std::optional<PlaceId>> places;  // per channel; none: servers and intervals
};

// For nets as steady_state() takes them (steady.h), which are to be lowered. Throws as that does.
NetGraph net_graph(const Net& declared, const Net& lowered, const ParamValues& params,
                   const Marking& marking);

}  // namespace lpn::pi

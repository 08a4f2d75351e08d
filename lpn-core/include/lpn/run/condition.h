// A condition over the marking of a run: how many tokens are in places, and how many of them are
// free. What `lpn sim --until` and the breaks of `lpn debug` wait for.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lpn/net/net.h"

namespace lpn {

struct Condition {
  std::vector<PlaceId> places;
  // In the net's pool: occupancy(k) and free(k) are of places[k]; else it reads parameters only.
  ExprId holds{};
};

// Throws Error "E-condition" unless it is one of this net, its numbers included.
void require_condition(const Net& net, const Condition& condition);

// Whether it holds in a marking: `occupancy` and `free` of a place. REQUIRES require_condition.
// Throws Error "E-condition" where it cannot be computed.
bool holds(const Net& net, const ParamValues& params, const Condition& condition,
           const std::function<std::uint64_t(PlaceId)>& occupancy,
           const std::function<std::uint64_t(PlaceId)>& free);

}  // namespace lpn

// Places whose tokens are told apart: each taker wants those of which one term has its own value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "random_net.h"

namespace lpn::bench {

struct RandomRoute {
  PlaceId place{};
  std::uint32_t arc = 0;    // of each taker, on the place
  std::uint32_t field = 0;  // the property that the term reads, of the first token
  ExprId term{};
  std::vector<std::int64_t> properties;  // values of `field` for which there are to be takers
  std::vector<std::int64_t> values;      // those of `term`
  std::vector<std::optional<std::int64_t>> wanted;  // by takers to come; none: whatever else comes

  bool open() const { return !wanted.empty(); }
};

// REQUIRES that tokens of `place` have properties. Two to six values, with gaps or without, from
// anywhere on.
RandomRoute random_route(Net& net, PlaceId place, std::uint32_t arc, Random& random);

// The guard of the next taker, which is mostly the only one with it.
ExprId next_guard(ExprPool& pool, RandomRoute& route, Random& random);

}  // namespace lpn::bench

// Places that tell their tokens apart: each consumer takes those of which one term has a value of
// its own (`g.bank == 3`). Who comes into question for the first token is looked up by that value,
// and the others are not asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "lpn/net/net.h"
#include "write/event_infos.h"

namespace lpn::sim {

struct Route {
  std::uint32_t arc = 0;                         // of each member, on the place
  ExprId term{};                                 // reads the first token of that arc alone
  std::map<std::int64_t, std::uint32_t> member;  // by the value that it wants; none: no route

  bool there() const { return !member.empty(); }
};

// Per place. `fewest`: from how many members on it is worth it. Members are transitions that check
// the term before anything else that can fail, need one token for it, and see of the place no more
// than its first token.
std::vector<Route> find_routes(const Net& net, const std::vector<TransitionInfo>& infos,
                               std::size_t fewest);

// Input arcs of transition `k`, the first ones with a guard, whose guards are short, or a route's,
// and can be asked whenever the tokens are there that they read.
std::vector<std::uint32_t> early_guards(const Net& net, const TransitionInfo& info, std::size_t k);

}  // namespace lpn::sim

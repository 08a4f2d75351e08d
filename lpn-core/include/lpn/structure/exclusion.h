// Why the transitions that share a place never compete for its tokens, where that can be proved.
#pragma once

#include <cstdint>
#include <vector>

#include "lpn/expr/feasibility.h"
#include "lpn/net/net.h"
#include "lpn/structure/structure.h"

namespace lpn {

enum class Exclusion : std::uint8_t {
  kNone,    // nothing is proved: the order of declaration may decide
  kGuards,  // their guards exclude each other, as comparing conditions shows
  kSolver,  // likewise, but it took the solver
  kTokens,  // they never have the tokens that they need at once (invariants.h)
};

// One for each of conflicts(net, solver), which are `shared`. `net` as declared and valid; many
// consumers of one place are not compared by tokens.
std::vector<Exclusion> exclusions(const Net& net, const std::vector<Conflict>& shared,
                                  Feasibility* solver = nullptr);

}  // namespace lpn

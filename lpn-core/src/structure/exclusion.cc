#include "lpn/structure/exclusion.h"

#include <optional>

#include "lpn/net/lower.h"
#include "lpn/structure/invariants.h"

namespace lpn {
namespace {

constexpr std::size_t kMaxCompared = 32;  // every pair is

}  // namespace

std::vector<Exclusion> exclusions(const Net& net, const std::vector<Conflict>& shared,
                                  Feasibility* solver) {
  const Net lowered = lower(net);
  std::optional<Invariants> invariants;  // made when it is needed: that takes a while
  std::vector<Exclusion> found;
  for (const Conflict& conflict : shared) {
    Exclusion& why = found.emplace_back(Exclusion::kNone);
    if (conflict.router) {
      why = conflict.by_solver ? Exclusion::kSolver : Exclusion::kGuards;
    } else if (conflict.consumers.size() <= kMaxCompared) {
      if (!invariants) invariants.emplace(lowered, solver);
      if (invariants->mutually_exclusive(conflict.consumers)) why = Exclusion::kTokens;
    }
  }
  return found;
}

}  // namespace lpn

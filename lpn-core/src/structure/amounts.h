// How many tokens a firing takes and puts, as sums of formulas, with what its guards say of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lpn/base/wide.h"
#include "lpn/expr/feasibility.h"
#include "lpn/net/bounds.h"
#include "lpn/net/net.h"

namespace lpn {

// Initial counts and weights beyond this are no use.
constexpr std::int64_t kTooMany = std::int64_t{1} << 40;

// A number of tokens as constant + sum(factor * value of a formula). What becomes too large to be
// of use throws GiveUp (exact_lp.h).
struct Amount {
  std::int64_t constant = 0;
  std::map<ExprId, std::int64_t> atoms;

  void add(const Amount& other, std::int64_t factor);
  static std::int64_t checked(Wide value);
};

// The amounts of one transition, with what its guards say about them.
class Amounts {
 public:
  Amounts(const Net& net, TransitionId id, Feasibility* solver)
      : net_(net), transition_(net[id]), bounds_(net, &net[id]), solver_(solver) {
    for (const InputArc& arc : transition_.inputs) {
      if (arc.guard) conjuncts(arc.guard->id, false);
    }
  }

  // A weight or count: an error when negative, and then nothing more happens.
  Amount of(ExprId id);

  // Of an atom, as a part of an amount. Only one that is a whole weight or count may be negative
  // by its ranges, and that would be an error.
  Range range(ExprId id);

  // What several atoms can be at once: each way in which the guards hold and nothing fails, for
  // those atoms that read few values, or compare what they read with constants only. `together`
  // gets these atoms; never empty, so that no atoms are together in one way.
  std::vector<std::map<ExprId, std::int64_t>> modes(const std::set<ExprId>& atoms,
                                                    std::set<ExprId>& together);

  // The least number of tokens that an arc needs, or takes, of its place when it holds.
  std::int64_t least_needed(const InputArc& arc);
  std::int64_t least_taken(const InputArc& arc);

 private:
  std::int64_t lowest(const Amount& amount);

  // Conditions that hold, or fail, whenever the transition starts.
  void conjuncts(ExprId id, bool negated);

  // What the guards say about a condition, if that is plain.
  std::optional<bool> decided(ExprId id);
  std::optional<std::int64_t> constant(ExprId id);

  // Adds factor * id; false when a part may be negative, so that it says less than the whole.
  bool split(ExprId id, std::int64_t factor, Amount& into);

  bool atom(ExprId id, std::int64_t factor, Amount& into);

  // The only value a formula can have under the guards, by ranges, or as the solver says.
  std::optional<std::int64_t> settled(ExprId id);

  std::optional<std::int64_t> ask(ExprId id);

  const Net& net_;
  const Transition& transition_;
  NetBounds bounds_;
  Feasibility* solver_;
  std::map<ExprId, bool> facts_;          // conditions that guards decide
  std::map<ExprId, std::int64_t> fixed_;  // x of guards x == c
  std::map<ExprId, std::optional<std::int64_t>> settled_;
};

}  // namespace lpn

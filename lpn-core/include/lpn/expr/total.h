// Whether a formula always has a value, as far as ranges tell.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "lpn/expr/range.h"

namespace lpn {

// Of the formulas of a transition, or (null) of terms over the parameters; each is looked at once.
// Borrows the net, which must not change but for more nodes.
class Totality {
 public:
  Totality(const Net& net, const Transition* transition)
      : pool_(net.exprs), bounds_(net, transition) {}

  // Whether evaluating it neither fails nor leaves 64 bits. Every operand counts, also one that a
  // condition keeps from being evaluated.
  bool operator()(ExprId id);
  Range range(ExprId id) { return bounds_.of(id); }

 private:
  bool compute(const Node& node);

  const ExprPool& pool_;
  Bounds bounds_;
  std::unordered_map<std::uint32_t, bool> known_;
};

}  // namespace lpn

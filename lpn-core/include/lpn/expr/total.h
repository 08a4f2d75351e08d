// Whether a formula always has a value, as far as ranges tell.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "lpn/expr/range.h"

namespace lpn {

// Of the expressions of a pool; each is looked at once. Borrows the bounds.
class Totality {
 public:
  explicit Totality(Bounds& bounds) : bounds_(bounds) {}

  // Whether evaluating it neither fails nor leaves 64 bits. Every operand counts, also one that a
  // condition keeps from being evaluated.
  bool operator()(ExprId id);
  Range range(ExprId id) { return bounds_.of(id); }

 private:
  bool compute(const Node& node);

  Bounds& bounds_;
  std::unordered_map<std::uint32_t, bool> known_;
};

}  // namespace lpn

// Who says what holds for the inputs of a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lpn/classes/timing.h"
#include "lpn/expr/expr.h"

namespace lpn {

// Answers for all inputs of the path at once; where they differ it picks some, and the path is only
// about those from then on.
class Oracle {
 public:
  virtual ~Oracle() = default;
  virtual bool holds(ExprId condition) = 0;
  virtual bool holds(const Order& order) = 0;
  virtual bool fails(ExprId term) = 0;          // evaluating it
  virtual std::int64_t value(ExprId term) = 0;  // of an int term
  virtual void added(InstantId instant) = 0;    // to the path's timing
  // The position of one that is probably the earliest, to choose what is asked first.
  virtual std::size_t probably_first(const std::vector<InstantId>& instants) = 0;
};

// Times alone do not tell in which group something happens at an instant, and here it matters.
struct NeedsGroups {};

}  // namespace lpn

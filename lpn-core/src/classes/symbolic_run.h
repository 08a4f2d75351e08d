// One path of symbolic execution: what happens for the inputs on which an oracle's answers agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lpn/classes/differences.h"
#include "lpn/classes/timing.h"
#include "lpn/expr/total.h"
#include "lpn/net/net.h"

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

// `exact`: keep tokens without properties in their order too, and split at inhibited starts, so
// that groups are known. Throws NeedsGroups when that would have been necessary; Error
// "E-partition" for what cannot be executed, or when there are more than `max_firings`.
void execute(const Net& declared, const Net& lowered, InputSpace& space, Oracle& oracle,
             Totality& total, bool exact, std::uint64_t max_firings, Path& path,
             Differences& differences);

}  // namespace lpn

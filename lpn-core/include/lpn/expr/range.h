// Bounds of expressions, from declared ranges alone: what authoring and the lints know before any
// token exists. Sound, not tight: the value of an evaluation without error is within the bounds.
#pragma once

#include <unordered_map>

#include "lpn/net/net.h"

namespace lpn {

// Bounds of many expressions of one transition, each computed once. Borrows the net, which must
// not change meanwhile. `transition` gives the arcs their types; null: parameters only.
class Bounds {
 public:
  Bounds(const Net& net, const Transition* transition) : net_(&net), transition_(transition) {}

  // Inclusive bounds of an int expression, [0, 1] or narrower for a bool one. A value that would
  // leave 64 bits is an error at run time, so bounds are cut there.
  Range of(ExprId id);

 private:
  Range compute(const Node& n);
  Range read(const Node& n);
  Range needed(std::uint32_t arc);

  const Net* net_;
  const Transition* transition_;
  std::unordered_map<std::uint32_t, Range> done_;
};

// What an arithmetic operator or a comparison makes of operands within x and y (of one operand: x),
// before a result that leaves 64 bits becomes an error. Of a right operand only what lies in the
// operator's domain counts; when nothing does, any range.
WideRange exact_range(Op op, Range x, Range y);

// The same for a single expression.
Range bounds(const Net& net, const Transition* transition, ExprId id);

}  // namespace lpn

// Bounds of expressions, from the ranges of what they read. Sound, not tight: the value of an
// evaluation without error is within the bounds.
#pragma once

#include <unordered_map>

#include "lpn/base/integers.h"
#include "lpn/expr/expr.h"

namespace lpn {

// Bounds of many expressions of one pool, each computed once. What leaves may be is told by who
// knows them: NetBounds (net/bounds.h) of a net's formulas, TermBounds (terms.h) of terms. Borrows
// the pool, which may grow.
class Bounds {
 public:
  explicit Bounds(const ExprPool& pool) : pool_(&pool) {}
  virtual ~Bounds() = default;
  Bounds(const Bounds&) = default;
  Bounds& operator=(const Bounds&) = default;

  // Inclusive bounds of an int expression, [0, 1] or narrower for a bool one. A value that would
  // leave 64 bits is an error at run time, so bounds are cut there.
  Range of(ExprId id);

  const ExprPool& pool() const { return *pool_; }

 protected:
  virtual Range variable(std::uint32_t k) = 0;  // Op::kParam
  virtual Range read(const Node& leaf) = 0;     // Kind::kRun
  virtual Range needed(std::uint32_t arc) = 0;  // over how many tokens an aggregate runs, >= 0

 private:
  Range compute(const Node& n);

  const ExprPool* pool_;
  std::unordered_map<std::uint32_t, Range> done_;
};

// What an arithmetic operator or a comparison makes of operands within x and y (of one operand: x),
// before a result that leaves 64 bits becomes an error. Of a right operand only what lies in the
// operator's domain counts; when nothing does, any range.
WideRange exact_range(Op op, Range x, Range y);

}  // namespace lpn

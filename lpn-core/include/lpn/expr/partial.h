// What can go wrong when an operator is applied: the one answer for all who simplify, execute,
// generate code or prove.
#pragma once

#include <array>

#include "lpn/base/integers.h"
#include "lpn/expr/expr.h"

namespace lpn {

struct Partial {
  bool overflow = false;  // the result may leave 64 bits
  // It may have no value for its operands: a right operand outside the operator's domain, a
  // position outside a table, a false assumption, an extreme of no token, a token that is not
  // there.
  bool undefined = false;

  constexpr bool any() const { return overflow || undefined; }
};

// Of the node itself, its children having values within `kids`. Of tokens it knows only that the
// first one is there, which verify() and the run see to.
Partial partial(const ExprPool& pool, const Node& node, const std::array<Range, 3>& kids);

}  // namespace lpn

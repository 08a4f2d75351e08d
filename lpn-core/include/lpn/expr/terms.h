// Terms over integer variables: what questions to a solver and classes of inputs are made of.
//
// Parameter k of the pool stands for variable k; terms read nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lpn/base/integers.h"
#include "lpn/expr/expr.h"
#include "lpn/expr/range.h"

namespace lpn {

struct Variable {
  std::string name;  // for messages; names need not differ
  Range range;
};

struct Terms {
  ExprPool exprs;
  std::vector<Variable> variables;
};

// Borrows the terms: variables and nodes may be added, not taken away.
class TermBounds final : public Bounds {
 public:
  explicit TermBounds(const Terms& terms) : Bounds(terms.exprs), terms_(&terms) {}

 private:
  Range variable(std::uint32_t k) override;
  Range read(const Node& leaf) override;
  Range needed(std::uint32_t arc) override;

  const Terms* terms_;
};

}  // namespace lpn

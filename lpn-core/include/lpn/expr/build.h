// Expressions built with simplification: what authoring, instancing and rewriting use.
//
// A simplified expression has the value of the plain one and fails where the plain one fails:
// `x + 1 + 2` becomes `x + 3`, but `x + 3 - 1` stays, since its intermediate may overflow, and
// `0 * x` stays, since `x` may divide by zero. gt and ge are written as lt and le, so of two
// operands that both fail another one may fail first.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lpn/expr/expr.h"

namespace lpn {

// Borrows the pool. Every member throws Error "E-expr" like ExprPool::make.
class ExprBuilder {
 public:
  explicit ExprBuilder(ExprPool& pool) : pool_(pool) {}

  ExprId neg(ExprId x);
  ExprId abs(ExprId x);
  ExprId add(ExprId x, ExprId y);
  ExprId sub(ExprId x, ExprId y);
  ExprId mul(ExprId x, ExprId y);
  ExprId floor_div(ExprId x, ExprId y);
  ExprId ceil_div(ExprId x, ExprId y);
  ExprId mod(ExprId x, ExprId y);
  ExprId min(ExprId x, ExprId y);
  ExprId max(ExprId x, ExprId y);

  ExprId eq(ExprId x, ExprId y);
  ExprId ne(ExprId x, ExprId y);
  ExprId lt(ExprId x, ExprId y);
  ExprId le(ExprId x, ExprId y);
  ExprId gt(ExprId x, ExprId y) { return lt(y, x); }
  ExprId ge(ExprId x, ExprId y) { return le(y, x); }

  ExprId logical_not(ExprId x);
  ExprId logical_and(ExprId x, ExprId y);
  ExprId logical_or(ExprId x, ExprId y);
  ExprId select(ExprId condition, ExprId then, ExprId otherwise);
  ExprId lookup(const std::vector<std::int64_t>& table, ExprId x);
  ExprId assume(ExprId condition, ExprId value, const std::string& text);

  // An aggregate at nesting `depth`. Aggregates in the body that were built outside of it, at the
  // same depth or less, are moved to the depth at which they now stand.
  ExprId aggregate(Op op, std::uint32_t arc, std::uint32_t depth, ExprId body);

  ExprId to_int(ExprId x);   // bool -> 0 or 1; an int as it is
  ExprId to_bool(ExprId x);  // int -> x != 0; a bool as it is

  // The operator of `node` applied to its children, simplified; lookup and assume by their own
  // members above, since their immediates live in the pool.
  ExprId build(const Node& node);

  // Evaluating `id` can neither fail nor overflow, whatever the tokens are.
  bool total(ExprId id) const;

 private:
  bool constant(ExprId id, std::int64_t& value) const { return pool_.is_const(id, value); }
  bool is(ExprId id, Op op) const { return pool_[id].op == op; }
  ExprId kid(ExprId id, int k) const { return pool_[id].kids[static_cast<std::size_t>(k)]; }
  ExprId quotient(Op op, ExprId x, ExprId y);
  ExprId compare(Op op, ExprId x, ExprId y);
  ExprId nested(ExprId id, std::uint32_t depth, const std::vector<std::uint32_t>& depths);

  ExprPool& pool_;
};

// Copies `id` into another pool, or into the same one, simplifying as it goes. Parameter k becomes
// `params[k]`, an expression of `to`; arcs are renumbered when `arcs` is not empty.
ExprId substitute(const ExprPool& from, ExprId id, ExprPool& to, const std::vector<ExprId>& params,
                  const std::vector<std::uint32_t>& arcs = {});

}  // namespace lpn

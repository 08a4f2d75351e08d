#include "lpn/expr/build.h"

#include <algorithm>
#include <optional>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"
#include "lpn/expr/partial.h"

namespace lpn {
namespace {

// The value of an operator on constants; none where it is an error.
std::optional<std::int64_t> fold(Op op, std::int64_t x, std::int64_t y) {
  try {
    return apply_op(op, x, y);
  } catch (const EvalFault&) {
    return std::nullopt;
  }
}

}  // namespace

bool ExprBuilder::total(ExprId id) const {
  const Node& n = pool_[id];
  std::array<Range, 3> kids;
  for (int k = 0; k < op_info(n.op).arity; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (!total(n.kids[at])) return false;
    if (std::int64_t value = 0; constant(n.kids[at], value)) kids[at] = {value, value};
  }
  return !partial(pool_, n, kids).any();
}

ExprId ExprBuilder::neg(ExprId x) {
  std::int64_t value = 0;
  if (constant(x, value)) {
    if (auto folded = fold(Op::kNeg, value, 0)) return pool_.constant(*folded);
  }
  return pool_.unary(Op::kNeg, x);
}

ExprId ExprBuilder::abs(ExprId x) {
  std::int64_t value = 0;
  if (constant(x, value)) {
    if (auto folded = fold(Op::kAbs, value, 0)) return pool_.constant(*folded);
  }
  if (is(x, Op::kAbs) || is(x, Op::kOccupancy) || is(x, Op::kFree) || is(x, Op::kTaken)) return x;
  return pool_.unary(Op::kAbs, x);
}

ExprId ExprBuilder::add(ExprId x, ExprId y) {
  std::int64_t a = 0, b = 0, c = 0;
  const bool const_x = constant(x, a), const_y = constant(y, b);
  if (const_x && const_y) {
    if (auto value = fold(Op::kAdd, a, b)) return pool_.constant(*value);
  }
  if (const_y && b == 0 && pool_[x].type == Type::kInt) return x;
  if (const_x && a == 0 && pool_[y].type == Type::kInt) return y;
  // (z + c) + b and (c + z) + b: with b and c of one sign the sum passes through no value further
  // out.
  if (const_y && is(x, Op::kAdd)) {
    for (int k = 0; k < 2; ++k) {
      if (!constant(kid(x, k), c) || (b < 0) != (c < 0)) continue;
      const auto value = fold(Op::kAdd, c, b);
      if (!value) continue;
      const ExprId sum = pool_.constant(*value);
      return k == 0 ? add(sum, kid(x, 1)) : add(kid(x, 0), sum);
    }
  }
  return pool_.binary(Op::kAdd, x, y);
}

ExprId ExprBuilder::sub(ExprId x, ExprId y) {
  std::int64_t a = 0, b = 0, c = 0;
  const bool const_y = constant(y, b);
  if (const_y && constant(x, a)) {
    if (auto value = fold(Op::kSub, a, b)) return pool_.constant(*value);
  }
  if (const_y && b == 0 && pool_[x].type == Type::kInt) return x;
  if (const_y && is(x, Op::kSub) && constant(kid(x, 1), c) && (b < 0) == (c < 0)) {
    if (auto value = fold(Op::kAdd, c, b)) return sub(kid(x, 0), pool_.constant(*value));
  }
  if (x == y && total(x)) return pool_.constant(0);
  return pool_.binary(Op::kSub, x, y);
}

ExprId ExprBuilder::mul(ExprId x, ExprId y) {
  std::int64_t a = 0, b = 0, c = 0;
  const bool const_x = constant(x, a), const_y = constant(y, b);
  if (const_x && const_y) {
    if (auto value = fold(Op::kMul, a, b)) return pool_.constant(*value);
  }
  if (const_y && b == 1 && pool_[x].type == Type::kInt) return x;
  if (const_x && a == 1 && pool_[y].type == Type::kInt) return y;
  if ((const_y && b == 0 && total(x)) || (const_x && a == 0 && total(y))) return pool_.constant(0);
  if (const_y && b >= 1 && is(x, Op::kMul)) {
    for (int k = 0; k < 2; ++k) {
      if (!constant(kid(x, k), c) || c < 1) continue;
      const auto value = fold(Op::kMul, c, b);
      if (!value) continue;
      const ExprId product = pool_.constant(*value);
      return k == 0 ? mul(product, kid(x, 1)) : mul(kid(x, 0), product);
    }
  }
  return pool_.binary(Op::kMul, x, y);
}

ExprId ExprBuilder::quotient(Op op, ExprId x, ExprId y) {
  std::int64_t a = 0, b = 0;
  if (constant(y, b)) {
    if (constant(x, a)) {
      if (auto value = fold(op, a, b)) return pool_.constant(*value);
    }
    if (b == 1 && pool_[x].type == Type::kInt) return x;
  }
  return pool_.binary(op, x, y);
}

ExprId ExprBuilder::floor_div(ExprId x, ExprId y) { return quotient(Op::kFloorDiv, x, y); }
ExprId ExprBuilder::ceil_div(ExprId x, ExprId y) { return quotient(Op::kCeilDiv, x, y); }

ExprId ExprBuilder::mod(ExprId x, ExprId y) {
  std::int64_t a = 0, b = 0;
  if (constant(y, b)) {
    if (constant(x, a)) {
      if (auto value = fold(Op::kMod, a, b)) return pool_.constant(*value);
    }
    if (b == 1 && total(x)) return pool_.constant(0);
    // (z % b) % b
    if (b > 0 && is(x, Op::kMod) && kid(x, 1) == y) return x;
  }
  return pool_.binary(Op::kMod, x, y);
}

ExprId ExprBuilder::min(ExprId x, ExprId y) {
  std::int64_t a = 0, b = 0;
  if (constant(x, a) && constant(y, b)) return pool_.constant(a < b ? a : b);
  if (x == y && pool_[x].type == Type::kInt) return x;
  return pool_.binary(Op::kMin, x, y);
}

ExprId ExprBuilder::max(ExprId x, ExprId y) {
  std::int64_t a = 0, b = 0;
  if (constant(x, a) && constant(y, b)) return pool_.constant(a < b ? b : a);
  if (x == y && pool_[x].type == Type::kInt) return x;
  return pool_.binary(Op::kMax, x, y);
}

ExprId ExprBuilder::compare(Op op, ExprId x, ExprId y) {
  std::int64_t a = 0, b = 0;
  if (constant(x, a) && constant(y, b)) return pool_.boolean(*fold(op, a, b) != 0);
  if (x == y && total(x) && pool_[x].type == Type::kInt) {
    return pool_.boolean(op == Op::kEq || op == Op::kLe);
  }
  // A choice between constants compared with a constant: 0/1 made of a bool, tested again.
  const bool left = constant(y, b) && is(x, Op::kSelect);
  if (left || (constant(x, b) && is(y, Op::kSelect))) {
    const ExprId choice = left ? x : y;
    std::int64_t then = 0, otherwise = 0;
    if (constant(kid(choice, 1), then) && constant(kid(choice, 2), otherwise)) {
      const bool if_then = *fold(op, left ? then : b, left ? b : then) != 0;
      const bool if_else = *fold(op, left ? otherwise : b, left ? b : otherwise) != 0;
      return select(kid(choice, 0), pool_.boolean(if_then), pool_.boolean(if_else));
    }
  }
  return pool_.binary(op, x, y);
}

ExprId ExprBuilder::eq(ExprId x, ExprId y) { return compare(Op::kEq, x, y); }
ExprId ExprBuilder::ne(ExprId x, ExprId y) { return compare(Op::kNe, x, y); }
ExprId ExprBuilder::lt(ExprId x, ExprId y) { return compare(Op::kLt, x, y); }
ExprId ExprBuilder::le(ExprId x, ExprId y) { return compare(Op::kLe, x, y); }

ExprId ExprBuilder::logical_not(ExprId x) {
  if (is(x, Op::kTrue)) return pool_.boolean(false);
  if (is(x, Op::kFalse)) return pool_.boolean(true);
  if (is(x, Op::kNot)) return kid(x, 0);
  if (is(x, Op::kEq)) return ne(kid(x, 0), kid(x, 1));
  if (is(x, Op::kNe)) return eq(kid(x, 0), kid(x, 1));
  if (is(x, Op::kLt)) return le(kid(x, 1), kid(x, 0));
  if (is(x, Op::kLe)) return lt(kid(x, 1), kid(x, 0));
  return pool_.unary(Op::kNot, x);
}

ExprId ExprBuilder::logical_and(ExprId x, ExprId y) {
  if (is(x, Op::kFalse)) return x;
  if (is(x, Op::kTrue) && pool_[y].type == Type::kBool) return y;
  if (pool_[x].type == Type::kBool) {
    if (is(y, Op::kTrue) || x == y) return x;
    if (is(y, Op::kFalse) && total(x)) return y;
  }
  return pool_.binary(Op::kAnd, x, y);
}

ExprId ExprBuilder::logical_or(ExprId x, ExprId y) {
  if (is(x, Op::kTrue)) return x;
  if (is(x, Op::kFalse) && pool_[y].type == Type::kBool) return y;
  if (pool_[x].type == Type::kBool) {
    if (is(y, Op::kFalse) || x == y) return x;
    if (is(y, Op::kTrue) && total(x)) return y;
  }
  return pool_.binary(Op::kOr, x, y);
}

ExprId ExprBuilder::select(ExprId condition, ExprId then, ExprId otherwise) {
  if (pool_[condition].type != Type::kBool || pool_[then].type != pool_[otherwise].type) {
    return pool_.select(condition, then, otherwise);  // throws
  }
  if (is(condition, Op::kTrue)) return then;
  if (is(condition, Op::kFalse)) return otherwise;
  if (is(condition, Op::kNot)) return select(kid(condition, 0), otherwise, then);
  // The same question again on either side is answered.
  if (is(then, Op::kSelect) && kid(then, 0) == condition) then = kid(then, 1);
  if (is(otherwise, Op::kSelect) && kid(otherwise, 0) == condition) otherwise = kid(otherwise, 2);
  // So is the condition itself: `a or b` gives `a` where `a` holds.
  if (then == condition) then = pool_.boolean(true);
  if (otherwise == condition) otherwise = pool_.boolean(false);
  if (then == otherwise && total(condition)) return then;
  if (pool_[then].type == Type::kBool) {
    if (is(then, Op::kTrue)) return logical_or(condition, otherwise);
    if (is(otherwise, Op::kFalse)) return logical_and(condition, then);
    if (is(then, Op::kFalse)) return logical_and(logical_not(condition), otherwise);
    if (is(otherwise, Op::kTrue)) return logical_or(logical_not(condition), then);
    return pool_.select(condition, then, otherwise);
  }
  if (is(condition, Op::kLt) || is(condition, Op::kLe)) {
    const ExprId x = kid(condition, 0), y = kid(condition, 1);
    // Python's min(y, x) asks x < y, its max(x, y) too: the author's order.
    if (then == x && otherwise == y) return min(y, x);
    if (then == y && otherwise == x) return max(x, y);
  }
  // select(c, a, select(d, a, b)) = select(c or d, a, b): how `if c or d` folds.
  if (is(otherwise, Op::kSelect) && kid(otherwise, 1) == then) {
    return select(logical_or(condition, kid(otherwise, 0)), then, kid(otherwise, 2));
  }
  // select(c, select(d, a, b), b) = select(c and d, a, b): how `if c and d` folds.
  if (is(then, Op::kSelect) && kid(then, 2) == otherwise) {
    return select(logical_and(condition, kid(then, 0)), kid(then, 1), otherwise);
  }
  return pool_.select(condition, then, otherwise);
}

ExprId ExprBuilder::lookup(const std::vector<std::int64_t>& table, ExprId x) {
  std::int64_t at = 0;
  if (constant(x, at) && at >= 0 && static_cast<std::uint64_t>(at) < table.size()) {
    return pool_.constant(table[static_cast<std::size_t>(at)]);
  }
  return pool_.lookup(table, x);
}

ExprId ExprBuilder::assume(ExprId condition, ExprId value, const std::string& text) {
  if (is(condition, Op::kTrue)) return value;
  // One assert over several conditions leaves one assumption each; all say the same.
  if (is(value, Op::kAssume) && pool_.text(pool_[value].a) == text) {
    return assume(logical_and(condition, kid(value, 0)), kid(value, 1), text);
  }
  return pool_.assume(condition, value, text);
}

ExprId ExprBuilder::aggregate(Op op, std::uint32_t arc, std::uint32_t depth, ExprId body) {
  std::vector<std::uint32_t> depths;
  for (std::uint32_t k = 0; k <= depth; ++k) depths.push_back(k);
  return pool_.aggregate(op, arc, depth, nested(body, depth + 1, depths));
}

// `id` as it stands inside aggregates 0..depth-1. `depths`: for each aggregate around it when it
// was built, where that is now.
ExprId ExprBuilder::nested(ExprId id, std::uint32_t depth,
                           const std::vector<std::uint32_t>& depths) {
  Node n = pool_[id];
  const Node before = n;
  if (n.op == Op::kBound) {
    if (n.a < depths.size()) n.a = depths[n.a];
  } else if (kind_of(n.op) == Kind::kAggregate) {
    std::vector<std::uint32_t> inner(depths.begin(),
                                     depths.begin() + std::min<std::size_t>(n.b, depths.size()));
    inner.resize(n.b + 1, depth);
    n.b = depth;
    n.kids[0] = nested(n.kids[0], depth + 1, inner);
  } else {
    for (int k = 0; k < op_info(n.op).arity; ++k) {
      auto& kid = n.kids[static_cast<std::size_t>(k)];
      kid = nested(kid, depth, depths);
    }
  }
  return n == before ? id : pool_.make(n);
}

ExprId ExprBuilder::to_int(ExprId x) {
  if (pool_[x].type == Type::kInt) return x;
  return select(x, pool_.constant(1), pool_.constant(0));
}

ExprId ExprBuilder::to_bool(ExprId x) {
  if (pool_[x].type == Type::kBool) return x;
  return ne(x, pool_.constant(0));
}

namespace {

// An operator on bits. Shifts by a constant and masks of low bits are arithmetic, which more is
// known of.
ExprId bits(ExprBuilder& build, ExprPool& pool, Op op, ExprId x, ExprId y) {
  const bool binary = op_info(op).arity == 2;
  std::int64_t a = 0, b = 0;
  const bool const_x = pool.is_const(x, a), const_y = binary && pool.is_const(y, b);
  if (const_x && (const_y || !binary)) {
    if (auto value = fold(op, a, b)) return pool.constant(*value);
  }
  if (!binary) return pool[x].op == op ? pool[x].kids[0] : pool.unary(op, x);
  if (pool[x].type != Type::kInt || pool[y].type != Type::kInt) return pool.binary(op, x, y);
  if (op == Op::kShiftLeft || op == Op::kShiftRight) {
    if (!const_y || b < 0 || b > 62) return pool.binary(op, x, y);
    const ExprId power = pool.constant(std::int64_t{1} << b);
    return op == Op::kShiftLeft ? build.mul(x, power) : build.floor_div(x, power);
  }
  if (const_x && !const_y) return bits(build, pool, op, y, x);
  if (x == y) {
    if (op != Op::kBitXor) return x;
    if (build.total(x)) return pool.constant(0);
  }
  if (!const_y) return pool.binary(op, x, y);
  if (b == 0 && op != Op::kBitAnd) return x;
  if (op == Op::kBitAnd) {
    if (b == -1) return x;
    if (b == 0 && build.total(x)) return y;
    if (b > 0 && b < std::numeric_limits<std::int64_t>::max() && (b & (b + 1)) == 0) {
      return build.mod(x, pool.constant(b + 1));
    }
  }
  return pool.binary(op, x, y);
}

}  // namespace

ExprId ExprBuilder::build(const Node& n) {
  const ExprId x = n.kids[0], y = n.kids[1];
  switch (n.op) {
    case Op::kNeg: return neg(x);
    case Op::kAbs: return abs(x);
    case Op::kAdd: return add(x, y);
    case Op::kSub: return sub(x, y);
    case Op::kMul: return mul(x, y);
    case Op::kFloorDiv: return floor_div(x, y);
    case Op::kCeilDiv: return ceil_div(x, y);
    case Op::kMod: return mod(x, y);
    case Op::kMin: return min(x, y);
    case Op::kMax: return max(x, y);
    case Op::kBitNot:
    case Op::kBitAnd:
    case Op::kBitXor:
    case Op::kBitOr:
    case Op::kShiftLeft:
    case Op::kShiftRight: return bits(*this, pool_, n.op, x, y);
    case Op::kEq: return eq(x, y);
    case Op::kNe: return ne(x, y);
    case Op::kLt: return lt(x, y);
    case Op::kLe: return le(x, y);
    case Op::kNot: return logical_not(x);
    case Op::kAnd: return logical_and(x, y);
    case Op::kOr: return logical_or(x, y);
    case Op::kSelect: return select(x, y, n.kids[2]);
    case Op::kLookup:
    case Op::kAssume: LPN_ASSERT(false && "by their own members"); return x;
    case Op::kConst:
    case Op::kTrue:
    case Op::kFalse:
    case Op::kParam:
    case Op::kToken:
    case Op::kIndex:
    case Op::kBound:
    case Op::kOccupancy:
    case Op::kFree:
    case Op::kTaken:
    case Op::kSum:
    case Op::kMinOf:
    case Op::kMaxOf: return pool_.make(n);
  }
  return x;
}

namespace {

struct Substitution {
  const ExprPool& from;
  ExprPool& to;
  const std::vector<ExprId>& params;
  const std::vector<std::uint32_t>& arcs;
  std::unordered_map<std::uint32_t, ExprId> done{};

  ExprId operator()(ExprId id) {
    const auto key = static_cast<std::uint32_t>(id);
    if (auto it = done.find(key); it != done.end()) return it->second;
    Node n = from[id];  // a copy: `to` may be the same pool and grow
    for (int k = 0; k < op_info(n.op).arity; ++k) {
      auto& kid = n.kids[static_cast<std::size_t>(k)];
      kid = (*this)(kid);
    }
    ExprBuilder builder(to);
    ExprId copy{};
    if (n.op == Op::kParam) {
      copy = params.at(n.a);
    } else if (n.op == Op::kLookup) {
      const std::vector<std::int64_t> table = from.table(n.a);
      copy = builder.lookup(table, n.kids[0]);
    } else if (n.op == Op::kAssume) {
      const std::string text = from.text(n.a);
      copy = builder.assume(n.kids[0], n.kids[1], text);
    } else {
      if (names_arc(n.op) && !arcs.empty()) n.a = arcs.at(n.a);
      copy = builder.build(n);
    }
    done.emplace(key, copy);
    return copy;
  }
};

}  // namespace

ExprId substitute(const ExprPool& from, ExprId id, ExprPool& to, const std::vector<ExprId>& params,
                  const std::vector<std::uint32_t>& arcs) {
  return Substitution{from, to, params, arcs}(id);
}

}  // namespace lpn

// The meaning of expressions, executable: exact 64-bit arithmetic, lazy select/and/or.
#pragma once

#include <array>
#include <cstdint>

#include "lpn/base/error.h"
#include "lpn/base/fault.h"
#include "lpn/expr/expr.h"

namespace lpn {

// Division by a positive divisor, rounded towards minus and plus infinity.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b) < 0 ? 1 : 0);
}
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + ((a % b) > 0 ? 1 : 0);
}
inline std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  const std::int64_t r = a % b;
  return r < 0 ? r + b : r;
}

// Computes one operator on already evaluated children; booleans are 0 and 1. The lazy operators
// and the leaves are not for this function. Throws EvalFault.
inline std::int64_t apply_op(Op op, std::int64_t x, std::int64_t y) {
  std::int64_t r = 0;
  const auto checked = [&r](bool overflow) {
    if (overflow) throw EvalFault{Fault::kOverflow};
    return r;
  };
  // The right operand, where it is in the operator's domain.
  const auto right = [op, y] {
    const DomainInfo& domain = domain_of(op);
    if (y < domain.range.lo || y > domain.range.hi) throw EvalFault{domain.fault, y};
    return y;
  };
  switch (op) {
    case Op::kNeg: return checked(__builtin_sub_overflow(std::int64_t{0}, x, &r));
    case Op::kAbs: return x >= 0 ? x : checked(__builtin_sub_overflow(std::int64_t{0}, x, &r));
    case Op::kAdd: return checked(__builtin_add_overflow(x, y, &r));
    case Op::kSub: return checked(__builtin_sub_overflow(x, y, &r));
    case Op::kMul: return checked(__builtin_mul_overflow(x, y, &r));
    case Op::kFloorDiv: return floor_div(x, right());
    case Op::kCeilDiv: return ceil_div(x, right());
    case Op::kMod: return floor_mod(x, right());
    case Op::kMin: return x < y ? x : y;
    case Op::kMax: return x > y ? x : y;
    case Op::kBitNot: return ~x;
    case Op::kBitAnd: return x & y;
    case Op::kBitXor: return x ^ y;
    case Op::kBitOr: return x | y;
    case Op::kShiftLeft: {
      const Wide exact = Wide{x} * (Wide{1} << right());
      r = static_cast<std::int64_t>(exact);
      return checked(r != exact);
    }
    case Op::kShiftRight: return x >> right();
    case Op::kEq: return x == y;
    case Op::kNe: return x != y;
    case Op::kLt: return x < y;
    case Op::kLe: return x <= y;
    case Op::kNot: return !x;
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
    case Op::kAnd:
    case Op::kOr:
    case Op::kSelect:
    case Op::kLookup:
    case Op::kAssume:
    case Op::kSum:
    case Op::kMinOf:
    case Op::kMaxOf: break;
  }
  LPN_ASSERT(!"operator with children");
  return 0;
}

// What an expression is evaluated in. An Env provides
//   int64 param(u32) · int64 token(u32 arc, u32 field, int64 which) (throws kTokenIndex)
//   int64 occupancy(u32 arc), free(u32 arc), taken(u32 arc), needed(u32 arc)
// and the members `index` and `bound` below. One that keeps values of expressions that are asked
// for again has also
//   bool recall(ExprId, int64& value) · void keep(ExprId, int64 value)
struct EvalScope {
  std::int64_t index = 0;
  std::array<std::int64_t, kMaxNesting> bound{};
};

template <typename Env>
std::int64_t eval(const ExprPool& pool, ExprId id, Env& env);

template <typename Env>
std::int64_t eval_node(const ExprPool& pool, ExprId id, Env& env) {
  const Node& n = pool[id];
  switch (n.op) {
    case Op::kConst: return n.value;
    case Op::kTrue: return 1;
    case Op::kFalse: return 0;
    case Op::kParam: return env.param(n.a);
    case Op::kToken: return env.token(n.a, n.b, eval(pool, n.kids[0], env));
    case Op::kIndex: return env.index;
    case Op::kBound: return env.bound[n.a];
    case Op::kOccupancy: return env.occupancy(n.a);
    case Op::kFree: return env.free(n.a);
    case Op::kTaken: return env.taken(n.a);
    case Op::kNeg:
    case Op::kAbs:
    case Op::kBitNot:
    case Op::kNot: return apply_op(n.op, eval(pool, n.kids[0], env), 0);
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kFloorDiv:
    case Op::kCeilDiv:
    case Op::kMod:
    case Op::kMin:
    case Op::kMax:
    case Op::kBitAnd:
    case Op::kBitXor:
    case Op::kBitOr:
    case Op::kShiftLeft:
    case Op::kShiftRight:
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe: {
      const std::int64_t x = eval(pool, n.kids[0], env);
      return apply_op(n.op, x, eval(pool, n.kids[1], env));
    }
    case Op::kAnd: return eval(pool, n.kids[0], env) ? eval(pool, n.kids[1], env) : 0;
    case Op::kOr: return eval(pool, n.kids[0], env) ? 1 : eval(pool, n.kids[1], env);
    case Op::kSelect: return eval(pool, n.kids[eval(pool, n.kids[0], env) ? 1 : 2], env);
    case Op::kLookup: {
      const auto& table = pool.table(n.a);
      const std::int64_t x = eval(pool, n.kids[0], env);
      if (x < 0 || x >= static_cast<std::int64_t>(table.size())) throw EvalFault{Fault::kLookup, x};
      return table[static_cast<std::size_t>(x)];
    }
    case Op::kAssume:
      if (!eval(pool, n.kids[0], env)) throw EvalFault{Fault::kAssume, n.a};
      return eval(pool, n.kids[1], env);
    case Op::kSum:
    case Op::kMinOf:
    case Op::kMaxOf: {
      const std::int64_t count = env.needed(n.a);
      if (n.op != Op::kSum && count == 0) throw EvalFault{Fault::kEmpty};
      std::int64_t total = 0;
      for (std::int64_t k = 0; k < count; ++k) {
        env.bound[n.b] = k;
        const std::int64_t x = eval(pool, n.kids[0], env);
        if (n.op == Op::kSum)
          total = apply_op(Op::kAdd, total, x);
        else if (k == 0)
          total = x;
        else
          total = apply_op(n.op == Op::kMinOf ? Op::kMin : Op::kMax, total, x);
      }
      return total;
    }
  }
  LPN_ASSERT(!"known operator");
  return 0;
}

template <typename Env>
std::int64_t eval(const ExprPool& pool, ExprId id, Env& env) {
  if constexpr (requires(std::int64_t & value) { env.recall(id, value); }) {
    std::int64_t value = 0;
    if (env.recall(id, value)) return value;
    value = eval_node(pool, id, env);
    env.keep(id, value);
    return value;
  } else {
    return eval_node(pool, id, env);
  }
}

// Evaluates an expression over parameters only (capacity, servers, initial counts, ...); `index`
// for an initial token's fields. Throws EvalFault.
std::int64_t eval_params(const ExprPool& pool, ExprId id, const ParamValues& params,
                         std::int64_t index = 0);

}  // namespace lpn

// What a formula is worth: exact values, or the first fault.
#include "lpn/expr/eval.h"

#include <doctest/doctest.h>

#include <limits>
#include <utility>

namespace lpn {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct Formulas {
  ExprPool pool;
  ExprId c(std::int64_t value) { return pool.constant(value); }
  std::int64_t value(ExprId id) { return eval_params(pool, id, {}); }
  EvalFault fault(ExprId id) {
    try {
      value(id);
    } catch (const EvalFault& fault) {
      return fault;
    }
    FAIL("has a value");
    return EvalFault{Fault::kOverflow};
  }
  // Fails when it is evaluated at all.
  ExprId bomb() { return pool.binary(Op::kFloorDiv, c(1), c(0)); }
};

TEST_CASE("eval: division rounds down, or up, whatever the sign") {
  CHECK(apply_op(Op::kFloorDiv, -7, 2) == -4);
  CHECK(apply_op(Op::kCeilDiv, -7, 2) == -3);
  CHECK(apply_op(Op::kMod, -7, 2) == 1);
  CHECK(apply_op(Op::kFloorDiv, 7, 2) == 3);
  CHECK(apply_op(Op::kCeilDiv, 7, 2) == 4);
  CHECK(apply_op(Op::kFloorDiv, kLeast, 1) == kLeast);
  CHECK(apply_op(Op::kMod, kLeast, kMost) == kMost - 1);
}

TEST_CASE("eval: what leaves 64 bits is an error, however the final value would look") {
  Formulas f;
  CHECK(f.fault(f.pool.unary(Op::kNeg, f.c(kLeast))).fault == Fault::kOverflow);
  CHECK(f.fault(f.pool.unary(Op::kAbs, f.c(kLeast))).fault == Fault::kOverflow);
  CHECK(f.fault(f.pool.binary(Op::kMul, f.c(1LL << 62), f.c(2))).fault == Fault::kOverflow);
  CHECK(f.value(f.pool.binary(Op::kMul, f.c(-(1LL << 62)), f.c(2))) == kLeast);
  const ExprId beyond = f.pool.binary(Op::kAdd, f.c(kMost), f.c(1));
  CHECK(f.fault(f.pool.binary(Op::kSub, beyond, f.c(1))).fault == Fault::kOverflow);
}

TEST_CASE("eval: a divisor or a shift outside of its domain is named with its value") {
  Formulas f;
  for (const Op op : {Op::kFloorDiv, Op::kCeilDiv, Op::kMod}) {
    const EvalFault fault = f.fault(f.pool.binary(op, f.c(5), f.c(-3)));
    CHECK(fault.fault == Fault::kDivisor);
    CHECK(fault.value == -3);
  }
  for (const Op op : {Op::kShiftLeft, Op::kShiftRight}) {
    CHECK(f.fault(f.pool.binary(op, f.c(0), f.c(64))).fault == Fault::kShift);
    CHECK(f.fault(f.pool.binary(op, f.c(0), f.c(-1))).value == -1);
  }
  CHECK(f.value(f.pool.binary(Op::kShiftLeft, f.c(-1), f.c(63))) == kLeast);
  CHECK(f.fault(f.pool.binary(Op::kShiftLeft, f.c(1), f.c(63))).fault == Fault::kOverflow);
  CHECK(f.value(f.pool.binary(Op::kShiftRight, f.c(-5), f.c(1))) == -3);
}

TEST_CASE("eval: select, and, or look only at the side that decides") {
  Formulas f;
  const ExprId yes = f.pool.boolean(true), no = f.pool.boolean(false);
  CHECK(f.value(f.pool.select(yes, f.c(1), f.bomb())) == 1);
  CHECK(f.value(f.pool.select(no, f.bomb(), f.c(2))) == 2);
  const ExprId fails = f.pool.binary(Op::kLt, f.bomb(), f.c(1));
  CHECK(f.value(f.pool.binary(Op::kAnd, no, fails)) == 0);
  CHECK(f.value(f.pool.binary(Op::kOr, yes, fails)) == 1);
  CHECK(f.fault(f.pool.binary(Op::kAnd, yes, fails)).fault == Fault::kDivisor);
  CHECK(f.fault(f.pool.binary(Op::kOr, no, fails)).fault == Fault::kDivisor);
  CHECK(f.fault(f.pool.binary(Op::kAnd, fails, no)).fault == Fault::kDivisor);
}

TEST_CASE("eval: operands from left to right, and the first error counts") {
  Formulas f;
  const ExprId shift = f.pool.binary(Op::kShiftRight, f.c(1), f.c(99));
  CHECK(f.fault(f.pool.binary(Op::kAdd, shift, f.bomb())).fault == Fault::kShift);
  CHECK(f.fault(f.pool.binary(Op::kAdd, f.bomb(), shift)).fault == Fault::kDivisor);
}

TEST_CASE("eval: a table has its entries and nothing else; an assumption its value") {
  Formulas f;
  CHECK(f.value(f.pool.lookup({4, 5}, f.c(1))) == 5);
  CHECK(f.fault(f.pool.lookup({4, 5}, f.c(2))).value == 2);
  CHECK(f.fault(f.pool.lookup({4, 5}, f.c(-1))).fault == Fault::kLookup);
  CHECK(f.value(f.pool.assume(f.pool.boolean(true), f.c(3), "x")) == 3);
  CHECK(f.fault(f.pool.assume(f.pool.boolean(false), f.bomb(), "x")).fault == Fault::kAssume);
}

// Three tokens 3, 1, 2 on arc 0, none on arc 1.
struct Tokens : EvalScope {
  std::int64_t param(std::uint32_t) const { return 0; }
  std::int64_t token(std::uint32_t, std::uint32_t, std::int64_t which) const {
    if (which < 0 || which > 2) throw EvalFault{Fault::kTokenIndex, which};
    return std::array{3, 1, 2}[static_cast<std::size_t>(which)];
  }
  std::int64_t occupancy(std::uint32_t) const { return 0; }
  std::int64_t free(std::uint32_t) const { return 0; }
  std::int64_t taken(std::uint32_t) const { return 0; }
  std::int64_t needed(std::uint32_t arc) const { return arc == 0 ? 3 : 0; }
};

TEST_CASE("eval: aggregates run over the needed tokens") {
  ExprPool pool;
  Tokens tokens;
  for (const auto& [op, value] : {std::pair{Op::kSum, 6}, {Op::kMinOf, 1}, {Op::kMaxOf, 3}}) {
    const ExprId body = pool.token(0, 0, pool.bound(0));
    CHECK(eval(pool, pool.aggregate(op, 0, 0, body), tokens) == value);
  }
  const ExprId none = pool.token(1, 0, pool.bound(0));
  CHECK(eval(pool, pool.aggregate(Op::kSum, 1, 0, none), tokens) == 0);
  CHECK_THROWS_AS(eval(pool, pool.aggregate(Op::kMinOf, 1, 0, none), tokens), EvalFault);
}

}  // namespace
}  // namespace lpn

// What can go wrong when an operator is applied, and that the table agrees with it.
#include "lpn/expr/partial.h"

#include <doctest/doctest.h>

#include "lpn/expr/eval.h"
#include "lpn/expr/range.h"
#include "lpn/expr/total.h"
#include "lpn/net/bounds.h"
#include "lpn/net/net.h"

namespace lpn {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

struct Pool {
  ExprPool pool;
  Partial of(Op op, Range x, Range y) {
    const ExprId p = pool.param(0);
    return partial(pool, {.op = op, .kids = {p, p}}, {x, y, Range{}});
  }
};

TEST_CASE("partial: an overflow or an operand outside of the domain, by ranges") {
  Pool p;
  CHECK_FALSE(p.of(Op::kAdd, {0, kMost - 1}, {0, 1}).any());
  CHECK(p.of(Op::kAdd, {0, kMost}, {0, 1}).overflow);
  CHECK_FALSE(p.of(Op::kFloorDiv, {}, {1, 9}).any());
  CHECK(p.of(Op::kFloorDiv, {}, {0, 9}).undefined);
  CHECK_FALSE(p.of(Op::kShiftLeft, {-1, 1}, {0, 62}).any());
  CHECK(p.of(Op::kShiftLeft, {-1, 1}, {0, 63}).overflow);
  CHECK_FALSE(p.of(Op::kShiftLeft, {-1, 0}, {0, 63}).any());
  CHECK(p.of(Op::kShiftRight, {}, {0, 64}).undefined);
  CHECK_FALSE(p.of(Op::kShiftRight, {}, {0, 63}).any());
  CHECK_FALSE(p.of(Op::kBitXor, {}, {}).any());
}

TEST_CASE("partial: an operator without a checked form never fails") {
  Pool p;
  const ExprId x = p.pool.param(0);
  for (std::size_t k = 0; k < kOps.size(); ++k) {
    const OpInfo& info = kOps[k];
    if (info.kind != Kind::kArithmetic && info.kind != Kind::kComparison) continue;
    const Partial any = partial(p.pool, {.op = static_cast<Op>(k), .kids = {x, x}}, {});
    CAPTURE(info.text);
    CHECK(any.any() == !info.checked.empty());
  }
}

TEST_CASE("partial: every value lies in the exact range, also of bits below 0") {
  constexpr Range kSome[] = {{0, 5}, {-6, 3}, {-4, -1}, {7, 7}, {-8, -8}, {0, 0}, {1, 8}};
  for (std::size_t k = 0; k < kOps.size(); ++k) {
    const Op op = static_cast<Op>(k);
    if (kOps[k].kind != Kind::kArithmetic) continue;
    for (const Range x : kSome) {
      for (const Range y : kSome) {
        const WideRange range = exact_range(op, x, y);
        for (std::int64_t a = x.lo; a <= x.hi; ++a) {
          for (std::int64_t b = y.lo; b <= y.hi; ++b) {
            const Range domain = domain_of(op).range;
            if (kOps[k].arity == 2 && (b < domain.lo || b > domain.hi)) continue;
            const std::int64_t value = apply_op(op, a, b);
            CAPTURE(kOps[k].text);
            CAPTURE(a);
            CAPTURE(b);
            CHECK((value >= range.lo && value <= range.hi));
          }
        }
      }
    }
  }
}

TEST_CASE("partial: a formula is total when each of its nodes is") {
  Net net;
  net.params = {{"x", 0, Range{0, 9}, {}}, {"y", 0, std::nullopt, {}}};
  ExprPool& pool = net.exprs;
  const ExprId x = pool.param(0), y = pool.param(1);
  NetBounds bounds(net, nullptr);
  Totality total(bounds);
  CHECK(total(pool.binary(Op::kShiftRight, y, x)));
  CHECK_FALSE(total(pool.binary(Op::kShiftRight, x, y)));
  CHECK_FALSE(total(pool.binary(Op::kBitAnd, pool.unary(Op::kNeg, y), x)));
}

}  // namespace
}  // namespace lpn

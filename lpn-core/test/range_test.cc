// Bounds of operators: against every pair of operands of small ranges, and at the ends of 64 bits.
#include "lpn/expr/range.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "lpn/base/wide.h"
#include "lpn/expr/eval.h"

namespace lpn {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// The least and greatest value that the operator has on the ranges; none: it always fails.
std::optional<Range> by_trying(Op op, Range x, Range y) {
  std::optional<Range> all;
  for (std::int64_t a = x.lo; a <= x.hi; ++a) {
    for (std::int64_t b = y.lo; b <= y.hi; ++b) {
      const DomainInfo& domain = domain_of(op);
      if (b < domain.range.lo || b > domain.range.hi) continue;
      const std::int64_t value = apply_op(op, a, b);
      all = all ? Range{std::min(all->lo, value), std::max(all->hi, value)} : Range{value, value};
    }
  }
  return all;
}

// Bits carry no tight bounds; all others are met at their ends, but for a remainder that wraps.
bool tight(Op op) {
  return op != Op::kBitAnd && op != Op::kBitOr && op != Op::kBitXor && op != Op::kMod;
}

TEST_CASE("exact_range: holds every value, and most bounds are met") {
  const std::vector<Range> ranges = {{0, 0}, {-3, 2}, {1, 5}, {-7, -4}, {0, 6}, {-1, 0}, {3, 3}};
  for (std::size_t k = 0; k < kOps.size(); ++k) {
    const Op op = static_cast<Op>(k);
    if (kOps[k].kind != Kind::kArithmetic && kOps[k].kind != Kind::kComparison) continue;
    for (const Range x : ranges) {
      for (const Range y : ranges) {
        const std::optional<Range> tried = by_trying(op, x, y);
        if (!tried) continue;
        CAPTURE(kOps[k].text);
        CAPTURE(x.lo);
        CAPTURE(x.hi);
        CAPTURE(y.lo);
        CAPTURE(y.hi);
        const WideRange claimed = exact_range(op, x, y);
        CHECK(claimed.lo <= tried->lo);
        CHECK(claimed.hi >= tried->hi);
        if (tight(op)) {
          CHECK(claimed.lo == tried->lo);
          CHECK(claimed.hi == tried->hi);
        }
      }
    }
  }
}

TEST_CASE("exact_range: before a result that leaves 64 bits becomes an error") {
  CHECK(exact_range(Op::kNeg, {kLeast, 0}, {}).hi == Wide{kMost} + 1);
  CHECK(exact_range(Op::kMul, {kLeast, kMost}, {2, 2}).lo == Wide{kLeast} * 2);
  CHECK(exact_range(Op::kShiftLeft, {1, 1}, {0, 63}).hi == Wide{1} << 63);
}

TEST_CASE("exact_range: the sign of bits that differ, where both signs are known") {
  const auto differ = [](Range x, Range y) {
    const WideRange r = exact_range(Op::kBitXor, x, y);
    return Range{static_cast<std::int64_t>(r.lo), static_cast<std::int64_t>(r.hi)};
  };
  CHECK(differ({0, 3}, {0, 3}) == Range{0, 3});
  CHECK(differ({-4, -1}, {0, 3}) == Range{-4, -1});
  CHECK(differ({0, 3}, {-4, -1}) == Range{-4, -1});
  CHECK(differ({-4, -1}, {-4, -1}) == Range{0, 3});
  CHECK(differ({0, 3}, {-4, 3}) == Range{-4, 3});
}

// Parameters within given ranges.
class OfParams final : public Bounds {
 public:
  OfParams(const ExprPool& pool, std::vector<Range> ranges)
      : Bounds(pool), ranges_(std::move(ranges)) {}

 private:
  Range variable(std::uint32_t k) override { return ranges_[k]; }
  Range read(const Node&) override { return {}; }
  Range needed(std::uint32_t) override { return {0, kMost}; }
  std::vector<Range> ranges_;
};

TEST_CASE("Bounds: of a tree, cut at 64 bits; a decided choice has one side") {
  ExprPool pool;
  const ExprId x = pool.param(0), y = pool.param(1);
  OfParams bounds(pool, {{1, 4}, {10, kMost}});
  CHECK(bounds.of(pool.binary(Op::kAdd, x, y)) == Range{11, kMost});
  const ExprId less = pool.binary(Op::kLt, x, y);
  CHECK(bounds.of(less) == Range{1, 1});
  CHECK(bounds.of(pool.select(less, x, y)) == Range{1, 4});
  CHECK(bounds.of(pool.select(pool.binary(Op::kEq, x, pool.constant(2)), x, pool.constant(9))) ==
        Range{1, 9});
  CHECK(bounds.of(pool.unary(Op::kNot, less)) == Range{0, 0});
  CHECK(bounds.of(pool.lookup({7, -2, 5}, x)) == Range{-2, 7});
}

}  // namespace
}  // namespace lpn

#include "lpn/expr/range.h"

#include <algorithm>
#include <limits>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"

namespace lpn {
namespace {

constexpr Wide kLo = std::numeric_limits<std::int64_t>::min();
constexpr Wide kHi = std::numeric_limits<std::int64_t>::max();

Range cut(WideRange r) {
  return {static_cast<std::int64_t>(std::clamp(r.lo, kLo, kHi)),
          static_cast<std::int64_t>(std::clamp(r.hi, kLo, kHi))};
}

Range hull(Range x, Range y) { return {std::min(x.lo, y.lo), std::max(x.hi, y.hi)}; }

Wide floor_quotient(Wide x, Wide y) { return x / y - (x % y < 0 ? 1 : 0); }
Wide ceil_quotient(Wide x, Wide y) { return x / y + (x % y > 0 ? 1 : 0); }

WideRange products(Range x, Range y) {
  const Wide a = Wide{x.lo} * y.lo, b = Wide{x.lo} * y.hi, c = Wide{x.hi} * y.lo,
             d = Wide{x.hi} * y.hi;
  return {std::min({a, b, c, d}), std::max({a, b, c, d})};
}

// The least power of two with both within -span..span - 1.
Wide bit_span(Range x, Range y) {
  Wide span = 1;
  for (const std::int64_t end : {x.lo, x.hi, y.lo, y.hi}) {
    while (end < -span || end > span - 1) span *= 2;
  }
  return span;
}

WideRange absolute(Range x) {
  const Wide lo = x.lo, hi = x.hi;
  if (lo >= 0) return {lo, hi};
  if (hi <= 0) return {-hi, -lo};
  return {0, std::max(-lo, hi)};
}

WideRange quotients(Range x, Range y, Wide (*quotient)(Wide, Wide)) {
  return {std::min(quotient(x.lo, y.lo), quotient(x.lo, y.hi)),
          std::max(quotient(x.hi, y.lo), quotient(x.hi, y.hi))};
}

WideRange remainders(Range x, Range y) {
  if (x.lo >= 0 && x.hi < y.lo) return {x.lo, x.hi};
  return {0, x.lo >= 0 ? std::min<Wide>(Wide{y.hi} - 1, x.hi) : Wide{y.hi} - 1};
}

// Where x & y lies: at least all bits from the leftmost one that both may have.
WideRange common_bits(Range x, Range y) {
  if (x.lo >= 0 && y.lo >= 0) return {0, std::min(x.hi, y.hi)};
  if (x.lo >= 0) return {0, x.hi};
  if (y.lo >= 0) return {0, y.hi};
  return {-bit_span(x, y), std::max(x.hi, y.hi)};
}

// x | y is ~(~x & ~y).
WideRange joined_bits(Range x, Range y) {
  const WideRange without = common_bits({~x.hi, ~x.lo}, {~y.hi, ~y.lo});
  return {-without.hi - 1, -without.lo - 1};
}

WideRange different_bits(Range x, Range y) {
  const Wide span = bit_span(x, y);
  const bool x_known = x.lo >= 0 || x.hi < 0, y_known = y.lo >= 0 || y.hi < 0;
  if (!x_known || !y_known) return {-span, span - 1};
  return (x.lo >= 0) == (y.lo >= 0) ? WideRange{0, span - 1} : WideRange{-span, -1};
}

WideRange shifted_left(Range x, Range n) {
  const Wide least = Wide{1} << n.lo, most = Wide{1} << n.hi;
  return {std::min(x.lo * least, x.lo * most), std::max(x.hi * least, x.hi * most)};
}

WideRange shifted_right(Range x, Range n) {
  return {std::min(x.lo >> n.lo, x.lo >> n.hi), std::max(x.hi >> n.lo, x.hi >> n.hi)};
}

WideRange truth(bool can_be_true, bool can_be_false) {
  return {can_be_false ? 0 : 1, can_be_true ? 1 : 0};
}

}  // namespace

WideRange exact_range(Op op, Range x, Range right) {
  const Range domain = domain_of(op).range;
  const Range y{std::clamp(right.lo, domain.lo, domain.hi),
                std::clamp(right.hi, domain.lo, domain.hi)};
  switch (op) {
    case Op::kNeg: return {-Wide{x.hi}, -Wide{x.lo}};
    case Op::kAbs: return absolute(x);
    case Op::kAdd: return {Wide{x.lo} + y.lo, Wide{x.hi} + y.hi};
    case Op::kSub: return {Wide{x.lo} - y.hi, Wide{x.hi} - y.lo};
    case Op::kMul: return products(x, y);
    case Op::kFloorDiv: return quotients(x, y, floor_quotient);
    case Op::kCeilDiv: return quotients(x, y, ceil_quotient);
    case Op::kMod: return remainders(x, y);
    case Op::kMin: return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
    case Op::kMax: return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    case Op::kBitNot: return {-Wide{x.hi} - 1, -Wide{x.lo} - 1};
    case Op::kBitAnd: return common_bits(x, y);
    case Op::kBitXor: return different_bits(x, y);
    case Op::kBitOr: return joined_bits(x, y);
    case Op::kShiftLeft: return shifted_left(x, y);
    case Op::kShiftRight: return shifted_right(x, y);
    case Op::kEq:
    case Op::kNe: {
      const bool may_equal = x.lo <= y.hi && y.lo <= x.hi;
      const bool may_differ = !(x.lo == x.hi && x == y);
      return op == Op::kEq ? truth(may_equal, may_differ) : truth(may_differ, may_equal);
    }
    case Op::kLt: return truth(x.lo < y.hi, x.hi >= y.lo);
    case Op::kLe: return truth(x.lo <= y.hi, x.hi > y.lo);
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
    case Op::kNot:
    case Op::kAnd:
    case Op::kOr:
    case Op::kSelect:
    case Op::kLookup:
    case Op::kAssume:
    case Op::kSum:
    case Op::kMinOf:
    case Op::kMaxOf: break;
  }
  LPN_ASSERT(!"arithmetic or a comparison");
  return {};
}

Range Bounds::of(ExprId id) {
  const auto key = static_cast<std::uint32_t>(id);
  if (auto it = done_.find(key); it != done_.end()) return it->second;
  const Range range = compute((*pool_)[id]);
  done_.emplace(key, range);
  return range;
}

Range Bounds::compute(const Node& n) {
  switch (kind_of(n.op)) {
    case Kind::kConstant: {
      const std::int64_t value = n.op == Op::kConst ? n.value : n.op == Op::kTrue;
      return {value, value};
    }
    case Kind::kVariable: return variable(n.a);
    case Kind::kRun: return read(n);
    case Kind::kArithmetic:
    case Kind::kComparison: {
      const Range x = of(n.kids[0]);
      return cut(exact_range(n.op, x, op_info(n.op).arity == 2 ? of(n.kids[1]) : x));
    }
    case Kind::kLogic: {
      const Range x = of(n.kids[0]);
      if (n.op == Op::kNot) return {1 - x.hi, 1 - x.lo};
      const Range y = of(n.kids[1]);
      if (n.op == Op::kAnd) return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
      return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    }
    case Kind::kChoice: {
      const Range c = of(n.kids[0]);
      if (c.lo == 1) return of(n.kids[1]);
      if (c.hi == 0) return of(n.kids[2]);
      return hull(of(n.kids[1]), of(n.kids[2]));
    }
    case Kind::kTable: {
      const auto& table = pool_->table(n.a);
      const auto [lo, hi] = std::minmax_element(table.begin(), table.end());
      return {*lo, *hi};
    }
    case Kind::kAssumption: return of(n.kids[1]);
    case Kind::kAggregate:
      if (n.op == Op::kSum) return cut(products(needed(n.a), of(n.kids[0])));
      return of(n.kids[0]);
  }
  LPN_ASSERT(!"known operator");
  return {};
}

// What only a run has.
}  // namespace lpn

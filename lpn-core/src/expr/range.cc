#include "lpn/expr/range.h"

#include <algorithm>
#include <limits>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"

namespace lpn {
namespace {

constexpr Wide kLo = std::numeric_limits<std::int64_t>::min();
constexpr Wide kHi = std::numeric_limits<std::int64_t>::max();

Range cut(Wide lo, Wide hi) {
  return {static_cast<std::int64_t>(std::clamp(lo, kLo, kHi)),
          static_cast<std::int64_t>(std::clamp(hi, kLo, kHi))};
}

Range hull(Range x, Range y) { return {std::min(x.lo, y.lo), std::max(x.hi, y.hi)}; }

Wide floor_quotient(Wide x, Wide y) { return x / y - (x % y < 0 ? 1 : 0); }
Wide ceil_quotient(Wide x, Wide y) { return x / y + (x % y > 0 ? 1 : 0); }

Range products(Range x, Range y) {
  const Wide a = Wide{x.lo} * y.lo, b = Wide{x.lo} * y.hi, c = Wide{x.hi} * y.lo,
             d = Wide{x.hi} * y.hi;
  return cut(std::min({a, b, c, d}), std::max({a, b, c, d}));
}

Range truth(bool can_be_true, bool can_be_false) {
  return {can_be_false ? 0 : 1, can_be_true ? 1 : 0};
}

}  // namespace

Range Bounds::of(ExprId id) {
  const auto key = static_cast<std::uint32_t>(id);
  if (auto it = done_.find(key); it != done_.end()) return it->second;
  const Range range = compute(net_->exprs[id]);
  done_.emplace(key, range);
  return range;
}

Range Bounds::needed(std::uint32_t arc) {
  if (transition_ == nullptr || arc >= transition_->inputs.size()) return {0, kMaxTokens};
  const InputArc& input = transition_->inputs[arc];
  Range range = of(input.weight.id);
  if (input.threshold) {
    const Range threshold = of(input.threshold->id);
    range = {std::max(range.lo, threshold.lo), std::max(range.hi, threshold.hi)};
  }
  return {std::max<std::int64_t>(range.lo, 0), std::max<std::int64_t>(range.hi, 0)};
}

Range Bounds::divide(const Node& n) {
  const Range x = of(n.kids[0]);
  const Range y = of(n.kids[1]);
  // A divisor < 1 is an error, not a value.
  const Wide lo = std::max<std::int64_t>(y.lo, 1), hi = std::max<std::int64_t>(y.hi, 1);
  const auto quotient = n.op == Op::kFloorDiv ? floor_quotient : ceil_quotient;
  return cut(std::min(quotient(x.lo, lo), quotient(x.lo, hi)),
             std::max(quotient(x.hi, lo), quotient(x.hi, hi)));
}

Range Bounds::modulo(const Node& n) {
  const Range x = of(n.kids[0]);
  const Wide divisor = std::max<std::int64_t>(of(n.kids[1]).hi, 1);
  const Range y = of(n.kids[1]);
  if (x.lo >= 0 && x.hi < y.lo) return x;
  return cut(0, x.lo >= 0 ? std::min<Wide>(divisor - 1, x.hi) : divisor - 1);
}

Range Bounds::compute(const Node& n) {
  switch (n.op) {
    case Op::kConst: return {n.value, n.value};
    case Op::kTrue: return {1, 1};
    case Op::kFalse: return {0, 0};
    case Op::kParam: return net_->params.at(n.a).range.value_or(Range{});
    case Op::kToken: {
      if (transition_ == nullptr || n.a >= transition_->inputs.size()) return {};
      const auto& fields = net_->type_of(transition_->inputs[n.a].place).fields;
      return n.b < fields.size() ? fields[n.b].range.value_or(Range{}) : Range{};
    }
    case Op::kIndex:
    case Op::kBound: return {0, kMaxTokens};
    case Op::kOccupancy:
    case Op::kFree: return cut(0, kHi);
    case Op::kTaken: {
      if (transition_ == nullptr || n.a >= transition_->inputs.size()) return {0, kMaxTokens};
      const Range weight = of(transition_->inputs[n.a].weight.id);
      return {std::max<std::int64_t>(weight.lo, 0), std::max<std::int64_t>(weight.hi, 0)};
    }
    case Op::kNeg: {
      const Range x = of(n.kids[0]);
      return cut(-Wide{x.hi}, -Wide{x.lo});
    }
    case Op::kAbs: {
      const Range x = of(n.kids[0]);
      const Wide top = std::max(-Wide{x.lo}, Wide{x.hi});
      if (x.lo <= 0 && x.hi >= 0) return cut(0, top);
      return cut(std::min(x.lo < 0 ? -Wide{x.lo} : Wide{x.lo}, x.hi < 0 ? -Wide{x.hi} : Wide{x.hi}),
                 top);
    }
    case Op::kAdd: {
      const Range x = of(n.kids[0]), y = of(n.kids[1]);
      return cut(Wide{x.lo} + y.lo, Wide{x.hi} + y.hi);
    }
    case Op::kSub: {
      const Range x = of(n.kids[0]), y = of(n.kids[1]);
      return cut(Wide{x.lo} - y.hi, Wide{x.hi} - y.lo);
    }
    case Op::kMul: return products(of(n.kids[0]), of(n.kids[1]));
    case Op::kFloorDiv:
    case Op::kCeilDiv: return divide(n);
    case Op::kMod: return modulo(n);
    case Op::kMin: {
      const Range x = of(n.kids[0]), y = of(n.kids[1]);
      return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
    }
    case Op::kMax: {
      const Range x = of(n.kids[0]), y = of(n.kids[1]);
      return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    }
    case Op::kEq:
    case Op::kNe: {
      const Range x = of(n.kids[0]), y = of(n.kids[1]);
      const bool may_equal = x.lo <= y.hi && y.lo <= x.hi;
      const bool may_differ = !(x.lo == x.hi && x == y);
      return n.op == Op::kEq ? truth(may_equal, may_differ) : truth(may_differ, may_equal);
    }
    case Op::kLt: {
      const Range x = of(n.kids[0]), y = of(n.kids[1]);
      return truth(x.lo < y.hi, x.hi >= y.lo);
    }
    case Op::kLe: {
      const Range x = of(n.kids[0]), y = of(n.kids[1]);
      return truth(x.lo <= y.hi, x.hi > y.lo);
    }
    case Op::kNot: {
      const Range x = of(n.kids[0]);
      return {1 - x.hi, 1 - x.lo};
    }
    case Op::kAnd: {
      const Range x = of(n.kids[0]), y = of(n.kids[1]);
      return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
    }
    case Op::kOr: {
      const Range x = of(n.kids[0]), y = of(n.kids[1]);
      return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    }
    case Op::kSelect: {
      const Range c = of(n.kids[0]);
      if (c.lo == 1) return of(n.kids[1]);
      if (c.hi == 0) return of(n.kids[2]);
      return hull(of(n.kids[1]), of(n.kids[2]));
    }
    case Op::kLookup: {
      const auto& table = net_->exprs.table(n.a);
      const auto [lo, hi] = std::minmax_element(table.begin(), table.end());
      return {*lo, *hi};
    }
    case Op::kAssume: return of(n.kids[1]);
    case Op::kSum: return products(needed(n.a), of(n.kids[0]));
    case Op::kMinOf:
    case Op::kMaxOf: return of(n.kids[0]);
  }
  LPN_ASSERT(!"known operator");
  return {};
}

Range bounds(const Net& net, const Transition* transition, ExprId id) {
  return Bounds(net, transition).of(id);
}

}  // namespace lpn

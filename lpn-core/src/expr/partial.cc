#include "lpn/expr/partial.h"

#include "lpn/expr/range.h"

namespace lpn {

Partial partial(const ExprPool& pool, const Node& n, const std::array<Range, 3>& kids) {
  switch (kind_of(n.op)) {
    case Kind::kArithmetic: {
      const Range domain = domain_of(n.op).range;
      const bool binary = op_info(n.op).arity == 2;
      return {.overflow = !fits(exact_range(n.op, kids[0], kids[1])),
              .undefined = binary && (kids[1].lo < domain.lo || kids[1].hi > domain.hi)};
    }
    case Kind::kTable:
      return {.undefined = kids[0].lo < 0 ||
                           kids[0].hi >= static_cast<std::int64_t>(pool.table(n.a).size())};
    case Kind::kAssumption: return {.undefined = kids[0].lo != 1};
    case Kind::kAggregate: return {.overflow = n.op == Op::kSum, .undefined = n.op != Op::kSum};
    case Kind::kRun:
      return {.undefined = n.op == Op::kToken && !(kids[0].lo == 0 && kids[0].hi == 0)};
    case Kind::kConstant:
    case Kind::kVariable:
    case Kind::kComparison:
    case Kind::kLogic:
    case Kind::kChoice: break;
  }
  return {};
}

}  // namespace lpn

#include "write/expr.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/base/wide.h"

namespace lpn::sim {
namespace {

using std::size_t;
using std::string;
using std::uint32_t;

}  // namespace

string literal(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
  return value < 0 ? fmt::format("({}ll)", value) : fmt::format("{}ll", value);
}

string site(size_t transition, SiteKind kind, size_t arc, size_t emission, size_t field) {
  return fmt::format("site({}, {}, {}, {}, {})", transition, static_cast<int>(kind), arc, emission,
                     field);
}

string ExprPrinter::of(size_t k, const Formula& f, const string& where) const {
  return expr(f.id, {k, where, net_->exprs.tree_size(f.id) <= kMaxBoundedNodes});
}

string ExprPrinter::of_params(const Formula& f) const {
  return expr(f.id,
              {net_->transitions.size(), "0", net_->exprs.tree_size(f.id) <= kMaxBoundedNodes});
}

Range ExprPrinter::range(size_t k, const Formula& f) const {
  if (net_->exprs.tree_size(f.id) > kMaxBoundedNodes) return {};
  return bounds(*net_, &net_->transitions[k], f.id);
}

string ExprPrinter::expr(ExprId id, const Context& c) const {
  const ExprPool& pool = net_->exprs;
  const Node& n = pool[id];
  const auto kid = [&](int k) { return expr(n.kids[static_cast<size_t>(k)], c); };
  const auto range = [&](int k) {
    if (!c.elide) return Range{};
    const Transition* t =
        c.transition < net_->transitions.size() ? &net_->transitions[c.transition] : nullptr;
    return bounds(*net_, t, n.kids[static_cast<size_t>(k)]);
  };
  const auto fits = [](Wide lo, Wide hi) {
    return lo >= std::numeric_limits<std::int64_t>::min() &&
           hi <= std::numeric_limits<std::int64_t>::max();
  };
  switch (n.op) {
    case Op::kConst: return literal(n.value);
    case Op::kTrue: return "true";
    case Op::kFalse: return "false";
    case Op::kParam: return fmt::format("P{}", n.a);
    case Op::kToken: return token(n, c);
    case Op::kIndex: return "i";
    case Op::kBound: return fmt::format("j{}", n.a);
    case Op::kOccupancy: return operands_->occupancy(c.transition, n.a);
    case Op::kFree: return operands_->free(c.transition, n.a);
    case Op::kTaken: return operands_->taken(c.transition, n.a);
    case Op::kNeg: {
      const Range x = range(0);
      if (c.elide && fits(-Wide{x.hi}, -Wide{x.lo})) return fmt::format("(-{})", kid(0));
      return fmt::format("neg({}, {})", kid(0), c.site);
    }
    case Op::kAbs: return fmt::format("abs({}, {})", kid(0), c.site);
    case Op::kAdd: {
      const Range x = range(0), y = range(1);
      if (c.elide && fits(Wide{x.lo} + y.lo, Wide{x.hi} + y.hi)) {
        return both("({} + {})", kid(0), kid(1), c);
      }
      return both("add({}, {}, " + c.site + ")", kid(0), kid(1), c);
    }
    case Op::kSub: {
      const Range x = range(0), y = range(1);
      if (c.elide && fits(Wide{x.lo} - y.hi, Wide{x.hi} - y.lo)) {
        return both("({} - {})", kid(0), kid(1), c);
      }
      return both("sub({}, {}, " + c.site + ")", kid(0), kid(1), c);
    }
    case Op::kMul: {
      const Range x = range(0), y = range(1);
      const Wide all[] = {Wide{x.lo} * y.lo, Wide{x.lo} * y.hi, Wide{x.hi} * y.lo,
                          Wide{x.hi} * y.hi};
      if (c.elide && fits(*std::min_element(all, all + 4), *std::max_element(all, all + 4))) {
        return both("({} * {})", kid(0), kid(1), c);
      }
      return both("mul({}, {}, " + c.site + ")", kid(0), kid(1), c);
    }
    case Op::kFloorDiv:
    case Op::kCeilDiv:
    case Op::kMod: {
      const bool positive = c.elide && range(1).lo > 0;
      const bool natural = c.elide && range(0).lo >= 0;
      const string d = positive ? kid(1) : fmt::format("divisor({}, {})", kid(1), c.site);
      if (positive && natural && (n.op == Op::kFloorDiv || n.op == Op::kMod)) {
        // Unsigned: by a power of two it is a shift or a mask.
        return both(
            fmt::format("static_cast<i64>(static_cast<u64>({{}}) {} static_cast<u64>({{}}))",
                        n.op == Op::kMod ? '%' : '/'),
            kid(0), d, c);
      }
      return both(op_info(n.op).cpp + string("({}, {})"), kid(0), d, c);
    }
    case Op::kMin:
    case Op::kMax:
      return both(string("lpnrt::") + op_info(n.op).cpp + "({}, {})", kid(0), kid(1), c);
    case Op::kEq: return both("({} == {})", kid(0), kid(1), c);
    case Op::kNe: return both("({} != {})", kid(0), kid(1), c);
    case Op::kLt: return both("({} < {})", kid(0), kid(1), c);
    case Op::kLe: return both("({} <= {})", kid(0), kid(1), c);
    case Op::kNot: return fmt::format("(!{})", kid(0));
    case Op::kAnd: return fmt::format("({} && {})", kid(0), kid(1));
    case Op::kOr: return fmt::format("({} || {})", kid(0), kid(1));
    case Op::kSelect: return fmt::format("({} ? {} : {})", kid(0), kid(1), kid(2));
    case Op::kLookup: return fmt::format("lookup(kTable{}, {}, {})", n.a, kid(0), c.site);
    case Op::kAssume:
      return fmt::format("(({}) ? {} : {}fail_value(kAssume, {}, {}){})", kid(0), kid(1),
                         n.type == Type::kBool ? "(" : "", c.site, n.a,
                         n.type == Type::kBool ? " != 0)" : "");
    case Op::kSum:
    case Op::kMinOf:
    case Op::kMaxOf: return aggregate(n, c);
  }
  return "";
}

// `format` over x and y, x being evaluated first: C++ leaves the order open, and when both can
// fail it must be the failure of x that counts. An expression that can fail mentions its site.
string ExprPrinter::both(const string& format, const string& x, const string& y, const Context& c) {
  if (x.find(c.site) == string::npos || y.find(c.site) == string::npos) {
    return fmt::format(fmt::runtime(format), x, y);
  }
  return fmt::format("[&] {{ const i64 x_ = {}; const i64 y_ = {}; return {}; }}()", x, y,
                     fmt::format(fmt::runtime(format), "x_", "y_"));
}

string ExprPrinter::token(const Node& n, const Context& c) const {
  const uint32_t column = operands_->column(c.transition, n.a, n.b);
  std::int64_t which = 0;
  if (net_->exprs.is_const(n.kids[0], which)) {
    const string row = which == 0 ? operands_->head(c.transition, n.a)
                                  : operands_->row(c.transition, n.a, fmt::format("{}", which));
    const string read = fmt::format("{}[{}]", row, column);
    if (which < operands_->least_need(c.transition, n.a)) return read;
    return fmt::format("({} > {} ? {} : fail_value(kTokenIndex, {}, {}))",
                       operands_->needed(c.transition, n.a), which, read, c.site, which);
  }
  return fmt::format(
      "[&] {{ const i64 x_ = {}; return static_cast<u64>(x_) < {} ? {}[{}]"
      " : fail_value(kTokenIndex, {}, x_); }}()",
      expr(n.kids[0], c), operands_->needed(c.transition, n.a),
      operands_->row(c.transition, n.a, "static_cast<u64>(x_)"), column, c.site);
}

string ExprPrinter::aggregate(const Node& n, const Context& c) const {
  const string body = expr(n.kids[0], c);
  const string count = operands_->needed(c.transition, n.a);
  const string j = fmt::format("j{}", n.b);
  if (n.op == Op::kSum) {
    return fmt::format(
        "[&] {{ i64 s_ = 0; for (i64 {0} = 0; static_cast<u64>({0}) < {1}; ++{0}) s_ = "
        "add(s_, {2}, {3}); return s_; }}()",
        j, count, body, c.site);
  }
  const char* better = n.op == Op::kMinOf ? "<" : ">";
  return fmt::format(
      "[&] {{ if ({1} == 0) fail(kEmpty, {3}); i64 s_ = 0; for (i64 {0} = 0; "
      "static_cast<u64>({0}) < {1}; ++{0}) {{ const i64 x_ = {2}; if ({0} == 0 || x_ {4} s_) "
      "s_ = x_; }} return s_; }}()",
      j, count, body, c.site, better);
}

}  // namespace lpn::sim

#include "write/expr.h"

#include <fmt/format.h>

#include "lpn/base/error.h"
#include "lpn/net/bounds.h"

namespace lpn::sim {

using std::size_t;
using std::string;
using std::uint32_t;

constexpr int kQuick = 6;

string literal(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
  return value < 0 ? fmt::format("({}ll)", value) : fmt::format("{}ll", value);
}

const char* number_type(const Range& range) {
  if (range.lo >= INT16_MIN && range.hi <= INT16_MAX) return "Near";
  return range.lo >= INT32_MIN && range.hi <= INT32_MAX ? "Far" : "i64";
}

string site(size_t transition, SiteKind kind, size_t arc, size_t emission, size_t field) {
  return fmt::format("site(@T{}, {}, {}, {}, {})", transition, static_cast<int>(kind), arc,
                     emission, field);
}

string Operands::param(uint32_t n) const { return fmt::format("P{}", n); }

ExprPrinter::Context ExprPrinter::context(size_t k, const string& site) const {
  const Transition* t = k < net_->transitions.size() ? &net_->transitions[k] : nullptr;
  return {.transition = k, .site = site, .bounds = NetBounds(*net_, t)};
}

ExprPrinter::Context& ExprPrinter::asked(size_t k) const {
  if (!asked_ || asked_->transition != k) asked_.emplace(context(k, ""));
  return *asked_;
}

string ExprPrinter::of(size_t k, const Formula& f, const string& where,
                       const TermNames* names) const {
  Context& c = asked(k);
  c.site = where;
  c.names = names;
  return expr(f.id, c);
}

string ExprPrinter::of_params(const Formula& f) const {
  Context c = context(net_->transitions.size(), "0");
  return expr(f.id, c);
}

Range ExprPrinter::range(size_t k, const Formula& f) const { return asked(k).range(f.id); }

string operator_text(Op op, const std::array<string, 3>& operands, const Partial& may,
                     const std::array<Range, 3>& ranges, const string& site) {
  const bool natural = !may.any() && ranges[0].lo >= 0 && ranges[1].lo > 0;
  if (natural && (op == Op::kFloorDiv || op == Op::kMod)) {
    // Unsigned: by a power of two it is a shift or a mask.
    return fmt::format("static_cast<i64>(static_cast<u64>({}) {} static_cast<u64>({}))",
                       operands[0], op == Op::kMod ? '%' : '/', operands[1]);
  }
  const OpInfo& info = op_info(op);
  return fmt::format(fmt::runtime(may.any() ? info.checked : info.cpp), operands[0], operands[1],
                     operands[2], site);
}

string assume_text(const Node& n, const string& condition, const string& value,
                   const string& site) {
  return fmt::format("(({}) ? {} : {}fail_value(kAssume, {}, {}ll){})", condition, value,
                     n.type == Type::kBool ? "(" : "", site, n.a,
                     n.type == Type::kBool ? " != 0)" : "");
}

string ExprPrinter::expr(ExprId id, Context& c) const {
  if (c.names != nullptr) {
    if (const auto it = c.names->find(id); it != c.names->end()) {
      const Term& term = it->second;
      return term.kept ? fmt::format("{}({})", term.name, c.site) : term.name;
    }
  }
  const Node& n = net_->exprs[id];
  switch (kind_of(n.op)) {
    case Kind::kConstant: return n.op == Op::kConst ? literal(n.value) : string(op_info(n.op).text);
    case Kind::kVariable: return operands_->param(n.a);
    case Kind::kRun: return read(n, c);
    case Kind::kArithmetic:
    case Kind::kComparison: return strict(n, c);
    case Kind::kLogic:
    case Kind::kChoice: {
      std::array<string, 3> kids;
      for (int k = 0; k < op_info(n.op).arity; ++k) {
        kids[static_cast<size_t>(k)] = expr(n.kids[static_cast<size_t>(k)], c);
      }
      if (n.op == Op::kSelect && n.type == Type::kInt && operands_->without_branches() &&
          quick(n.kids[1], c) + quick(n.kids[2], c) <= kQuick) {
        return fmt::format("pick({}, {}, {})", kids[0], kids[1], kids[2]);
      }
      return operator_text(n.op, kids, {}, {}, c.site);
    }
    case Kind::kTable:
      return fmt::format("lookup(kTable{}, {}, {})", n.a, expr(n.kids[0], c), c.site);
    case Kind::kAssumption: return assume_text(n, expr(n.kids[0], c), expr(n.kids[1], c), c.site);
    case Kind::kAggregate: return aggregate(n, c);
  }
  return "";
}

// All operands are evaluated, the left one first, and then the right one has to be in the
// operator's domain. C++ leaves the order open, and when both can fail it must be the failure of
// the left one that counts.
string ExprPrinter::strict(const Node& n, Context& c) const {
  std::array<string, 3> kids;
  std::array<Range, 3> ranges;
  for (int k = 0; k < op_info(n.op).arity; ++k) {
    const auto at = static_cast<size_t>(k);
    kids[at] = expr(n.kids[at], c);
    ranges[at] = c.range(n.kids[at]);
  }
  const Partial may = partial(net_->exprs, n, ranges);
  const bool right = op_info(n.op).arity == 2 && (may_fail(n.kids[1], c) || may.undefined);
  if (!right || !may_fail(n.kids[0], c)) {
    return operator_text(n.op, kids, may, ranges, c.site);
  }
  return fmt::format("[&] {{ const i64 x_ = {}; const i64 y_ = {}; return {}; }}()", kids[0],
                     kids[1], operator_text(n.op, {"x_", "y_", ""}, may, ranges, c.site));
}

bool ExprPrinter::may_fail(ExprId id, Context& c) const {
  if (const auto it = c.may_fail.find(id); it != c.may_fail.end()) return it->second;
  const Node& n = net_->exprs[id];
  bool may = false;
  std::array<Range, 3> ranges;
  for (int k = 0; k < op_info(n.op).arity && !may; ++k) {
    const auto at = static_cast<size_t>(k);
    may = may_fail(n.kids[at], c);
    ranges[at] = c.range(n.kids[at]);
  }
  if (!may && n.op == Op::kToken) {
    std::int64_t which = 0;
    may = !net_->exprs.is_const(n.kids[0], which) ||
          which >= operands_->least_need(c.transition, n.a);
  } else if (!may) {
    may = partial(net_->exprs, n, ranges).any();
  }
  c.may_fail.emplace(id, may);
  return may;
}

int ExprPrinter::quick(ExprId id, Context& c) const {
  constexpr int kNever = kQuick + 1;
  if (c.names != nullptr) {
    if (const auto it = c.names->find(id); it != c.names->end())
      return it->second.kept ? kNever : 1;
  }
  const Node& n = net_->exprs[id];
  switch (n.op) {
    case Op::kConst: return 1;
    case Op::kToken: return may_fail(id, c) ? kNever : 1;
    case Op::kNeg:
    case Op::kAdd:
    case Op::kSub:
    case Op::kMin:
    case Op::kMax:
    case Op::kBitNot:
    case Op::kBitAnd:
    case Op::kBitXor:
    case Op::kBitOr:
    case Op::kSelect: break;
    case Op::kTrue:
    case Op::kFalse:
    case Op::kParam:
    case Op::kIndex:
    case Op::kBound:
    case Op::kOccupancy:
    case Op::kFree:
    case Op::kTaken:
    case Op::kAbs:
    case Op::kMul:
    case Op::kFloorDiv:
    case Op::kCeilDiv:
    case Op::kMod:
    case Op::kShiftLeft:
    case Op::kShiftRight:
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kNot:
    case Op::kAnd:
    case Op::kOr:
    case Op::kLookup:
    case Op::kAssume:
    case Op::kSum:
    case Op::kMinOf:
    case Op::kMaxOf: return kNever;
  }
  if (n.type != Type::kInt || may_fail(id, c)) return kNever;
  int nodes = 1;
  for (int k = n.op == Op::kSelect ? 1 : 0; k < op_info(n.op).arity && nodes <= kQuick; ++k) {
    nodes += quick(n.kids[static_cast<size_t>(k)], c);
  }
  return std::min(nodes, kNever);
}

bool ExprPrinter::may_fail(size_t k, const Formula& f) const { return may_fail(f.id, asked(k)); }

string ExprPrinter::read(const Node& n, Context& c) const {
  if (n.op == Op::kToken) return token(n, c);
  if (n.op == Op::kIndex) return "i";
  if (n.op == Op::kBound) return fmt::format("j{}", n.a);
  if (n.op == Op::kOccupancy) return operands_->occupancy(c.transition, n.a);
  if (n.op == Op::kFree) return operands_->free(c.transition, n.a);
  LPN_ASSERT(n.op == Op::kTaken);
  return operands_->taken(c.transition, n.a);
}

string ExprPrinter::token(const Node& n, Context& c) const {
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

string ExprPrinter::aggregate(const Node& n, Context& c) const {
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

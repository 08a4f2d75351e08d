// Expressions on a Net: numbers in, numbers out. python/lpn/_expr.py wraps them in operators.
#include <limits>

#include "bind.h"
#include "lpn/expr/build.h"
#include "lpn/expr/range.h"
#include "lpn/net/initial.h"
#include "lpn/text/text.h"

namespace lpn::python {
namespace {

using Id = std::uint32_t;
using NetClass = py::class_<Net, std::shared_ptr<Net>>;

template <ExprId (ExprBuilder::*kMember)(ExprId)>
void unary(NetClass& c, const char* name) {
  c.def(name, [](Net& net, Id x) {
    return static_cast<Id>((ExprBuilder(net.exprs).*kMember)(expr(net, x)));
  });
}

template <ExprId (ExprBuilder::*kMember)(ExprId, ExprId)>
void binary(NetClass& c, const char* name) {
  c.def(name, [](Net& net, Id x, Id y) {
    return static_cast<Id>((ExprBuilder(net.exprs).*kMember)(expr(net, x), expr(net, y)));
  });
}

Op aggregate_op(const std::string& name) {
  if (name == "sum") return Op::kSum;
  if (name == "min") return Op::kMinOf;
  if (name == "max") return Op::kMaxOf;
  throw py::value_error("not an aggregate: " + name);
}

// How a term is made: the name of the method below, and what it was given.
py::tuple node(const Net& net, Id x) {
  const ExprPool& pool = net.exprs;
  const Node& n = pool[expr(net, x)];
  const auto kid = [&](std::size_t k) { return static_cast<Id>(n.kids[k]); };
  switch (n.op) {
    case Op::kConst: return py::make_tuple("constant", n.value);
    case Op::kTrue: return py::make_tuple("boolean", true);
    case Op::kFalse: return py::make_tuple("boolean", false);
    case Op::kParam: return py::make_tuple("param", n.a);
    case Op::kLookup: return py::make_tuple("lookup", pool.table(n.a), kid(0));
    case Op::kAssume: return py::make_tuple("assume", kid(0), kid(1), pool.text(n.a));
    case Op::kNot: return py::make_tuple("logical_not", kid(0));
    case Op::kAnd: return py::make_tuple("logical_and", kid(0), kid(1));
    case Op::kOr: return py::make_tuple("logical_or", kid(0), kid(1));
    case Op::kSelect: return py::make_tuple("select", kid(0), kid(1), kid(2));
    case Op::kNeg:
    case Op::kAbs: return py::make_tuple(op_info(n.op).cpp, kid(0));
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kFloorDiv:
    case Op::kCeilDiv:
    case Op::kMod:
    case Op::kMin:
    case Op::kMax:
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe: return py::make_tuple(op_info(n.op).cpp, kid(0), kid(1));
    case Op::kToken:
    case Op::kIndex:
    case Op::kBound:
    case Op::kOccupancy:
    case Op::kFree:
    case Op::kTaken:
    case Op::kSum:
    case Op::kMinOf:
    case Op::kMaxOf: break;
  }
  throw py::index_error("not a term over parameters");
}

}  // namespace

void bind_expr(NetClass& c) {
  c.def("constant", [](Net& n, std::int64_t v) { return static_cast<Id>(n.exprs.constant(v)); });
  c.def("boolean", [](Net& n, bool v) { return static_cast<Id>(n.exprs.boolean(v)); });
  c.def("param", [](Net& n, Id k) { return static_cast<Id>(n.exprs.param(k)); });
  c.def("token", [](Net& n, Id arc, Id field, Id which) {
    return static_cast<Id>(n.exprs.token(arc, field, expr(n, which)));
  });
  c.def("index", [](Net& n) { return static_cast<Id>(n.exprs.index()); });
  c.def("bound", [](Net& n, Id depth) { return static_cast<Id>(n.exprs.bound(depth)); });
  c.def("occupancy", [](Net& n, Id arc) { return static_cast<Id>(n.exprs.occupancy(arc)); });
  c.def("free", [](Net& n, Id arc) { return static_cast<Id>(n.exprs.free(arc)); });
  c.def("taken", [](Net& n, Id arc) { return static_cast<Id>(n.exprs.taken(arc)); });
  c.def("aggregate", [](Net& n, const std::string& op, Id arc, Id depth, Id body) {
    return static_cast<Id>(
        ExprBuilder(n.exprs).aggregate(aggregate_op(op), arc, depth, expr(n, body)));
  });
  c.def("lookup", [](Net& n, const std::vector<std::int64_t>& table, Id x) {
    return static_cast<Id>(ExprBuilder(n.exprs).lookup(table, expr(n, x)));
  });
  c.def("assume", [](Net& n, Id condition, Id value, const std::string& text) {
    return static_cast<Id>(ExprBuilder(n.exprs).assume(expr(n, condition), expr(n, value), text));
  });
  c.def("select", [](Net& n, Id condition, Id then, Id otherwise) {
    return static_cast<Id>(
        ExprBuilder(n.exprs).select(expr(n, condition), expr(n, then), expr(n, otherwise)));
  });
  unary<&ExprBuilder::neg>(c, "neg");
  unary<&ExprBuilder::abs>(c, "abs");
  unary<&ExprBuilder::logical_not>(c, "logical_not");
  unary<&ExprBuilder::to_int>(c, "to_int");
  unary<&ExprBuilder::to_bool>(c, "to_bool");
  binary<&ExprBuilder::add>(c, "add");
  binary<&ExprBuilder::sub>(c, "sub");
  binary<&ExprBuilder::mul>(c, "mul");
  binary<&ExprBuilder::floor_div>(c, "floor_div");
  binary<&ExprBuilder::ceil_div>(c, "ceil_div");
  binary<&ExprBuilder::mod>(c, "mod");
  binary<&ExprBuilder::min>(c, "min");
  binary<&ExprBuilder::max>(c, "max");
  binary<&ExprBuilder::eq>(c, "eq");
  binary<&ExprBuilder::ne>(c, "ne");
  binary<&ExprBuilder::lt>(c, "lt");
  binary<&ExprBuilder::le>(c, "le");
  binary<&ExprBuilder::logical_and>(c, "logical_and");
  binary<&ExprBuilder::logical_or>(c, "logical_or");

  c.def("is_bool", [](const Net& n, Id x) { return n.exprs[expr(n, x)].type == Type::kBool; });
  c.def(
      "value",
      [](const Net& n, Id x) -> py::object {
        const Node& node = n.exprs[expr(n, x)];
        if (node.op == Op::kConst) return py::int_(node.value);
        if (node.op == Op::kTrue || node.op == Op::kFalse) return py::bool_(node.op == Op::kTrue);
        return py::none();
      },
      "The constant's value, an int or a bool; None for any other expression.");
  c.def(
      "bounds",
      [](const Net& n, const Transition* t, Id x) {
        const Range range = bounds(n, t, expr(n, x));
        return std::make_pair(range.lo, range.hi);
      },
      py::arg("transition").none(true), py::arg("expr"),
      "Inclusive bounds from declared ranges alone.");
  c.def(
      "text", [](const Net& n, const Transition* t, Id x) { return print_expr(n, t, expr(n, x)); },
      py::arg("transition").none(true), py::arg("expr"), "The expression in the author's words.");
  c.def("reads", [](const Net& n, Id x) {
    const Reads reads = n.exprs.reads(expr(n, x));
    py::dict d;
    d["tokens"] = reads.tokens;
    d["occupancy"] = reads.occupancy;
    d["free"] = reads.free;
    d["taken"] = reads.taken;
    d["params"] = reads.params;
    d["index"] = reads.index;
    return d;
  });
  c.def(
      "over_params",
      [](const Net& n, Id x, const ParamValues& params) -> std::optional<std::int64_t> {
        const Reads reads = n.exprs.reads(expr(n, x));
        if (!reads.tokens.empty() || !reads.occupancy.empty() || !reads.free.empty() ||
            !reads.taken.empty() || reads.index) {
          return std::nullopt;
        }
        return param_value(n, params, {expr(n, x), {}}, "a formula",
                           std::numeric_limits<std::int64_t>::min());
      },
      py::arg("expr"), py::arg("params"),
      "The value with these parameters; None for what reads anything else. Raises Error "
      "E-param-value.");
  c.def("node", &node, py::arg("expr"),
        "(method that makes it, its arguments...) of a term over parameters; children as numbers. "
        "Any other expression: IndexError.");
  c.def("tree_size", [](const Net& n, Id x) { return n.exprs.tree_size(expr(n, x)); });
}

}  // namespace lpn::python

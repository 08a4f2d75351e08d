// Expressions on a Net: numbers in, numbers out. python/lpn/authoring/expr.py wraps them in
// operators.
#include <array>
#include <limits>

#include "bind.h"
#include "inputs.h"
#include "lpn/expr/build.h"
#include "lpn/expr/total.h"
#include "lpn/net/bounds.h"
#include "lpn/net/initial.h"
#include "lpn/text/text.h"
#include "owned.h"

namespace lpn::python {
namespace {

using Id = std::uint32_t;
using NetClass = py::class_<Net, std::shared_ptr<Net>>;

Op aggregate_op(const std::string& name) {
  for (std::size_t k = 0; k < kOps.size(); ++k) {
    if (kOps[k].kind == Kind::kAggregate && kOps[k].python == name) return static_cast<Op>(k);
  }
  throw py::value_error("not an aggregate: " + name);
}

// What a formula without tokens is made of, in the order of ExprBuilder::build.
bool plain(Kind kind) {
  return kind == Kind::kArithmetic || kind == Kind::kComparison || kind == Kind::kLogic ||
         kind == Kind::kChoice;
}

// A method per operator with operands only, by its name in the table.
void bind_operators(NetClass& c) {
  for (std::size_t k = 0; k < kOps.size(); ++k) {
    const OpInfo& info = kOps[k];
    if (!plain(info.kind)) continue;
    const auto build = [op = static_cast<Op>(k)](Net& net, std::array<ExprId, 3> kids) {
      return static_cast<Id>(ExprBuilder(net.exprs).build({.op = op, .kids = kids}));
    };
    const std::string name(info.python);
    if (info.arity == 1) {
      c.def(name.c_str(), [build](Net& n, Id x) { return build(n, {expr(n, x)}); });
    } else if (info.arity == 2) {
      c.def(name.c_str(), [build](Net& n, Id x, Id y) {
        return build(n, {expr(n, x), expr(n, y)});
      });
    } else {
      c.def(name.c_str(), [build](Net& n, Id x, Id y, Id z) {
        return build(n, {expr(n, x), expr(n, y), expr(n, z)});
      });
    }
  }
}

// What Python has to know of the operators: expr/ops.def as {name: Operator}.
void bind_table(py::module_& m) {
  py::class_<OpInfo>(m, "Operator", "A line of the table of operators.")
      .def_readonly("text", &OpInfo::text)
      .def_readonly("arity", &OpInfo::arity)
      .def_readonly("smt", &OpInfo::smt, "in SMT-LIB 2, {0}, {1}, {2} being the operands; or ''")
      .def_property_readonly(
          "level", [](const OpInfo& o) { return static_cast<int>(o.level); },
          "how tightly it holds together")
      .def_property_readonly("infix",
                             [](const OpInfo& o) { return o.notation == Notation::kInfix; })
      .def_property_readonly("prefix",
                             [](const OpInfo& o) { return o.notation == Notation::kPrefix; })
      .def_property_readonly(
          "is_term",
          [](const OpInfo& o) { return o.kind != Kind::kRun && o.kind != Kind::kAggregate; },
          "whether a formula over parameters, a term of an input space, may have it");
  py::dict table;
  for (const OpInfo& info : kOps) {
    if (info.kind == Kind::kAggregate) continue;  // made by aggregate(name, ...)
    table[py::str(std::string(info.python))] = py::cast(&info, py::return_value_policy::reference);
  }
  m.attr("OPERATORS") = table;
}

// How a term is made: the name of the method below, and what it was given.
py::tuple node(const Net& net, Id x) {
  const ExprPool& pool = net.exprs;
  const Node& n = pool[expr(net, x)];
  const auto kid = [&](std::size_t k) { return static_cast<Id>(n.kids[k]); };
  const std::string name(op_info(n.op).python);
  switch (kind_of(n.op)) {
    case Kind::kConstant:
      if (n.op == Op::kConst) return py::make_tuple(name, n.value);
      return py::make_tuple(name, n.op == Op::kTrue);
    case Kind::kVariable: return py::make_tuple(name, n.a);
    case Kind::kTable: return py::make_tuple(name, pool.table(n.a), kid(0));
    case Kind::kAssumption: return py::make_tuple(name, kid(0), kid(1), pool.text(n.a));
    case Kind::kArithmetic:
    case Kind::kComparison:
    case Kind::kLogic:
    case Kind::kChoice:
      if (op_info(n.op).arity == 1) return py::make_tuple(name, kid(0));
      if (op_info(n.op).arity == 2) return py::make_tuple(name, kid(0), kid(1));
      return py::make_tuple(name, kid(0), kid(1), kid(2));
    case Kind::kRun:
      if (n.op == Op::kToken) return py::make_tuple(name, n.a, n.b, kid(0));
      if (n.op == Op::kIndex) return py::make_tuple(name);
      if (n.op == Op::kBound) break;
      return py::make_tuple(name, n.a);
    case Kind::kAggregate: break;
  }
  throw py::index_error("made of what an aggregate goes through");
}

}  // namespace

void bind_expr(py::module_& m, NetClass& c) {
  bind_table(m);
  c.def("constant", [](Net& n, std::int64_t v) { return static_cast<Id>(n.exprs.constant(v)); });
  c.def("boolean", [](Net& n, bool v) { return static_cast<Id>(n.exprs.boolean(v)); });
  c.def("param", [](Net& n, Id k) {
    item(n.params, k);
    return static_cast<Id>(n.exprs.param(k));
  });
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
  c.def("to_int",
        [](Net& n, Id x) { return static_cast<Id>(ExprBuilder(n.exprs).to_int(expr(n, x))); });
  c.def("to_bool",
        [](Net& n, Id x) { return static_cast<Id>(ExprBuilder(n.exprs).to_bool(expr(n, x))); });
  bind_operators(c);

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
      "total",
      [](const Net& n, Id x) {
        NetBounds bounds(n, nullptr);
        return Totality(bounds)(expr(n, x));
      },
      py::arg("x"),
      "Whether an expression over parameters has a value, within 64 bits, for all their values.");
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
        require_values(n, params);
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
        "(method that makes it, its arguments...) of an expression; children as numbers. "
        "Aggregates and "
        "what stands in them: IndexError.");
  c.def("tree_size", [](const Net& n, Id x) { return n.exprs.tree_size(expr(n, x)); });
}

}  // namespace lpn::python

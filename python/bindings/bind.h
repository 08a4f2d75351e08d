// What the topics of the extension module share. One file per topic, each with one function.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "lpn/net/net.h"
#include "lpn/run/condition.h"
#include "lpn/run/run.h"

namespace py = pybind11;

namespace lpn::python {

void bind_errors(py::module_& m);  // Error, RunError
void bind_net(py::module_& m);     // Net, Transition and their parts; verify, text form, instance
// Expressions, as ints, on Net; OPERATORS.
void bind_expr(py::module_& m, py::class_<Net, std::shared_ptr<Net>>& net);
void bind_marking(py::module_& m);      // Marking
void bind_interp(py::module_& m);       // Interp, RunResult, Commit
void bind_stepper(py::module_& m);      // Stepper; after bind_interp
void bind_sim(py::module_& m);          // _lpn.sim: Library, Simulator, run() for both engines
void bind_open_loop(py::module_& m);    // _lpn.sim.feed, Latencies; after bind_sim
void bind_exports(py::module_& m);      // _lpn.sim.Timeline, Vcd; after bind_sim
void bind_structure(py::module_& m);    // structure()
void bind_space(py::module_& m);        // InputSpace; after bind_marking
void bind_every_input(py::module_& m);  // every_input(); after bind_space and bind_sim
void bind_reach(py::module_& m);        // bound_by_states(), most_done_tokens(); after bind_space
void bind_partition(py::module_& m);    // partition(); after bind_space
void bind_bounds(py::module_& m);       // bound(), check_bound(); after bind_partition
void bind_pi(py::module_& m);           // _lpn.pi; after bind_partition
void bind_viz(py::module_& m);          // _lpn.viz; after bind_interp
void bind_wave(py::module_& m);         // _lpn.wave

py::dict to_dict(const Stats& stats);
// The Python exception, as the translator raises it.
py::object to_exception(const RunError& error);

// (values, times), both as bytes of 64-bit integers.
inline py::tuple as_bytes(const Collected& collected) {
  const auto bytes = [](const auto& v) {
    return py::bytes(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(v[0]));
  };
  return py::make_tuple(bytes(collected.values), bytes(collected.times));
}

// A formula as (expression, file, line).
using FormulaTuple = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

inline Formula to_formula(const FormulaTuple& t) {
  return {static_cast<ExprId>(std::get<0>(t)), {std::get<1>(t), std::get<2>(t)}};
}

// Checks an expression's number, so that Python can never reach outside the pool.
inline ExprId expr(const Net& net, std::uint32_t id) {
  if (id >= net.exprs.size()) throw py::index_error("no such expression");
  return static_cast<ExprId>(id);
}

// A condition as (places, expression).
using ConditionTuple = std::tuple<std::vector<std::uint32_t>, std::uint32_t>;

// Throws Error "E-condition" for what is none of this net.
inline Condition to_condition(const Net& net, const ConditionTuple& t) {
  Condition condition;
  for (const std::uint32_t place : std::get<0>(t)) {
    condition.places.push_back(static_cast<PlaceId>(place));
  }
  condition.holds = expr(net, std::get<1>(t));
  require_condition(net, condition);
  return condition;
}

}  // namespace lpn::python

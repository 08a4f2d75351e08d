// Compilations that Ctrl-C ends, without the GIL.
#pragma once

#include <memory>

#include "bind.h"
#include "lpn/base/error.h"
#include "lpn/sim/compile.h"
#include "lpn/smt/z3_feasibility.h"
#include "watch.h"

namespace lpn::python {

// A solver of its own per thread, made when the first question comes up.
inline sim::Solver solver() {
  return [] {
    thread_local std::unique_ptr<smt::Z3Feasibility> z3;
    if (!z3) z3 = std::make_unique<smt::Z3Feasibility>();
    return static_cast<Feasibility*>(z3.get());
  };
}
inline sim::CompileOptions with_solver() {
  sim::CompileOptions options;
  options.solver = solver();
  return options;
}

// Calls act(options) without the GIL; while a compiler runs, Ctrl-C or a true stop() ends it.
template <typename Act>
auto compiling(const py::object& stop, Act act) {
  bool pressed = false;
  sim::CompileOptions options = with_solver();
  options.keep_on = [&] {
    const py::gil_scoped_acquire gil;
    pressed = interrupted();
    return !pressed && (stop.is_none() || !py::bool_(stop()));
  };
  try {
    const py::gil_scoped_release nogil;
    return act(options);
  } catch (const Error&) {
    if (!pressed) throw;
  }
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw py::error_already_set();
}

}  // namespace lpn::python

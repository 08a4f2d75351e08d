#include "bind.h"

PYBIND11_MODULE(_lpn, m) {
  m.doc() = "The C++ side of lpn; use the package lpn.";
  lpn::python::bind_errors(m);
  lpn::python::bind_net(m);
  lpn::python::bind_marking(m);
  lpn::python::bind_interp(m);
  lpn::python::bind_stepper(m);
  lpn::python::bind_sim(m);
  lpn::python::bind_open_loop(m);
  lpn::python::bind_exports(m);
  lpn::python::bind_structure(m);
  lpn::python::bind_space(m);
  lpn::python::bind_every_input(m);
  lpn::python::bind_reach(m);
  lpn::python::bind_partition(m);
  lpn::python::bind_bounds(m);
  lpn::python::bind_pi(m);
  lpn::python::bind_viz(m);
  lpn::python::bind_wave(m);
}

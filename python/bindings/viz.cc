// What pages of lpn viz are made of: the description of a net, and the record of a run.
#include "bind.h"
#include "inputs.h"
#include "lpn/net/marking.h"
#include "lpn/run/interp.h"
#include "lpn/viz/picture.h"
#include "lpn/viz/record.h"
#include "method.h"

namespace lpn::python {

void bind_viz(py::module_& parent) {
  py::module_ m = parent.def_submodule("viz", "Pictures of nets and runs.");
  m.def(
      "describe",
      [](const Net& net, const ParamValues& params, const Marking& marking) {
        require_inputs(net, params, marking);
        return viz::describe(net, params, marking);
      },
      "The net as JSON for the page (lpnviz/README.md).");

  py::class_<viz::Record>(m, "Record")
      .def(py::init([](const Net& net, const ParamValues& params, const Marking& marking,
                       std::uint64_t segment, std::uint32_t bins, std::uint64_t values) {
             require_inputs(net, params, marking);
             return std::make_unique<viz::Record>(net, params, marking,
                                                  viz::RecordOptions{segment, bins, values});
           }),
           py::arg("net"), py::arg("params"), py::arg("marking"), py::kw_only(),
           py::arg("segment") = viz::RecordOptions{}.segment,
           py::arg("bins") = viz::RecordOptions{}.bins,
           py::arg("values") = viz::RecordOptions{}.values, py::keep_alive<1, 2>())
      .def(
          "watch", [](viz::Record& record, Interp& interp) { record.watch(interp); },
          py::keep_alive<2, 1>(), "To be called before the interpreter's first run.")
      .def("finish", method<viz::Record>(&viz::Record::finish))
      .def("index", method<viz::Record>(&viz::Record::index))
      .def_property_readonly("segments",
                             [](const viz::Record& r) {
                               py::list list;
                               for (const auto& s : r.segments()) list.append(py::bytes(s));
                               return list;
                             })
      .def_property_readonly("overview",
                             [](const viz::Record& r) { return py::bytes(r.overview()); })
      .def_property_readonly(
          "values", [](const viz::Record& r) { return py::bytes(r.values()); },
          "The values of tokens (lpnviz/README.md), after finish(); empty without any.");
}

}  // namespace lpn::python

// The files that show a run (lpnviz): observers that write through a Python function of bytes.
#include "bind.h"
#include "inputs.h"
#include "lpn/net/initial.h"
#include "lpn/run/interp.h"
#include "lpn/viz/perfetto.h"
#include "lpn/viz/vcd.h"
#include "method.h"

namespace lpn::python {
namespace {

viz::Sink sink(py::object write) {
  return [write = std::move(write)](std::string_view bytes) {
    const py::gil_scoped_acquire gil;
    write(py::bytes(bytes.data(), bytes.size()));
  };
}

}  // namespace

void bind_exports(py::module_& parent) {
  auto m = parent.attr("sim").cast<py::module_>();
  py::class_<viz::Timeline, Observer>(m, "Timeline")
      .def(py::init([](const Net& net, const ParamValues& params, const Marking& marking,
                       py::object write, Time from, Time to) {
             require_inputs(net, params, marking);
             return std::make_unique<viz::Timeline>(net, params, marking, sink(std::move(write)),
                                                    viz::Window{from, to});
           }),
           py::arg("net"), py::arg("params"), py::arg("marking"), py::arg("write"),
           py::arg("begin") = 0, py::arg("end") = kForever, py::keep_alive<1, 2>())
      .def(
          "watch", [](viz::Timeline& timeline, Interp& interp) { interp.watch(&timeline); },
          py::keep_alive<2, 1>(), "To be called before the interpreter's first run.")
      .def("finish", method<viz::Timeline>(&viz::Timeline::finish))
      .def_property_readonly("events", method<viz::Timeline>(&viz::Timeline::events));
  py::class_<viz::VcdWriter, Observer>(m, "Vcd")
      .def(py::init([](const Net& net, const ParamValues& params, const Marking& marking, Time from,
                       Time to) {
             require_inputs(net, params, marking);
             return std::make_unique<viz::VcdWriter>(net, params, marking, viz::Window{from, to});
           }),
           py::arg("net"), py::arg("params"), py::arg("marking"), py::arg("begin") = 0,
           py::arg("end") = kForever, py::keep_alive<1, 2>())
      .def("finish", [](viz::VcdWriter& vcd, Time end, py::object write) {
        vcd.finish(end, sink(std::move(write)));
      });
  m.def(
      "initial_tokens",
      [](const Net& net, const ParamValues& params, const Marking& marking, bool later) {
        require_inputs(net, params, marking);
        check_initial(net, params, marking);
        return viz::initial_tokens(net, params, marking, later);
      },
      py::arg("net"), py::arg("params"), py::arg("marking"), py::arg("later") = false,
      "Tokens per place at time 0: the net's own and the marking's; `later`: those that arrive "
      "later "
      "too. Raises Error for what no run would begin with (lpn/net/initial.h).");
}

}  // namespace lpn::python

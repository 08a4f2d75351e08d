// What pages of lpn viz are made of: the description of a net, and the record of a run.
#include "bind.h"
#include "lpn/marking.h"
#include "lpn/picture.h"

namespace lpn::python {

void bind_viz(py::module_& parent) {
  py::module_ m = parent.def_submodule("viz", "Pictures of nets and runs.");
  m.def(
      "describe",
      [](const Net& net, const ParamValues& params, const Marking& marking) {
        return viz::describe(net, params, marking);
      },
      "The net as JSON for the page (lpnviz/README.md).");
}

}  // namespace lpn::python

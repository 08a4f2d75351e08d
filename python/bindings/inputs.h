// What a run begins with, given from Python: it must be the net's.
#pragma once

#include "bind.h"
#include "lpn/net/marking.h"

namespace lpn::python {

inline void require_values(const Net& net, const ParamValues& params) {
  if (params.size() != net.params.size()) throw py::value_error("one value per parameter");
}

inline void require_inputs(const Net& net, const ParamValues& params, const Marking& marking) {
  require_values(net, params);
  require_fits(net, marking);
}

}  // namespace lpn::python

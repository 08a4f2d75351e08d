// The analysis behind performance interfaces (lpn2pi): chains of delays, loops, formulas.
#include "bind.h"
#include "lpn/classes/partition.h"
#include "lpn/pi/chain.h"
#include "lpn/pi/steady.h"
#include "lpn/pi/sympy.h"

namespace lpn::python {
namespace {

using Id = std::uint32_t;

py::tuple ratio(const pi::Ratio& r) { return py::make_tuple(r.num, r.den); }

py::dict to_dict(const pi::SteadyState& state) {
  py::list loops, paces;
  for (const pi::Loop& loop : state.loops) {
    py::list transitions, places;
    for (const TransitionId t : loop.transitions) transitions.append(static_cast<Id>(t));
    for (const PlaceId p : loop.places) places.append(static_cast<Id>(p));
    loops.append(py::make_tuple(ratio(loop.delay), transitions, places));
  }
  for (const auto& pace : state.paces) {
    py::object loop = py::none();
    if (pace.loop != pi::kNoCycle) loop = py::int_(pace.loop);
    paces.append(py::make_tuple(ratio(pace.gap), loop, pace.repetitions));
  }
  py::dict result;
  result["loops"] = loops;
  result["paces"] = paces;
  return result;
}

}  // namespace

void bind_pi(py::module_& m) {
  py::module_ pi = m.def_submodule("pi", "What performance interfaces are made of.");
  pi.def(
      "chain",
      [](const Partition& p, const Path& path, const Assignment& input) {
        py::list links;
        for (const pi::Link& link : pi::critical_chain(path.timing, p.space, input, path.latency)) {
          links.append(py::make_tuple(static_cast<Id>(link.from), static_cast<Id>(link.to),
                                      static_cast<Id>(link.delay), link.extra));
        }
        return links;
      },
      "The chain of delays that decides the latency of an input: (from, to, delay, extra).");
  pi.def(
      "only_waits", [](const Path& path) { return pi::only_waits(path.timing); },
      "Whether every instant is the latest of others plus delays: then no chain exceeds the "
      "latency.");
  pi.def(
      "steady_state",
      [](const Net& net, const ParamValues& params, const Marking& marking) {
        return to_dict(pi::steady_state(net, params, marking));
      },
      "loops: (delay, transitions, places); paces, per transition: (gap, loop, repetitions).");
  pi.def("simplify", &pi::simplify, "Formulas, simplified by SymPy.");
}

}  // namespace lpn::python

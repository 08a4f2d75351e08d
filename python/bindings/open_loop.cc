// Traffic that arrives while a run goes on, and how long each request took.
#include <span>

#include "bind.h"
#include "lpn/base/error.h"
#include "lpn/run/interp.h"
#include "lpn/run/latencies.h"
#include "lpn/sim/simulator.h"
#include "method.h"
#include "owned.h"

namespace lpn::python {
namespace {

std::span<const std::int64_t> numbers(const py::buffer_info& info) {
  if (info.itemsize != 8 || info.ndim != 1 || (info.format != "q" && info.format != "l")) {
    throw Error("E-marking", "arrivals are contiguous 64-bit integers, as array.array('q', ...)");
  }
  return {static_cast<const std::int64_t*>(info.ptr), static_cast<std::size_t>(info.shape[0])};
}

// What was done lies in one buffer, drain by drain.
struct Drained : Latencies {
  using Latencies::Latencies;
  Collected done;
};

void take(sim::Simulator& engine, PlaceId place, Collected& into) { engine.take(place, into); }
void take(Interp& engine, PlaceId place, Collected& into) { into = engine.take(place); }

template <typename Engine>
void bind_engine(py::module_& sim, py::class_<Drained>& latencies) {
  sim.def("feed", [](Engine& engine, std::uint32_t place, const py::buffer& values,
                     const py::buffer& times) {
    const py::buffer_info rows = values.request(), at = times.request();
    engine.feed(static_cast<PlaceId>(place), numbers(rows), numbers(at));
  });
  latencies.def("drain", [](Drained& l, Engine& engine, std::uint32_t place) {
    const py::gil_scoped_release nogil;
    take(engine, static_cast<PlaceId>(place), l.done);
    l.add(l.done);
  });
}

}  // namespace

void bind_open_loop(py::module_& parent) {
  auto sim = parent.attr("sim").cast<py::module_>();
  py::class_<Histogram>(sim, "Histogram", "How many values there were of each size.")
      .def_property_readonly("count", method<Histogram>(&Histogram::count))
      .def_property_readonly("mean", method<Histogram>(&Histogram::mean))
      .def_property_readonly("least", method<Histogram>(&Histogram::least))
      .def_property_readonly("greatest", method<Histogram>(&Histogram::greatest))
      .def("quantile", method<Histogram>(&Histogram::quantile))
      .def("cells", [](const Histogram& h) {
        py::list cells;
        for (const auto& c : h.cells()) cells.append(py::make_tuple(c.first, c.last, c.count));
        return cells;
      });
  py::class_<Drained> latencies(sim, "Latencies", "How long requests took, summed up.");
  latencies
      .def(py::init<std::size_t, std::size_t, std::optional<std::size_t>, Time>(), py::arg("width"),
           py::arg("born"), py::arg("by"), py::arg("warm_up"))
      .def_property_readonly("all", [](const Drained& l) { return l.all(); })
      .def(
          "of", [](const Drained& l, std::int64_t key) { return l.classes().at(key); },
          py::return_value_policy::reference_internal)
      .def_property_readonly("classes",
                             [](const Drained& l) {
                               std::vector<std::int64_t> keys;
                               for (const auto& [key, histogram] : l.classes()) keys.push_back(key);
                               return keys;
                             })
      .def_property_readonly("over_time", [](const Drained& l) {
        py::list windows;
        for (const auto& w : l.over_time().windows()) {
          windows.append(py::make_tuple(w.count, w.latency));
        }
        return py::make_tuple(l.over_time().width(), windows);
      });
  bind_engine<sim::Simulator>(sim, latencies);
  bind_engine<Interp>(sim, latencies);
  sim.def("birth_field", [](const Net& net, std::uint32_t place) {
    return birth_field(net[item(net.places, place).type]);
  });
  sim.attr("BORN") = std::make_pair(kBornRange.lo, kBornRange.hi);
}

}  // namespace lpn::python

// The analysis behind performance interfaces (lpn2pi): chains of delays, loops, formulas.
#include "bind.h"
#include "inputs.h"
#include "lpn/classes/partition.h"
#include "lpn/pi/buffers.h"
#include "lpn/pi/chain.h"
#include "lpn/pi/dataflow.h"
#include "lpn/pi/paces.h"
#include "lpn/pi/steady.h"
#include "lpn/pi/sympy.h"
#include "watch.h"

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

pi::Phases to_phases(const py::handle& pair) {
  const auto [once, recurring] =
      pair.cast<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>();
  return {once, recurring};
}

pi::Dataflow to_graph(const py::list& actors, const py::list& channels) {
  pi::Dataflow graph;
  for (const py::handle item : actors) {
    const auto actor = item.cast<py::tuple>();
    graph.actors.push_back({actor[0].cast<std::string>(), to_phases(actor[1])});
  }
  for (const py::handle item : channels) {
    const auto channel = item.cast<py::tuple>();
    if (channel.size() != 6 || channel[1].cast<std::size_t>() >= graph.actors.size() ||
        channel[2].cast<std::size_t>() >= graph.actors.size()) {
      throw py::index_error("a channel joins two of the actors");
    }
    graph.channels.push_back({channel[0].cast<std::string>(),
                              channel[1].cast<std::size_t>(),
                              channel[2].cast<std::size_t>(),
                              to_phases(channel[3]),
                              to_phases(channel[4]),
                              channel[5].cast<std::int64_t>(),
                              {},
                              {}});
  }
  return graph;
}

py::dict to_dict(const pi::Pace& pace) {
  static constexpr const char* kKinds[] = {"periodic", "deadlocked", "unbounded"};
  py::list loop;
  for (std::size_t k = 0; k < pace.actors.size(); ++k) {
    py::object channel = py::none();
    if (pace.channels[k] != pi::kNoChannel) channel = py::int_(pace.channels[k]);
    loop.append(py::make_tuple(pace.actors[k], channel));
  }
  py::dict result;
  result["kind"] = kKinds[static_cast<std::size_t>(pace.kind)];
  result["period"] = ratio(pace.period);
  result["loop"] = loop;
  return result;
}

py::dict to_dict(const pi::BufferFront& front) {
  py::list points;
  for (const auto& point : front.points)
    points.append(py::make_tuple(ratio(point.period), point.total, point.capacities));
  py::dict result;
  result["unbounded"] = to_dict(front.unbounded);
  result["points"] = points;
  result["complete"] = front.complete;
  result["tried"] = front.tried;
  return result;
}

py::tuple steady_of(const Net& net, const ParamValues& params, const Marking& marking,
                    const py::object& stop) {
  require_inputs(net, params, marking);
  Watch watch(stop);
  std::optional<pi::SteadyState> found;
  {
    const py::gil_scoped_release nogil;
    try {
      found = pi::steady_state(net, params, marking, [&watch] { return watch.go_on(); });
    } catch (const pi::Stopped&) {
    }
  }
  watch.rethrow();
  return py::make_tuple(found ? py::object(to_dict(*found)) : py::none(), watch.interrupted());
}

py::tuple pace_of(const pi::Dataflow& graph, const py::object& stop) {
  Watch watch(stop);
  std::optional<pi::Pace> found;
  {
    const py::gil_scoped_release nogil;
    try {
      found = pi::pace(graph, [&watch] { return watch.go_on(); });
    } catch (const pi::Stopped&) {
    }
  }
  watch.rethrow();
  return py::make_tuple(found ? py::object(to_dict(*found)) : py::none(), watch.interrupted());
}

py::tuple front_of(const pi::Dataflow& graph, const py::object& stop) {
  Watch watch(stop);
  pi::BufferFront front;
  {
    const py::gil_scoped_release nogil;
    front = pi::buffer_front(graph, [&watch](const pi::BufferFront& so_far) {
      return watch.go_on(so_far.tried, so_far.points.size());
    });
  }
  watch.rethrow();
  return py::make_tuple(to_dict(front), watch.interrupted());
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
      "steady_state", &steady_of,
      "loops: (delay, transitions, places); paces, per transition: (gap, loop, repetitions); None "
      "when stop() said so. And whether that was Ctrl-C.");
  py::class_<pi::Dataflow>(pi, "Dataflow", "A dataflow graph, SDF or CSDF.")
      .def(py::init(&to_graph),
           "actors: (name, times); channels: (name, from, to, put, taken, tokens), the actors by "
           "number; times and rates are (those that come once, those that recur).")
      .def("repetitions", &pi::repetitions, "Per actor, the cycles of its phases per iteration.")
      .def("pace", &pace_of,
           "kind, period and loop: of the slowest strongly connected part, (actor, channel) each; "
           "None when stop() said so; and whether that was Ctrl-C.")
      .def(
          "buffer_front", &front_of,
          "unbounded, points of (period, total, capacities per channel, -1: not bounded), complete "
          "and tried; and whether it was stopped by Ctrl-C. `stop(tried, points)` is asked now and "
          "then.");
  pi.def("simplify", &pi::simplify, "Formulas, simplified by SymPy.");
}

}  // namespace lpn::python

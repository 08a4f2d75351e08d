// Input classes (lpn/classes/partition.h), with the GIL released; Ctrl-C ends the work with what it
// has.
#include "lpn/classes/partition.h"

#include "bind.h"
#include "lpn/smt/z3_feasibility.h"
#include "watch.h"

namespace lpn::python {
namespace {

using Id = std::uint32_t;

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kLatency: return "latency";
    case Outcome::kNone: return "none";
    case Outcome::kStalled: return "stalled";
    case Outcome::kError: return "error";
  }
  return "";
}

Id id_of(InstantId id) { return static_cast<Id>(id); }

py::tuple partition_of(const Net& net, const InputSpace& space, PartitionOptions options,
                       const py::object& progress) {
  options.solver = [] { return std::make_unique<smt::Z3Feasibility>(); };
  Watch watch(progress);
  options.progress = [&watch](std::uint64_t paths, std::uint64_t open) {
    return watch.go_on(paths, open);
  };
  std::shared_ptr<Partition> result;
  {
    const py::gil_scoped_release nogil;
    result = std::make_shared<Partition>(partition(net, space, options));
  }
  watch.rethrow();
  return py::make_tuple(result, watch.interrupted());
}

py::tuple instant_of(const Path& path, Id id) {
  if (id >= path.timing.size()) throw py::index_error("no such instant");
  const Timing::Node& node = path.timing[static_cast<InstantId>(id)];
  const char* kind = "max";
  if (node.kind == Timing::Kind::kGate) kind = "gate";
  if (node.kind == Timing::Kind::kEdge) kind = "edge";
  py::list after;
  for (const Timing::Arc& arc : node.after)
    after.append(py::make_tuple(id_of(arc.from), static_cast<Id>(arc.delay)));
  return py::make_tuple(kind, after, node.period, node.phase);
}

void bind_path(py::module_& m) {
  py::class_<TimedFiring>(m, "TimedFiring")
      .def_property_readonly("transition",
                             [](const TimedFiring& f) { return static_cast<Id>(f.transition); })
      .def_readonly("number", &TimedFiring::number)
      .def_property_readonly("start", [](const TimedFiring& f) { return id_of(f.start); })
      .def_property_readonly("commit", [](const TimedFiring& f) { return id_of(f.commit); })
      .def_readonly("produced", &TimedFiring::produced);
  py::class_<Path>(m, "Path")
      .def_property_readonly("outcome", [](const Path& p) { return outcome_name(p.outcome); })
      .def_property_readonly(
          "latency", [](const Path& p) { return id_of(p.latency); }, "The instant of the latency.")
      .def_readonly("firings", &Path::firings)
      .def_property_readonly("instants", [](const Path& p) { return p.timing.size(); })
      .def("instant", &instant_of, py::arg("instant"),
           "(kind, [(earlier instant, delay as a term)], period, phase); see lpn/classes/timing.h.")
      .def_property_readonly("conditions",
                             [](const Path& p) {
                               std::vector<Id> ids;
                               for (const ExprId id : p.conditions)
                                 ids.push_back(static_cast<Id>(id));
                               return ids;
                             })
      .def_property_readonly("fault",
                             [](const Path& p) -> py::object {
                               if (!p.fault) return py::none();
                               return py::int_(static_cast<Id>(*p.fault));
                             })
      .def_property_readonly(
          "orders",
          [](const Path& p) {
            py::list orders;
            for (const Order& o : p.orders)
              orders.append(py::make_tuple(id_of(o.before), id_of(o.after), o.strict));
            return orders;
          },
          "(instant, a later instant, whether strictly later)")
      .def_readonly("samples", &Path::samples)
      .def_readonly("choices", &Path::choices, "What leads to the path again.")
      .def_readonly("trouble", &Path::trouble);
}

}  // namespace

void bind_partition(py::module_& m) {
  bind_path(m);
  py::class_<InputClass>(m, "InputClass")
      .def_property_readonly("outcome", [](const InputClass& c) { return outcome_name(c.outcome); })
      .def_readonly("commits", &InputClass::commits, "Per transition.")
      .def_readonly("paths", &InputClass::paths);
  py::class_<Partition, std::shared_ptr<Partition>>(m, "Partition")
      .def_property_readonly(
          "variables", [](const Partition& p) -> const Net& { return p.space.variables; },
          "The variables as parameters, with the terms of all paths.")
      .def_readonly("classes", &Partition::classes)
      .def_readonly("complete", &Partition::complete)
      .def_readonly("why", &Partition::why)
      .def_readonly("unresolved", &Partition::unresolved)
      .def_property_readonly(
          "open",
          [](const Partition& p) {
            py::list branches;
            for (const Branch& b : p.open) branches.append(py::make_tuple(b.choices, b.samples));
            return branches;
          },
          "What is left to do: (choices, inputs that are known).")
      .def_readonly("exact", &Partition::exact)
      .def_readonly("restart", &Partition::restart)
      .def("follows", [](const Partition& p, const Path& path,
                         const Assignment& input) { return follows(path, p.space, input); })
      .def(
          "times",
          [](const Partition& p, const Path& path, const Assignment& input) {
            return evaluate(path.timing, p.space, input);
          },
          "When every instant of a path is, for an input of it.");
  m.def(
      "partition",
      [](const Net& net, const InputSpace& space, std::uint64_t max_paths,
         std::uint64_t max_firings, double seconds, double question_seconds,
         std::uint64_t enumerate, std::uint64_t seed, const std::vector<Assignment>& samples,
         const std::vector<std::pair<Choices, std::vector<Assignment>>>& branches, bool exact,
         std::uint64_t max_open, const py::object& progress) {
        PartitionOptions options;
        for (const auto& [choices, known] : branches) {
          options.branches.push_back({choices, known, exact});
        }
        options.exact = exact;
        options.max_open = max_open;
        options.max_paths = max_paths;
        options.max_firings = max_firings;
        options.seconds = seconds;
        options.question.seconds = question_seconds;
        options.enumerate = enumerate;
        options.seed = seed;
        options.samples = samples;
        return partition_of(net, space, options, progress);
      },
      py::arg("net"), py::arg("space"), py::kw_only(), py::arg("max_paths"), py::arg("max_firings"),
      py::arg("seconds"), py::arg("question_seconds"), py::arg("enumerate"), py::arg("seed"),
      py::arg("samples"), py::arg("branches"), py::arg("exact"), py::arg("max_open"),
      py::arg("progress"),
      "(Partition, whether Ctrl-C ended it). `progress` is called with the paths found and those "
      "begun, some times per second; a true result ends the work.");
  m.def(
      "has_input",
      [](const InputSpace& space, double seconds) -> std::optional<bool> {
        const py::gil_scoped_release nogil;
        smt::Z3Feasibility solver;
        const Answer answer = has_input(space, solver, {.seconds = seconds});
        if (answer == Answer::kUnknown) return std::nullopt;
        return answer == Answer::kSat;
      },
      py::arg("space"), py::arg("seconds"),
      "Whether the space has an input; None: not known after so long.");
}

}  // namespace lpn::python

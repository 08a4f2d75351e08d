// Proved bounds of instants (lpn/smt/search.h), their certificates and the check of these.
#include "bind.h"
#include "lpn/classes/partition.h"
#include "lpn/smt/certificate_json.h"
#include "lpn/smt/measured_path.h"
#include "lpn/smt/numbering.h"
#include "lpn/smt/search.h"
#include "lpn/smt/z3_feasibility.h"
#include "watch.h"

namespace lpn::python {
namespace {

using Id = std::uint32_t;
using smt::MeasuredPath;
using smt::PathCertificate;
using Sum = std::pair<std::vector<std::pair<std::int64_t, Id>>, std::int64_t>;

Sum to_sum(const smt::Measure& measure) {
  Sum sum{{}, measure.constant};
  for (const auto& [weight, instant] : measure.instants)
    sum.first.emplace_back(weight, static_cast<Id>(instant));
  return sum;
}

InstantId instant_in(const Path& path, Id instant) {
  if (instant >= path.timing.size()) throw py::index_error("no such instant");
  return static_cast<InstantId>(instant);
}

std::unique_ptr<Feasibility> solver() { return std::make_unique<smt::Z3Feasibility>(); }

// What is bounded: (Path, instant), or (MeasuredPath, [(weight, instant)], constant).
smt::Target target(const py::tuple& goal) {
  if (goal.size() == 2) {
    const auto& path = goal[0].cast<const Path&>();
    return {.path = &path, .instant = instant_in(path, goal[1].cast<Id>())};
  }
  if (goal.size() != 3) throw py::value_error("a goal has two parts or three");
  const Path& path = goal[0].cast<const MeasuredPath&>().path();
  smt::Measure measure;
  for (const auto& [weight, id] : goal[1].cast<decltype(Sum::first)>())
    measure.instants.emplace_back(weight, instant_in(path, id));
  measure.constant = goal[2].cast<std::int64_t>();
  return {.path = &path, .instant = {}, .measure = std::move(measure)};
}

py::tuple bound(const Partition& partition, const std::vector<py::tuple>& goals, bool maximum,
                smt::BoundOptions options, const py::object& progress) {
  std::vector<smt::Target> targets;
  for (const py::tuple& goal : goals) targets.push_back(target(goal));
  options.solver = solver;
  Watch watch(progress);
  options.progress = [&](const smt::Progress& p) {
    return watch.go_on(p.proved, p.found, p.boxes, p.seconds);
  };
  smt::BoundResult r;
  {
    const py::gil_scoped_release nogil;
    r = maximum ? smt::maximize(partition.space, targets, options)
                : smt::minimize(partition.space, targets, options);
  }
  watch.rethrow();
  py::dict d;
  d["proved"] = r.proved;
  d["found"] = r.found;
  d["witness"] = r.found ? py::cast(r.witness) : py::none();
  d["path"] = r.path;
  d["exact"] = r.exact;
  d["no_input"] = r.no_input;
  d["certificates"] = std::move(r.certificates);
  d["boxes"] = r.boxes;
  d["seconds"] = r.seconds;
  d["notes"] = r.notes;
  return py::make_tuple(d, watch.interrupted());
}

// A goal as it stands in a certificate: the path that is bounded, what of it, and what steps
// number.
py::tuple problem(const Partition& partition, const py::tuple& goal) {
  const smt::Target of = target(goal);
  const smt::Measure measure =
      of.measure ? *of.measure : smt::Measure{{{std::int64_t{1}, of.instant}}, 0};
  const Sum sum = to_sum(measure);
  const smt::Numbering numbers = smt::numbering(partition.space, of);
  py::list limits;
  for (const smt::LimitSource& limit : numbers.limits)
    limits.append(py::make_tuple(static_cast<Id>(limit.condition), limit.negated));
  const py::object owner = goal[0];
  const auto inside = py::return_value_policy::reference_internal;
  return py::make_tuple(goal.size() == 2 ? owner : py::cast(of.path, inside, owner), sum.first,
                        sum.second, numbers.units, limits);
}

std::optional<std::string> check(const Partition& partition, const py::tuple& goal,
                                 const PathCertificate& certificate, const py::object& trusted) {
  smt::Trusted vouched{.solver = solver};
  if (!trusted.is_none()) {
    vouched.unsatisfiable = [&](const std::string& smtlib) {
      return py::bool_(trusted(smtlib)).cast<bool>();
    };
  }
  return smt::check(partition.space, target(goal), certificate, vouched);
}

void bind_paths(py::module_& m) {
  py::class_<MeasuredPath>(m, "MeasuredPath",
                           "What can be asked of a path: ([(weight, instant)], constant) each.")
      .def(py::init([](Partition& partition, const Net& net, const Path& path) {
             return std::make_unique<MeasuredPath>(net, partition.space, path);
           }),
           py::keep_alive<1, 2>(), py::keep_alive<1, 3>())
      .def("latency", [](MeasuredPath& p) { return to_sum(p.measures().latency()); })
      .def("busy", [](MeasuredPath& p,
                      Id t) { return to_sum(p.measures().busy(static_cast<TransitionId>(t))); })
      .def("stall",
           [](MeasuredPath& p, Id t, Id place) {
             return to_sum(
                 p.measures().stall(static_cast<TransitionId>(t), static_cast<PlaceId>(place)));
           })
      .def(
          "stall_of",
          [](MeasuredPath& p, Id t, Id place, const Assignment& input) {
            return p.measures().stall_of(static_cast<TransitionId>(t), static_cast<PlaceId>(place),
                                         input);
          },
          py::arg("transition"), py::arg("place"), py::arg("input"),
          "stall() of one input, from the times of its firings alone.")
      .def("completion",
           [](MeasuredPath& p, std::uint64_t k) { return to_sum(p.measures().completion(k)); })
      .def(
          "at",
          [](MeasuredPath& p, Id term) {
            return static_cast<Id>(p.at(expr(p.space().variables, term)));
          },
          py::arg("term"), "A new instant, so much after time 0.")
      .def(
          "times",
          [](const MeasuredPath& p, const Assignment& input) {
            return evaluate(p.path().timing, p.space(), input);
          },
          "When every instant is, for an input of the path.");
  m.def(
      "scaled",
      [](Partition& partition, const Path& path, std::int64_t factor) {
        return smt::scaled(partition.space, path, factor);
      },
      py::arg("partition"), py::arg("path"), py::arg("factor"),
      "A copy of a path whose times are `factor` times as long.");
  m.def(
      "restricted",
      [](const Partition& partition, const Path& path, const std::vector<Id>& conditions) {
        std::vector<ExprId> terms;
        for (const Id condition : conditions)
          terms.push_back(expr(partition.space.variables, condition));
        return smt::restricted(path, terms);
      },
      py::arg("partition"), py::arg("path"), py::arg("conditions"),
      "A copy of a path for those of its inputs that meet more conditions.");
  m.def(
      "later",
      [](const Partition& partition, Path& path, Id from, Id term) {
        return static_cast<Id>(
            smt::later(path, instant_in(path, from), expr(partition.space.variables, term)));
      },
      py::arg("partition"), py::arg("path"), py::arg("instant"), py::arg("term"),
      "A new instant of a path, so much after another one; the term must not be negative.");
}

void bind_certificate(py::module_& m) {
  py::class_<PathCertificate>(m, "PathCertificate", "Why no input of a path is beyond a bound.")
      .def_static("parse", &smt::parse_certificate, py::arg("json"), py::kw_only(),
                  py::arg("maximum"))
      .def_property_readonly("json", &smt::to_json)
      .def_readonly("path", &PathCertificate::path, "Position among the goals.")
      .def_readonly("bound", &PathCertificate::bound);
}

}  // namespace

void bind_bounds(py::module_& m) {
  bind_paths(m);
  bind_certificate(m);
  m.def(
      "bound",
      [](const Partition& partition, const std::vector<py::tuple>& goals, bool maximum,
         std::optional<Time> enough_proved, std::optional<Time> enough_found, double seconds,
         double question_seconds, std::uint64_t seed, const py::object& progress) {
        smt::BoundOptions options;
        options.enough_proved = enough_proved;
        options.enough_found = enough_found;
        options.seconds = seconds;
        options.question.seconds = question_seconds;
        options.seed = seed;
        return bound(partition, goals, maximum, options, progress);
      },
      py::arg("partition"), py::arg("goals"), py::kw_only(), py::arg("maximum"),
      py::arg("enough_proved"), py::arg("enough_found"), py::arg("seconds"),
      py::arg("question_seconds"), py::arg("seed"), py::arg("progress"),
      "(dict of smt::BoundResult, whether Ctrl-C ended it). `goals`: (Path, instant), or "
      "(MeasuredPath, [(weight, instant)], constant). Stops early when a bound as good as "
      "`enough_proved` is proved or an input as far as `enough_found` found. "
      "`progress(proved, found, boxes, seconds)`: a true result ends the work.");
  m.def("solver_out_of_memory", &smt::Z3Feasibility::out_of_memory,
        "Whether Z3 gave up a question of this program for want of memory.");
  m.def("problem", &problem, py::arg("partition"), py::arg("goal"),
        "(Path, [(weight, instant)], constant, variables of units, [(condition, negated)] of "
        "limits) of a goal.");
  m.def("check_bound", &check, py::arg("partition"), py::arg("goal"), py::kw_only(),
        py::arg("certificate"), py::arg("trusted"),
        "None when the certificate proves its bound, else why not. `trusted(smtlib)`: whether a "
        "formula is unsatisfiable; None: nobody says so.");
}

}  // namespace lpn::python

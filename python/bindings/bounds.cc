// Proved bounds of instants (lpn/bounds.h), their certificates as plain dicts.
#include "bind.h"
#include "lpn/classes/partition.h"
#include "lpn/expr/build.h"
#include "lpn/smt/search.h"
#include "lpn/smt/z3_feasibility.h"
#include "watch.h"

namespace lpn::python {
namespace {

using Id = std::uint32_t;
using smt::PathCertificate;
using smt::Step;
using Sum = std::pair<std::vector<std::pair<std::int64_t, Id>>, std::int64_t>;

// A copy of a path, with the instants that are needed for what is asked of it. Measures borrow it,
// so it stays where it is.
class Measured {
 public:
  Measured(std::shared_ptr<Partition> partition, const Net& net, const Path& path)
      : partition_(std::move(partition)), path_(path), measures_(net, partition_->space, path_) {}
  Measured(const Measured&) = delete;

  const Path& path() const { return path_; }
  smt::Measures& measures() { return measures_; }
  // An instant so much after time 0.
  Id at(Id term) {
    const ExprId delay = expr(partition_->space.variables, term);
    return static_cast<Id>(
        path_.timing.add({.kind = Timing::Kind::kMax, .after = {{kTimeZero, delay}}}));
  }

 private:
  std::shared_ptr<Partition> partition_;
  Path path_;
  smt::Measures measures_;
};

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

constexpr std::pair<Step::Kind, const char*> kKinds[] = {
    {Step::Kind::kSplit, "split"},   {Step::Kind::kNoInput, "no input"},
    {Step::Kind::kPoint, "point"},   {Step::Kind::kRelaxation, "relaxation"},
    {Step::Kind::kSolver, "solver"},
};

// What is bounded: (Path, instant), or (Measured, [(weight, instant)], constant).
smt::Target target(const py::tuple& goal) {
  if (goal.size() == 2) {
    const auto& path = goal[0].cast<const Path&>();
    return {.path = &path, .instant = instant_in(path, goal[1].cast<Id>())};
  }
  if (goal.size() != 3) throw py::value_error("a goal has two parts or three");
  const Path& path = goal[0].cast<const Measured&>().path();
  smt::Measure measure;
  for (const auto& [weight, id] : goal[1].cast<decltype(Sum::first)>())
    measure.instants.emplace_back(weight, instant_in(path, id));
  measure.constant = goal[2].cast<std::int64_t>();
  return {.path = &path, .instant = {}, .measure = std::move(measure)};
}

py::dict to_dict(const Step::Part& part) {
  py::dict d;
  d["instant"] = static_cast<Id>(part.instant);
  d["weight"] = part.weight;
  d["multipliers"] = part.multipliers;
  if (part.budget) d["budget"] = *part.budget;
  if (part.quantum != 1) d["quantum"] = part.quantum;
  py::list tolls;
  for (const Step::Toll& toll : part.tolls) {
    tolls.append(py::make_tuple(static_cast<Id>(toll.instant), toll.chain.weight, toll.chain.arcs));
  }
  if (!part.tolls.empty()) d["tolls"] = tolls;
  if (part.behind) d["behind"] = static_cast<Id>(*part.behind);
  return d;
}

py::dict to_dict(const Step& step) {
  py::dict d;
  for (const auto& [kind, name] : kKinds) {
    if (kind == step.kind) d["kind"] = name;
  }
  switch (step.kind) {
    case Step::Kind::kSplit:
      d["unit"] = step.unit;
      d["tuple"] = step.tuple;
      break;
    case Step::Kind::kPoint: break;
    case Step::Kind::kSolver:
      d["threshold"] = step.threshold;
      d["smtlib"] = step.smtlib;
      break;
    case Step::Kind::kNoInput:
    case Step::Kind::kRelaxation:
      d["denominator"] = step.denominator;
      d["multipliers"] = step.multipliers;
      if (step.budget) d["budget"] = *step.budget;
      if (step.quantum != 1) d["quantum"] = step.quantum;
      if (!step.parts.empty()) {
        py::list parts;
        for (const Step::Part& part : step.parts) parts.append(to_dict(part));
        d["parts"] = parts;
      }
      if (!step.chains.empty()) {
        py::list chains;
        for (const Step::Chain& chain : step.chains)
          chains.append(py::make_tuple(chain.weight, chain.arcs));
        d["chains"] = chains;
      }
      break;
  }
  return d;
}

template <typename T>
void take(const py::dict& d, const char* name, T& value) {
  if (d.contains(name)) value = d[name].cast<T>();
}

Step::Part to_part(const py::dict& d) {
  Step::Part part;
  part.instant = static_cast<InstantId>(d["instant"].cast<Id>());
  take(d, "weight", part.weight);
  take(d, "multipliers", part.multipliers);
  if (d.contains("budget")) part.budget = d["budget"].cast<std::uint32_t>();
  take(d, "quantum", part.quantum);
  if (d.contains("behind")) part.behind = static_cast<InstantId>(d["behind"].cast<Id>());
  if (d.contains("tolls")) {
    using Toll = std::tuple<Id, std::int64_t, std::vector<std::uint32_t>>;
    for (const auto& [instant, weight, arcs] : d["tolls"].cast<std::vector<Toll>>())
      part.tolls.push_back({static_cast<InstantId>(instant), {weight, arcs}});
  }
  return part;
}

Step to_step(const py::dict& d) {
  Step step;
  const auto kind = d["kind"].cast<std::string>();
  const auto known = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const auto& each) { return each.second == kind; });
  if (known == std::end(kKinds)) throw py::value_error("no kind of step '" + kind + "'");
  step.kind = known->first;
  take(d, "unit", step.unit);
  take(d, "tuple", step.tuple);
  take(d, "denominator", step.denominator);
  take(d, "multipliers", step.multipliers);
  if (d.contains("budget")) step.budget = d["budget"].cast<std::uint32_t>();
  take(d, "quantum", step.quantum);
  take(d, "threshold", step.threshold);
  take(d, "smtlib", step.smtlib);
  if (d.contains("parts")) {
    for (const py::handle part : d["parts"].cast<py::list>())
      step.parts.push_back(to_part(part.cast<py::dict>()));
  }
  if (d.contains("chains")) {
    for (const auto& [weight, arcs] :
         d["chains"].cast<std::vector<std::pair<std::int64_t, std::vector<std::uint32_t>>>>()) {
      step.chains.push_back({weight, arcs});
    }
  }
  return step;
}

py::dict to_dict(const PathCertificate& certificate) {
  py::list steps;
  for (const Step& step : certificate.steps) steps.append(to_dict(step));
  py::dict d;
  d["path"] = certificate.path;
  d["bound"] = certificate.bound;
  d["steps"] = steps;
  return d;
}

// Has the answer that was asked for: a bound proved on the one side, or an input found beyond it.
struct Enough {
  std::optional<Time> proved, found;

  bool operator()(bool maximum, const smt::Progress& p) const {
    const auto reached = [&](const std::optional<Time>& value, const std::optional<Time>& wanted,
                             bool below) {
      return value && wanted && (below ? *value <= *wanted : *value >= *wanted);
    };
    return reached(p.proved, proved, maximum) || reached(p.found, found, !maximum);
  }
};

py::tuple bound(const Partition& partition, const std::vector<py::tuple>& goals, bool maximum,
                const Enough& enough, smt::BoundOptions options, const py::object& progress) {
  std::vector<smt::Target> targets;
  for (const py::tuple& goal : goals) targets.push_back(target(goal));
  options.solver = [] { return std::make_unique<smt::Z3Feasibility>(); };
  Watch watch(progress);
  options.progress = [&](const smt::Progress& p) {
    return !enough(maximum, p) && watch.go_on(p.proved, p.found, p.boxes, p.seconds);
  };
  smt::BoundResult r;
  {
    const py::gil_scoped_release nogil;
    r = maximum ? smt::maximize(partition.space, targets, options)
                : smt::minimize(partition.space, targets, options);
  }
  watch.rethrow();
  py::list certificates;
  for (const PathCertificate& certificate : r.certificates)
    certificates.append(to_dict(certificate));
  py::dict d;
  d["proved"] = r.proved;
  d["found"] = r.found;
  d["witness"] = r.found ? py::cast(r.witness) : py::none();
  d["path"] = r.path;
  d["exact"] = r.exact;
  d["no_input"] = r.no_input;
  d["certificates"] = certificates;
  d["boxes"] = r.boxes;
  d["seconds"] = r.seconds;
  d["notes"] = r.notes;
  return py::make_tuple(d, watch.interrupted());
}

std::optional<std::string> check(const Partition& partition, const py::tuple& goal, bool maximum,
                                 const py::dict& given, const py::object& trusted) {
  PathCertificate certificate;
  certificate.maximum = maximum;
  certificate.bound = given["bound"].cast<Time>();
  for (const py::handle step : given["steps"].cast<py::list>())
    certificate.steps.push_back(to_step(step.cast<py::dict>()));
  std::function<bool(const std::string&)> decide;
  if (!trusted.is_none()) {
    decide = [&](const std::string& smtlib) { return py::bool_(trusted(smtlib)).cast<bool>(); };
  }
  return smt::check(partition.space, target(goal), certificate, decide);
}

// A path whose times are all `factor` times as long; terms go into the partition's pool.
Path scaled(Partition& partition, const Path& path, std::int64_t factor) {
  ExprBuilder build(partition.space.variables.exprs);
  const ExprId by = partition.space.variables.exprs.constant(factor);
  Path copy = path;
  copy.timing = Timing();
  for (std::size_t k = 1; k < path.timing.size(); ++k) {
    Timing::Node node = path.timing[static_cast<InstantId>(k)];
    for (Timing::Arc& arc : node.after) arc.delay = build.mul(by, arc.delay);
    node.period *= factor;
    node.phase *= factor;
    copy.timing.add(std::move(node));
  }
  return copy;
}

}  // namespace

void bind_bounds(py::module_& m) {
  py::class_<Measured, std::shared_ptr<Measured>>(
      m, "Measured", "What can be asked of a path: ([(weight, instant)], constant) each.")
      .def(py::init<std::shared_ptr<Partition>, const Net&, const Path&>())
      .def("latency", [](Measured& p) { return to_sum(p.measures().latency()); })
      .def("busy", [](Measured& p,
                      Id t) { return to_sum(p.measures().busy(static_cast<TransitionId>(t))); })
      .def("stall",
           [](Measured& p, Id t, Id place) {
             return to_sum(
                 p.measures().stall(static_cast<TransitionId>(t), static_cast<PlaceId>(place)));
           })
      .def("completion",
           [](Measured& p, std::uint64_t k) { return to_sum(p.measures().completion(k)); })
      .def("at", &Measured::at, py::arg("term"), "A new instant, so much after time 0.")
      .def(
          "times",
          [](const Measured& p, const Partition& partition, const Assignment& input) {
            return evaluate(p.path().timing, partition.space, input);
          },
          "When every instant is, for an input of the path.");
  m.def("scaled", &scaled, py::arg("partition"), py::arg("path"), py::arg("factor"),
        "A copy of a path whose times are `factor` times as long.");
  m.def(
      "restricted",
      [](const Partition& partition, const Path& path, const std::vector<Id>& conditions) {
        Path copy = path;
        for (const Id condition : conditions)
          copy.conditions.push_back(expr(partition.space.variables, condition));
        return copy;
      },
      py::arg("partition"), py::arg("path"), py::arg("conditions"),
      "A copy of a path for those of its inputs that meet more conditions.");
  m.def(
      "later",
      [](const Partition& partition, Path& path, Id from, Id term) {
        const InstantId before = instant_in(path, from);
        return static_cast<Id>(
            path.timing.add({.kind = Timing::Kind::kMax,
                             .after = {{before, expr(partition.space.variables, term)}}}));
      },
      py::arg("partition"), py::arg("path"), py::arg("instant"), py::arg("term"),
      "A new instant of a path, so much after another one; the term must not be negative.");
  m.def(
      "bound",
      [](const Partition& partition, const std::vector<py::tuple>& goals, bool maximum,
         std::optional<Time> enough_proved, std::optional<Time> enough_found, double seconds,
         double question_seconds, std::uint64_t seed, const py::object& progress) {
        smt::BoundOptions options;
        options.seconds = seconds;
        options.question.seconds = question_seconds;
        options.seed = seed;
        return bound(partition, goals, maximum, {enough_proved, enough_found}, options, progress);
      },
      py::arg("partition"), py::arg("goals"), py::kw_only(), py::arg("maximum"),
      py::arg("enough_proved"), py::arg("enough_found"), py::arg("seconds"),
      py::arg("question_seconds"), py::arg("seed"), py::arg("progress"),
      "(dict of smt::BoundResult, whether Ctrl-C ended it). `goals`: (Path, instant), or "
      "(Measured, "
      "[(weight, instant)], constant). Stops early "
      "when a bound as good as `enough_proved` is proved or an input as far as `enough_found` "
      "found. `progress(proved, found, boxes, seconds)`: a true result ends the work.");
  m.def("check_bound", &check, py::arg("partition"), py::arg("goal"), py::kw_only(),
        py::arg("maximum"), py::arg("certificate"), py::arg("trusted"),
        "None when the certificate proves its bound, else why not. `trusted(smtlib)`: whether a "
        "formula is unsatisfiable; None: nobody says so.");
}

}  // namespace lpn::python

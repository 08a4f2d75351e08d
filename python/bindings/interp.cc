// The interpreter, what it reports of a run, and its commits.
#include "lpn/run/interp.h"

#include <fmt/format.h>

#include <algorithm>

#include "bind.h"
#include "method.h"
#include "watch.h"

namespace lpn::python {
namespace {

const char* ending_name(const RunResult& result) {
  switch (result.ending) {
    case Ending::kQuiet: return "quiet";
    case Ending::kDone: return "done";
    case Ending::kLimit: return "limit";
    case Ending::kCondition: return "condition";
    case Ending::kStopped: return result.stop == Stop::kAsked ? "interrupted" : "budget";
  }
  return "";
}

const char* stop_name(Stop stop) {
  switch (stop) {
    case Stop::kNone: return "";
    case Stop::kAsked: return "interrupt";
    case Stop::kMemory: return "memory";
    case Stop::kSeconds: return "time";
    case Stop::kGroups: return "groups";
    case Stop::kFirings: return "firings";
    case Stop::kTokens: return "tokens";
  }
  return "";
}

// Keeps every commit, or hands each to a Python function.
class Recorder : public Observer {
 public:
  void on_commit(const Commit& commit) override { commits.push_back(commit); }
  std::vector<Commit> commits;
};
class Caller : public Observer {
 public:
  explicit Caller(py::function function) : function_(std::move(function)) {}
  void on_commit(const Commit& commit) override {
    const py::gil_scoped_acquire gil;
    function_(commit);
  }

 private:
  py::function function_;
};

py::list ids(const std::vector<TokenId>& tokens) {
  py::list list;
  for (const TokenId& t : tokens) {
    list.append(t.initial ? py::make_tuple("initial", t.source, t.index)
                          : py::make_tuple("firing", t.source, t.firing, t.arc, t.index));
  }
  return list;
}

using GuideTuple = std::tuple<std::vector<Time>, std::vector<Time>,
                              std::vector<std::pair<std::uint32_t, std::size_t>>>;

Guide to_guide(const Net& net, const std::vector<GuideTuple>& transitions,
               const std::vector<ParamValues>& values) {
  Guide guide;
  for (const ParamValues& each : values) {
    if (each.size() != net.params.size()) throw py::value_error("not the net's parameters");
  }
  guide.values = values;
  for (const auto& [starts, commits, probes] : transitions) {
    Guide::Of& of = guide.transitions.emplace_back(Guide::Of{starts, commits, {}});
    for (const auto& [id, which] : probes) {
      if (which >= values.size()) throw py::index_error("no such values");
      of.probes.push_back({expr(net, id), which});
    }
  }
  return guide;
}

py::dict to_dict(const TransitionStats& stats) {
  py::dict waited;
  for (int k = 0; k < kWaits; ++k) {
    waited[wait_name(static_cast<Wait>(k))] = stats.waited[static_cast<std::size_t>(k)];
  }
  py::dict d;
  d["commits"] = stats.commits;
  d["busy"] = stats.busy;
  d["waited"] = waited;
  return d;
}

}  // namespace

py::dict to_dict(const Stats& stats) {
  py::list transitions, places;
  for (const TransitionStats& t : stats.transitions) transitions.append(to_dict(t));
  for (const PlaceStats& p : stats.places) {
    py::dict place;
    place["mean"] = p.mean;
    place["peak"] = p.peak;
    places.append(place);
  }
  py::dict d;
  d["end"] = stats.end;
  d["transitions"] = transitions;
  d["places"] = places;
  return d;
}

void bind_interp(py::module_& m) {
  m.attr("FOREVER") = kForever;

  py::class_<Commit>(m, "Commit")
      .def_readonly("time", &Commit::time)
      .def_readonly("group", &Commit::group)
      .def_property_readonly(
          "transition", [](const Commit& c) { return static_cast<std::uint32_t>(c.transition); })
      .def_readonly("firing", &Commit::firing)
      .def_readonly("start", &Commit::start)
      .def_property_readonly("taken",
                             [](const Commit& c) {
                               py::list arcs;
                               for (const auto& arc : c.taken) arcs.append(ids(arc));
                               return arcs;
                             })
      .def_readonly("produced", &Commit::produced)
      .def("__eq__", [](const Commit& a, const Commit& b) { return a == b; })
      .def("__repr__", [](const Commit& c) {
        return fmt::format("Commit(time={}, group={}, transition={}, firing={}, start={})", c.time,
                           c.group, static_cast<std::uint32_t>(c.transition), c.firing, c.start);
      });

  py::class_<Budget>(m, "Budget", "What a run may use; 0: any.")
      .def(py::init([](std::uint64_t memory, double seconds, std::uint64_t groups,
                       std::uint64_t firings, std::uint64_t tokens) {
             return Budget{memory, seconds, groups, firings, tokens, 0};
           }),
           py::kw_only(), py::arg("memory") = 0, py::arg("seconds") = 0.0, py::arg("groups") = 0,
           py::arg("firings") = 0, py::arg("tokens") = 0)
      .def_readonly("seconds", &Budget::seconds)
      .def("text", [](const Budget& b, const RunResult& r) { return stop_text(r.stop, b); })
      .def(
          "after",
          [](Budget b, double seconds) {
            if (b.seconds > 0) {
              if (b.asked_seconds == 0) b.asked_seconds = b.seconds;
              b.seconds = std::max(b.seconds - seconds, 1e-6);
            }
            return b;
          },
          py::arg("seconds"), "What is left when so many seconds were used.");

  py::class_<RunResult>(m, "RunResult")
      .def_property_readonly("ending", [](const RunResult& r) { return ending_name(r); })
      .def_property_readonly("stop", [](const RunResult& r) { return stop_name(r.stop); })
      .def_readonly("latency", &RunResult::latency)
      .def_readonly("last_commit", &RunResult::last_commit)
      .def_readonly("commits", &RunResult::commits)
      .def_readonly("done_tokens", &RunResult::done_tokens)
      .def_readonly("stalled", &RunResult::stalled)
      .def_property_readonly(
          "blocked",
          [](const RunResult& r) {
            py::list list;
            for (const Blocked& b : r.blocked) {
              list.append(py::make_tuple(static_cast<std::uint32_t>(b.transition),
                                         wait_name(b.wait), b.arc));
            }
            return list;
          })
      .def_property_readonly("undrained", [](const RunResult& r) {
        std::vector<std::uint32_t> places;
        for (PlaceId p : r.undrained) places.push_back(static_cast<std::uint32_t>(p));
        return places;
      });

  py::class_<Interp>(m, "Interp")
      .def(
          py::init(
              [](const Net& net, const ParamValues& params, const Marking& marking,
                 std::uint64_t group_limit, bool stats, bool trace, bool full_scan,
                 const Budget& budget, const py::object& poll, const std::vector<GuideTuple>& guide,
                 const std::vector<ParamValues>& guide_values, std::optional<std::uint32_t> halved,
                 const std::optional<ConditionTuple>& until) {
                InterpOptions options;
                if (until) options.until = to_condition(net, *until);
                options.guide = to_guide(net, guide, guide_values);
                options.group_limit = group_limit;
                options.stats = stats;
                options.trace = trace;
                options.full_scan = full_scan;
                options.budget = budget;
                if (halved) options.halved = static_cast<TransitionId>(*halved);
                Watch watch(poll);
                options.poll = [&](Time time, std::uint64_t commits) {
                  return !watch.go_on(time, commits);
                };
                std::unique_ptr<Interp> made;
                {
                  const py::gil_scoped_release nogil;
                  made = std::make_unique<Interp>(net, params, marking, options);
                  made->set_poll({});
                }
                watch.rethrow();
                return made;
              }),
          py::arg("net"), py::arg("params"), py::arg("marking"), py::kw_only(),
          py::arg("group_limit") = kDefaultGroupLimit, py::arg("stats") = false,
          py::arg("trace") = false, py::arg("full_scan") = false, py::arg("budget") = Budget{},
          py::arg("poll") = py::none(), py::arg("guide") = std::vector<GuideTuple>{},
          py::arg("guide_values") = std::vector<ParamValues>{}, py::arg("halved") = py::none(),
          py::arg("until") = py::none())
      .def("probed",
           [](const Interp& i, std::uint32_t t) { return i.probed(static_cast<TransitionId>(t)); })
      .def("push", [](Interp& i, std::uint32_t place, const std::vector<std::int64_t>& values,
                      Time time) { i.push(static_cast<PlaceId>(place), values, time); })
      .def(
          "run",
          [](Interp& i, Time limit) {
            const py::gil_scoped_release nogil;
            return i.run(limit);
          },
          py::arg("limit") = kForever)
      .def(
          "run_recorded",
          [](Interp& i, Time limit) {
            Recorder recorder;
            RunResult result;
            {
              const py::gil_scoped_release nogil;
              result = i.run(limit, &recorder);
            }
            return std::make_pair(result, std::move(recorder.commits));
          },
          py::arg("limit") = kForever)
      .def(
          "run_observed",
          [](Interp& i, Time limit, py::function on_commit) {
            Caller caller(std::move(on_commit));
            return i.run(limit, &caller);
          },
          py::arg("limit"), py::arg("on_commit"))
      .def_property_readonly("now", method<Interp>(&Interp::now))
      .def_property_readonly("next", method<Interp>(&Interp::next))
      .def("why",
           [](const Interp& i, std::uint32_t t) {
             const Blocked b = i.why(static_cast<TransitionId>(t));
             return py::make_tuple(t, wait_name(b.wait), b.arc);
           })
      .def("collect", [](Interp& i, std::uint32_t p) { i.collect(static_cast<PlaceId>(p)); })
      .def("take",
           [](Interp& i, std::uint32_t p) { return as_bytes(i.take(static_cast<PlaceId>(p))); })
      .def("occupancy",
           [](const Interp& i, std::uint32_t p) { return i.occupancy(static_cast<PlaceId>(p)); })
      .def("free_tokens",
           [](const Interp& i, std::uint32_t p) { return i.free_tokens(static_cast<PlaceId>(p)); })
      .def("tokens",
           [](const Interp& i, std::uint32_t p) { return i.tokens(static_cast<PlaceId>(p)); })
      .def("stats", [](const Interp& i) { return to_dict(i.stats()); });
}

}  // namespace lpn::python

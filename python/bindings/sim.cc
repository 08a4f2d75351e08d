// Compiled simulators, and the one way in which Python runs either engine: in slices of time, with
// the GIL released.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "bind.h"
#include "compiling.h"
#include "lpn/base/error.h"
#include "lpn/run/interp.h"
#include "lpn/sim/interpreted_path.h"
#include "lpn/sim/library.h"
#include "lpn/sim/program.h"
#include "lpn/sim/simulator.h"
#include "lpn/sim/sliced.h"
#include "method.h"
#include "watch.h"

namespace lpn::python {
namespace {

// Hands each commit to a Python function.
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

// (result or None, seconds, interrupted, time the run is complete up to).
template <typename Engine>
py::tuple run(Engine& engine, Time limit, Observer* observer, const py::object& on_slice,
              double budget) {
  sim::Slices slices{limit, observer, {}, budget};
  slices.keep_on = [&](Time time, std::uint64_t commits) {
    const py::gil_scoped_acquire gil;
    return !interrupted() && (on_slice.is_none() || !py::bool_(on_slice(time, commits)));
  };
  sim::SlicedRun done;
  {
    const py::gil_scoped_release nogil;
    done = sim::run_sliced(engine, slices);
  }
  return py::make_tuple(done.result, done.seconds, done.stopped, done.until);
}

template <typename Engine>
void bind_run(py::module_& m) {
  m.def(
      "run",
      [](Engine& engine, Time limit, const py::object& observer, const py::object& on_slice,
         double budget) {
        if (observer.is_none()) return run(engine, limit, nullptr, on_slice, budget);
        if (py::isinstance<Observer>(observer)) {
          return run(engine, limit, observer.cast<Observer*>(), on_slice, budget);
        }
        Caller caller(observer.cast<py::function>());
        return run(engine, limit, &caller, on_slice, budget);
      },
      py::arg("engine"), py::arg("limit") = kForever, py::arg("observer") = py::none(),
      py::arg("on_slice") = py::none(), py::arg("budget") = 0.0,
      "Runs an Interp or Simulator; (result, seconds, interrupted, time simulated to).");
}

double write_program(const Net& net, const std::string& what, const std::string& file) {
  try {
    return compiling(py::none(), [&](const sim::CompileOptions& options) {
      return sim::write_program(net, what, file, options);
    });
  } catch (const std::filesystem::filesystem_error& error) {
    errno = error.code().value();
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, error.path1().c_str());
    throw py::error_already_set();
  }
}

void set_defaults(Net& net, const ParamValues& values) {
  if (values.size() != net.params.size()) throw py::value_error("one value per parameter");
  for (std::size_t k = 0; k < values.size(); ++k) net.params[k].value = values[k];
}

py::tuple to_tuple(const sim::CriticalPath& path) {
  py::list rows, steps;
  for (const auto& r : path.rows) {
    rows.append(py::make_tuple(static_cast<int>(r.kind), r.index, r.count, r.cycles));
  }
  for (const auto& step : path.steps) {
    steps.append(py::make_tuple(step.index, step.cause, step.to_commit, step.start, step.commit));
  }
  return py::make_tuple(rows, steps);
}

// Keeps every commit.
class Recorder : public Observer {
 public:
  void on_commit(const Commit& commit) override { commits.push_back(commit); }
  std::vector<Commit> commits;
};

}  // namespace

void bind_sim(py::module_& parent) {
  py::module_ m = parent.def_submodule("sim", "Compiled simulators.");

  py::class_<Observer>(m, "Observer");
  py::class_<Recorder, Observer>(m, "Recorder").def(py::init<>()).def("take", [](Recorder& r) {
    return std::exchange(r.commits, {});
  });

  py::class_<sim::Library>(m, "Library")
      .def_static(
          "build",
          [](const Net& net, bool trace, bool stats, bool path, const py::object& stop) {
            return compiling(stop, [&](const sim::CompileOptions& options) {
              // A Simulator is always given every value.
              return sim::Library::build(sim::to_share(net), {trace, stats, path}, options);
            });
          },
          py::arg("net"), py::kw_only(), py::arg("trace") = false, py::arg("stats") = false,
          py::arg("path") = false, py::arg("stop") = py::none(),
          "Compiles the net, or takes it from the cache. Raises Error E-no-compiler, E-compile, "
          "E-cache, E-load, E-too-large, E-never-compile; KeyboardInterrupt on Ctrl-C, and "
          "E-interrupted when stop() is true, asked about 20 times a second.")
      .def_static("open",
                  [](const Net& net, const std::string& artefact) {
                    return sim::Library::open(net, artefact);
                  })
      .def_property_readonly("artefact",
                             [](const sim::Library& l) { return l.provenance().artefact.string(); })
      .def_property_readonly("cached", [](const sim::Library& l) { return l.provenance().cached; })
      .def_property_readonly("seconds",
                             [](const sim::Library& l) { return l.provenance().seconds; })
      .def_property_readonly("notice", [](const sim::Library& l) { return l.provenance().notice; });

  py::class_<sim::Simulator>(m, "Simulator")
      .def(py::init([](const sim::Library& library, const ParamValues& params,
                       const Marking& marking, const Budget& budget, const py::object& poll) {
             Watch watch(poll);
             std::unique_ptr<sim::Simulator> made;
             {
               const py::gil_scoped_release nogil;
               made = std::make_unique<sim::Simulator>(
                   library, params, marking, budget,
                   [&](Time time, std::uint64_t commits) { return !watch.go_on(time, commits); });
               made->set_poll({});
             }
             watch.rethrow();
             return made;
           }),
           py::arg("library"), py::arg("params"), py::arg("marking"), py::kw_only(),
           py::arg("budget") = Budget{}, py::arg("poll") = py::none())
      .def("push",
           [](sim::Simulator& s, std::uint32_t place, const std::vector<std::int64_t>& values,
              Time time) { s.push(static_cast<PlaceId>(place), values, time); })
      .def(
          "run",
          [](sim::Simulator& s, Time limit) {
            const py::gil_scoped_release nogil;
            return s.run(limit);
          },
          py::arg("limit") = kForever)
      .def_property_readonly("order_free", method<sim::Simulator>(&sim::Simulator::was_order_free))
      .def_property_readonly("fell_back", method<sim::Simulator>(&sim::Simulator::fell_back))
      .def_property_readonly("now", method<sim::Simulator>(&sim::Simulator::now))
      .def("tokens", [](const sim::Simulator& s,
                        std::uint32_t p) { return s.tokens(static_cast<PlaceId>(p)); })
      .def("free_tokens", [](const sim::Simulator& s,
                             std::uint32_t p) { return s.free_tokens(static_cast<PlaceId>(p)); })
      .def("collect",
           [](sim::Simulator& s, std::uint32_t p) { s.collect(static_cast<PlaceId>(p)); })
      .def(
          "take",
          [](sim::Simulator& s, std::uint32_t p) {
            return as_bytes(s.take(static_cast<PlaceId>(p)));
          },
          "The tokens that arrived in a collecting place since the last call: (values, row-major, "
          "times), both as bytes of 64-bit integers.")
      .def("stats", [](const sim::Simulator& s) { return to_dict(s.stats()); })
      .def("halve",
           [](sim::Simulator& s, std::uint32_t t) { s.halve(static_cast<TransitionId>(t)); })
      .def("set_path_budget", method<sim::Simulator>(&sim::Simulator::set_path_budget))
      .def(
          "path", [](const sim::Simulator& s) { return to_tuple(s.path()); },
          "(rows (kind, index, count, cycles), steps (index, cause, to_commit, start, commit)); of "
          "a "
          "library built with path=True, after a run.");

  py::class_<sim::InterpretedPath>(m, "InterpretedPath")
      .def(py::init([](const Net& net, Interp& run, std::uint64_t bytes) {
             return std::make_unique<sim::InterpretedPath>(net, run, bytes);
           }),
           py::arg("net"), py::arg("run"), py::arg("bytes"), py::keep_alive<3, 1>(),
           "Watches an Interp that has not begun.")
      .def("path", [](const sim::InterpretedPath& p) { return to_tuple(p.path()); });

  m.def(
      "run_batch",
      [](const sim::Library& library, const std::vector<ParamValues>& params,
         const std::vector<const Marking*>& markings, unsigned threads,
         const std::vector<std::uint32_t>& read, const Budget& budget, Time limit) {
        if (params.size() != markings.size()) throw py::value_error("parameters per marking");
        py::list answers;
        std::vector<sim::Simulator> simulators;
        double seconds = 0, layout = 0;
        struct Answer {
          std::optional<RunResult> result;
          std::optional<RunError> error;
          Time now = 0;
          std::vector<std::uint64_t> left;
          std::vector<std::pair<std::uint64_t, std::vector<std::int64_t>>> read;
        };
        std::vector<Answer> all;
        Watch watch{py::none()};
        std::atomic<bool> stop = false;
        // Ctrl-C reaches the thread that called; the others see that it did.
        const Poll poll = [&, caller = std::this_thread::get_id()](Time time, std::uint64_t n) {
          if (!stop && std::this_thread::get_id() == caller && !watch.go_on(time, n)) stop = true;
          return stop.load();
        };
        {
          const py::gil_scoped_release nogil;
          simulators.reserve(params.size());
          for (std::size_t k = 0; k < params.size(); ++k) {
            simulators.emplace_back(library, params[k], *markings[k], budget, poll);
          }
          const auto begin = std::chrono::steady_clock::now();
          layout = sim::Simulator::run_batch(
              simulators, threads,
              [&](std::size_t k, const RunResult* result, const RunError* error) {
                Answer answer;
                if (error != nullptr) answer.error = *error;
                if (result != nullptr) {
                  answer.result = *result;
                  answer.now = simulators[k].now();
                  for (std::uint32_t p = 0; result->stalled && p < library.net().places.size(); ++p)
                    answer.left.push_back(simulators[k].free_tokens(static_cast<PlaceId>(p)));
                  for (const std::uint32_t p : read) {
                    const auto place = static_cast<PlaceId>(p);
                    answer.read.emplace_back(simulators[k].free_tokens(place),
                                             simulators[k].tokens(place));
                  }
                }
                all.push_back(std::move(answer));
              },
              limit);
          seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        }
        watch.rethrow();
        if (watch.interrupted()) {
          PyErr_SetNone(PyExc_KeyboardInterrupt);
          throw py::error_already_set();
        }
        for (Answer& a : all) {
          answers.append(a.error ? py::make_tuple(py::none(), to_exception(*a.error), py::list(), 0)
                                 : py::make_tuple(*a.result, a.left, a.read, a.now));
        }
        return py::make_tuple(answers, seconds, layout);
      },
      py::arg("library"), py::arg("params"), py::arg("markings"), py::arg("threads") = 0,
      py::arg("read") = std::vector<std::uint32_t>{}, py::arg("budget") = Budget{},
      py::arg("limit") = kForever,
      "Runs the net on every marking with its parameter values; ([(result, free tokens per place "
      "when stalled, (count, values) of the free tokens of each place `read`, now) or (None, "
      "RunError, [], 0)], seconds of all together, of them for laying inputs side "
      "by side, added up over threads). Ctrl-C raises KeyboardInterrupt.");

  bind_run<sim::Simulator>(m);
  bind_run<Interp>(m);
  m.def("sane_memory", sim::sane_memory,
        "Bytes that a run may use unless somebody says otherwise: three quarters of the memory.");
  m.def("cache_folder", [] { return sim::cache_folder().string(); });
  m.def(
      "ways",
      [](const Net& net) {
        static constexpr const char* kRuns[] = {"events", "mixed", "order-free"};
        py::list all;
        for (const sim::Way& way : sim::ways(net, solver())) {
          all.append(py::make_tuple(way.order_free, way.why_not, way.lock_step, way.why_no_repeat));
        }
        return py::make_tuple(kRuns[static_cast<int>(sim::runs(net, solver()))], all);
      },
      "How the compiled net runs: \"events\", \"mixed\" or \"order-free\", and per transition "
      "(runs order-free, why not, in lock step, why not).");
  m.def(
      "write_program", write_program, py::arg("net"), py::arg("what"), py::arg("file"),
      "Writes FILE.cc, the source; FILE.so, a library with the C interface of lpnrt/abi.h; or else "
      "a program. `what` names the net in messages. The seconds that the compiler took. Raises "
      "Error E-no-compiler, E-compile, E-too-large, and OSError.");
  m.def(
      "with_defaults",
      [](const Net& net, const ParamValues& values) {
        auto copy = std::make_shared<Net>(net);
        set_defaults(*copy, values);
        return copy;
      },
      "A copy of the net whose parameters have these defaults.");
}

}  // namespace lpn::python

// A run of the interpreter, an instant after the other, and what happened in each: for a debugger.
#include <fmt/format.h>

#include <map>

#include "bind.h"
#include "lpn/run/interp.h"
#include "watch.h"

namespace lpn::python {
namespace {

class Stepper : public Watcher {
 public:
  struct Event {
    const char* what;  // "start", "commit", "arrival"
    std::uint32_t which;
    std::uint64_t firing = 0;
    Time start = 0, due = 0;
    std::vector<std::uint64_t> tokens;  // taken or produced per declared arc
  };

  Stepper(const Net& net, Interp& interp, ParamValues params)
      : net_(net),
        params_(std::move(params)),
        interp_(interp),
        places_(net.places.size()),
        transitions_(net.transitions.size()) {
    interp.watch(this);
  }

  ~Stepper() override { interp_.watch(nullptr); }
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  void on_start(const Started& f) override {
    const std::size_t t = static_cast<std::size_t>(f.transition);
    note({"start", static_cast<std::uint32_t>(t), f.firing, f.start, f.due, copy(f.taken)});
    flying_[{static_cast<std::uint32_t>(t), f.firing}] = {f.start, f.due};
    hit_ = hit_ || transitions_[t];
    touch(net_.transitions[t].inputs, f.taken);
  }
  void on_commit(const Started& f) override {
    const std::size_t t = static_cast<std::size_t>(f.transition);
    note({"commit", static_cast<std::uint32_t>(t), f.firing, f.start, f.due, copy(f.produced)});
    flying_.erase({static_cast<std::uint32_t>(t), f.firing});
    hit_ = hit_ || transitions_[t];
    touch(net_.transitions[t].outputs, f.produced);
    ++commits_;
  }
  void on_arrival(Time time, PlaceId place, std::span<const std::int64_t>) override {
    note({"arrival", static_cast<std::uint32_t>(place), 0, time, time, {}});
    hit_ = hit_ || places_[static_cast<std::size_t>(place)];
  }
  void on_wait(Time, const Blocked&) override {}

  void set_break(bool place, std::uint32_t which, bool on) {
    (place ? places_ : transitions_).at(which) = on;
  }

  // Runs stop behind an instant after which one of these holds that did not before it.
  void set_conditions(const std::vector<ConditionTuple>& conditions) {
    std::vector<Watched> watched;
    for (const ConditionTuple& each : conditions) watched.push_back({to_condition(net_, each)});
    conditions_ = std::move(watched);
    if (begun_) look();
    met_.clear();
  }
  const std::vector<std::size_t>& met() const { return met_; }

  // Why it ends: "limit" (nothing more up to `until`), "steps", "break", "quiet", "done",
  // "interrupted". `log` is called with each instant's events.
  std::string go(Time until, std::uint64_t steps, const py::object& log) {
    Watch watch{py::none()};
    while (steps != 0) {
      const auto next = interp_.next();
      if (next && *next > until) return "limit";
      events_.clear();
      hit_ = false;
      {
        const py::gil_scoped_release nogil;
        result_ = interp_.run(next ? *next : kForever);
      }
      const bool goes_on = result_.ending == Ending::kLimit;
      look();
      hit_ = hit_ || !met_.empty();
      const bool first = !begun_;
      begun_ = true;
      if (!events_.empty() || first) {
        ++instants_;
        --steps;
        if (!log.is_none()) log();
      }
      if (!goes_on) return result_.ending == Ending::kDone ? "done" : "quiet";
      if (hit_) return "break";
      bool on = true;
      {
        const py::gil_scoped_release nogil;
        on = watch.go_on();
      }
      watch.rethrow();
      if (!on) return "interrupted";
    }
    return "steps";
  }

  py::list events() const {
    py::list out;
    for (const Event& e : events_) {
      out.append(py::make_tuple(e.what, e.which, e.firing, e.start, e.due, e.tokens));
    }
    return out;
  }
  py::list flying() const {
    py::list out;
    for (const auto& [who, when] : flying_) {
      out.append(py::make_tuple(who.first, who.second, when.first, when.second));
    }
    return out;
  }
  std::uint64_t instants() const { return instants_; }
  std::uint64_t commits() const { return commits_; }
  const RunResult& result() const { return result_; }

 private:
  static std::vector<std::uint64_t> copy(std::span<const std::uint64_t> from) {
    return {from.begin(), from.end()};
  }
  struct Watched {
    Condition condition;
    bool holds = false;
  };
  void look() {
    met_.clear();
    for (std::size_t k = 0; k < conditions_.size(); ++k) {
      const bool now = holds(
          net_, params_, conditions_[k].condition,
          [this](PlaceId p) { return interp_.occupancy(p); },
          [this](PlaceId p) { return interp_.free_tokens(p); });
      if (now && !conditions_[k].holds) met_.push_back(k);
      conditions_[k].holds = now;
    }
  }
  void note(Event event) { events_.push_back(std::move(event)); }
  template <typename Arcs>
  void touch(const Arcs& arcs, std::span<const std::uint64_t> tokens) {
    for (std::size_t a = 0; a < tokens.size() && a < arcs.size(); ++a) {
      if (tokens[a] != 0) hit_ = hit_ || places_[static_cast<std::size_t>(arcs[a].place)];
    }
  }

  const Net& net_;
  const ParamValues params_;
  Interp& interp_;
  std::vector<bool> places_, transitions_;  // where to stop
  std::vector<Watched> conditions_;
  std::vector<std::size_t> met_;  // of them, those that came to hold in the last instant
  std::vector<Event> events_;     // of the last instant
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<Time, Time>> flying_;
  bool hit_ = false, begun_ = false;
  std::uint64_t instants_ = 0, commits_ = 0;
  RunResult result_;
};

}  // namespace

void bind_stepper(py::module_& m) {
  py::class_<Stepper>(m, "Stepper", "A run of an Interp, an instant after the other.")
      .def(py::init([](const Net& net, Interp& interp, const ParamValues& params) {
             if (params.size() != net.params.size())
               throw py::value_error("one value per parameter");
             return std::make_unique<Stepper>(net, interp, params);
           }),
           py::arg("net"), py::arg("interp"), py::arg("params"), py::keep_alive<1, 2>(),
           py::keep_alive<1, 3>())
      .def("set_conditions", &Stepper::set_conditions, py::arg("conditions"))
      .def_property_readonly("met", &Stepper::met)
      .def("set_break", &Stepper::set_break, py::arg("place"), py::arg("which"), py::arg("on"))
      .def("go", &Stepper::go, py::arg("until") = kForever, py::arg("steps") = ~std::uint64_t{0},
           py::arg("log") = py::none())
      .def_property_readonly("events", &Stepper::events)
      .def_property_readonly("flying", &Stepper::flying)
      .def_property_readonly("instants", &Stepper::instants)
      .def_property_readonly("commits", &Stepper::commits)
      .def_property_readonly("result", &Stepper::result, py::return_value_policy::copy);
}

}  // namespace lpn::python

// Bounds by reachable states (lpn/reach/reach.h).
#include "lpn/reach/reach.h"

#include "bind.h"
#include "watch.h"

namespace lpn::python {
namespace {

ReachQuestion question(const std::string& what, std::uint64_t index, bool maximum) {
  using What = ReachQuestion::What;
  ReachQuestion asked{.maximum = maximum};
  if (what == "latency") {
    asked.what = What::kLatency;
  } else if (what == "completion") {
    asked.what = What::kCompletion;
    asked.k = index;
  } else if (what == "commits" || what == "busy") {
    asked.what = what == "busy" ? What::kBusy : What::kCommits;
    asked.transition = static_cast<TransitionId>(index);
  } else if (what == "response" || what == "backlog") {
    asked.what = what == "response" ? What::kResponse : What::kBacklog;
    asked.place = static_cast<PlaceId>(index);
  } else {
    throw py::value_error("no quantity '" + what + "'");
  }
  return asked;
}

}  // namespace

void bind_reach(py::module_& m) {
  m.def(
      "bound_by_states",
      [](const Net& net, const InputSpace& space, const std::string& what, std::uint64_t index,
         bool maximum, std::size_t zones, std::uint64_t values, std::uint64_t states,
         std::optional<std::int64_t> enough, const py::object& progress) {
        const ReachQuestion asked = question(what, index, maximum);
        Watch watch(progress);
        ReachOptions options{.zones = zones,
                             .values = values,
                             .states = states,
                             .memory = std::size_t{2} << 30,
                             .enough = enough,
                             .go_on = [&](std::uint64_t looked, std::uint64_t waiting, bool met) {
                               return watch.go_on(looked, waiting, met);
                             }};
        Reached r;
        {
          const py::gil_scoped_release nogil;
          r = bound_by_states(net, space, asked, options);
        }
        watch.rethrow();
        py::dict d;
        d["bound"] = r.bound;
        d["complete"] = r.complete;
        d["why"] = r.why;
        d["may_stall"] = r.may_stall;
        d["may_fail"] = r.may_fail;
        d["states"] = r.states;
        return py::make_tuple(d, watch.interrupted());
      },
      py::arg("net"), py::arg("space"), py::arg("what"), py::arg("index") = 0, py::kw_only(),
      py::arg("maximum") = true, py::arg("zones") = 1, py::arg("values") = 2, py::arg("states") = 0,
      py::arg("enough") = py::none(), py::arg("progress") = py::none(),
      "What latency, completion (of the index-th done token), commits or busy (of transition "
      "index) "
      "are at most, or at least, over all inputs; ({bound, complete, why, may_stall, may_fail, "
      "states}, "
      "interrupted).");
  m.def("most_done_tokens", &most_done_tokens, py::arg("net"), py::arg("space"),
        "The most done tokens that any run can produce; None: not known.");
}

}  // namespace lpn::python

// Every input of a space, run (lpn/sim/every_input.h).
#include "lpn/sim/every_input.h"

#include "bind.h"
#include "lpn/classes/input_space.h"
#include "watch.h"

namespace lpn::python {
namespace {

using sim::Quantity;
// [((quantity, index), coefficient)]
using FormTuple = std::vector<std::pair<std::pair<std::string, std::uint64_t>, std::int64_t>>;

Quantity quantity(const std::string& name, std::uint64_t index) {
  using Kind = Quantity::Kind;
  static const std::map<std::string, Kind> kNames = {
      {"one", Kind::kOne},           {"latency", Kind::kLatency}, {"completion", Kind::kCompletion},
      {"busy", Kind::kBusy},         {"commits", Kind::kCommits}, {"term", Kind::kTerm},
      {"response", Kind::kResponse}, {"backlog", Kind::kBacklog}};
  const auto found = kNames.find(name);
  if (found == kNames.end()) throw py::value_error("no quantity '" + name + "'");
  return {found->second, index};
}

py::tuple every_input(const Net& net, const InputSpace& space, const std::vector<FormTuple>& given,
                      sim::EveryInputOptions options, const py::object& progress) {
  check_space(net, space);
  std::vector<sim::Form> forms;
  for (const FormTuple& form : given) {
    sim::Form& made = forms.emplace_back();
    for (const auto& [atom, coefficient] : form)
      made.emplace_back(quantity(atom.first, atom.second), coefficient);
  }
  Watch watch(progress);
  options.go_on = [&](std::uint64_t looked) { return watch.go_on(looked); };
  sim::EveryInput r;
  {
    const py::gil_scoped_release nogil;
    r = sim::run_every_input(net, space, forms, options);
  }
  watch.rethrow();
  py::list largest;
  for (const auto& best : r.largest) {
    largest.append(best ? py::object(py::make_tuple(best->value, best->input)) : py::none());
  }
  py::dict d;
  d["assignments"] = r.assignments;
  d["inputs"] = r.inputs;
  d["complete"] = r.complete;
  d["largest"] = largest;
  d["without"] = r.without;
  d["silent"] = r.silent;
  d["stalled"] = r.stalled;
  d["failed"] = r.failed;
  d["endless"] = r.endless;
  return py::make_tuple(d, watch.interrupted());
}

}  // namespace

void bind_every_input(py::module_& m) {
  m.def(
      "every_input",
      [](const Net& net, const InputSpace& space, const std::vector<FormTuple>& forms,
         const sim::Library* library, unsigned threads, std::uint64_t first, std::uint64_t most,
         std::uint64_t max_commits, const std::optional<std::vector<Assignment>>& inputs,
         const py::object& progress) {
        return every_input(net, space, forms,
                           {.library = library,
                            .threads = threads,
                            .listed = inputs ? &*inputs : nullptr,
                            .first = first,
                            .most = most,
                            .most_commits = max_commits,
                            .go_on = {}},
                           progress);
      },
      py::arg("net"), py::arg("space"), py::arg("forms"), py::kw_only(),
      py::arg("library") = py::none(), py::arg("threads") = 0, py::arg("first") = 0,
      py::arg("most") = UINT64_MAX, py::arg("max_commits") = 200'000,
      py::arg("inputs") = py::none(), py::arg("progress") = py::none(),
      "Runs every input of the space, or of those listed; ({assignments, inputs, complete, "
      "largest: [(value, input) or "
      "None] per form [((quantity, index), coefficient)], silent, stalled, failed, endless}, "
      "interrupted).");
}

}  // namespace lpn::python

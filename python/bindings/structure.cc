// The structure of a net (lpn/structure/structure.h) by name.
#include "lpn/structure/structure.h"

#include "bind.h"
#include "inputs.h"
#include "lpn/net/facts.h"
#include "lpn/net/lower.h"
#include "lpn/smt/z3_feasibility.h"
#include "lpn/structure/endless.h"
#include "lpn/structure/exclusion.h"
#include "lpn/structure/invariants.h"
#include "owned.h"

namespace lpn::python {
namespace {

template <typename Ids>
py::list names(const Net& net, const Ids& ids) {
  py::list list;
  for (const auto id : ids) list.append(net[id].name);
  return list;
}

py::object reason(Exclusion why) {
  switch (why) {
    case Exclusion::kNone: return py::none();
    case Exclusion::kGuards: return py::str("guards");
    case Exclusion::kSolver: return py::str("solver");
    case Exclusion::kTokens: return py::str("tokens");
  }
  return py::none();
}

py::list conflict_list(const Net& net) {
  smt::Z3Feasibility solver;
  const std::vector<Conflict> shared = conflicts(net, &solver);
  const std::vector<Exclusion> why = exclusions(net, shared, &solver);
  py::list list;
  for (std::size_t k = 0; k < shared.size(); ++k) {
    py::dict d;
    d["place"] = net[shared[k].place].name;
    d["consumers"] = names(net, shared[k].consumers);
    d["router"] = shared[k].router;
    d["proof"] = reason(why[k]);
    list.append(d);
  }
  return list;
}

py::dict structure(const Net& net, const ParamValues& params) {
  require_values(net, params);
  py::list loop_list, component_list, part_list;
  for (const CreditLoop& loop : credit_loops(net)) {
    py::dict d;
    d["places"] = names(net, loop.places);
    d["transitions"] = names(net, loop.transitions);
    d["tokens"] = loop_tokens(net, params, loop);
    d["capacity"] = loop.capacity;
    loop_list.append(d);
  }
  for (const auto& component : components(net)) {
    if (component.size() > 1) component_list.append(names(net, component));
  }
  for (const MarkedGraph& part : marked_graphs(net)) {
    py::dict d;
    d["transitions"] = names(net, part.transitions);
    d["places"] = names(net, part.places);
    part_list.append(d);
  }
  py::dict all;
  all["conflicts"] = conflict_list(net);
  all["credit_loops"] = loop_list;
  all["unbounded_concurrency"] = names(net, unbounded_concurrency(net));
  all["dead"] = names(net, dead_transitions(net));
  all["loops"] = component_list;
  all["marked_graphs"] = part_list;
  return all;
}

// Finds a place or transition, or says which name is wrong.
template <typename Found>
auto named(const std::optional<Found>& found, const std::string& name) {
  if (!found) throw py::key_error("the net has no '" + name + "'");
  return *found;
}

py::object bound_of(const Net& net, const std::string& place) {
  smt::Z3Feasibility solver;
  const Net lowered = lower(net);
  const auto found = Invariants(lowered, &solver).bound(named(net.find_place(place), place));
  if (!found) return py::none();
  py::dict weights;
  for (const auto& [id, weight] : found->because->weights)
    weights[py::str(lowered[id].name)] = weight;
  return py::make_tuple(found->tokens, weights, names(lowered, found->because->relies_on));
}

bool exclusive(const Net& net, const std::vector<std::string>& transitions) {
  std::vector<TransitionId> ids;
  for (const std::string& name : transitions) ids.push_back(named(net.find_transition(name), name));
  smt::Z3Feasibility solver;
  const Net lowered = lower(net);
  return Invariants(lowered, &solver).mutually_exclusive(ids);
}

}  // namespace

void bind_structure(py::module_& m) {
  m.def("is_assertion", [](const Net& net, std::uint32_t transition) {
    return is_assertion(net, item(net.transitions, transition));
  });
  m.def("endless", &endless_names, py::arg("net"));
  m.def("structure", &structure, py::arg("net"), py::arg("params"),
        "Conflicts, credit loops, unbounded concurrency, dead transitions, strongly connected "
        "components of several transitions (`loops`) and marked-graph parts, all by name. The net "
        "must be valid.");
  m.def("token_bound", &bound_of, py::arg("net"), py::arg("place"),
        "(most tokens, weights of the invariant that proves it, places whose initial tokens it "
        "counts) of a place by name, or None; see lpn/structure/invariants.h. The net must be "
        "valid.");
  m.def("mutually_exclusive", &exclusive, py::arg("net"), py::arg("transitions"),
        "Whether no two of these transitions ever have their tokens at once. The net must be "
        "valid.");
}

}  // namespace lpn::python

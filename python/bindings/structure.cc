// The structure of a net (lpn/structure.h) by name.
#include "lpn/structure.h"

#include "bind.h"

namespace lpn::python {
namespace {

template <typename Ids>
py::list names(const Net& net, const Ids& ids) {
  py::list list;
  for (const auto id : ids) list.append(net[id].name);
  return list;
}

py::dict structure(const Net& net, const ParamValues& params) {
  py::list conflict_list, loop_list, component_list, part_list;
  for (const Conflict& c : conflicts(net)) {
    py::dict d;
    d["place"] = net[c.place].name;
    d["consumers"] = names(net, c.consumers);
    d["router"] = c.router;
    conflict_list.append(d);
  }
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
  all["conflicts"] = conflict_list;
  all["credit_loops"] = loop_list;
  all["unbounded_concurrency"] = names(net, unbounded_concurrency(net));
  all["dead"] = names(net, dead_transitions(net));
  all["loops"] = component_list;
  all["marked_graphs"] = part_list;
  return all;
}

}  // namespace

void bind_structure(py::module_& m) {
  m.def("structure", &structure, py::arg("net"), py::arg("params"),
        "Conflicts, credit loops, unbounded concurrency, dead transitions, strongly connected "
        "components of several transitions (`loops`) and marked-graph parts, all by name. The net "
        "must be valid.");
}

}  // namespace lpn::python

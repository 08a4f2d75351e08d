// Input spaces (lpn/classes/input_space.h): made at once from what the package's spaces/ has
// collected.
#include "bind.h"
#include "lpn/classes/input_space.h"
#include "lpn/expr/eval.h"

namespace lpn::python {
namespace {

using Id = std::uint32_t;
// (place, a term per property and token, how many of the tokens, when each arrives or none)
using TokensTuple =
    std::tuple<Id, std::vector<std::vector<Id>>, std::optional<Id>, std::vector<Id>>;

std::shared_ptr<InputSpace> make_space(const Net& variables, const std::vector<Id>& params,
                                       const std::vector<TokensTuple>& tokens,
                                       const std::vector<Id>& constraints) {
  auto space = std::make_shared<InputSpace>();
  space->variables = variables;
  for (const Id id : params) space->params.push_back(expr(variables, id));
  for (const auto& [place, rows, count, at] : tokens) {
    InputSpace::Tokens& list = space->tokens.emplace_back();
    list.place = static_cast<PlaceId>(place);
    for (const std::vector<Id>& row : rows) {
      std::vector<ExprId>& terms = list.rows.emplace_back();
      for (const Id id : row) terms.push_back(expr(variables, id));
    }
    if (count) list.count = expr(variables, *count);
    for (const Id id : at) list.at.push_back(expr(variables, id));
  }
  for (const Id id : constraints) space->constraints.push_back(expr(variables, id));
  return space;
}

}  // namespace

void bind_space(py::module_& m) {
  py::class_<InputSpace, std::shared_ptr<InputSpace>>(m, "InputSpace")
      .def(py::init(&make_space), py::arg("variables"), py::arg("params"), py::arg("tokens"),
           py::arg("constraints"))
      .def_readwrite("done_count", &InputSpace::done_count)
      .def("check", [](const InputSpace& s, const Net& net) { check_space(net, s); })
      .def("contains",
           [](const InputSpace& s, const Assignment& values) { return contains(s, values); })
      .def("params_of", [](const InputSpace& s, const Net& net,
                           const Assignment& values) { return params_of(net, s, values); })
      .def("marking_of",
           [](const InputSpace& s, const Net& net, const Assignment& values) {
             return std::make_shared<Marking>(marking_of(net, s, values));
           })
      .def(
          "assignments",
          [](const InputSpace& s, std::uint64_t limit) { return assignments(s, limit); },
          "How many the ranges alone allow; None: more than `limit`.")
      .def(
          "value",
          [](const InputSpace& s, std::uint32_t term, const Assignment& values) -> py::object {
            if (values.size() != s.variables.params.size())
              throw py::value_error("one value per variable");
            try {
              return py::int_(eval_params(s.variables.exprs, expr(s.variables, term), values));
            } catch (const EvalFault&) {
              return py::none();
            }
          },
          "A term's value for an input; None when it has none.")
      .def("inputs", [](const InputSpace& s) {
        std::vector<Assignment> all;
        const py::gil_scoped_release nogil;
        each_input(s, [&](const Assignment& values) {
          all.push_back(values);
          return true;
        });
        return all;
      });
}

}  // namespace lpn::python

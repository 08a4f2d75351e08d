// The net as data: built part by part from Python, read back as copies.
#include "bind.h"
#include "lpn/net/compose.h"
#include "lpn/net/verify.h"
#include "lpn/structure/lint.h"
#include "lpn/text/text.h"
#include "owned.h"

namespace lpn::python {
namespace {

using Id = std::uint32_t;

std::optional<Formula> to_optional(const OptionalFormula& t) {
  if (!t) return std::nullopt;
  return to_formula(*t);
}

py::object formula(const std::optional<Formula>& f) {
  if (!f) return py::none();
  return py::make_tuple(static_cast<Id>(f->id), f->source.file, f->source.line);
}

std::vector<Formula> to_formulas(const std::vector<FormulaTuple>& tuples) {
  std::vector<Formula> formulas;
  for (const FormulaTuple& t : tuples) formulas.push_back(to_formula(t));
  return formulas;
}

std::optional<Range> to_range(const std::optional<std::pair<std::int64_t, std::int64_t>>& pair) {
  if (!pair) return std::nullopt;
  return Range{pair->first, pair->second};
}

py::object range(const std::optional<Range>& r) {
  if (!r) return py::none();
  return py::make_tuple(r->lo, r->hi);
}

py::tuple source(Source s) { return py::make_tuple(s.file, s.line); }

void bind_transition(py::module_& m) {
  py::class_<InputArc>(m, "InputArc")
      .def_readonly("name", &InputArc::name)
      .def_property_readonly("place", [](const InputArc& a) { return static_cast<Id>(a.place); })
      .def_readonly("inhibit", &InputArc::inhibit)
      .def_property_readonly("weight", [](const InputArc& a) { return formula(a.weight); })
      .def_property_readonly("threshold", [](const InputArc& a) { return formula(a.threshold); })
      .def_property_readonly("guard", [](const InputArc& a) { return formula(a.guard); })
      .def_property_readonly("source", [](const InputArc& a) { return source(a.source); });
  py::class_<Emission>(m, "Emission")
      .def_property_readonly("count", [](const Emission& e) { return formula(e.count); })
      .def_property_readonly("fields", [](const Emission& e) {
        py::list fields;
        for (const Formula& f : e.fields) fields.append(formula(f));
        return fields;
      });
  py::class_<OutputArc>(m, "OutputArc")
      .def_property_readonly("place", [](const OutputArc& a) { return static_cast<Id>(a.place); })
      .def_readonly("emissions", &OutputArc::emissions)
      .def_property_readonly("source", [](const OutputArc& a) { return source(a.source); });

  py::class_<Transition>(m, "Transition")
      .def(py::init([](std::string name, Id file, Id line) {
        Transition t;
        t.name = std::move(name);
        t.source = {file, line};
        return t;
      }))
      .def("add_input",
           [](Transition& t, std::string name, Id place, bool inhibit, FormulaTuple weight, Id file,
              Id line) {
             InputArc arc;
             arc.name = std::move(name);
             arc.place = static_cast<PlaceId>(place);
             arc.inhibit = inhibit;
             arc.weight = to_formula(weight);
             arc.source = {file, line};
             t.inputs.push_back(std::move(arc));
             return t.inputs.size() - 1;
           })
      .def("set_weight", [](Transition& t, Id arc,
                            FormulaTuple f) { item(t.inputs, arc).weight = to_formula(f); })
      .def("set_threshold",
           [](Transition& t, Id arc, OptionalFormula f) {
             item(t.inputs, arc).threshold = to_optional(f);
           })
      .def("set_guard", [](Transition& t, Id arc,
                           OptionalFormula f) { item(t.inputs, arc).guard = to_optional(f); })
      .def("add_emission",
           [](Transition& t, Id place, FormulaTuple count, const std::vector<FormulaTuple>& fields,
              Id file, Id line) {
             const auto id = static_cast<PlaceId>(place);
             auto it = std::find_if(t.outputs.begin(), t.outputs.end(),
                                    [id](const OutputArc& a) { return a.place == id; });
             if (it == t.outputs.end()) {
               t.outputs.push_back({id, {}, {file, line}});
               it = t.outputs.end() - 1;
             }
             it->emissions.push_back({to_formula(count), to_formulas(fields)});
           })
      .def("set_delay", [](Transition& t, FormulaTuple f) { t.delay = to_formula(f); })
      .def("set_servers", [](Transition& t, OptionalFormula f) { t.servers = to_optional(f); })
      .def("set_interval", [](Transition& t, OptionalFormula f) { t.interval = to_optional(f); })
      .def("set_clock",
           [](Transition& t, FormulaTuple period, FormulaTuple phase) {
             t.clock = Clock{to_formula(period), to_formula(phase)};
           })
      .def_readonly("name", &Transition::name)
      .def_readwrite("ordered", &Transition::ordered)
      .def_readonly("inputs", &Transition::inputs)
      .def_readonly("outputs", &Transition::outputs)
      .def_property_readonly("delay", [](const Transition& t) { return formula(t.delay); })
      .def_property_readonly("servers", [](const Transition& t) { return formula(t.servers); })
      .def_property_readonly("interval", [](const Transition& t) { return formula(t.interval); })
      .def_property_readonly("clock",
                             [](const Transition& t) -> py::object {
                               if (!t.clock) return py::none();
                               return py::make_tuple(formula(t.clock->period),
                                                     formula(t.clock->phase));
                             })
      .def_property_readonly("source", [](const Transition& t) { return source(t.source); });
}

// A violation or a warning; `place` and `transition` are numbers, or None.
template <typename Finding>
void bind_finding(py::module_& m, const char* name) {
  const auto number = [](const auto& id) {
    return id ? std::optional(static_cast<Id>(*id)) : std::nullopt;
  };
  py::class_<Finding>(m, name)
      .def_readonly("code", &Finding::code)
      .def_readonly("where", &Finding::where)
      .def_readonly("message", &Finding::message)
      .def_property_readonly("place", [number](const Finding& f) { return number(f.place); })
      .def_property_readonly("transition",
                             [number](const Finding& f) { return number(f.transition); })
      .def_property_readonly("source", [](const Finding& f) { return source(f.source); });
}

void bind_parts(py::module_& m) {
  py::class_<Field>(m, "Field")
      .def_readonly("name", &Field::name)
      .def_property_readonly("range", [](const Field& f) { return range(f.range); });
  py::class_<TokenType>(m, "TokenType")
      .def_readonly("name", &TokenType::name)
      .def_readonly("fields", &TokenType::fields)
      .def_property_readonly("source", [](const TokenType& t) { return source(t.source); });
  py::class_<Param>(m, "Param")
      .def_readonly("name", &Param::name)
      .def_readonly("value", &Param::value)
      .def_property_readonly("range", [](const Param& p) { return range(p.range); })
      .def_property_readonly("source", [](const Param& p) { return source(p.source); });
  py::class_<Initial>(m, "Initial")
      .def_property_readonly("count", [](const Initial& i) { return formula(i.count); })
      .def_property_readonly("fields", [](const Initial& i) {
        py::list fields;
        for (const Formula& f : i.fields) fields.append(formula(f));
        return fields;
      });
  py::class_<Place>(m, "Place")
      .def_readonly("name", &Place::name)
      .def_property_readonly("type", [](const Place& p) { return static_cast<Id>(p.type); })
      .def_property_readonly("capacity", [](const Place& p) { return formula(p.capacity); })
      .def_readonly("initial", &Place::initial)
      .def_readonly("start", &Place::start)
      .def_readonly("done", &Place::done)
      .def_readonly("drain", &Place::drain)
      .def_readonly("sink", &Place::sink)
      .def_property_readonly("source", [](const Place& p) { return source(p.source); });
  bind_finding<Violation>(m, "Violation");
  bind_finding<Warning>(m, "Warning");
}

}  // namespace

void bind_net(py::module_& m) {
  bind_parts(m);
  bind_transition(m);

  py::class_<Net, std::shared_ptr<Net>> net(m, "Net");
  net.def("copy", [](const Net& n) { return std::make_shared<Net>(n); });
  net.def(py::init([](std::string name) {
    auto n = std::make_shared<Net>();
    n->name = std::move(name);
    return n;
  }));
  bind_expr(m, net);
  net.def_readonly("name", &Net::name)
      .def_readonly("files", &Net::files)
      .def_readonly("params", &Net::params)
      .def_readonly("types", &Net::types)
      .def_readonly("places", &Net::places)
      .def_readonly("transitions", &Net::transitions)
      .def_property_readonly("done_count", [](const Net& n) { return formula(n.done_count); })
      .def_readwrite("frequency", &Net::frequency)
      .def("set_done_count", [](Net& n, OptionalFormula f) { n.done_count = own(n, f); })
      .def("file",
           [](Net& n, const std::string& name) {
             const auto it = std::find(n.files.begin(), n.files.end(), name);
             const auto index = it - n.files.begin();
             if (it == n.files.end()) n.files.push_back(name);
             return index;
           })
      .def("add_param",
           [](Net& n, std::string name, std::int64_t value,
              std::optional<std::pair<std::int64_t, std::int64_t>> r, Id file, Id line) {
             n.params.push_back({std::move(name), value, to_range(r), {file, line}});
             return n.params.size() - 1;
           })
      .def("add_type",
           [](Net& n, std::string name,
              const std::vector<std::pair<
                  std::string, std::optional<std::pair<std::int64_t, std::int64_t>>>>& fields,
              Id file, Id line) {
             TokenType type{std::move(name), {}, {file, line}};
             for (const auto& [field, r] : fields) type.fields.push_back({field, to_range(r)});
             n.types.push_back(std::move(type));
             return n.types.size() - 1;
           })
      .def(
          "add_place",
          [](Net& n, std::string name, Id type, OptionalFormula capacity, bool start, bool done,
             bool drain, bool sink, Id file, Id line) {
            item(n.types, type);
            Place p;
            p.name = std::move(name);
            p.type = static_cast<TypeId>(type);
            p.capacity = own(n, capacity);
            p.start = start;
            p.done = done;
            p.drain = drain;
            p.sink = sink;
            p.source = {file, line};
            n.places.push_back(std::move(p));
            return n.places.size() - 1;
          },
          py::arg("name"), py::arg("type"), py::arg("capacity"), py::kw_only(), py::arg("start"),
          py::arg("done"), py::arg("drain"), py::arg("sink"), py::arg("file"), py::arg("line"))
      .def("add_initial",
           [](Net& n, Id place, FormulaTuple count, const std::vector<FormulaTuple>& fields) {
             Initial initial{own(n, count), {}};
             for (const FormulaTuple& f : fields) initial.fields.push_back(own(n, f));
             item(n.places, place).initial.push_back(std::move(initial));
           })
      .def("add_transition",
           [](Net& n, const Transition& t) {
             n.transitions.push_back(own(n, t));
             return n.transitions.size() - 1;
           })
      .def("replace_transition",
           [](Net& n, Id k, const Transition& t) { item(n.transitions, k) = own(n, t); })
      .def("set_capacity",
           [](Net& n, Id k, OptionalFormula f) { item(n.places, k).capacity = own(n, f); })
      .def("set_param",
           [](Net& n, Id k, std::int64_t value,
              std::optional<std::pair<std::int64_t, std::int64_t>> r) {
             item(n.params, k).value = value;
             item(n.params, k).range = to_range(r);
           })
      .def(
          "add_instance",
          [](Net& n, const Net& part, const std::string& prefix,
             const std::vector<std::optional<Id>>& connect,
             const std::vector<std::optional<Id>>& params,
             const std::optional<std::tuple<FormulaTuple, FormulaTuple>>& clock) {
            if (&part == &n || connect.size() != part.places.size() ||
                params.size() != part.params.size()) {
              throw py::value_error("another net, and a value per place and parameter of it");
            }
            InstanceSpec spec;
            spec.prefix = prefix;
            for (const auto& place : connect) {
              if (place) item(n.places, *place);
              spec.connect.push_back(place ? std::optional(static_cast<PlaceId>(*place))
                                           : std::nullopt);
            }
            for (const auto& value : params) {
              spec.params.push_back(value ? std::optional(expr(n, *value)) : std::nullopt);
            }
            if (clock) {
              spec.clock = Clock{own(n, std::get<0>(*clock)), own(n, std::get<1>(*clock))};
            }
            const Instance instance = add_instance(n, part, spec);
            std::vector<Id> places, transitions;
            for (PlaceId p : instance.places) places.push_back(static_cast<Id>(p));
            for (TransitionId t : instance.transitions) transitions.push_back(static_cast<Id>(t));
            return py::make_tuple(places, transitions, instance.params);
          },
          py::arg("part"), py::arg("prefix"), py::arg("connect"), py::arg("params"),
          py::arg("clock") = std::nullopt)
      .def("where",
           [](const Net& n, Id file, Id line) {
             return where(n, {file, line});
           })
      .def("bind_params",
           [](const Net& n, const std::vector<std::pair<std::string, std::int64_t>>& given) {
             return bind_params(n, given);
           })
      .def("verify", [](const Net& n) { return verify(n); })
      .def("lint",
           [](const Net& n) {
             require_valid(n);
             return lint(n);
           })
      .def("require_valid", [](const Net& n) { require_valid(n); })
      .def(
          "print",
          [](const Net& n,
             bool
                 sources) { return print_net(n, sources ? Sources::kPrinted : Sources::kLeftOut); },
          py::arg("sources") = true);

  m.def("parse_net",
        [](const std::string& text) { return std::make_shared<Net>(parse_net(text)); });
  m.def("is_name", [](const std::string& text) { return is_name(text); });
}

}  // namespace lpn::python

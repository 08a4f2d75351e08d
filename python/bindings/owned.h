// Numbers that Python gives for parts of a net: each must be there, so that no net points outside
// itself, whether it is valid or not.
#pragma once

#include "bind.h"

namespace lpn::python {

using OptionalFormula = std::optional<FormulaTuple>;

template <typename Items>
auto& item(Items& items, std::uint32_t k) {
  if (k >= items.size()) throw py::index_error("out of range");
  return items[k];
}

// Formulas of a net: their expressions are its own.
inline Formula own(const Net& net, const FormulaTuple& t) {
  expr(net, std::get<0>(t));
  return to_formula(t);
}
inline std::optional<Formula> own(const Net& net, const OptionalFormula& t) {
  if (!t) return std::nullopt;
  return own(net, *t);
}

// And those of a transition, which is made before it is part of a net.
inline const Transition& own(const Net& net, const Transition& t) {
  const auto check = [&](const auto&... formulas) {
    (static_cast<void>(formulas ? expr(net, static_cast<std::uint32_t>(formulas->id)) : ExprId{}),
     ...);
  };
  for (const InputArc& arc : t.inputs) {
    item(net.places, static_cast<std::uint32_t>(arc.place));
    check(&arc.weight, arc.threshold, arc.guard);
  }
  for (const OutputArc& arc : t.outputs) {
    item(net.places, static_cast<std::uint32_t>(arc.place));
    for (const Emission& emission : arc.emissions) {
      check(&emission.count);
      for (const Formula& f : emission.fields) check(&f);
    }
  }
  check(&t.delay, t.servers, t.interval);
  if (t.clock) check(&t.clock->period, &t.clock->phase);
  return t;
}

}  // namespace lpn::python

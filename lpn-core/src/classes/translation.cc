#include "classes/translation.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/expr/build.h"

namespace lpn {

Translation::Translation(const InputSpace& space, Feasibility& solver)
    : space_(space), solver_(solver) {
  for (const Param& variable : space.variables.params) {
    params_.push_back(solver.term(solver.integer(variable.name, *variable.range)));
  }
}

ExprId Translation::operator()(ExprId term) {
  return substitute(space_.variables.exprs, term, solver_.pool(), params_);
}

ExprId Translation::operator()(const Order& order, const Timing& timing, Differences& differences) {
  const ExprId before = (*this)(order.before, timing, differences);
  const ExprId after = (*this)(order.after, timing, differences);
  ExprBuilder build(solver_.pool());
  return order.strict ? build.lt(before, after) : build.le(before, after);
}

ExprId Translation::operator()(InstantId id, const Timing& timing, Differences& differences) {
  std::vector<InstantId> needed{id};
  for (std::size_t k = 0; k < needed.size(); ++k) {
    if (instants_.count(needed[k])) continue;
    for (const Timing::Arc& arc : timing[needed[k]].after) {
      if (std::find(needed.begin(), needed.end(), arc.from) == needed.end()) {
        needed.push_back(arc.from);
      }
    }
  }
  std::sort(needed.begin(), needed.end());
  for (const InstantId v : needed) define(v, timing, differences);
  return instants_.at(id);
}

void Translation::define(InstantId v, const Timing& timing, Differences& differences) {
  if (instants_.count(v)) return;
  ExprBuilder build(solver_.pool());
  const Timing::Node& node = timing[v];
  const auto of = [&](const Timing::Arc& arc) {
    return build.add(instants_.at(arc.from), (*this)(arc.delay));
  };
  if (node.after.empty()) {
    instants_[v] = solver_.pool().constant(0);
    return;
  }
  if (node.kind == Timing::Kind::kMax && node.after.size() == 1) {
    const ExprId direct = of(node.after[0]);
    if (solver_.pool().depth(direct) < 60) {
      instants_[v] = direct;
      return;
    }
  }
  const VarId var = solver_.integer(fmt::format("t{}", static_cast<std::uint32_t>(v)),
                                    {differences.earliest(v), differences.latest(v)});
  const ExprId t = solver_.term(var);
  solver_.require(build.eq(t, instant_term(node, solver_.pool(), of)));
  instants_[v] = t;
}

Assignment input_of_model(const InputSpace& space, const Feasibility& solver) {
  const auto variables = static_cast<std::ptrdiff_t>(space.variables.params.size());
  return {solver.model().begin(), solver.model().begin() + variables};
}

}  // namespace lpn

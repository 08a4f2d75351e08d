#include "question_formula.h"

#include <string>
#include <vector>

#include "lpn/expr/build.h"

namespace lpn::smt {

void require_beyond(Feasibility& solver, const PathUnits& p, const Box& box, bool maximum,
                    Time threshold) {
  const Net& variables = p.space().variables;
  std::vector<Range> ranges;
  for (const Param& param : variables.params) ranges.push_back(*param.range);
  // What a box means for the first variable of a unit; for others by conditions below.
  for (std::size_t u = 0; u < box.size(); ++u) {
    const Unit& unit = p.units()[u];
    const std::size_t width = unit.variables.size();
    ranges[unit.variables[0]] = {unit.tuples[box[u].first * width],
                                 unit.tuples[(box[u].second - 1) * width]};
  }
  std::vector<ExprId> params;
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    params.push_back(solver.term(solver.integer(variables.params[k].name, ranges[k])));
  }
  ExprBuilder build(solver.pool());
  const auto copy = [&](ExprId id) {
    return substitute(variables.exprs, id, solver.pool(), params);
  };
  for (const ExprId id : p.space().constraints) solver.require(copy(id));
  for (const ExprId id : p.path().conditions) solver.require(copy(id));
  if (p.path().fault) solver.require_fault(copy(*p.path().fault));
  for (std::size_t u = 0; u < box.size(); ++u) {
    const Unit& unit = p.units()[u];
    const std::size_t width = unit.variables.size();
    if (width == 1) continue;
    // Not before the box's first tuple and not after its last, lexicographically.
    const auto from = [&](std::uint32_t row, bool lower) {
      ExprId holds = solver.pool().boolean(true);
      for (std::size_t k = width; k-- > 0;) {
        const ExprId x = params[unit.variables[k]];
        const ExprId bound = solver.pool().constant(unit.tuples[row * width + k]);
        holds = build.logical_or(lower ? build.lt(bound, x) : build.lt(x, bound),
                                 build.logical_and(build.eq(x, bound), holds));
      }
      return holds;
    };
    if (box[u].first != 0) solver.require(from(box[u].first, true));
    if (box[u].second != unit.size) solver.require(from(box[u].second - 1, false));
  }

  const Timing& timing = p.timing();
  std::vector<ExprId> instants(timing.size(), solver.pool().constant(0));
  std::vector<bool> wanted(timing.size(), false);
  for (const auto& [weight, v] : p.measure().instants) wanted[at(v)] = true;
  for (const Order& order : p.path().orders) {
    wanted[at(order.before)] = wanted[at(order.after)] = true;
  }
  for (std::size_t v = timing.size(); v-- > 1;) {
    if (!wanted[v]) continue;
    for (const Timing::Arc& arc : timing[static_cast<InstantId>(v)].after) {
      wanted[at(arc.from)] = true;
    }
  }
  for (std::size_t v = 1; v < timing.size(); ++v) {
    if (!wanted[v]) continue;
    const Timing::Node& node = timing[static_cast<InstantId>(v)];
    const auto of = [&](const Timing::Arc& arc) {
      return build.add(instants[at(arc.from)], copy(arc.delay));
    };
    // Instants that only orders need may be later than the magnitude.
    const ExprId instant = solver.term(solver.integer("t" + std::to_string(v), {0, kForever}));
    solver.require(build.eq(instant, instant_term(node, solver.pool(), of)));
    instants[v] = instant;
  }
  for (const Order& order : p.path().orders) {
    const ExprId before = instants[at(order.before)], after = instants[at(order.after)];
    solver.require(order.strict ? build.lt(before, after) : build.le(before, after));
  }
  const ExprId limit = solver.pool().constant(threshold);
  ExprId target = solver.pool().constant(p.measure().constant);
  for (const auto& [weight, v] : p.measure().instants) {
    target = build.add(target, build.mul(solver.pool().constant(weight), instants[at(v)]));
  }
  solver.require(maximum ? build.lt(limit, target) : build.lt(target, limit));
}

}  // namespace lpn::smt

#include "structure/amounts.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"
#include "structure/exact_lp.h"
#include "structure/leaf_use.h"

namespace lpn {
namespace {

// Declares what a transition's formulas read as variables of the solver.
class Variables {
 public:
  Variables(const Net& net, const Transition& t, Feasibility& solver)
      : net_(net), transition_(t), bounds_(net, &t), solver_(solver) {
    for (const Param& param : net.params) {
      leaves_.params.push_back(
          solver.term(solver.integer(param.name, param.range.value_or(Range{}))));
    }
    leaves_.needed = [this](std::uint32_t arc) -> std::optional<std::int64_t> {
      const InputArc& input = transition_.inputs[arc];
      const Range weight = bounds_.of(input.weight.id);
      const Range need = input.threshold ? bounds_.of(input.threshold->id) : weight;
      if (weight.lo != weight.hi || need.lo != need.hi) return std::nullopt;
      return std::max({weight.lo, need.lo, std::int64_t{0}});
    };
    leaves_.token = [this](std::uint32_t arc, std::uint32_t field, std::int64_t which) {
      return std::optional(variable(1, arc, field, which));
    };
    leaves_.taken = [this](std::uint32_t arc) { return std::optional(variable(2, arc, 0, 0)); };
    leaves_.occupancy = [this](std::uint32_t arc) { return std::optional(variable(3, arc, 0, 0)); };
    leaves_.free = [this](std::uint32_t arc) { return std::optional(variable(4, arc, 0, 0)); };
  }
  Variables(const Variables&) = delete;

  std::optional<ExprId> operator()(ExprId id) {
    try {
      return instantiate(net_.exprs, id, solver_.pool(), leaves_);
    } catch (const Error&) {
      return std::nullopt;  // too large
    }
  }

 private:
  ExprId variable(int kind, std::uint32_t arc, std::uint32_t field, std::int64_t which) {
    const auto [it, is_new] = made_.try_emplace({kind, arc, field, which});
    if (!is_new) return it->second;
    const InputArc& input = transition_.inputs[arc];
    Range range{0, std::numeric_limits<std::int64_t>::max()};
    if (kind == 1) range = net_.type_of(input.place).fields[field].range.value_or(Range{});
    if (kind == 2) {
      range = bounds_.of(input.weight.id);
      range.lo = std::max<std::int64_t>(range.lo, 0);
      if (input.inhibit) range = {0, 0};
    }
    return it->second = solver_.term(solver_.integer(input.name, range));
  }

  const Net& net_;
  const Transition& transition_;
  NetBounds bounds_;
  Feasibility& solver_;
  Leaves leaves_;
  std::map<std::tuple<int, std::uint32_t, std::uint32_t, std::int64_t>, ExprId> made_;
};

}  // namespace

void Amount::add(const Amount& other, std::int64_t factor) {
  constant = checked(Wide{constant} + Wide{other.constant} * factor);
  for (const auto& [id, value] : other.atoms) {
    auto& mine = atoms[id];
    mine = checked(Wide{mine} + Wide{value} * factor);
    if (mine == 0) atoms.erase(id);
  }
}

std::int64_t Amount::checked(Wide value) {
  if (value > kTooMany || value < -kTooMany) throw GiveUp{};
  return static_cast<std::int64_t>(value);
}

Amount Amounts::of(ExprId id) {
  // Taking a number and putting as many must meet as one formula.
  for (const Node* n = &net_.exprs[id]; n->op == Op::kTaken; n = &net_.exprs[id]) {
    if (transition_.inputs[n->a].inhibit) return {};
    id = transition_.inputs[n->a].weight.id;
  }
  Amount amount;
  if (!split(id, 1, amount)) {
    amount = {};
    atom(id, 1, amount);
  }
  return amount;
}

Range Amounts::range(ExprId id) {
  Range range = bounds_.of(id);
  range.lo = std::max<std::int64_t>(range.lo, 0);
  range.hi = std::max(range.lo, range.hi);
  return range;
}

std::int64_t Amounts::least_needed(const InputArc& arc) {
  std::int64_t least = least_taken(arc);
  if (arc.threshold) least = std::max(least, lowest(of(arc.threshold->id)));
  return least;
}

std::int64_t Amounts::least_taken(const InputArc& arc) {
  return arc.inhibit ? 0 : std::max<std::int64_t>(lowest(of(arc.weight.id)), 0);
}

std::int64_t Amounts::lowest(const Amount& amount) {
  Wide sum = amount.constant;
  for (const auto& [id, factor] : amount.atoms) {
    const Range r = range(id);
    sum += Wide{factor} * (factor > 0 ? r.lo : r.hi);
  }
  return static_cast<std::int64_t>(std::clamp<Wide>(sum, 0, kMaxTokens));
}

void Amounts::conjuncts(ExprId id, bool negated) {
  const Node& n = net_.exprs[id];
  if (n.op == Op::kNot) return conjuncts(n.kids[0], !negated);
  if ((n.op == Op::kAnd && !negated) || (n.op == Op::kOr && negated)) {
    conjuncts(n.kids[0], negated);
    conjuncts(n.kids[1], negated);
    return;
  }
  facts_.emplace(id, !negated);
  std::int64_t value = 0;
  if (n.op == (negated ? Op::kNe : Op::kEq)) {
    if (net_.exprs.is_const(n.kids[1], value)) fixed_.emplace(n.kids[0], value);
    if (net_.exprs.is_const(n.kids[0], value)) fixed_.emplace(n.kids[1], value);
  }
}

std::optional<bool> Amounts::decided(ExprId id) {
  if (const auto it = facts_.find(id); it != facts_.end()) return it->second;
  const Node& n = net_.exprs[id];
  if (n.op == Op::kNot) {
    if (const auto x = decided(n.kids[0])) return !*x;
  }
  if (kind_of(n.op) == Kind::kComparison) {
    const auto x = constant(n.kids[0]), y = constant(n.kids[1]);
    if (x && y) return apply_op(n.op, *x, *y) != 0;
  }
  const Range r = bounds_.of(id);
  if (r.lo == 1) return true;
  if (r.hi == 0) return false;
  return std::nullopt;
}

std::optional<std::int64_t> Amounts::constant(ExprId id) {
  std::int64_t value = 0;
  if (net_.exprs.is_const(id, value)) return value;
  if (const auto it = fixed_.find(id); it != fixed_.end()) return it->second;
  return std::nullopt;
}

bool Amounts::split(ExprId id, std::int64_t factor, Amount& into) {
  if (const auto value = constant(id)) {
    into.add({*value, {}}, factor);
    return true;
  }
  const Node n = net_.exprs[id];
  const ExprId x = n.kids[0], y = n.kids[1];
  if (n.op == Op::kAdd) return split(x, factor, into) && split(y, factor, into);
  if (n.op == Op::kSub) {
    return split(x, factor, into) && split(y, Amount::checked(-Wide{factor}), into);
  }
  if (n.op == Op::kMul) {
    std::int64_t value = 0;
    if (net_.exprs.is_const(x, value)) return split(y, Amount::checked(Wide{factor} * value), into);
    if (net_.exprs.is_const(y, value)) return split(x, Amount::checked(Wide{factor} * value), into);
  }
  if (n.op == Op::kSelect) {
    if (const auto side = decided(x)) return split(n.kids[*side ? 1 : 2], factor, into);
  }
  if (n.op == Op::kAssume) return split(y, factor, into);
  if (n.op == Op::kTaken) {
    const InputArc& arc = transition_.inputs[n.a];
    return arc.inhibit || split(arc.weight.id, factor, into);
  }
  return atom(id, factor, into);
}

bool Amounts::atom(ExprId id, std::int64_t factor, Amount& into) {
  if (const auto value = settled(id)) {
    into.add({*value, {}}, factor);
    return true;
  }
  into.add({0, {{id, 1}}}, factor);
  return bounds_.of(id).lo >= 0;
}

std::optional<std::int64_t> Amounts::settled(ExprId id) {
  if (const auto it = settled_.find(id); it != settled_.end()) return it->second;
  const Range r = bounds_.of(id);
  std::optional<std::int64_t> value;
  if (r.lo == r.hi)
    value = r.lo;
  else if (solver_ != nullptr && !facts_.empty())
    value = ask(id);
  settled_.emplace(id, value);
  return value;
}

std::vector<std::map<ExprId, std::int64_t>> Amounts::modes(const std::set<ExprId>& atoms,
                                                           std::set<ExprId>& together) {
  // One atom with a range is no worse by itself, unless guards or gaps say more; it is cheap.
  LeafUse use(net_, transition_);
  for (const ExprId id : atoms) {
    LeafUse one(net_, transition_);
    if (!one.look(id)) continue;
    LeafUse both = use;
    both.merge(one);
    if (!both.values()) continue;
    use = both;
    together.insert(id);
  }
  std::map<ExprId, bool> facts;
  if (!together.empty()) {
    for (const auto& [id, holds] : facts_) {
      LeafUse one(net_, transition_);
      if (!one.look(id) || !use.reads_only(one)) continue;
      LeafUse both = use;
      both.merge(one);
      if (!both.values()) continue;
      use = both;
      facts.emplace(id, holds);
    }
  }
  const auto choices = *use.values();
  std::set<std::map<ExprId, std::int64_t>> found;
  LeafValues env;
  const auto fill = [&](const auto& self, auto leaf) -> void {
    if (leaf != choices.end()) {
      for (const std::int64_t value : leaf->second) {
        env.values[leaf->first] = value;
        self(self, std::next(leaf));
      }
      return;
    }
    try {
      for (const auto& [id, holds] : facts) {
        if ((eval(net_.exprs, id, env) != 0) != holds) return;
      }
      std::map<ExprId, std::int64_t> mode;
      for (const ExprId id : together) {
        const std::int64_t value = eval(net_.exprs, id, env);
        if (value < 0) return;  // see range(): an error
        mode.emplace(id, value);
      }
      found.insert(std::move(mode));
    } catch (const EvalFault&) {  // then nothing starts, now or later
    }
  };
  fill(fill, choices.begin());
  return {found.begin(), found.end()};
}

std::optional<std::int64_t> Amounts::ask(ExprId id) {
  constexpr FeasibilityLimits kLimits{.work = 200'000, .seconds = 0.5};
  solver_->push();
  std::optional<std::int64_t> value;
  {
    Variables variables(net_, transition_, *solver_);
    const auto term = variables(id);
    for (const auto& [fact, holds] : facts_) {
      const auto condition = variables(fact);
      if (!condition) continue;
      solver_->require(holds ? *condition : solver_->pool().unary(Op::kNot, *condition));
    }
    if (term) {
      // The value is computed without an error, or nothing starts: any example will do, if another
      // value is impossible.
      const ExprId any = solver_->pool().binary(Op::kEq, *term, *term);
      solver_->require(any);
      if (solver_->check(kLimits) == Answer::kSat) {
        const std::int64_t candidate = solver_->value(*term);
        solver_->require(
            solver_->pool().binary(Op::kNe, *term, solver_->pool().constant(candidate)));
        if (solver_->check(kLimits) == Answer::kUnsat) value = candidate;
      }
    }
  }
  solver_->pop();
  return value;
}

}  // namespace lpn

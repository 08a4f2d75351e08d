#include "lpn/smt/z3_feasibility.h"

#include <z3++.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/net/bounds.h"

namespace lpn::smt {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

// What a term evaluates to, and when it does.
struct Translated {
  z3::expr value;
  z3::expr defined;
};

}  // namespace

struct Z3Feasibility::Impl {
  explicit Impl(Z3Feasibility& owner) : self(owner), solver(z3), yes(z3.bool_val(true)) {}

  Z3Feasibility& self;
  z3::context z3;
  z3::solver solver;
  z3::expr yes;
  std::vector<z3::expr> variables;              // Int; or Bool where the range is 0..1
  std::vector<std::optional<Translated>> done;  // by ExprId
  std::vector<ExprId> trail;                    // in the order in which they were translated
  std::vector<std::size_t> marks;               // length of `trail` at each push
  // An interruption while Z3 does nothing could stop its next check.
  std::mutex mutex;
  bool checking = false;

  z3::expr number(std::int64_t value) { return z3.int_val(value); }
  bool is_yes(const z3::expr& e) const { return z3::eq(e, yes); }
  z3::expr both(const z3::expr& a, const z3::expr& b) {
    if (is_yes(a)) return b;
    if (is_yes(b)) return a;
    return a && b;
  }
  z3::expr implied(const z3::expr& condition, const z3::expr& e) {
    return is_yes(e) ? yes : z3::implies(condition, e);
  }

  const Translated& translate(ExprId id) {
    const auto k = static_cast<std::size_t>(id);
    if (k >= done.size()) done.resize(std::max(k + 1, self.pool().size()));
    if (!done[k]) {
      Translated made = make(self.pool()[id]);
      done[k] = std::move(made);
      trail.push_back(id);
    }
    return *done[k];
  }

  Translated make(const Node node) {
    switch (kind_of(node.op)) {
      case Kind::kConstant:
        if (node.op == Op::kConst) return {number(node.value), yes};
        return {z3.bool_val(node.op == Op::kTrue), yes};
      case Kind::kVariable: {
        const z3::expr& variable = variables.at(node.a);
        if (!variable.is_bool()) return {variable, yes};
        return {z3::ite(variable, number(1), number(0)), yes};
      }
      case Kind::kArithmetic:
      case Kind::kComparison: return strict(node);
      case Kind::kLogic: return logic(node);
      case Kind::kChoice: {
        const Translated c = translate(node.kids[0]);
        const Translated x = translate(node.kids[1]), y = translate(node.kids[2]);
        return {z3::ite(c.value, x.value, y.value),
                both(c.defined, both(implied(c.value, x.defined), implied(!c.value, y.defined)))};
      }
      case Kind::kTable: {
        const auto& table = self.pool().table(node.a);
        const Translated x = translate(node.kids[0]);
        const Range entries_are{0, static_cast<std::int64_t>(table.size()) - 1};
        return {entries(table, x.value),
                both(x.defined, within(x.value, self.term_bounds().of(node.kids[0]), entries_are))};
      }
      case Kind::kAssumption: {
        const Translated c = translate(node.kids[0]), x = translate(node.kids[1]);
        return {x.value, both(both(c.defined, c.value), implied(c.value, x.defined))};
      }
      case Kind::kRun:
      case Kind::kAggregate: break;
    }
    LPN_ASSERT(!"a term reads variables only; see instantiate()");
    return {yes, yes};
  }

  // That a value of `known` is in `wanted`, as far as that is not plain.
  z3::expr within(const z3::expr& value, Range known, Range wanted) {
    z3::expr all = yes;
    if (known.lo < wanted.lo) all = both(all, value >= number(wanted.lo));
    if (known.hi > wanted.hi) all = both(all, value <= number(wanted.hi));
    return all;
  }

  // All operands are evaluated, the right one is in the operator's domain, the result in 64 bits.
  Translated strict(const Node& node) {
    const bool binary = op_info(node.op).arity == 2;
    const ExprId left = node.kids[0], right = binary ? node.kids[1] : left;
    const Translated x = translate(left), y = translate(right);
    const Range a = self.term_bounds().of(left), b = self.term_bounds().of(right);
    z3::expr defined = x.defined;
    if (binary) {
      defined = both(both(defined, y.defined), within(y.value, b, domain_of(node.op).range));
    }
    const z3::expr value = value_of(node.op, x.value, y.value, a);
    const WideRange exact = exact_range(node.op, a, b);
    if (exact.lo < kLowest) defined = both(defined, value >= number(kLowest));
    if (exact.hi > kHighest) defined = both(defined, value <= number(kHighest));
    return {value, defined};
  }

  // `known`: where x is. For a positive divisor div and mod of SMT-LIB round down, as ours do.
  z3::expr value_of(Op op, const z3::expr& x, const z3::expr& y, Range known) {
    switch (op) {
      case Op::kNeg: return -x;
      case Op::kAbs: return known.lo >= 0 ? x : z3::ite(x >= 0, x, -x);
      case Op::kAdd: return x + y;
      case Op::kSub: return x - y;
      case Op::kMul: return x * y;
      case Op::kFloorDiv: return x / y;
      case Op::kCeilDiv: return (x + y - 1) / y;
      case Op::kMod: return z3::mod(x, y);
      case Op::kMin: return z3::ite(x < y, x, y);
      case Op::kMax: return z3::ite(x > y, x, y);
      case Op::kEq: return x == y;
      case Op::kNe: return x != y;
      case Op::kLt: return x < y;
      case Op::kLe: return x <= y;
      case Op::kConst:
      case Op::kTrue:
      case Op::kFalse:
      case Op::kParam:
      case Op::kToken:
      case Op::kIndex:
      case Op::kBound:
      case Op::kOccupancy:
      case Op::kFree:
      case Op::kTaken:
      case Op::kNot:
      case Op::kAnd:
      case Op::kOr:
      case Op::kSelect:
      case Op::kLookup:
      case Op::kAssume:
      case Op::kSum:
      case Op::kMinOf:
      case Op::kMaxOf: break;
    }
    LPN_ASSERT(!"arithmetic or a comparison");
    return x;
  }

  // The right operand counts where the left one does not decide.
  Translated logic(const Node& node) {
    const Translated x = translate(node.kids[0]);
    if (node.op == Op::kNot) return {!x.value, x.defined};
    const Translated y = translate(node.kids[1]);
    if (node.op == Op::kAnd) {
      return {x.value && y.value, both(x.defined, implied(x.value, y.defined))};
    }
    return {x.value || y.value, both(x.defined, implied(!x.value, y.defined))};
  }

  // A decision tree over runs of equal entries.
  z3::expr entries(const std::vector<std::int64_t>& table, const z3::expr& x) {
    std::vector<std::size_t> starts;
    for (std::size_t k = 0; k < table.size(); ++k) {
      if (k == 0 || table[k] != table[k - 1]) starts.push_back(k);
    }
    return entries(table, starts, 0, starts.size(), x);
  }
  z3::expr entries(const std::vector<std::int64_t>& table, const std::vector<std::size_t>& starts,
                   std::size_t first, std::size_t end, const z3::expr& x) {
    if (end - first == 1) return number(table[starts[first]]);
    const std::size_t middle = (first + end) / 2;
    return z3::ite(x < number(static_cast<std::int64_t>(starts[middle])),
                   entries(table, starts, first, middle, x),
                   entries(table, starts, middle, end, x));
  }
};

Z3Feasibility::Z3Feasibility() : impl_(std::make_unique<Impl>(*this)) {}
Z3Feasibility::~Z3Feasibility() = default;

void Z3Feasibility::on_variable(VarId var, Range range) {
  Impl& z = *impl_;
  const std::string name = this->name(var) + "!" + std::to_string(static_cast<std::uint32_t>(var));
  if (range == Range{0, 1}) {
    z.variables.push_back(z.z3.bool_const(name.c_str()));
    return;
  }
  const z3::expr variable = z.z3.int_const(name.c_str());
  z.solver.add(variable >= z.number(range.lo) && variable <= z.number(range.hi));
  z.variables.push_back(variable);
}

void Z3Feasibility::on_push() {
  impl_->solver.push();
  impl_->marks.push_back(impl_->trail.size());
}

void Z3Feasibility::on_pop(std::size_t variables) {
  Impl& z = *impl_;
  z.solver.pop();
  // Only translations since the push can read variables that are forgotten now; and only what the
  // ranges of others proved may have been left out of them.
  if (variables != z.variables.size()) {
    for (std::size_t k = z.marks.back(); k < z.trail.size(); ++k) {
      z.done[static_cast<std::size_t>(z.trail[k])].reset();
    }
    z.trail.resize(z.marks.back());
    z.variables.erase(z.variables.begin() + static_cast<std::ptrdiff_t>(variables),
                      z.variables.end());
  }
  z.marks.pop_back();
}

void Z3Feasibility::on_require(ExprId term, bool fault) {
  Impl& z = *impl_;
  const Translated& t = z.translate(term);
  z.solver.add(fault ? !t.defined : z.both(t.defined, t.value));
}

Feasibility::Verdict Z3Feasibility::solve(std::span<const ExprId> assumptions,
                                          const FeasibilityLimits& limits) {
  Impl& z = *impl_;
  constexpr unsigned kNone = std::numeric_limits<unsigned>::max();
  z3::params params(z.z3);
  params.set("rlimit",
             static_cast<unsigned>(std::min<std::uint64_t>(limits.work, std::uint64_t{kNone} - 1)));
  const double milliseconds = std::ceil(limits.seconds * 1000);
  params.set("timeout", limits.seconds > 0 && milliseconds < kNone
                            ? static_cast<unsigned>(std::max(milliseconds, 1.0))
                            : kNone);
  z.solver.set(params);

  // Each assumption behind a switch, so that the core can name it.
  z.solver.push();
  z3::expr_vector switches(z.z3);
  for (std::size_t k = 0; k < assumptions.size(); ++k) {
    const Translated& t = z.translate(assumptions[k]);
    const z3::expr enable = z.z3.bool_const(("assumption!" + std::to_string(k)).c_str());
    z.solver.add(z3::implies(enable, z.both(t.defined, t.value)));
    switches.push_back(enable);
  }
  Verdict verdict;
  {
    const std::lock_guard lock(z.mutex);
    z.checking = true;
  }
  try {
    const z3::check_result result = z.solver.check(switches);
    if (result == z3::sat) {
      verdict.answer = Answer::kSat;
      const z3::model model = z.solver.get_model();
      for (const z3::expr& variable : z.variables) {
        const z3::expr value = model.eval(variable, true);
        std::int64_t number = value.is_true() ? 1 : 0;
        if (!value.is_bool()) LPN_ASSERT(value.is_numeral_i64(number));
        verdict.model.push_back(number);
      }
    } else if (result == z3::unsat) {
      verdict.answer = Answer::kUnsat;
      const z3::expr_vector core = z.solver.unsat_core();
      for (std::size_t k = 0; k < assumptions.size(); ++k) {
        for (unsigned j = 0; j < core.size(); ++j) {
          if (z3::eq(core[static_cast<int>(j)], switches[static_cast<int>(k)]))
            verdict.core.push_back(k);
        }
      }
    }
  } catch (const z3::exception&) {
    verdict = {};  // out of memory, interrupted: no answer
  }
  {
    const std::lock_guard lock(z.mutex);
    z.checking = false;
  }
  z.solver.pop();
  return verdict;
}

void Z3Feasibility::interrupt() {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->checking) return;
  impl_->z3.interrupt();
}

std::string Z3Feasibility::smtlib() const { return impl_->solver.to_smt2(); }

}  // namespace lpn::smt

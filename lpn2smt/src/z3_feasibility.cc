#include "lpn/smt/z3_feasibility.h"

#include <z3++.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"
#include "lpn/expr/range.h"
#include "lpn/net/bounds.h"

namespace lpn::smt {
namespace {

constexpr long kMegabytes = 4096;  // for Z3, all solvers of the program together
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

// What a term evaluates to, and when it does.
struct Translated {
  z3::expr value;
  z3::expr defined;
};

std::atomic<bool> ran_out{false};

// Formulas with shifts of unknown amounts can take all there is.
void limit_memory() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* given = std::getenv("LPN_SMT_MEMORY");
    const long megabytes = given == nullptr ? 0 : std::atol(given);
    Z3_global_param_set("memory_max_size",
                        std::to_string(megabytes > 0 ? megabytes : kMegabytes).c_str());
  });
}

}  // namespace

bool Z3Feasibility::out_of_memory() { return ran_out; }

struct Z3Feasibility::Impl {
  explicit Impl(Z3Feasibility& owner) : self(owner), solver(z3), yes(z3.bool_val(true)) {}

  Z3Feasibility& self;
  z3::context z3;
  z3::solver solver;
  z3::expr yes;
  std::vector<z3::expr> variables;                // Int; or Bool where the range is 0..1
  std::vector<std::optional<Translated>> done;    // by ExprId
  std::vector<ExprId> trail;                      // in the order in which they were translated
  std::vector<std::size_t> marks;                 // length of `trail` at each push
  static constexpr int kWidest = 24;              // bits of which each is a term of its own
  bool vague = false;                             // a term has more values here than it has
  std::vector<std::pair<ExprId, bool>> required;  // and whether it is to fail
  std::vector<std::size_t> required_marks;
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
    const z3::expr value = value_of(node.op, x.value, y.value, a, b);
    const WideRange exact = exact_range(node.op, a, b);
    if (exact.lo < kLowest) defined = both(defined, value >= number(kLowest));
    if (exact.hi > kHighest) defined = both(defined, value <= number(kHighest));
    return {value, defined};
  }

  // `a`, `b`: where x and y are. For a positive divisor div and mod of SMT-LIB round down, as ours
  // do.
  z3::expr value_of(Op op, const z3::expr& x, const z3::expr& y, Range a, Range b) {
    switch (op) {
      case Op::kNeg: return -x;
      case Op::kAbs: return a.lo >= 0 ? x : z3::ite(x >= 0, x, -x);
      case Op::kAdd: return x + y;
      case Op::kSub: return x - y;
      case Op::kMul: return x * y;
      case Op::kFloorDiv: return x / y;
      case Op::kCeilDiv: return (x + y - 1) / y;
      case Op::kMod: return z3::mod(x, y);
      case Op::kMin: return z3::ite(x < y, x, y);
      case Op::kMax: return z3::ite(x > y, x, y);
      case Op::kBitNot: return -x - 1;
      case Op::kBitAnd: return common_bits(x, y, a, b);
      case Op::kBitXor: return x + y - 2 * common_bits(x, y, a, b);
      case Op::kBitOr: return x + y - common_bits(x, y, a, b);
      case Op::kShiftLeft: return by_shift(y, amounts(b), [&](int n) { return x * power(n); });
      case Op::kShiftRight: return by_shift(y, amounts(b), [&](int n) { return x / power(n); });
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

  // ---- bits: of a number, bit k is div(x, 2^k) mod 2, also below 0 -----------------------------

  z3::expr power(int n) { return z3.int_val(std::to_string(std::uint64_t{1} << n).c_str()); }
  z3::expr bits(const z3::expr& x, int from, int to) {
    return z3::mod(from == 0 ? x : x / power(from), power(to - from));
  }
  static Range amounts(Range n) {
    const Range all = domain_of(Op::kShiftLeft).range;
    return {std::clamp(n.lo, all.lo, all.hi), std::clamp(n.hi, all.lo, all.hi)};
  }
  // made(n), n being constant in each of the cases.
  template <typename Make>
  z3::expr by_shift(const z3::expr& n, Range amounts, const Make& made) {
    if (amounts.lo == amounts.hi) return made(static_cast<int>(amounts.lo));
    const std::int64_t middle = (amounts.lo + amounts.hi) / 2;
    return z3::ite(n <= number(middle), by_shift(n, {amounts.lo, middle}, made),
                   by_shift(n, {middle + 1, amounts.hi}, made));
  }

  // x & y.
  z3::expr common_bits(const z3::expr& x, const z3::expr& y, Range a, Range b) {
    if (a.lo == a.hi) return masked(y, a.lo);
    if (b.lo == b.hi) return masked(x, b.lo);
    // Bits from `width` on are all the sign of a number; of one that is not negative, 0.
    int width = 0;
    const auto short_of = [&](std::int64_t end) { return end >> width != (end < 0 ? -1 : 0); };
    if (a.lo >= 0 || b.lo >= 0) {
      const std::int64_t most = a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : std::min(a.hi, b.hi);
      while (short_of(most)) ++width;
    } else {
      while (short_of(a.lo) || short_of(a.hi) || short_of(b.lo) || short_of(b.hi)) ++width;
    }
    if (width > kWidest) {
      // Any value in the right range: what does not hold for one of them does not hold.
      const WideRange r = exact_range(Op::kBitAnd, a, b);
      const z3::expr lo = number(static_cast<std::int64_t>(r.lo));
      const z3::expr hi = number(static_cast<std::int64_t>(r.hi));
      const z3::expr any = z3::expr(z3, Z3_mk_fresh_const(z3, "bits", z3.int_sort()));
      vague = true;
      return z3::ite(any < lo, lo, z3::ite(any > hi, hi, any));
    }
    z3::expr sum = number(0);
    for (int k = 0; k < width; ++k) {
      const z3::expr both_set = bits(x, k, k + 1) == 1 && bits(y, k, k + 1) == 1;
      sum = sum + z3::ite(both_set, power(k), number(0));
    }
    if (a.lo >= 0 || b.lo >= 0) return sum;
    return z3::ite(x < 0 && y < 0, sum - power(width), sum);
  }

  // x & mask: run by run of set bits.
  z3::expr masked(const z3::expr& x, std::int64_t mask) {
    if (mask < 0) return mask == -1 ? x : x - masked(x, ~mask);
    z3::expr sum = number(0);
    for (int from = 0; from < 63 && mask >> from != 0; ++from) {
      if ((mask >> from & 1) == 0) continue;
      int to = from;
      while ((mask >> to & 1) != 0) ++to;
      sum = sum + bits(x, from, to) * power(from);
      from = to;
    }
    return sum;
  }

  // Whether the solver's example is one: always so unless a term is vague.
  bool is_example(const std::vector<std::int64_t>& model, std::span<const ExprId> assumptions) {
    const auto holds = [&](ExprId term, bool fault) {
      try {
        return eval_params(self.pool(), term, model) != 0 && !fault;
      } catch (const EvalFault&) {
        return fault;
      }
    };
    return !vague ||
           (std::all_of(required.begin(), required.end(),
                        [&](const auto& each) { return holds(each.first, each.second); }) &&
            std::all_of(assumptions.begin(), assumptions.end(),
                        [&](ExprId term) { return holds(term, false); }));
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

Z3Feasibility::Z3Feasibility() {
  limit_memory();
  impl_ = std::make_unique<Impl>(*this);
}
Z3Feasibility::~Z3Feasibility() = default;

void Z3Feasibility::on_variable(VarId var, Range range) {
  Impl& z = *impl_;
  // The number tells variables apart, whatever the solver makes of names.
  std::string name = this->name(var);
  std::erase_if(name, [](unsigned char c) { return c < ' ' || c > '~' || c == '|' || c == '\\'; });
  name += "!" + std::to_string(static_cast<std::uint32_t>(var));
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
  impl_->required_marks.push_back(impl_->required.size());
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
  z.required.resize(z.required_marks.back());
  z.required_marks.pop_back();
}

void Z3Feasibility::on_require(ExprId term, bool fault) {
  Impl& z = *impl_;
  z.required.emplace_back(term, fault);
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
  params.set("ctrl_c", false);  // else Z3 takes the signal, and whoever asked goes on
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
      if (!z.is_example(verdict.model, assumptions)) verdict = {};
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
  } catch (const z3::exception& error) {
    verdict = {};  // out of memory, interrupted: no answer
    if (std::string_view(error.msg()).find("memory") != std::string_view::npos) ran_out = true;
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

#include "lpn/expr/feasibility.h"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"

using namespace lpn;

namespace {

constexpr std::uint32_t kArcs = 3, kFields = 2, kParams = 2;
constexpr std::int64_t kNeeded[kArcs] = {0, 1, 3};  // tokens of each arc

// What a formula of a transition is evaluated in.
struct Firing : EvalScope {
  std::vector<std::int64_t> params;
  std::vector<std::vector<std::int64_t>> tokens{kArcs};  // row-major
  std::int64_t occupancies[kArcs]{}, frees[kArcs]{};

  std::int64_t param(std::uint32_t k) const { return params[k]; }
  std::int64_t token(std::uint32_t arc, std::uint32_t field, std::int64_t which) const {
    if (which < 0 || which >= kNeeded[arc]) throw EvalFault{Fault::kTokenIndex, which};
    return tokens[arc][static_cast<std::size_t>(which) * kFields + field];
  }
  std::int64_t occupancy(std::uint32_t arc) const { return occupancies[arc]; }
  std::int64_t free(std::uint32_t arc) const { return frees[arc]; }
  std::int64_t taken(std::uint32_t arc) const { return kNeeded[arc]; }
  std::int64_t needed(std::uint32_t arc) const { return kNeeded[arc]; }
};

class Formulas {
 public:
  Formulas(ExprPool& pool, std::uint64_t seed) : pool_(pool), random_(seed) {}

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::int64_t number() { return static_cast<std::int64_t>(below(9)) - 3; }

  // `open`: aggregates around, which bind positions 0..open-1.
  ExprId integer(int depth, std::uint32_t open) {
    if (depth == 0) return leaf(open);
    switch (below(13)) {
      case 0: return pool_.token(below(kArcs), below(kFields), integer(depth - 1, open));
      case 1: {
        static constexpr Op kOps[] = {Op::kSum, Op::kMinOf, Op::kMaxOf};
        const std::uint32_t arc = below(kArcs);
        if (open + 1 >= kMaxNesting) return leaf(open);
        return pool_.aggregate(kOps[below(3)], arc, open, integer(depth - 1, open + 1));
      }
      case 2: return pool_.select(boolean(depth - 1, open), integer(depth - 1, open), leaf(open));
      case 3: return pool_.lookup({3, 1, 4, 1}, integer(depth - 1, open));
      case 4: return pool_.assume(boolean(depth - 1, open), integer(depth - 1, open), "some");
      case 6: return pool_.unary(Op::kBitNot, integer(depth - 1, open));
      case 5: return pool_.unary(Op::kNeg, integer(depth - 1, open));
      default: {
        static constexpr Op kOps[] = {Op::kAdd,       Op::kSub,      Op::kMul,     Op::kMin,
                                      Op::kMax,       Op::kFloorDiv, Op::kCeilDiv, Op::kMod,
                                      Op::kBitAnd,    Op::kBitXor,   Op::kBitOr,   Op::kShiftLeft,
                                      Op::kShiftRight};
        const ExprId x = integer(depth - 1, open);
        return pool_.binary(kOps[below(13)], x, integer(depth - 1, open));
      }
    }
  }
  ExprId boolean(int depth, std::uint32_t open) {
    if (depth == 0) return pool_.boolean(below(2) == 0);
    switch (below(4)) {
      case 0: return pool_.binary(Op::kAnd, boolean(depth - 1, open), boolean(depth - 1, open));
      case 1: return pool_.binary(Op::kOr, boolean(depth - 1, open), boolean(depth - 1, open));
      default: {
        static constexpr Op kOps[] = {Op::kEq, Op::kNe, Op::kLt, Op::kLe};
        const ExprId x = integer(depth - 1, open);
        return pool_.binary(kOps[below(4)], x, integer(depth - 1, open));
      }
    }
  }

 private:
  ExprId leaf(std::uint32_t open) {
    switch (below(8)) {
      case 0: return pool_.constant(number());
      case 1: return pool_.param(below(kParams));
      case 2: return pool_.occupancy(below(kArcs));
      case 3: return pool_.free(below(kArcs));
      case 4: return pool_.taken(below(kArcs));
      case 5: return pool_.index();
      default: {
        if (open > 0 && below(2) == 0) return pool_.bound(below(open));
        const std::uint32_t arc = below(kArcs);
        return pool_.token(arc, below(kFields), pool_.constant(below(4) == 0 ? 1 : 0));
      }
    }
  }

  ExprPool& pool_;
  std::mt19937_64 random_;
};

template <typename Evaluate>
std::optional<std::int64_t> value_of(const Evaluate& evaluate) {
  try {
    return evaluate();
  } catch (const EvalFault&) {
    return std::nullopt;
  }
}

// Leaves as parameters of the other pool, numbered as in `values`.
Leaves numbered(ExprPool& to, const Firing& firing, std::vector<std::int64_t>& values) {
  Leaves leaves;
  const auto next = [&to, &values](std::int64_t value) {
    values.push_back(value);
    return to.param(static_cast<std::uint32_t>(values.size() - 1));
  };
  for (const std::int64_t value : firing.params) leaves.params.push_back(next(value));
  leaves.token = [&firing, next](std::uint32_t arc, std::uint32_t field, std::int64_t which) {
    return std::optional(next(firing.token(arc, field, which)));
  };
  leaves.needed = [](std::uint32_t arc) { return std::optional(kNeeded[arc]); };
  leaves.taken = [&to](std::uint32_t arc) { return std::optional(to.constant(kNeeded[arc])); };
  leaves.occupancy = [&firing, next](std::uint32_t arc) {
    return std::optional(next(firing.occupancies[arc]));
  };
  leaves.free = [&firing, next](std::uint32_t arc) {
    return std::optional(next(firing.frees[arc]));
  };
  leaves.index = next(firing.index);
  return leaves;
}

}  // namespace

TEST_CASE("instantiate: the copy has the value of the original, or fails as it does") {
  int values = 0, faults = 0, without = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    ExprPool from, to;
    Formulas formulas(from, seed);
    Firing firing;
    firing.index = formulas.below(4);
    for (std::uint32_t k = 0; k < kParams; ++k) firing.params.push_back(formulas.number());
    for (std::uint32_t arc = 0; arc < kArcs; ++arc) {
      for (std::int64_t k = 0; k < kNeeded[arc] * kFields; ++k)
        firing.tokens[arc].push_back(formulas.number());
      firing.occupancies[arc] = formulas.below(7);
      firing.frees[arc] = formulas.below(7);
    }
    const ExprId original =
        formulas.below(3) == 0 ? formulas.boolean(3, 0) : formulas.integer(3, 0);
    std::vector<std::int64_t> numbers;
    const Leaves leaves = numbered(to, firing, numbers);
    const auto copy = instantiate(from, original, to, leaves);
    if (!copy) {
      ++without;
      continue;
    }
    const auto expected = value_of([&] { return eval(from, original, firing); });
    CAPTURE(seed);
    CHECK(value_of([&] { return eval_params(to, *copy, numbers); }) == expected);
    CHECK(to[*copy].type == from[original].type);
    ++(expected ? values : faults);
  }
  CHECK(values > 5'000);
  CHECK(faults > 2'000);
  CHECK(without == 0);
}

TEST_CASE("instantiate: no copy of what the leaves do not give") {
  ExprPool from, to;
  const ExprId head = from.token(1, 0, from.constant(0));
  const ExprId sum = from.aggregate(Op::kSum, 1, 0, from.token(1, 0, from.bound(0)));
  Leaves leaves;
  CHECK_FALSE(instantiate(from, from.param(0), to, leaves));
  CHECK_FALSE(instantiate(from, from.index(), to, leaves));
  CHECK_FALSE(instantiate(from, from.occupancy(0), to, leaves));
  CHECK_FALSE(instantiate(from, head, to, leaves));
  leaves.token = [&to](std::uint32_t arc, std::uint32_t, std::int64_t) {
    return arc == 1 ? std::optional(to.param(7)) : std::nullopt;
  };
  CHECK(instantiate(from, head, to, leaves) == to.param(7));
  CHECK_FALSE(instantiate(from, from.token(0, 0, from.constant(0)), to, leaves));
  CHECK_FALSE(instantiate(from, sum, to, leaves));  // over how many?
  leaves.needed = [](std::uint32_t) { return std::optional<std::int64_t>(100'000); };
  CHECK_FALSE(instantiate(from, sum, to, leaves));
  leaves.needed = [](std::uint32_t) { return std::optional<std::int64_t>(2); };
  CHECK(instantiate(from, sum, to, leaves) == to.binary(Op::kAdd, to.param(7), to.param(7)));
}

namespace {

// Tries every value: a solver for tests of what Feasibility does itself.
class TryAll : public Feasibility {
 public:
  int asked = 0;
  std::string smtlib() const override { return ""; }
  void interrupt() override {}

 protected:
  void on_variable(VarId, Range) override {}
  void on_push() override { marks_.push_back(required_.size()); }
  void on_pop(std::size_t) override {
    required_.resize(marks_.back());
    marks_.pop_back();
  }
  void on_require(ExprId term, bool fault) override { required_.emplace_back(term, fault); }
  Verdict solve(std::span<const ExprId> assumptions, const FeasibilityLimits&) override {
    ++asked;
    Verdict verdict{Answer::kUnsat, {}, {}};
    std::vector<std::int64_t> point(variables());
    const auto fill = [&](const auto& self, std::size_t k) -> bool {
      if (k < point.size()) {
        const Range r = range(static_cast<VarId>(k));
        for (point[k] = r.lo; point[k] <= r.hi; ++point[k]) {
          if (self(self, k + 1)) return true;
        }
        return false;
      }
      const auto is = [&](ExprId term, bool fault) {
        const auto value = value_of([&] { return eval_params(pool(), term, point); });
        return fault ? !value : value == 1;
      };
      bool all = true;
      for (const auto& [term, fault] : required_) all = all && is(term, fault);
      for (const ExprId term : assumptions) all = all && is(term, false);
      return all;
    };
    if (fill(fill, 0)) verdict = {Answer::kSat, point, {}};
    return verdict;
  }

 private:
  std::vector<std::pair<ExprId, bool>> required_;
  std::vector<std::size_t> marks_;
};

}  // namespace

TEST_CASE("feasibility: ranges alone answer before the solver is asked") {
  TryAll solver;
  ExprPool& pool = solver.pool();
  const VarId x = solver.integer("x", {2, 5});
  const ExprId seven = pool.constant(7);
  solver.push();
  solver.require(pool.binary(Op::kLt, seven, solver.term(x)));
  CHECK(solver.check() == Answer::kUnsat);
  CHECK(solver.core().empty());
  solver.pop();
  const std::vector<ExprId> assumptions{pool.binary(Op::kLt, solver.term(x), seven),
                                        pool.binary(Op::kEq, solver.term(x), seven)};
  CHECK(solver.check(assumptions) == Answer::kUnsat);
  CHECK(solver.core() == std::vector<std::size_t>{1});
  CHECK(solver.asked == 0);
  REQUIRE(solver.check() == Answer::kSat);
  CHECK(solver.asked == 1);
  CHECK(solver.value(x) == 2);
  CHECK(solver.value(pool.binary(Op::kMul, solver.term(x), seven)) == 14);
}

TEST_CASE("feasibility: a fault can be required") {
  TryAll solver;
  ExprPool& pool = solver.pool();
  const VarId x = solver.integer("x", {-1, 3});
  const ExprId quotient = pool.binary(Op::kFloorDiv, pool.constant(6), solver.term(x));
  solver.require_fault(quotient);
  REQUIRE(solver.check() == Answer::kSat);
  CHECK(solver.value(x) == -1);
  CHECK_THROWS_AS(solver.value(quotient), EvalFault);
  solver.require(pool.binary(Op::kLt, pool.constant(0), solver.term(x)));
  CHECK(solver.check() == Answer::kUnsat);
}

TEST_CASE("feasibility: a fault of what cannot fail is impossible without the solver") {
  TryAll solver;
  solver.require_fault(solver.term(solver.integer("x", {-1, 3})));
  CHECK(solver.check() == Answer::kUnsat);
  CHECK(solver.asked == 0);
}

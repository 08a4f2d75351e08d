// Can these conditions hold together? What routers, invariants, input classes and bounds ask.
//
// This is the question and the bookkeeping; a solver answers it (lpn2smt has one, on Z3). Terms are
// expressions of the solver's own pool, in which parameter k stands for variable k: they are built
// with pool() and expr/build.h, or made of a net's formulas with instantiate(). Variables and
// values are 64-bit integers with the meaning of expr/eval.h; a boolean variable is 0 or 1.
//
// Not for several threads at once, except interrupt().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lpn/expr/expr.h"
#include "lpn/expr/terms.h"

namespace lpn {

enum class VarId : std::uint32_t {};

enum class Answer : std::uint8_t {
  kUnsat,    // they cannot
  kSat,      // they can: value() has an example, which was checked by evaluation
  kUnknown,  // a limit was reached, or the solver gave up or was interrupted
};

// Each 0: none. Work is what the solver counts, the same on every machine; a product of variables
// can take it minutes between two counts, so give seconds too where terms are not linear.
struct FeasibilityLimits {
  std::uint64_t work = 0;
  double seconds = 0;
};

class Feasibility {
 public:
  virtual ~Feasibility();
  Feasibility(const Feasibility&) = delete;
  Feasibility& operator=(const Feasibility&) = delete;

  // Owns the terms. Nodes other than operators, constants and variables have no meaning here.
  ExprPool& pool() { return terms_.exprs; }
  const ExprPool& pool() const { return terms_.exprs; }

  // A variable in an inclusive range, until the pop() that belongs to the push() before it. Names
  // are for messages and dumps; they need not differ.
  VarId integer(std::string name, Range range = {});
  VarId boolean(std::string name);
  std::size_t variables() const { return terms_.variables.size(); }
  const std::string& name(VarId var) const;
  Range range(VarId var) const;

  ExprId term(VarId var);       // its value, an int
  ExprId condition(VarId var);  // value != 0

  // pop() forgets the variables and requirements since the last push(). Terms stay in the pool, but
  // those that read a forgotten variable mean the next one that gets its number.
  void push();
  void pop();
  std::size_t levels() const { return levels_.size(); }

  // Evaluating `condition` ends without an error, and it is true.
  void require(ExprId condition);
  // Evaluating `term` ends in an error: overflow, a divisor, a table, an assumption.
  void require_fault(ExprId term);

  // Whether all requirements, and the `assumptions` for this question only, can hold together.
  // Ranges alone are tried first. Without limits it may take for ever.
  Answer check(const FeasibilityLimits& limits = {}) { return check({}, limits); }
  Answer check(std::span<const ExprId> assumptions, const FeasibilityLimits& limits = {});

  // REQUIRES that the last check() said kSat, and nothing was changed since.
  std::int64_t value(VarId var) const;
  std::int64_t value(ExprId term) const;  // throws EvalFault
  const std::vector<std::int64_t>& model() const;

  // Positions of assumptions that cannot hold together with the requirements; empty when these
  // cannot by themselves. REQUIRES that the last check() said kUnsat.
  const std::vector<std::size_t>& core() const;

  // Bounds of a term from the ranges of variables alone.
  Range bounds(ExprId term) { return bounds_->of(term); }

  // What is required of the variables, as SMT-LIB 2 with a (check-sat) at the end: the same text
  // for the same calls. Not what check() was asked beside that.
  virtual std::string smtlib() const = 0;

  // A check() in progress answers kUnknown soon. From any thread, not from a signal handler;
  // without effect when none is in progress.
  virtual void interrupt() = 0;

 protected:
  Feasibility();

  // What a solver implements. A variable is announced before anything that reads it; terms passed
  // are typed, and read only variables that exist.
  virtual void on_variable(VarId var, Range range) = 0;
  virtual void on_push() = 0;
  // `variables`: how many remain.
  virtual void on_pop(std::size_t variables) = 0;
  virtual void on_require(ExprId term, bool fault) = 0;
  struct Verdict {
    Answer answer = Answer::kUnknown;
    std::vector<std::int64_t> model;  // kSat: per variable
    std::vector<std::size_t> core;    // kUnsat
  };
  virtual Verdict solve(std::span<const ExprId> assumptions, const FeasibilityLimits& limits) = 0;

  Bounds& term_bounds() { return *bounds_; }

 private:
  struct Requirement {
    ExprId term{};
    bool fault = false;
  };
  struct Level {
    std::size_t variables, requirements;
    bool impossible;
  };
  bool holds(const Requirement& requirement) const;
  void changed();

  Terms terms_;
  std::unique_ptr<Bounds> bounds_;
  std::vector<Requirement> requirements_;
  std::vector<Level> levels_;
  bool impossible_ = false;  // by ranges alone
  std::optional<Verdict> verdict_;
};

// What the leaves of a transition's formula are in a pool of terms. A function that is not given,
// or has no answer, makes instantiate() have none.
struct Leaves {
  std::vector<ExprId> params;
  // Property `field` of the token at position `which` of those that an arc needs.
  std::function<std::optional<ExprId>(std::uint32_t arc, std::uint32_t field, std::int64_t which)>
      token;
  // How many tokens an arc needs. Without an answer there are no aggregates, and a token at a
  // constant position is taken to be needed.
  std::function<std::optional<std::int64_t>(std::uint32_t arc)> needed;
  std::function<std::optional<ExprId>(std::uint32_t arc)> taken, occupancy, free;
  std::optional<ExprId> index;
};

// Copies `id` of `from` into `to` with its leaves replaced, aggregates written out and everything
// simplified. The copy has the value of the original and fails where it fails, though a failure may
// be of another kind. Throws Error "E-expr" when it becomes too large.
std::optional<ExprId> instantiate(const ExprPool& from, ExprId id, ExprPool& to,
                                  const Leaves& leaves);

}  // namespace lpn

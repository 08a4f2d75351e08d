// Feasibility by Z3: exact integers, with the conditions under which no formula fails.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "lpn/expr/feasibility.h"

namespace lpn::smt {

// 64-bit arithmetic as mathematical integers: a requirement holds where its value is true and no
// intermediate leaves 64 bits, no divisor is less than 1, no table is left and no assumption fails;
// of select, and, or only the side that is evaluated counts. Such conditions are left out where
// declared ranges prove them.
class Z3Feasibility final : public Feasibility {
 public:
  Z3Feasibility();
  ~Z3Feasibility() override;

  void interrupt() override;

  std::string smtlib() const override;

  // Whether Z3 gave up a question of this program for want of memory: all solvers together may have
  // 4 GiB, or LPN_SMT_MEMORY megabytes as the environment says when the first one is made.
  static bool out_of_memory();

 protected:
  void on_variable(VarId var, Range range) override;
  void on_push() override;
  void on_pop(std::size_t variables) override;
  void on_require(ExprId term, bool fault) override;
  Verdict solve(std::span<const ExprId> assumptions, const FeasibilityLimits& limits) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lpn::smt

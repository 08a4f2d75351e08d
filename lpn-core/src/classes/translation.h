// The terms and instants of a space as terms of a solver.
#pragma once

#include <map>
#include <vector>

#include "lpn/classes/differences.h"
#include "lpn/classes/input_space.h"
#include "lpn/classes/timing.h"
#include "lpn/expr/feasibility.h"

namespace lpn {

// Declares the space's variables. Borrows both.
class Translation {
 public:
  Translation(const InputSpace& space, Feasibility& solver);

  ExprId operator()(ExprId term);
  // A variable per instant that has more than one thing to wait for, with what it has to fulfil.
  ExprId operator()(InstantId id, const Timing& timing, Differences& differences);
  // Before instants of another path.
  void forget_instants() { instants_.clear(); }

  // The condition that the first of two instants of a path comes first.
  ExprId operator()(const Order& order, const Timing& timing, Differences& differences);

 private:
  void define(InstantId v, const Timing& timing, Differences& differences);

  const InputSpace& space_;
  Feasibility& solver_;
  std::vector<ExprId> params_;
  std::map<InstantId, ExprId> instants_;
};

// The input in the solver's model. REQUIRES that its last answer was kSat.
Assignment input_of_model(const InputSpace& space, const Feasibility& solver);

}  // namespace lpn

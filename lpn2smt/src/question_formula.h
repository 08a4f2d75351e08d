// The question whether an input in a box of a path has its measure beyond a number, for a solver.
#pragma once

#include "box.h"
#include "lpn/expr/feasibility.h"
#include "path_units.h"

namespace lpn::smt {

// Requires it of the solver, which has no variables yet: those of the space come first, then one
// per instant. maximum: measure > threshold; otherwise measure < threshold.
void require_beyond(Feasibility& solver, const PathUnits& p, const Box& box, bool maximum,
                    Time threshold);

}  // namespace lpn::smt

// Bounds of expressions, from declared ranges alone: what authoring and the lints know before any
// token exists. Sound, not tight: the value of an evaluation without error is within the bounds.
#pragma once

#include "lpn/net.h"

namespace lpn {

// Inclusive bounds of an int expression, [0, 1] or narrower for a bool one. `transition` gives the
// arcs their types and may be null for an expression over parameters only. A value that would
// leave 64 bits is an error at run time, so bounds are cut there.
Range bounds(const Net& net, const Transition* transition, ExprId id);

}  // namespace lpn

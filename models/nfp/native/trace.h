// The path of the graph that an execution took.
#pragma once

#include "graph.h"
#include "interpret.h"

namespace lpn::nfp {

// Throws Error "E-nfp-path" for an execution that has not ended, or that runs a loop more often
// than the graph's unrolling has rounds.
Path path_taken(const Graph& graph, const Execution& run);

}  // namespace lpn::nfp

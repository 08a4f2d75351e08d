// Several order-free runs whose static parts go in lock step.
#pragma once

#include "write/writer.h"

namespace lpn::sim {

// `struct FlowBatch` and what the C interface calls of it. REQUIRES that Run and StaticLanes stand
// before it.
void generate_batch(std::uint64_t portion, Writer& out);

}  // namespace lpn::sim

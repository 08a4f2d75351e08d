// Simulators of many nets from one compiler run, as tests need them by the hundred.
#pragma once

#include <vector>

#include "lpn/sim/library.h"

namespace lpn::bench {

// A library per net, in their order; all are in one artefact. Every other one queues two
// competitors for a place already: random nets are small, and that has to be seen to work too.
// `often`: for those who do so many times; compiling is what takes the time. Throws lpn::Error like
// sim::compile().
std::vector<sim::Library> build_many(const std::vector<Net>& nets, sim::Variant variant = {},
                                     const sim::CompileOptions& options = {}, bool often = false);

}  // namespace lpn::bench

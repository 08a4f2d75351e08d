// A net as the C++ source of its own simulator.
#pragma once

#include <string>
#include <vector>

#include "lpn/net/net.h"
#include "lpn/sim/ways.h"

namespace lpn::sim {

// The source of a translation unit that exports `lpn_sim_entry` (lpnrt/abi.h). It contains numbers
// only: no name, text or path of the net reaches it except as bytes of a table. REQUIRES
// verify(net).empty(). Throws Error "E-too-large" when the expressions are too large to compile in
// reasonable time; the interpreter still runs such a net. With a `solver` more transitions may be
// found to need no clock; the results are the same.
std::string generate(const Net& net, const Solver& solver = {});

// Several nets in one translation unit, for tests: exports `lpn_sim_entries`, an array of
// `const lpn_sim_api*` with a null pointer at the end.
std::string generate_many(const std::vector<Net>& nets);

}  // namespace lpn::sim

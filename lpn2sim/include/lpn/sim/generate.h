// A net as the C++ source of its own simulator.
#pragma once

#include <cstddef>
#include <string>

#include "lpn/net/net.h"
#include "lpn/sim/ways.h"

namespace lpn::sim {

struct GenerateOptions {
  Solver solver;  // with one more transitions may be found to need no clock; same results
  // At the end of the names `lpn_net` (the namespace) and `lpn_sim_entry`, so that several nets may
  // stand in one translation unit.
  std::string suffix{};
  std::size_t contested = 6;  // competitors for a place from which on they queue for it; >= 2
  // Transitions that take the tokens of a place by their value (`t.bank == 3`) from which on that
  // is looked up.
  std::size_t routed = 3;
  // A net of more transitions has a function for each, and one for all that are equal; the code of
  // fewer is part of one function.
  std::size_t inlined = 64;
  Assume assume = Assume::kLikely;
  // Bytes of source: a compiler needs some five seconds and 200 MB of memory for each million.
  std::size_t most = std::size_t{32} << 20;
};

// The source of a translation unit that exports `lpn_sim_entry` (lpnrt/abi.h). It contains numbers
// only: no name, text or path of the net reaches it except as bytes of a table. REQUIRES
// verify(net).empty(). Throws Error "E-too-large" when it is too long to be compiled in reasonable
// time (equal transitions are written once); the interpreter still runs such a net.
std::string generate(const Net& net, const GenerateOptions& options = {});

}  // namespace lpn::sim

// Where a box is best halved, and which of its inputs a mixed one is like.
#pragma once

#include <cstdint>
#include <vector>

#include "box.h"
#include "path_units.h"

namespace lpn::smt {

// The tuples of `unit` before number `tuple`, and the others. kUnset: no unit has several.
struct Split {
  std::uint32_t unit = kUnset, tuple = 0;
};

// Per unit the functions that delays read.
using DelayFunctions = std::vector<std::vector<std::uint32_t>>;
DelayFunctions delay_functions(const PathUnits& path);

// The unit that changes delays the most, read by the longest path: those it does not read are
// kUnset in the choice.
Split widest_split(const PathUnits& path, const DelayFunctions& reads, const Box& box,
                   const Choice& choice);
// The unit that is mixed the most, between what it is mixed of; else the widest.
Split mixed_split(const PathUnits& path, const DelayFunctions& reads, const Box& box,
                  const MixedInput& mixed);

// The tuple of each unit that is most like its mix.
Choice rounded(const PathUnits& path, const DelayFunctions& reads, const Box& box,
               const MixedInput& mixed);

}  // namespace lpn::smt

// Parts of a path's inputs: a run of tuples for each of its units, and what its limits leave there.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "path_units.h"

namespace lpn::smt {

inline constexpr std::uint32_t kUnset = 0xFFFFFFFF;  // of a Choice: no tuple of this unit

// Per unit a run of its tuples, [first, second).
using Box = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
Box whole(const PathUnits& path);

// Least sum of each limit's functions over the box.
std::vector<std::int64_t> least_use(const PathUnits& path, const Box& box);

// Uses of a limit are multiples of it beyond the least, or it is more than that so that a table has
// `entries` at most.
std::int64_t quantum(const PathUnits& path, const Box& box, std::size_t limit, std::int64_t least,
                     std::int64_t entries);
// Whether a limit can matter in the box.
bool binding(const PathUnits& path, const Box& box, std::size_t limit);

// Per unit some of its tuples, with their shares: a weighted mean of inputs.
using MixedInput = std::vector<std::vector<std::pair<std::uint32_t, double>>>;

}  // namespace lpn::smt

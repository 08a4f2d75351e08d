// Strongly connected components of a directed graph.
#pragma once

#include <cstdint>
#include <vector>

namespace lpn {

// Node v has arcs to `next[v]`. Every node is in one component, ascending; a component comes after
// all those that its arcs lead to.
std::vector<std::vector<std::uint32_t>> strong_components(
    const std::vector<std::vector<std::uint32_t>>& next);

}  // namespace lpn

// What is known of the DRAM addresses of a path without knowing packet or memory: their low bits.
#pragma once

#include <cstdint>
#include <vector>

#include "graph.h"

namespace lpn::nfp {

// Bit k is `value`'s where `known` has it.
struct LowBits {
  std::uint32_t known = 0, value = 0;
};

// Of the address of each DRAM access of the path, in order: its low eight bits. The map is taken to
// begin at a multiple of 256 byte, as a 40-bit address with `<<8` implies.
std::vector<LowBits> dram_addresses(const Graph& graph, const Path& path);

}  // namespace lpn::nfp

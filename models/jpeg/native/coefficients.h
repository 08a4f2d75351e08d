// The image's quantised coefficients through libjpeg, and what a Huffman decoder does for each.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bit_buffer.h"
#include "markers.h"

namespace lpn::jpeg {

// One entry per 8x8 block, in the order of the scan. int64 so that a marking can take the
// columns as they are.
struct BlockColumns {
  std::vector<std::int64_t> component;  // position in the frame: 0 Y, 1 Cb, 2 Cr
  std::vector<std::int64_t> symbols;    // Huffman symbols: DC + nonzero AC + ZRL + EOB
  std::vector<std::int64_t> nonzero;    // nonzero coefficients, DC included
  std::vector<std::int64_t> bits;       // coded bits
  std::vector<std::int64_t> waits;      // clocks in which the decoder waits for bits
};

// Code lengths of one component's tables.
struct ComponentCodes {
  std::array<std::uint8_t, 256> dc{};
  std::array<std::uint8_t, 256> ac{};
};

// Blocks in the scan, padding to whole MCUs included.
std::int64_t count_blocks(const Header& header);

// Throws Refused for whatever libjpeg calls an error or warns about. `buffer`: after first_word().
BlockColumns read_blocks(Bytes file, const Header& header, const std::vector<ComponentCodes>& codes,
                         BitBuffer& buffer);

}  // namespace lpn::jpeg

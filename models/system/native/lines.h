// Which level of a memory answers the writes of an image decoder that puts out 8x8 blocks of 16-bit
// pixels in the order of its MCUs: a small cache at the edge of the host, what is behind it, or
// DRAM.
#pragma once

#include <cstdint>
#include <vector>

namespace lpn::system {

// Of a row of eight pixels: kCache when all its words find their line in the cache, else the
// slowest level that one of them waits for.
enum class Level : std::int64_t {
  kCache = 0,
  kBehind = 1,
  kRowOpen = 2,
  kRowShut = 3,
  kRowOther = 4
};

inline constexpr int kBitsOfRow = 6;  // the level, and << 3 how many of the four words wait
inline constexpr int kRows = 8;       // of a block

struct Picture {
  std::int64_t width = 0, height = 0;  // pixels
  std::int64_t mcu = 16;               // pixels of an MCU's side, 8 or 16
};

struct Memory {
  std::int64_t line = 64;         // bytes
  std::int64_t cache_lines = 16;  // least recently used goes first, any line anywhere
  std::int64_t warm_bytes = 0;    // from the buffer's start: not in DRAM alone
  std::int64_t read_lines =
      0;  // lines of the input, which pass through the cache evenly in between
  std::int64_t row_bytes = 8192;  // of a DRAM row (page) over all its chips
  std::int64_t banks = 32;
  bool open_rows = true;  // else a row is shut after each access
};

// One number per 8x8 block of pixels: kRows rows, the first in the lowest bits.
std::vector<std::int64_t> levels(const Picture& picture, const Memory& memory);

// An input that comes in pieces: bits before the first block, bits of a piece, pieces that were
// taken before the first block and pieces in all.
struct Input {
  std::int64_t begin = 0, piece = 1, taken = 0, total = 0;
};

// How many more pieces each block of so many bits needs than the one before. Stuffed bytes are
// spread over the blocks.
std::vector<std::int64_t> shares(const std::vector<std::int64_t>& bits, const Input& input);

}  // namespace lpn::system

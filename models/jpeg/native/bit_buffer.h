// The core's bit buffer, clock by clock: how long the Huffman decoder waits for bits.
//
// The input brings 8 bits per clock, a symbol takes at most 27 in 3 or 4 clocks, and 64 bits are
// buffered, so it nearly never waits. When it does depends on the bytes and on the buffer's fill at
// the start of a block. The replay takes each block to start as early as the decoder can; a block
// that waits for room in the coefficient RAM finds the buffer at least as full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "markers.h"

namespace lpn::jpeg {

class BitBuffer {
 public:
  // `scan_begin`: file offset of the first entropy-coded byte. The file has an end marker.
  // `symbol_clocks`: 3, or 4 with writable tables.
  BitBuffer(Bytes file, std::size_t scan_begin, int symbol_clocks)
      : file_(file), at_(scan_begin), symbol_clocks_(symbol_clocks) {}

  // Clocks until the buffer first offers data. To be called once, before any block.
  int first_word();

  // Takes a block's symbols, with their bits. Returns the clocks for which they had to wait.
  int take(std::span<const std::uint8_t> symbol_bits);

 private:
  void clock(int pop);
  bool offers_data() const { return count_ >= 32 || (drain_ && count_ > 0); }
  bool skip_ahead(std::span<const std::uint8_t> symbol_bits);

  Bytes file_;
  std::size_t at_;  // the byte that is presented to the input stage
  int symbol_clocks_;
  int count_ = 0;       // bits in the buffer
  bool held_ = false;   // a byte waits in the input stage's delay register
  bool drain_ = false;  // the end marker was seen
  bool first_ = true;   // no block yet
};

}  // namespace lpn::jpeg

// Huffman tables as a DHT segment carries them: sixteen counts and the symbols in code order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lpn::jpeg {

struct HuffmanTable {
  std::array<std::uint8_t, 16> counts{};  // counts[n]: how many codes have n + 1 bits
  std::vector<std::uint8_t> symbols;      // in code order, at most 256

  bool operator==(const HuffmanTable&) const = default;
};

// A table and the slot that its DHT segment loads it into.
struct TableLoad {
  // Tc << 4 | Th, as in the file: 0x00 and 0x01 are DC tables 0 and 1, 0x10 and 0x11 AC tables.
  std::uint8_t slot = 0;
  HuffmanTable table;
};

// The tables of one DHT payload (without its length bytes). Throws Refused when they do not
// fill the payload exactly or a table is empty or has more than 256 symbols.
std::vector<TableLoad> parse_dht(std::span<const std::uint8_t> payload);

// ISO/IEC 10918-1 Annex K.3: slot is 0x00, 0x10, 0x01 or 0x11.
const HuffmanTable& annex_k(std::uint8_t slot);

// Bits of the code of each symbol; 0: the table has no code for it.
std::array<std::uint8_t, 256> code_lengths(const HuffmanTable& table);

// Clocks in which the writable-table build holds the input while it loads `table`: one per code
// length without codes before the last used one (jpeg_dht.v, cfg_accept_o).
int load_stalls(const HuffmanTable& table);

}  // namespace lpn::jpeg

// Numbers as pages carry them: LEB128, signed ones zigzag.
#pragma once

#include <cstdint>
#include <string>

namespace lpn::viz {

inline void put(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

inline void put_signed(std::string& out, std::int64_t value) {
  put(out, (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

}  // namespace lpn::viz

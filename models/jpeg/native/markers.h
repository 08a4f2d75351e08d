// Two walks over a file's header: what it says, and what the core's input stage makes of it.
//
// libjpeg hides where segments lie, and the core follows segment lengths by their low byte only,
// so both are needed: a file is sound for the core when the two walks agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "huffman.h"

namespace lpn::jpeg {

// The byte after 0xFF of the markers that matter here.
inline constexpr std::uint8_t kSof0 = 0xC0;
inline constexpr std::uint8_t kDht = 0xC4;
inline constexpr std::uint8_t kSoi = 0xD8;
inline constexpr std::uint8_t kEoi = 0xD9;
inline constexpr std::uint8_t kSos = 0xDA;
inline constexpr std::uint8_t kDqt = 0xDB;
inline constexpr std::uint8_t kDnl = 0xDC;

using Bytes = std::span<const std::uint8_t>;

// A segment's payload: what follows its two length bytes.
struct Segment {
  std::uint8_t marker = 0;  // the byte after 0xFF
  std::size_t begin = 0;    // file offset of the payload
  std::size_t size = 0;     // bytes

  bool operator==(const Segment&) const = default;
};

struct FrameComponent {
  std::uint8_t id = 0;
  std::uint8_t horizontal = 0;  // sampling factors
  std::uint8_t vertical = 0;
  std::uint8_t dc_slot = 0;  // Huffman table slots that the scan header selects (Tc << 4 | Th)
  std::uint8_t ac_slot = 0;
};

struct Header {
  int width = 0;
  int height = 0;
  std::vector<FrameComponent> components;
  std::vector<Segment> segments;     // all, in file order; the scan header (SOS) is the last
  std::vector<TableLoad> tables;     // all DHT loads, in file order
  bool shared_quantisation = false;  // two quantisation tables in one DQT segment
  std::size_t scan_begin = 0;        // file offset of the first entropy-coded byte
  std::size_t scan_end = 0;          // file offset of the EOI marker
  std::size_t scan_bytes = 0;        // entropy-coded bytes without the stuffed zeros
};

// Reads the file as ISO/IEC 10918-1 says, up to and including its end marker.
// Throws Refused for everything that is not a complete baseline image in one scan.
Header read_header(Bytes file);

// The DQT, DHT, SOF0 and SOS segments that the core's input stage takes out of the same bytes,
// with the lengths that it uses (jpeg_input.v, its state machine). Stops at the first SOS.
std::vector<Segment> core_segments(Bytes file);

}  // namespace lpn::jpeg

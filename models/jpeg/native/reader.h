// A .jpg as the core_jpeg decoder meets it, or the reason why the core cannot take it.
//
// RTL: ultraembedded core_jpeg, commit bb03cce. File names in comments (jpeg_input.v, ...) are
// its sources.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coefficients.h"
#include "markers.h"

namespace lpn::jpeg {

// The largest file that read_image takes.
inline constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;

// The RTL's image modes (jpeg_input.v, img_mode_q).
enum class Sampling { kMono = 0, k444 = 1, k420 = 2 };

struct Image {
  int width = 0;
  int height = 0;
  Sampling sampling = Sampling::kMono;
  std::int64_t header_bytes = 0;       // file offset of the first entropy-coded byte
  std::int64_t table_stalls = 0;       // clocks of DHT loading with writable tables
  std::int64_t first_word_clocks = 0;  // from the scan's first byte until the decoder gets bits
  bool standard_tables = true;         // decodable with the Annex K tables
  BlockColumns blocks;
  // Per block: 8x8 pixel blocks that can be put out once this block is transformed. 0, or for the
  // last block of an MCU 1 (grey, 4:4:4) or 4 (4:2:0).
  std::vector<std::int64_t> completes;
  std::vector<std::string> notes;  // what the core gets wrong without effect on its timing
};

// Reads a file for the build with (`writable_tables`) or without SUPPORT_WRITABLE_DHT.
// Throws Refused with the reason when that build cannot decode the file.
Image read_image(Bytes file, bool writable_tables);

}  // namespace lpn::jpeg

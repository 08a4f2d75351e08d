#include "coefficients.h"

#include <algorithm>
#include <bit>
#include <csetjmp>

#include "libjpeg_errors.h"
#include "refused.h"

namespace lpn::jpeg {
namespace {

// Zigzag position -> natural order.
constexpr std::array<std::uint8_t, 64> kNatural = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

constexpr int kZrl = 0xF0;  // sixteen zeros
constexpr int kEob = 0x00;  // end of block

int bit_size(int value) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(value < 0 ? -value : value)));
}

// Symbols and bits as an encoder writes them: no ZRL before an EOB. That the file does the same is
// checked on the sum of all bits (reader.cc).
struct Count {
  std::array<std::uint8_t, 64> symbol_bits;  // of the first `symbols`
  std::size_t symbols = 0;
  int nonzero = 0;
  int bits = 0;

  void code(const std::array<std::uint8_t, 256>& lengths, int symbol, int extra) {
    const int size = lengths[static_cast<std::size_t>(symbol & 0xFF)] + extra;
    symbol_bits[symbols++] = static_cast<std::uint8_t>(size);
    bits += size;
  }
};

Count count_block(const JCOEF* block, int dc_difference, const ComponentCodes& codes) {
  Count count;  // at most 64 symbols: each stands for at least one coefficient
  const int dc_size = bit_size(dc_difference);
  count.code(codes.dc, dc_size, dc_size);
  count.nonzero = block[0] != 0 ? 1 : 0;
  int run = 0;
  for (std::size_t k = 1; k < 64; ++k) {
    const int value = block[kNatural[k]];
    if (value == 0) {
      ++run;
      continue;
    }
    for (; run > 15; run -= 16) count.code(codes.ac, kZrl, 0);
    const int size = bit_size(value);
    count.code(codes.ac, run << 4 | size, size);
    ++count.nonzero;
    run = 0;
  }
  if (run > 0) count.code(codes.ac, kEob, 0);
  return count;
}

struct Grid {
  int mcus_across = 0;
  int mcus_down = 0;
};

// A scan with one component is not interleaved: its sampling factors do not matter.
Grid mcu_grid(const Header& header) {
  const bool single = header.components.size() == 1;
  int h = 1;
  int v = 1;
  if (!single) {
    for (const FrameComponent& component : header.components) {
      h = std::max<int>(h, component.horizontal);
      v = std::max<int>(v, component.vertical);
    }
  }
  return {(header.width + 8 * h - 1) / (8 * h), (header.height + 8 * v - 1) / (8 * v)};
}

// Whether libjpeg read all blocks. A longjmp may land in here, so everything that changes belongs
// to the caller, `out` has its size already, and nothing here has a destructor.
bool decode(jpeg_decompress_struct& cinfo, Bytes file, const Header& header,
            const std::vector<ComponentCodes>& codes, BitBuffer& buffer, Failure& failure,
            BlockColumns& out) {
  if (setjmp(failure.back) != 0) return false;
  jpeg_create_decompress(&cinfo);
  jpeg_mem_src(&cinfo, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&cinfo, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&cinfo);

  const Grid grid = mcu_grid(header);
  const bool single = header.components.size() == 1;
  std::array<int, 3> last_dc{};
  std::size_t next = 0;
  for (int my = 0; my < grid.mcus_down; ++my) {
    std::array<JBLOCKARRAY, 3> rows{};
    for (std::size_t c = 0; c < header.components.size(); ++c) {
      const int v = single ? 1 : header.components[c].vertical;
      rows[c] = cinfo.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&cinfo), arrays[c],
                                              static_cast<JDIMENSION>(my * v),
                                              static_cast<JDIMENSION>(v), FALSE);
    }
    for (int mx = 0; mx < grid.mcus_across; ++mx) {
      for (std::size_t c = 0; c < header.components.size(); ++c) {
        const int h = single ? 1 : header.components[c].horizontal;
        const int v = single ? 1 : header.components[c].vertical;
        for (int y = 0; y < v; ++y) {
          for (int x = 0; x < h; ++x) {
            const JCOEF* block = rows[c][y][mx * h + x];
            const Count count = count_block(block, block[0] - last_dc[c], codes[c]);
            last_dc[c] = block[0];
            out.component[next] = static_cast<std::int64_t>(c);
            out.symbols[next] = static_cast<std::int64_t>(count.symbols);
            out.nonzero[next] = count.nonzero;
            out.bits[next] = count.bits;
            out.waits[next] = buffer.take({count.symbol_bits.data(), count.symbols});
            ++next;
          }
        }
      }
    }
  }
  jpeg_finish_decompress(&cinfo);
  return true;
}

}  // namespace

std::int64_t count_blocks(const Header& header) {
  const Grid grid = mcu_grid(header);
  std::int64_t per_mcu = 0;
  for (const FrameComponent& component : header.components) {
    per_mcu += header.components.size() == 1 ? 1 : component.horizontal * component.vertical;
  }
  return per_mcu * grid.mcus_across * grid.mcus_down;
}

BlockColumns read_blocks(Bytes file, const Header& header, const std::vector<ComponentCodes>& codes,
                         BitBuffer& buffer) {
  BlockColumns out;
  const auto blocks = static_cast<std::size_t>(count_blocks(header));
  for (auto* column : {&out.component, &out.symbols, &out.nonzero, &out.bits, &out.waits}) {
    column->resize(blocks);
  }
  jpeg_decompress_struct cinfo{};
  Failure failure{};
  cinfo.err = install(failure);
  const bool done = decode(cinfo, file, header, codes, buffer, failure, out);
  jpeg_destroy_decompress(&cinfo);
  if (!done) {
    throw Refused(std::string("truncated or corrupt: libjpeg says \"") + failure.text +
                  "\"; the core has no error recovery: fetch or write the file again");
  }
  return out;
}

}  // namespace lpn::jpeg

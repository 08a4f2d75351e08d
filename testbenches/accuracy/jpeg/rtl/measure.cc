// Counts what the decoder's RTL takes for JPEG files, under Verilator.
//
//   git clone https://github.com/ultraembedded/core_jpeg && git -C core_jpeg checkout bb03cce
//   verilator -O3 -Wno-fatal --cc --exe --build -Icore_jpeg/src_v --top-module jpeg_core
//     -GSUPPORT_WRITABLE_DHT=1 core_jpeg/src_v/jpeg_core.v measure.cc -o measure   (one command)
//   obj_dir/measure 49152 image.jpg
//
// Arguments: pairs of expected pixels (width and height padded to whole MCUs) and file. One reset
// per image; the input is always valid (zeros after the file) and the output always accepted.
// Prints, in clocks from the first valid input clock on and inclusive: the first pixel and the
// last expected one.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "Vjpeg_core.h"
#include "verilated.h"

namespace {

constexpr long kQuietClocks = 20'000;  // without a pixel after the file: the core has ended
constexpr long kExtraPixels = 3'000;   // some images run past their end; stop there

struct Result {
  long first = -1;
  long last = -1;
  long pixels = 0;
};

Result decode(std::vector<std::uint8_t> file, long expected) {
  file.resize((file.size() + 3) / 4 * 4);
  const std::size_t words = file.size() / 4;
  VerilatedContext context;
  Vjpeg_core core(&context);
  const auto edge = [&] {
    core.clk_i = 1;
    core.eval();
    core.clk_i = 0;
    core.eval();
  };
  core.inport_valid_i = 0;
  core.inport_last_i = 0;
  core.inport_strb_i = 15;
  core.outport_accept_i = 1;
  core.rst_i = 1;
  for (int k = 0; k < 4; ++k) edge();
  core.rst_i = 0;

  Result result;
  std::size_t word = 0;
  long quiet = 0;
  for (long clock = 1; quiet < kQuietClocks && result.pixels < expected + kExtraPixels; ++clock) {
    core.inport_valid_i = 1;
    std::uint32_t data = 0;
    for (std::size_t k = 0; word < words && k < 4; ++k) {
      data |= static_cast<std::uint32_t>(file[4 * word + k]) << (8 * k);
    }
    core.inport_data_i = data;
    core.eval();
    ++quiet;
    if (core.outport_valid_o) {
      quiet = 0;
      if (++result.pixels == 1) result.first = clock;
      if (result.pixels == expected) result.last = clock;
    }
    if (core.inport_accept_o && word < words) {
      ++word;
      quiet = 0;
    }
    edge();
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  for (int k = 1; k + 1 < argc; k += 2) {
    std::ifstream in(argv[k + 1], std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "cannot read %s\n", argv[k + 1]);
      return 2;
    }
    const Result result = decode({std::istreambuf_iterator<char>(in), {}}, std::atol(argv[k]));
    std::printf("%s cycles_total=%ld cycles_first_out=%ld pixels_out=%ld\n", argv[k + 1],
                result.last, result.first, result.pixels);
  }
}

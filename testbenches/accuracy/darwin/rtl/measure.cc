// Clocks and traceback steps of tiles in Darwin's GACT array, under Verilator.
//
//   git clone https://github.com/yatisht/darwin && git -C darwin checkout bc972d0
//   verilator -O3 --no-timing -Wno-fatal -Wno-lint --cc --exe --build --top-module GACTTop
//     -GNUM_PE=4 -GPE_WIDTH=10 -GMAX_TILE_SIZE=512 -y darwin/RTL/GACT darwin/RTL/GACT/GACTTop.v
//     measure.cc -o measure (one line)
//   obj_dir/measure < sessions
//
// A line of the input is what happens between two resets: the scores of a match, a mismatch, the
// first and a further base of a gap; then of each tile 1 (its bases are written before) or 0 (they
// are there), align_fields, max_tb_steps, reference, query. A line of the output: of each tile the
// clock in which `done` rises and num_tb_steps. Clock 0 is that of the first start, or of the first
// bases written. -1: there was no `done`, and nothing is said of the tiles behind.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "VGACTTop.h"
#include "verilated.h"

namespace {

constexpr long kMostClocks = 2'000'000;  // a tile of 511 bases takes some 140,000 with 2 elements
constexpr std::size_t kWordBytes = 8;    // BLOCK_WIDTH 3

struct Tile {
  bool written;
  int fields, most;
  std::string ref, query;
};

// in_params: the upper triangle of a matrix of scores by base, then the penalties of gaps.
void set_scores(VGACTTop& core, int bits, const int (&scores)[4]) {
  const auto [match, mismatch, open, extend] = scores;
  const int fields[12] = {extend,   open,  match,    mismatch, match,    mismatch,
                          mismatch, match, mismatch, mismatch, mismatch, match};
  for (int at = 0; at < 12 * bits; ++at) {
    const auto bit = static_cast<unsigned>(fields[at / bits]) >> at % bits & 1U;
    if (at % 32 == 0) core.in_params[at / 32] = 0;
    core.in_params[at / 32] |= bit << at % 32;
  }
}

std::uint64_t word(const std::string& bases, std::size_t at) {
  std::uint64_t found = 0;
  for (std::size_t k = 0; k < kWordBytes && at + k < bases.size(); ++k) {
    found |= std::uint64_t{static_cast<unsigned char>(bases[at + k])} << 8 * k;
  }
  return found;
}

void run(int bits, const int (&scores)[4], const std::vector<Tile>& tiles) {
  VerilatedContext context;
  VGACTTop core(&context);
  long clock = 0;
  const auto edge = [&] {
    core.clk = 1;
    core.eval();
    core.clk = 0;
    core.eval();
    ++clock;
  };
  set_scores(core, bits, scores);
  core.clear_done = 1;
  core.rst = 1;
  for (int k = 0; k < 4; ++k) edge();
  core.rst = 0;
  core.set_params = 1;
  edge();
  core.set_params = 0;
  edge();
  clock = 0;
  std::string line;
  for (const Tile& tile : tiles) {
    const std::size_t bases = tile.written ? std::max(tile.ref.size(), tile.query.size()) : 0;
    for (std::size_t at = 0; at < bases; at += kWordBytes) {
      core.ref_wr_en = at < tile.ref.size();
      core.query_wr_en = at < tile.query.size();
      core.ref_addr_in = core.query_addr_in = at / kWordBytes + 1;
      core.ref_in = word(tile.ref, at);
      core.query_in = word(tile.query, at);
      edge();
    }
    core.ref_wr_en = core.query_wr_en = 0;
    core.align_fields = tile.fields;
    core.max_tb_steps = tile.most;
    core.ref_len = tile.ref.size();
    core.query_len = tile.query.size();
    core.start = 1;
    edge();
    core.start = 0;
    const long end = clock + kMostClocks;
    while (!core.done && clock < end) edge();
    if (!core.done) {
      line += "-1 -1 ";
      break;
    }
    line += std::to_string(clock) + ' ' + std::to_string(core.num_tb_steps) + ' ';
    edge();  // READY
  }
  std::puts(line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const int bits = argc > 1 ? std::stoi(argv[1]) : 10;  // PE_WIDTH, 9 to 16
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    int scores[4] = {};
    for (int& score : scores) line >> score;
    std::vector<Tile> tiles;
    for (Tile t{}; line >> t.written >> t.fields >> t.most >> t.ref >> t.query;) tiles.push_back(t);
    run(bits, scores, tiles);
    std::fflush(stdout);
  }
  return 0;
}

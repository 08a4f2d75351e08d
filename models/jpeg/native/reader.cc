#include "reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "refused.h"

namespace lpn::jpeg {
namespace {

// So that a hostile file cannot ask for unbounded memory or time: libjpeg holds all coefficients
// of an image, 128 bytes per block.
constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 21;

Sampling sampling_of(const Header& header) {
  const auto& c = header.components;
  const auto is = [&](std::size_t k, int h, int v) {
    return c[k].horizontal == h && c[k].vertical == v;
  };
  if (c.size() == 1) return Sampling::kMono;
  if (c.size() == 3 && is(1, 1, 1) && is(2, 1, 1)) {
    if (is(0, 1, 1)) return Sampling::k444;
    if (is(0, 2, 2)) return Sampling::k420;
  }
  if (c.size() != 3) {
    throw Refused(std::to_string(c.size()) +
                  " colour components (CMYK, YCCK or other); the core "
                  "decodes one (grey) or three (YCbCr): convert the image to RGB and save it "
                  "again");
  }
  std::string factors;
  for (const FrameComponent& component : c) {
    if (!factors.empty()) factors += ',';
    factors += std::to_string(component.horizontal) + 'x' + std::to_string(component.vertical);
  }
  throw Refused("sampling factors " + factors +
                "; the core knows grey, 4:4:4 (1x1,1x1,1x1) and "
                "4:2:0 (2x2,1x1,1x1): re-encode with cjpeg -sample 2x2 or -sample 1x1");
}

// 4:2:0 counts MCUs as quarters of the width rounded to 8, so half an MCU at the end of a row is
// lost and the next row begins in the wrong place (jpeg_mcu_id.v, img_w_div4_w).
void check_width(const Header& header, Sampling sampling) {
  const int across = (header.width + 7) / 8;
  if (sampling == Sampling::k420 && across % 2 != 0) {
    throw Refused("4:2:0 and " + std::to_string(header.width) +
                  " pixels wide: " + std::to_string(across) +
                  " blocks of 8, an odd number, with which the core "
                  "loses its place in every row: pad or crop the width to a multiple of 16, or "
                  "use 4:4:4");
  }
}

std::string describe(std::uint8_t marker) {
  switch (marker) {
    case kSof0: return "frame header (SOF0)";
    case kDht: return "Huffman table segment (DHT)";
    case kSos: return "scan header (SOS)";
    default: return "quantisation table segment (DQT)";
  }
}

// The core keeps only the low byte of a segment's length (jpeg_input.v, length_q), so after a
// segment of 256 bytes or more it searches for markers inside the payload. Sound only when it then
// loads exactly the file's own segments, but for what they replace afterwards: a quantisation
// table or frame header "found" before the file's first.
void check_segments(Bytes file, const Header& header, bool writable_tables) {
  // The fixed-table build throws DHT contents away, so it may also misread their length.
  const auto loaded = [&](std::uint8_t marker) {
    return marker == kSof0 || marker == kSos || marker == kDqt ||
           (writable_tables && marker == kDht);
  };
  std::vector<Segment> truth;
  std::array<std::size_t, 256> first;  // where the file's first segment of a kind begins
  first.fill(0);
  for (const Segment& segment : header.segments) {
    if (!loaded(segment.marker)) continue;
    truth.push_back(segment);
    if (first[segment.marker] == 0) first[segment.marker] = segment.begin;
  }
  std::vector<Segment> core;
  for (const Segment& segment : core_segments(file)) {
    // A quantisation segment of one byte leaves the loader in the middle (jpeg_dqt.v, idx_q).
    const bool replaced = segment.begin < first[segment.marker] &&
                          (segment.marker == kSof0 || (segment.marker == kDqt && segment.size > 1));
    if (loaded(segment.marker) && !replaced) core.push_back(segment);
  }
  if (truth == core) return;
  const std::string advice =
      ": strip the metadata (jpegtran -copy none) or write one table per segment";
  for (std::size_t k = 0; k < truth.size(); ++k) {
    if (k < core.size() && core[k] == truth[k]) continue;
    const std::string why =
        "the core follows segment lengths by their low byte only, and for this file that makes "
        "it ";
    if (k >= core.size()) {
      throw Refused(why + "miss the " + describe(truth[k].marker) + " at byte " +
                    std::to_string(truth[k].begin) + advice);
    }
    if (core[k].begin == truth[k].begin && core[k].marker == truth[k].marker) {
      throw Refused(why + "read " + std::to_string(core[k].size) + " of the " +
                    std::to_string(truth[k].size) + " bytes of the " + describe(truth[k].marker) +
                    " at byte " + std::to_string(truth[k].begin) + advice);
    }
    throw Refused(why + "take bytes at " + std::to_string(core[k].begin) + " for a " +
                  describe(core[k].marker) + " (a thumbnail in an application segment?)" + advice);
  }
  throw Refused("the core finds segments that the file does not have" + advice);
}

// Two byte pairs act wherever the input stage meets them, also inside a segment that it skips:
// FF D9 makes it take the image for ended (jpeg_input.v, eof_q), so that only the first row of
// MCUs comes out; FF C0 makes it forget the frame header (img_mode_q).
void check_pairs(Bytes file, const Header& header) {
  bool frame_seen = false;
  std::size_t next = 0;  // next segment that begins behind `at`
  for (std::size_t at = 2; at + 1 < header.scan_begin; ++at) {
    const bool marker = next < header.segments.size() && at + 4 == header.segments[next].begin;
    if (file[at] == 0xFF && file[at + 1] == 0xD9) {
      throw Refused("the bytes FF D9 inside a segment (byte " + std::to_string(at) +
                    ", a thumbnail's end?), which the core takes for the end of the image: strip "
                    "the metadata (jpegtran -copy none)");
    }
    if (frame_seen && file[at] == 0xFF && file[at + 1] == 0xC0) {
      throw Refused("the bytes FF C0 behind the frame header (byte " + std::to_string(at) +
                    "), which make the core forget the image's size and sampling: strip the "
                    "metadata (jpegtran -copy none)");
    }
    if (marker) frame_seen = frame_seen || header.segments[next++].marker == kSof0;
  }
}

bool standard_slot(std::uint8_t slot) { return (slot & 0x0F) <= 1; }

// The tables in force at the scan, by slot. As libjpeg does for motion-JPEG frames, a standard
// slot that was never loaded holds its Annex K table.
std::map<std::uint8_t, HuffmanTable> tables_of(const Header& header) {
  std::map<std::uint8_t, HuffmanTable> tables;
  for (const std::uint8_t slot : {0x00, 0x10, 0x01, 0x11}) {
    tables[slot] = annex_k(slot);
  }
  for (const TableLoad& load : header.tables) tables[load.slot] = load.table;
  return tables;
}

// The slot whose table the core uses: it goes by position, not by what the scan header says
// (jpeg_mcu_proc.v, lookup_table_r).
std::uint8_t core_slot(std::size_t component, bool ac) {
  return static_cast<std::uint8_t>((ac ? 0x10 : 0x00) | (component == 0 ? 0 : 1));
}

struct TableCheck {
  std::vector<ComponentCodes> codes;
  bool standard = true;
};

TableCheck check_tables(const Header& header, bool writable_tables) {
  const auto tables = tables_of(header);
  TableCheck result;
  for (std::size_t c = 0; c < header.components.size(); ++c) {
    const FrameComponent& component = header.components[c];
    for (const std::uint8_t slot : {component.dc_slot, component.ac_slot}) {
      const bool ac = (slot & 0x10) != 0;
      const auto used = tables.find(slot);
      if (used == tables.end()) {
        throw Refused("corrupt: the scan uses Huffman table " + std::to_string(slot & 15) +
                      ", which the file does not define; re-encode the image");
      }
      if (used->second != annex_k(core_slot(c, ac))) result.standard = false;
      if (writable_tables) {
        const auto in_core =
            std::find_if(header.tables.rbegin(), header.tables.rend(),
                         [&](const TableLoad& load) { return load.slot == core_slot(c, ac); });
        if (in_core == header.tables.rend() || in_core->table != used->second) {
          throw Refused(std::string("component ") + std::to_string(c) + " is coded with " +
                        (ac ? "AC" : "DC") + " table " + std::to_string(slot & 15) +
                        ", but the core with "
                        "writable tables takes table " +
                        std::to_string(core_slot(c, ac) & 15) +
                        (in_core == header.tables.rend() ? ", which the file does not define"
                                                         : ", which differs") +
                        ": rewrite the file with jpegtran -optimize");
        }
      }
    }
    ComponentCodes codes;
    codes.dc = code_lengths(tables.at(component.dc_slot));
    codes.ac = code_lengths(tables.at(component.ac_slot));
    result.codes.push_back(codes);
  }
  if (!writable_tables && !result.standard) {
    throw Refused(
        "Huffman tables of its own (an optimised file); the build with fixed tables "
        "has only those of the standard's Annex K: use the build with writable tables "
        "(writable_tables=1), or re-encode without optimisation");
  }
  return result;
}

// What the table loader of the writable build cannot do (jpeg_dht.v).
void check_loader(const Header& header) {
  std::size_t symbols = 0;
  std::map<std::uint8_t, int> loads;
  for (const TableLoad& load : header.tables) {
    symbols += load.table.symbols.size();
    // Any slot but 00, 10 and 01 is written to chroma AC.
    if (load.slot != 0x11 && (!standard_slot(load.slot) || (load.slot & 0xE0) != 0)) {
      throw Refused("Huffman table slot " + std::to_string(load.slot & 15) +
                    "; the core with "
                    "writable tables has slots 0 and 1, and loads any other over the chroma AC "
                    "table: re-encode the image");
    }
    // Code ranges of the first load stay where the second has no codes of that length.
    if (++loads[load.slot] > 1) {
      throw Refused(
          "a Huffman table is defined twice; the core with writable tables mixes the "
          "two: rewrite the file with jpegtran");
    }
  }
  if (symbols > 1024) {
    throw Refused(std::to_string(symbols) +
                  " Huffman symbols; the core with writable tables "
                  "stores 1024: rewrite the file with jpegtran");
  }
}

// Zero-length coefficients other than EOB and ZRL end a block in libjpeg but not in the core.
void check_symbols(const Header& header) {
  for (const TableLoad& load : header.tables) {
    for (const std::uint8_t symbol : load.table.symbols) {
      const bool ac = (load.slot & 0x10) != 0;
      const bool legal =
          ac ? (symbol & 15) <= 10 && ((symbol & 15) != 0 || symbol == 0x00 || symbol == 0xF0)
             : symbol <= 11;
      if (!legal) {
        throw Refused("a Huffman table with symbol " + std::to_string(symbol) +
                      ", which baseline "
                      "JPEG does not have: re-encode the image");
      }
    }
  }
}

// The core does not count rows. It takes the image to be over when, in the last MCU of a row, its
// input stage has seen the end marker; then at most 64 bits are still in the bit buffer
// (jpeg_mcu_id.v, end_of_image_q; jpeg_bitbuffer.v, inport_accept_o). 4:2:0 asks at the start of
// the Cr block, the others at the end of the MCU. With exactly these few bits left the clock
// decides; such files are refused too.
void check_early_end(const Header& header, const Image& image) {
  constexpr std::int64_t kBitBuffer = 64;
  const std::size_t mcu_blocks = image.sampling == Sampling::kMono  ? 1
                                 : image.sampling == Sampling::k444 ? 3
                                                                    : 6;
  const int mcu_width = image.sampling == Sampling::k420 ? 16 : 8;
  const auto across = static_cast<std::size_t>((header.width + mcu_width - 1) / mcu_width);
  const std::size_t row_blocks = across * mcu_blocks;
  std::int64_t left = static_cast<std::int64_t>(header.scan_bytes) * 8;
  for (std::size_t b = 0; b < image.blocks.bits.size(); ++b) {
    const bool last_of_row = (b + 1) % row_blocks == 0;
    const bool last_row = b + row_blocks >= image.blocks.bits.size();
    if (last_row) return;
    const std::int64_t before = left;
    left -= image.blocks.bits[b];
    if (!last_of_row) continue;
    if ((image.sampling == Sampling::k420 ? before : left) <= kBitBuffer) {
      throw Refused(
          "the last rows take at most 64 bits, so the core has seen the end of the file "
          "before it decodes them and loses them: use a larger or less uniform image");
    }
  }
}

}  // namespace

Image read_image(Bytes file, bool writable_tables) {
  if (file.size() > kMaxFileBytes) {
    throw Refused("the file has more than " + std::to_string(kMaxFileBytes) +
                  " bytes, the most that this reader takes: scale the image down");
  }
  const Header header = read_header(file);
  Image image;
  image.width = header.width;
  image.height = header.height;
  image.sampling = sampling_of(header);
  check_width(header, image.sampling);
  const std::int64_t blocks = count_blocks(header);
  if (blocks > kMaxBlocks) {
    throw Refused("the image has " + std::to_string(blocks) +
                  " blocks of 8x8; this reader takes "
                  "up to " +
                  std::to_string(kMaxBlocks) + ": scale it down");
  }
  // A block takes at least two symbols of one bit each; checked before libjpeg makes room for
  // all blocks.
  if (blocks * 2 > static_cast<std::int64_t>(header.scan_bytes) * 8) {
    throw Refused("truncated: " + std::to_string(header.scan_bytes) +
                  " bytes of image data "
                  "cannot hold " +
                  std::to_string(blocks) +
                  " blocks; the core would wait for "
                  "input for ever. Fetch or write the file again");
  }
  check_segments(file, header, writable_tables);
  check_pairs(file, header);
  check_symbols(header);
  if (writable_tables) check_loader(header);
  const TableCheck tables = check_tables(header, writable_tables);

  image.header_bytes = static_cast<std::int64_t>(header.scan_begin);
  image.standard_tables = tables.standard;
  for (const TableLoad& load : header.tables) image.table_stalls += load_stalls(load.table);
  BitBuffer buffer(file, header.scan_begin, writable_tables ? 4 : 3);
  image.first_word_clocks = buffer.first_word();
  image.blocks = read_blocks(file, header, tables.codes, buffer);

  // libjpeg gives coefficients, not symbols. That the two say the same is checked by the length
  // of the scan: it must be the sum of the bits, filled up to a byte.
  const std::int64_t bits =
      std::accumulate(image.blocks.bits.begin(), image.blocks.bits.end(), std::int64_t{0});
  if ((bits + 7) / 8 != static_cast<std::int64_t>(header.scan_bytes)) {
    throw Refused("unusual coding: the blocks take " + std::to_string(bits) +
                  " bits, the scan "
                  "has " +
                  std::to_string(header.scan_bytes) +
                  " bytes; the core's symbols per block cannot "
                  "be told from it: rewrite the file with jpegtran");
  }
  check_early_end(header, image);

  image.completes.resize(image.blocks.component.size());
  const std::int64_t last_component = image.sampling == Sampling::kMono ? 0 : 2;
  const std::int64_t output_blocks = image.sampling == Sampling::k420 ? 4 : 1;
  for (std::size_t b = 0; b < image.completes.size(); ++b) {
    image.completes[b] = image.blocks.component[b] == last_component ? output_blocks : 0;
  }
  if (header.shared_quantisation) {
    image.notes.push_back(
        "two quantisation tables share a segment; the core loads both into the "
        "first, so its pixels are wrong, its timing is not");
  }
  return image;
}

}  // namespace lpn::jpeg

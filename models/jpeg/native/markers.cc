#include "markers.h"

#include <cstring>
#include <string>

#include "refused.h"

namespace lpn::jpeg {
namespace {

const char* const kBaselineHint =
    "re-encode it as baseline (jpegtran without -progressive and "
    "-arithmetic, cjpeg -baseline)";

[[noreturn]] void refuse_truncated(std::size_t size) {
  throw Refused("truncated: the file ends after " + std::to_string(size) +
                " bytes without an end-of-image marker; the core would wait for input for ever. "
                "Fetch or write the file again");
}

bool is_frame_header(std::uint8_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != kDht && marker != 0xC8 && marker != 0xCC;
}

void refuse_frame(std::uint8_t marker) {
  const std::string core = "; the core decodes baseline (SOF0) only: ";
  if (marker == 0xC2) throw Refused("progressive JPEG (SOF2)" + core + kBaselineHint);
  if (marker == 0xC1) {
    throw Refused(
        "extended sequential JPEG (SOF1, 12-bit samples or more than two Huffman "
        "tables per kind)" +
        core + kBaselineHint);
  }
  if (marker >= 0xC9) throw Refused("arithmetic-coded JPEG" + core + kBaselineHint);
  throw Refused("lossless or hierarchical JPEG" + core + kBaselineHint);
}

void read_frame(Bytes payload, Header& header) {
  if (payload.size() < 6 || payload.size() != 6U + 3U * payload[5]) {
    throw Refused("corrupt: the frame header (SOF0) has a wrong length; re-encode the image");
  }
  if (!header.components.empty()) {
    throw Refused("corrupt: two frame headers (SOF0); re-encode the image");
  }
  if (payload[0] != 8) {
    throw Refused(std::to_string(payload[0]) +
                  "-bit samples; the core decodes 8 bits only: "
                  "convert the image to 8 bits per sample");
  }
  header.height = payload[1] << 8 | payload[2];
  header.width = payload[3] << 8 | payload[4];
  if (header.height == 0) {
    throw Refused(
        "the image height is 0 (to be defined later by a DNL marker); the core does "
        "not know DNL: re-encode the image");
  }
  if (header.width == 0) throw Refused("corrupt: the image width is 0; re-encode the image");
  for (std::size_t at = 6; at < payload.size(); at += 3) {
    FrameComponent component;
    component.id = payload[at];
    component.horizontal = payload[at + 1] >> 4;
    component.vertical = payload[at + 1] & 15;
    header.components.push_back(component);
  }
}

void read_quantisation(Bytes payload, Header& header) {
  std::size_t tables = 0;
  while (!payload.empty()) {
    if (payload[0] >> 4 != 0) {
      throw Refused(
          "16-bit quantisation table; the core loads 8-bit tables only: re-encode with "
          "cjpeg -baseline");
    }
    if (payload.size() < 65) {
      throw Refused("corrupt: a quantisation table (DQT) is cut; re-encode the image");
    }
    payload = payload.subspan(65);
    ++tables;
  }
  if (tables > 1) header.shared_quantisation = true;
}

void read_scan_header(Bytes payload, Header& header) {
  if (header.components.empty()) {
    throw Refused("corrupt: a scan (SOS) before any frame header (SOF0); re-encode the image");
  }
  if (payload.empty() || payload.size() != 4U + 2U * payload[0]) {
    throw Refused("corrupt: the scan header (SOS) has a wrong length; re-encode the image");
  }
  if (payload[0] != header.components.size()) {
    throw Refused(
        "the components come in several scans (not interleaved); the core takes one "
        "scan with all components: rewrite the file with jpegtran");
  }
  for (std::size_t c = 0; c < header.components.size(); ++c) {
    FrameComponent& component = header.components[c];
    if (payload[1 + 2 * c] != component.id) {
      throw Refused(
          "corrupt: the scan lists its components in another order than the frame; "
          "the core goes by position: rewrite the file with jpegtran");
    }
    component.dc_slot = payload[2 + 2 * c] >> 4;
    component.ac_slot = static_cast<std::uint8_t>(0x10 | (payload[2 + 2 * c] & 15));
  }
}

// Finds the end of the entropy-coded bytes and counts them without stuffing.
void walk_scan(Bytes file, Header& header) {
  std::size_t at = header.scan_begin;
  std::size_t stuffed = 0;
  while (true) {
    const void* found =
        at < file.size() ? std::memchr(file.data() + at, 0xFF, file.size() - at) : nullptr;
    if (found == nullptr) refuse_truncated(file.size());
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - file.data());
    if (at + 1 >= file.size()) refuse_truncated(file.size());
    const std::uint8_t next = file[at + 1];
    if (next == 0) {
      ++stuffed;
      at += 2;
      continue;
    }
    if (next == kEoi) break;
    if (next >= 0xD0 && next <= 0xD7) {
      throw Refused(
          "restart markers in the scan; the core would decode them as image data: "
          "rewrite the file with jpegtran -restart 0");
    }
    if (next == 0xFF) {
      throw Refused(
          "fill bytes (0xFF 0xFF) in the scan; the core would decode them as image "
          "data: rewrite the file with jpegtran");
    }
    if (next == kDnl) {
      throw Refused("a DNL marker after the scan; the core does not know it: re-encode the image");
    }
    if (next == kSos || next == kDht || next == kDqt) {
      throw Refused(
          "more than one scan; the core takes one scan with all components: rewrite "
          "the file with jpegtran");
    }
    throw Refused("corrupt: a marker inside the scan at byte " + std::to_string(at) +
                  "; re-encode the image");
  }
  header.scan_end = at;
  header.scan_bytes = at - header.scan_begin - stuffed;
  if (header.scan_bytes == 0) {
    throw Refused("truncated: the scan holds no image data; fetch or write the file again");
  }
}

void refuse_restart_of_the_core(Bytes file, std::size_t scan_end) {
  for (std::size_t at = scan_end + 2; at + 1 < file.size(); ++at) {
    if (file[at] == 0xFF && file[at + 1] == kSoi) {
      throw Refused("another image follows in the same file (byte " + std::to_string(at) +
                    "); its start marker makes the core drop the first while it is still being "
                    "decoded: keep one image per file");
    }
  }
}

}  // namespace

Header read_header(Bytes file) {
  if (file.empty()) throw Refused("the file is empty; give a baseline JPEG");
  if (file.size() < 2 || file[0] != 0xFF || file[1] != kSoi) {
    throw Refused(
        "not a JPEG: it does not begin with the start-of-image marker FF D8; give a "
        "baseline JPEG");
  }
  Header header;
  std::size_t at = 2;
  while (true) {
    if (at >= file.size()) refuse_truncated(file.size());
    if (file[at] != 0xFF) {
      throw Refused("corrupt: no marker at byte " + std::to_string(at) +
                    " where a segment should begin; re-encode the image");
    }
    while (at < file.size() && file[at] == 0xFF) ++at;
    if (at >= file.size()) refuse_truncated(file.size());
    const std::uint8_t marker = file[at++];
    if (marker == kEoi) {
      throw Refused(
          "the file has no image data: it ends before a scan begins; give a complete "
          "baseline JPEG");
    }
    if (marker < 0xC0 || (marker >= 0xD0 && marker <= kSoi)) {
      throw Refused("corrupt: an unexpected marker at byte " + std::to_string(at - 1) +
                    "; re-encode the image");
    }
    if (at + 2 > file.size()) refuse_truncated(file.size());
    const std::size_t length = static_cast<std::size_t>(file[at] << 8 | file[at + 1]);
    if (length < 2) {
      throw Refused("corrupt: a segment of length " + std::to_string(length) + " at byte " +
                    std::to_string(at) + "; re-encode the image");
    }
    if (at + length > file.size()) refuse_truncated(file.size());
    const Segment segment{marker, at + 2, length - 2};
    const Bytes payload = file.subspan(segment.begin, segment.size);
    header.segments.push_back(segment);
    at += length;
    if (marker == kDht) {
      for (TableLoad& load : parse_dht(payload)) header.tables.push_back(std::move(load));
    } else if (marker == kDqt) {
      read_quantisation(payload, header);
    } else if (marker == kSof0) {
      read_frame(payload, header);
    } else if (is_frame_header(marker)) {
      refuse_frame(marker);
    } else if (marker == kSos) {
      read_scan_header(payload, header);
      break;
    }
  }
  header.scan_begin = at;
  walk_scan(file, header);
  refuse_restart_of_the_core(file, header.scan_end);
  return header;
}

std::vector<Segment> core_segments(Bytes file) {
  enum class State { kIdle, kActive, kLengthHigh, kLengthLow, kData };
  std::vector<Segment> segments;
  State state = State::kIdle;
  Segment current;
  std::uint16_t left = 0;
  std::uint8_t last = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    const std::uint8_t byte = file[at];
    switch (state) {
      case State::kIdle:
        if (last == 0xFF && byte == kSoi) state = State::kActive;
        break;
      case State::kActive: {
        if (last != 0xFF) break;
        if (byte == kEoi) {
          state = State::kIdle;
          break;
        }
        const bool loaded = byte == kDqt || byte == kDht || byte == kSos || byte == kSof0;
        // SOF2, DRI, RSTn, APPn and COM are skipped; every other marker is not even seen.
        const bool skipped = byte == 0xC2 || byte == 0xDD || (byte >= 0xD0 && byte <= 0xD7) ||
                             (byte >= 0xE0 && byte <= 0xEF) || byte == 0xFE;
        if (loaded || skipped) {
          current.marker = loaded ? byte : std::uint8_t{0};
          state = State::kLengthHigh;
        }
        break;
      }
      case State::kLengthHigh: state = State::kLengthLow; break;
      case State::kLengthLow:
        // The high byte is overwritten: length_q keeps the low byte, minus 2, in 16 bits.
        left = static_cast<std::uint16_t>(byte - 2);
        current.begin = at + 1;
        state = State::kData;
        break;
      case State::kData:
        if (left > 1) {
          --left;
          break;
        }
        current.size = at + 1 - current.begin;
        if (current.marker != 0) segments.push_back(current);
        if (current.marker == kSos) return segments;
        state = State::kActive;
        break;
    }
    last = byte;
  }
  return segments;
}

}  // namespace lpn::jpeg

// Rewrites a JPEG without loss, for instance with Huffman tables of its own.
#pragma once

#include <vector>

#include "markers.h"

namespace lpn::jpeg {

struct Coding {
  bool optimise = false;     // Huffman tables made for this image
  bool progressive = false;  // several scans (SOF2)
  bool arithmetic = false;   // arithmetic coding (SOF9)
  int restart_mcus = 0;      // restart marker after so many MCUs; 0: none
};

// The same quantised coefficients, coded as asked. Throws Refused when libjpeg cannot read the
// file or warns about it.
std::vector<std::uint8_t> transcode(Bytes file, const Coding& coding);

}  // namespace lpn::jpeg

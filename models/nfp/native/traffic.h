// The paths that the packets of a capture take, one packet after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "costs.h"
#include "graph.h"
#include "listing.h"

namespace lpn::nfp {

// A frame: `known` bytes from `begin` on in the capture, of `size` on the wire.
struct Frame {
  std::uint64_t begin = 0;
  std::uint32_t known = 0, size = 0;
};

// One of the programs that a packet goes through, and its DRAM before the first packet.
struct Hop {
  const std::vector<Instruction>* listing = nullptr;
  const Costs* costs = nullptr;
  const Graph* graph = nullptr;
  std::map<std::uint32_t, std::uint8_t> memory;
};

constexpr std::uint32_t kCut = ~std::uint32_t{0};

struct Traffic {
  std::vector<std::vector<Path>> paths;  // by the order met: of each program that was run
  std::vector<std::uint64_t> packets;    // by path: how many took it
  // By packet: its path, kCut where the program read bytes that the capture does not have.
  std::vector<std::uint32_t> of;
};

// Runs frames through the programs. A packet goes on to the next program when the one before
// answers XDP_PASS. DRAM is kept from packet to packet. Frames shorter than the least packet of the
// cost table are padded with 0, as on the wire. Every `slice` packets `go_on` is asked; false ends
// it with the packets so far.
//
// Throws Error "E-nfp-path" for a packet that does not end or runs a loop too often,
// "E-nfp-undefined" for one whose path depends on what is undefined, "E-nfp-capture" for one path
// too many; all with the packet's number.
Traffic follow(std::span<const Hop> hops, std::span<const std::uint8_t> data,
               std::span<const Frame> frames, const std::function<bool(std::size_t)>& go_on,
               std::size_t slice = 20'000);

}  // namespace lpn::nfp

// When the beats of packets leave Menshen's RTL, under Verilator.
//
//   git clone https://github.com/multitenancy-project/menshen && git -C menshen checkout fc968bf
//   R=menshen/lib_rmt; verilator -O3 --no-timing -Wno-fatal -Wno-lint --cc --exe --build
//   --top-module rmt_wrapper
//     -y $R/rmtv2 -y $R/rmtv2/action -y $R/rmtv2/extract -y $R/rmtv2/lookup
//     -y $R/netfpga_fifo/fallthrough_small_fifo_v1_0_0/hdl stand_ins.v $R/rmtv2/rmt_wrapper.v
//     measure.cc -o measure   (one line)
//   obj_dir/measure < streams
//
// A line of the input is a stream: clocks from reset to the first beat, then of each packet bytes,
// idle clocks before it, and 0 (data), 1 (control) or 2 (what the filter drops). A line of the
// output, beside what the RTL prints: "beats", the stream's first clock since reset, then of each
// beat that leaves packet, beat and clock since then. Beats carry their numbers in bytes 48 to 55.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "Vrmt_wrapper.h"
#include "verilated.h"

namespace {

// Without a beat that comes in or leaves: it hangs, or is empty.
constexpr long kQuietClocks = 2'000;
constexpr int kBeatBytes = 64;

struct Packet {
  int bytes, idle, kind;
};

void set_byte(VlWide<16>& data, int at, unsigned value) { data[at / 4] |= value << (at % 4 * 8); }

void offer(Vrmt_wrapper& core, const Packet& packet, unsigned number, int beat) {
  for (int k = 0; k < 16; ++k) core.s_axis_tdata[k] = 0;
  if (beat == 0) {
    set_byte(core.s_axis_tdata, 16, 8);  // IPv4 behind the VLAN tag, low byte first
    set_byte(core.s_axis_tdata, 27, packet.kind == 2 ? 6 : 17);
    set_byte(core.s_axis_tdata, 40, packet.kind == 1 ? 0xf1 : 0x12);
    set_byte(core.s_axis_tdata, 41, packet.kind == 1 ? 0xf2 : 0x34);
    set_byte(core.s_axis_tdata, 46, 0xff);  // of a control packet: for no table
  }
  core.s_axis_tdata[12] = number;
  core.s_axis_tdata[13] = static_cast<unsigned>(beat);
  const int left = packet.bytes - beat * kBeatBytes;
  core.s_axis_tkeep = left >= kBeatBytes ? ~0ULL : (1ULL << left) - 1;
  core.s_axis_tlast = left <= kBeatBytes;
  core.s_axis_tvalid = 1;
}

void run(const std::vector<Packet>& packets, long before) {
  VerilatedContext context;
  Vrmt_wrapper core(&context);
  long clock = 0;
  const auto edge = [&] {
    core.clk = 1;
    core.eval();
    core.clk = 0;
    core.eval();
    ++clock;
  };
  core.m_axis_tready = 1;
  core.aresetn = 1;
  core.eval();
  core.aresetn = 0;
  for (int k = 0; k < 4; ++k) edge();
  core.aresetn = 1;
  clock = 0;
  for (long k = 0; k < before; ++k) edge();
  const long first = clock;
  std::string line = "beats " + std::to_string(first);
  std::size_t at = 0;
  int beat = 0, idle = 0;  // the stream begins with its first beat
  long came = 0, left = 0;
  for (long quiet = 0; quiet < kQuietClocks; ++quiet) {
    core.s_axis_tvalid = 0;
    const bool offers = at < packets.size() && idle == 0;
    if (offers) offer(core, packets[at], static_cast<unsigned>(at), beat);
    core.eval();
    if (core.m_axis_tvalid) {
      if (++left > came) break;  // of a queue that it has overrun it says the same for ever
      for (const long n : {static_cast<long>(core.m_axis_tdata[12]),
                           static_cast<long>(core.m_axis_tdata[13]), clock - first}) {
        line += ' ' + std::to_string(n);
      }
      quiet = 0;
    }
    if (at < packets.size()) {
      if (!offers) {
        --idle;
        quiet = 0;
      } else if (core.s_axis_tready) {
        quiet = 0;
        ++came;
        const bool last = core.s_axis_tlast;
        beat = last ? 0 : beat + 1;
        if (last && ++at < packets.size()) idle = packets[at].idle;
      }
    }
    edge();
  }
  std::puts(line.c_str());
}

}  // namespace

int main() {
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    long before = 0;
    line >> before;
    std::vector<Packet> packets;
    for (Packet p{}; line >> p.bytes >> p.idle >> p.kind;) packets.push_back(p);
    run(packets, before);
    std::fflush(stdout);
  }
  return 0;
}

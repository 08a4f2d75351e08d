#include "interpret.h"

#include <algorithm>

#include "machine.h"

namespace lpn::nfp {

Execution interpret(const std::vector<Instruction>& listing, const Costs& costs, const Input& input,
                    std::uint64_t seed, std::size_t most_steps) {
  Memory packet, dram;
  for (const auto& [offset, byte] : input.packet) packet.fill(offset, byte);
  for (const auto& [offset, byte] : input.map) dram.fill(offset, byte);
  Machine machine(listing, costs, seed, packet, dram);
  machine.start(input.size);
  Execution out;
  out.cycles = costs.overhead;
  out.ended = machine.run(most_steps, [&](std::uint32_t k, Cycles cycles, bool taken) {
    out.trace.push_back({k, cycles, taken});
    out.cycles += cycles;
    out.dram_cycles += dram_cost(costs, listing[k]);
    return true;
  });
  std::copy_n(machine.gpr_a(), kGprs, out.gpr_a);
  std::copy_n(machine.gpr_b(), kGprs, out.gpr_b);
  std::copy_n(machine.xfer_in(), kXfers, out.xfer_in);
  out.packet = packet.written();
  out.map = dram.written();
  return out;
}

}  // namespace lpn::nfp

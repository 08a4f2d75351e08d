// What instructions cost on one core, and what the memory engine does for them.
//
// The values are data (models/nfp/costs.json, with their sources); this is how they are applied. A
// core runs one thread at a time, so cycles of a path add up whatever the other threads do, but for
// two things: a branch is faster when the condition codes have been known for a cycle, and the
// answers of a memory come at a least distance from each other, because all threads of a core do
// the same (docs: models/nfp/README.md).
#pragma once

#include <algorithm>
#include <cstdint>

#include "listing.h"

namespace lpn::nfp {

using Cycles = std::int64_t;

// Cycles of a core unless it says otherwise.
struct Costs {
  Cycles overhead = 0;  // per packet, the firmware's
  Cycles instruction = 0;
  Cycles branch_not_taken = 0;
  Cycles branch_taken = 0;       // condition codes written before the previous cycle
  Cycles branch_taken_late = 0;  // condition codes written by the instruction just before
  Cycles jump = 0;               // br, deferred or not
  Cycles access = 0;             // mem without ctx_swap
  Cycles swap = 0;               // mem with ctx_swap, at least
  Cycles distance_sram = 0;      // between two answers of the island's SRAM
  Cycles distance_dram = 0;      // and of the DRAM
  double dram_read = 0;          // memory engine's cycles per read
  double dram_add = 0;           // and per atomic add
  double dram_write = -1;        // and per write; negative: not known, such programs are refused
  double clock_hz = 0;
  int min_packet = 0, max_packet = 0;  // bytes without the check sequence

  Cycles distance(const Instruction& i) const { return i.dram() ? distance_dram : distance_sram; }
};

// How long ago: cycles since the condition codes were written, and since the last mem ended.
struct Since {
  Cycles flags = 0, mem = 0;
  static Since never() { return {std::int64_t{1} << 40, std::int64_t{1} << 40}; }
  friend Since least(Since a, Since b) {
    return {std::min(a.flags, b.flags), std::min(a.mem, b.mem)};
  }
  bool operator==(const Since&) const = default;
};

inline Cycles cost(const Costs& costs, const Instruction& i, Since since, bool taken) {
  switch (i.opcode) {
    case Opcode::kFin: return 0;
    case Opcode::kBranch:
      if (i.condition == Condition::kAlways) return costs.jump;
      if (!taken) return costs.branch_not_taken;
      return since.flags > 0 ? costs.branch_taken : costs.branch_taken_late;
    case Opcode::kMem:
      if (!i.swaps) return costs.access;
      return std::max(costs.swap, costs.distance(i) - since.mem);
    default: return costs.instruction;
  }
}

inline Since after(const Instruction& i, Since since, Cycles cycles) {
  since.flags = i.writes_flags() ? 0 : since.flags + cycles;
  since.mem = i.opcode == Opcode::kMem ? 0 : since.mem + cycles;
  return since;
}

inline double dram_cost(const Costs& costs, const Instruction& i) {
  if (!i.dram()) return 0;
  if (i.command == MemCommand::kRead32) return costs.dram_read;
  return i.command == MemCommand::kAddImm ? costs.dram_add : costs.dram_write;
}

}  // namespace lpn::nfp

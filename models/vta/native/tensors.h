// The tensors that instructions load and store: bursts, clocks, zeros around them.
#pragma once

#include <cstdint>
#include <vector>

#include "instruction.h"

namespace lpn::vta {

inline constexpr std::int64_t kBeatBytes = 8;        // the 64-bit memory port
inline constexpr std::int64_t kBurst = 256;          // beats: lenBits (shell/Configs.scala)
inline constexpr std::int64_t kOutstanding = 16;     // RequestQueueDepth (shell/VME.scala)
inline constexpr std::int64_t kCommandInterval = 2;  // VMEcmd_Qs (VME.scala)

// A row of a tensor, cut into bursts (GenVMECmd*.scala): the first ends at a page, the others are
// whole.
struct Row {
  std::int64_t beats, first, bursts;
};

// What one instruction loads, or stores.
class Tensor {
 public:
  // Throws Refused for the row counter that would wrap.
  Tensor(const Instruction& of, std::size_t number, const Hardware& hardware, bool store);

  // Throws Refused where it would leave its memory.
  void require_room() const;

  bool empty() const { return x_ == 0; }
  std::int64_t flags() const { return flags_; }
  std::int64_t rows_above() const { return y0_; }
  bool accumulator() const { return memory_ == kAcc; }
  // Of a beat or less: a beat a clock, and no register in front of the memory.
  bool wide() const { return bytes_ <= kBeatBytes; }

  std::int64_t rows() const { return y_; }
  Row row(std::int64_t number) const;
  // Of all rows.
  std::int64_t bursts() const;
  std::int64_t beats() const;

  // Whether a load's time is arithmetic: all rows are one burst, of at least a command's interval,
  // or there are so few that one is always on its way. With `exact` as they lie in memory, else as
  // if no row but the longest crossed a page.
  bool even(bool exact) const;

  // All bursts as one, as if every row began at a beat, which is so for elements of a beat and
  // more.
  struct Together {
    std::int64_t beats, waits, ahead;
  };
  Together together() const;

  // The zeros around it, from its first address on.
  struct Zeros {
    std::int64_t cycles, skipped, rows;
  };
  bool padded() const { return zeros_ > 0; }
  Zeros zeros() const;

  // Clocks in which a store reads its memory or writes.
  std::int64_t stored_beats() const;

 private:
  std::size_t number_;
  std::int64_t flags_, memory_, x_, y_, stride_, dram_, bytes_, sram_, depth_;
  std::int64_t y0_ = 0, y1_ = 0, x0_ = 0, x1_ = 0;
  std::int64_t width_, row_beats_, zeros_;
};

}  // namespace lpn::vta

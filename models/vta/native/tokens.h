// The tokens of a program: what each instruction asks of its unit, and its requests to memory.
// The places and properties are those of models/vta/model.py.
#pragma once

#include <cstdint>
#include <vector>

#include "instruction.h"

namespace lpn::vta {

// Bits of a load's flags, behind its four of the semaphores: there are zeros around it; its
// elements are a beat or less. And of a compute instruction's: it is the finish.
inline constexpr std::int64_t kPadded = 4, kWide = 5, kFinishes = 6;
// Who waits for a load's last burst: values of Burst.to.
inline constexpr std::int64_t kToLoad = 2, kToCompute = 3;
// A sync or finish is done one clock after its start (sSync, isFinish of Load, Compute, Store), and
// its unit idle in the next.
inline constexpr std::int64_t kSync = 2;

struct Column {
  const char* property;
  std::vector<std::int64_t> values;
};

// The initial tokens of a place, in order; all columns have the same length, at least 1.
struct PlaceTokens {
  const char* place;
  std::vector<Column> columns;
};

struct Choice {
  // The bursts of a load are one token where no other reader can come between, so that their time
  // is arithmetic; with this nowhere,
  bool every_burst = false;
  // without this also where a chunk of instructions may come between.
  bool fetch = true;
};

// Throws Refused for what the hardware does not run or what would leave its memories.
std::vector<PlaceTokens> tokens_of(Program program, const Hardware& hardware, Choice choice);

}  // namespace lpn::vta

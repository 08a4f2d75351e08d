// Which places and transitions are copies of one part: the channels of a memory, the lanes of a
// bus. What a copy is made of lies together in memory, each thing as far from its beginning as in
// every other copy: a firing then touches few cache lines, and code that serves all of them needs
// to be told one number.
#pragma once

#include <cstdint>
#include <vector>

#include "lpn/net/net.h"
#include "write/event_infos.h"

namespace lpn::sim {

// The `number`th copy of part `part`.
struct Copy {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t part = kNone, number = 0;
};

struct Copies {
  std::vector<Copy> places, transitions;
};

// What is left of the net in one piece when all that is like nothing else is taken away (an
// arbiter, a bus) is a copy, if there is another piece like it. A matter of speed alone: nothing
// depends on pieces being equal.
Copies find_copies(const Net& net, const std::vector<TransitionInfo>& infos);

}  // namespace lpn::sim

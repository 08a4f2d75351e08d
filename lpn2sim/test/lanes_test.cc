// Inputs in lock step: what a block of them says of groups that nobody has kept.

#include <doctest/doctest.h>

#include "lpnrt/static.h"

namespace lpnrt {
namespace {

// Its only instant stands still, while an iteration has a firing that takes no time.
void stand(u32*, const u32* const*, u32* const*, u64*, u64) {}
// Its instant moves on by a tick with every iteration.
void move_on(u32* state, const u32* const*, u32* const*, u64*, u64 n) {
  for (u32 lane = 0; lane < 8; ++lane) state[lane] += static_cast<u32>(n);
}

// Whether a chain of firings in one instant could be too long, by a block of lanes at instant 5.
bool may_be_too_long(LaneKernel kernel) {
  const LaneSlot last = {0, 0};
  const LanePart part = {1, 1, 0, 1, 1, &last, 1, kernel, kernel};
  LaneBlock block;
  block.begin(part, 8, kGroupLimit * 4);
  for (u32 lane = 0; lane < 8; ++lane) block.set(0, lane, 5);
  return !block.advance();
}

TEST_CASE("lanes whose time stands still may have too many groups, others have not") {
  CHECK(may_be_too_long(stand));
  CHECK_FALSE(may_be_too_long(move_on));
}

}  // namespace
}  // namespace lpnrt

// Bounds of 64-bit integers, and of what a single operation makes of them.
#pragma once

#include <cstdint>
#include <limits>

#include "lpn/base/wide.h"

namespace lpn {

// Inclusive. On a property or parameter a promise of the model's author: engines check it, provers
// assume it.
struct Range {
  std::int64_t lo = std::numeric_limits<std::int64_t>::min();
  std::int64_t hi = std::numeric_limits<std::int64_t>::max();
  bool operator==(const Range&) const = default;
};

struct WideRange {
  Wide lo = 0;
  Wide hi = 0;
};

// Whether all of it fits in 64 bits.
constexpr bool fits(WideRange r) {
  return r.lo >= std::numeric_limits<std::int64_t>::min() &&
         r.hi <= std::numeric_limits<std::int64_t>::max();
}

}  // namespace lpn

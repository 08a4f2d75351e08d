// Values of expressions that a start evaluates more than once: in the guard of one arc and the
// properties of ten tokens, say.
#pragma once

#include <cstdint>
#include <vector>

#include "lpn/net/net.h"

namespace lpn::interp {

class Memo {
 public:
  // Without `use` it keeps nothing.
  Memo(const Net& net, bool use);
  // Before the evaluations of another start, and with other values of the parameters.
  void forget() { ++start_; }
  bool recall(ExprId id, std::int64_t& value) const {
    const Kept& kept = kept_[slot_[static_cast<std::size_t>(id)]];
    value = kept.value;
    return kept.start == start_;
  }
  void keep(ExprId id, std::int64_t value) {
    const std::uint32_t slot = slot_[static_cast<std::size_t>(id)];
    if (slot != kNone) kept_[slot] = {start_, value};
  }

 private:
  static constexpr std::uint32_t kNone = 0;
  struct Kept {
    std::uint64_t start = 0;
    std::int64_t value = 0;
  };
  std::vector<std::uint32_t> slot_;  // per expression; kNone: it is evaluated each time
  std::vector<Kept> kept_{1};
  std::uint64_t start_ = 1;
};

}  // namespace lpn::interp

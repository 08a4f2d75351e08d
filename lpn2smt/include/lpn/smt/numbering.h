// What the numbers in a certificate's steps stand for; docs/certificates.md has them.
#pragma once

#include <cstdint>
#include <vector>

#include "lpn/classes/input_space.h"
#include "lpn/smt/measures.h"

namespace lpn::smt {

// A comparison: its left side less its right one is at most 0 (or -1, for <), or the same negated.
struct LimitSource {
  ExprId condition{};
  bool negated = false;  // of ==, which are two: the second
};

struct Numbering {
  std::vector<std::vector<std::uint32_t>> units;  // variables of each
  std::vector<LimitSource> limits;
};

// Throws Error "E-measure" for a target that counts more than 2**63 times.
Numbering numbering(const InputSpace& space, const Target& target);

}  // namespace lpn::smt

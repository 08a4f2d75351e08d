// How far apart two instants of a path can be, whatever the input: bounds from the graph alone.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lpn/classes/timing.h"
#include "lpn/net/bounds.h"

namespace lpn {

// Grows with the path: instants may be added to the timing at any time. Borrows both. Bounds come
// from the ranges of variables; constraints, conditions and orders of the path are not used.
// Sound, not tight.
class Differences {
 public:
  Differences(const Timing& timing, const InputSpace& space);

  Time earliest(InstantId v) { return range(v).lo; }
  Time latest(InstantId v) { return range(v).hi; }

  // No input has t_a - t_b above this; kForever: not known. Exact distances along common ancestors;
  // the search is given up beyond some hundreds of instants.
  Time upper(InstantId a, InstantId b);

  // From now on: t_after - t_before >= distance >= 0 for the inputs that matter. Used only when
  // `before` is the older of the two.
  void learn(InstantId before, InstantId after, Time distance);

  // The range of a delay term.
  Range delay(ExprId term) { return bounds_.of(term); }

 private:
  struct Target {  // memo of upper(., b)
    std::unordered_map<std::uint32_t, Time> known;
    // Least distance from an instant to b, for ancestors of b that were looked at.
    std::unordered_map<std::uint32_t, Time> behind;
  };
  Range range(InstantId v);
  Target& target(InstantId b);
  Time bound(Target& target, InstantId a, InstantId b, int& budget);

  const Timing& timing_;
  NetBounds bounds_;
  std::vector<Range> ranges_;
  std::unordered_map<std::uint32_t, Target> targets_;
  std::unordered_map<std::uint32_t, std::vector<std::pair<InstantId, Time>>> facts_;
};

}  // namespace lpn

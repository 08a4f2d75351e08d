// Values that declared ranges promise to be possible and that a run would refuse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lpn/net/net.h"

namespace lpn {

struct RefusedValue {
  std::string token;       // "pkt.words=64"
  std::int64_t value = 0;  // what the formula then is
};

// The property of which a formula is the new value, on a loop.
struct Kept {
  TypeId type{};
  std::uint32_t field = 0;
};

// A value of the one property that `formula` reads for which it leaves `allowed`, where every guard
// that reads only this property holds and so does `emitted`, a count, if given. Parameters have
// their defaults. None for formulas that read more, or a property without a declared range: what
// several properties may be together is not known; nor for the property that it is itself (`kept`),
// a count that goes on: what ends it is elsewhere. Looks at all values of a small range, and at the
// likely ones of a large one.
std::optional<RefusedValue> refused_value(const Net& net, const Transition& t,
                                          const Formula& formula, const Formula* emitted,
                                          Range allowed, const std::optional<Kept>& kept = {});

}  // namespace lpn

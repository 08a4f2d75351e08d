// Where the order of declaration, and not a queue, decides the order of tokens.
#pragma once

#include <vector>

#include "lpn/net/net.h"

namespace lpn {

struct Unordered {
  PlaceId from{};
  TransitionId first{}, second{};  // by id
  PlaceId into{};
};

// Pairs of transitions that take turns at the head of `from`, by guards, have nothing else in
// common that they take, so may start at one instant for different tokens, and put both into `into`
// after delays that may be equal: there the tokens stand by id of the transition. At most one pair
// for each `from`.
std::vector<Unordered> unordered(const Net& net);

}  // namespace lpn

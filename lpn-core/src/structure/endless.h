// Transitions that go on for ever by themselves, whatever the workload is.
#pragma once

#include <vector>

#include "lpn/net/net.h"

namespace lpn {

struct Endless {
  std::vector<TransitionId> transitions;  // in order of declaration
  bool at_once = false;                   // without delay or interval: never leaves an instant
};

// Sources without inputs, and loops that give back what they take: one entry each. Only what is
// sure: every input is one token of a place that one transition of the loop alone fills and one
// alone takes from, nothing guards, inhibits or bounds its output, and a token is there, or comes
// with the workload.
std::vector<Endless> endless(const Net& net);

}  // namespace lpn

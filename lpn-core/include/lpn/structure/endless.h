// Transitions that go on for ever by themselves, whatever the workload is.
#pragma once

#include <string>
#include <vector>

#include "lpn/net/net.h"

namespace lpn {

struct Endless {
  std::vector<TransitionId> transitions;  // in order of declaration
  bool at_once = false;                   // without delay or interval: never leaves an instant
};

// Sources without inputs, and loops that give back what they take: one entry each. Only what is
// sure, which is that one of them can start wherever no firing is in flight: every input is one
// token, of a place that one transition of the loop alone fills and one alone takes from, or of one
// whose takers all give back as much; nothing guards, inhibits or bounds it, but for bounded places
// that are always emptied; and a token is there, or comes with the workload.
std::vector<Endless> endless(const Net& net);

// The name of the first transition of each.
std::vector<std::string> endless_names(const Net& net);

}  // namespace lpn

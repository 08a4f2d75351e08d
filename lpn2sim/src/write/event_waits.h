// Statistics: how one comes to know why a transition waits.
#pragma once

#include <cstdint>
#include <vector>

#include "lpn/net/net.h"
#include "write/event_infos.h"

namespace lpn::sim {

enum class Waiting {
  kOne,      // only one thing can keep it waiting at the end of an instant
  kByTimes,  // what it needs is there until it starts: when each of it came says all at the start
  kAsked,    // asked at the end of instants
};

// Arcs that a transition needs tokens of, one after the other and for one reason.
struct WaitGroup {
  const char* reason = nullptr;     // of enum WaitCode
  std::vector<std::uint32_t> arcs;  // none: a free server
};

struct WaitInfo {
  Waiting how = Waiting::kAsked;
  std::vector<WaitGroup> groups;  // unless asked
};

// Whether only how many tokens there are, and a free server, lets a transition start.
bool only_counts(const Transition& t, const TransitionInfo& info);

// Of each transition of `net`, which is lowered; `consumers`: of each place.
std::vector<WaitInfo> find_waits(const Net& net, const std::vector<TransitionInfo>& infos,
                                 const std::vector<std::vector<std::uint32_t>>& consumers);

}  // namespace lpn::sim

// Critical path (LPNRT_PATH): the nodes of firings, and what let each of them start.
#pragma once

#include <cstddef>

#include "write/event_part.h"

namespace lpn::sim {

class EventCauses final : EventPart {
 public:
  EventCauses(const EventNames& names, Writer& out) : EventPart(names, out) {}

  // The node of a firing that starts now: the latest of what it waited for is its parent.
  void find(std::size_t k);
  void collect_function();

 private:
  // Of what happened in this group (lpnrt/origins.h), and of all that is known.
  void find_recent(std::size_t k);
  void find_old(std::size_t k);
};

}  // namespace lpn::sim

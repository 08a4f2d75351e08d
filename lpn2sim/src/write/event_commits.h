// Commits: what a firing unlocks and appends, and whom that concerns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "write/event_part.h"
#include "write/event_wakes.h"

namespace lpn::sim {

class EventCommits final : EventPart {
 public:
  EventCommits(const EventNames& names, EventWakes& wakes, Writer& out)
      : EventPart(names, out), wakes_(wakes) {}

  void commit_function(std::size_t k);

 private:
  void commit_body(std::size_t k);
  void unlock(std::size_t k, std::uint32_t a, Woken& marks);
  void append(std::size_t k, std::size_t o, Woken& marks);
  // Statistics: by how much a firing changes how many tokens a place holds, where that is always
  // the same and it takes there, too.
  bool changes_by(std::size_t k, std::size_t p, std::int64_t& tokens) const;
  void levels(std::size_t k);
  void append_rows(std::size_t k, std::size_t o, std::size_t e);

  EventWakes& wakes_;
};

}  // namespace lpn::sim

// What the parts of an event-driven simulator's text have in common.
#pragma once

#include <string>
#include <utility>

#include "write/event_names.h"
#include "write/writer.h"

namespace lpn::sim {

class EventPart : protected EventView {
 protected:
  // Both must outlive the part.
  EventPart(const EventNames& names, Writer& out)
      : EventView(names.facts()), names_(names), out_(out) {}

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_.line(format, std::forward<Args>(args)...);
  }

  // Locked tokens are counted where something reads them, and always for statistics.
  void always_or_stats(bool always, const std::string& text) {
    if (always)
      line("{}", text);
    else
      line("LPNRT_IF_STATS({})", text);
  }

  const EventNames& names_;
  Writer& out_;
};

}  // namespace lpn::sim

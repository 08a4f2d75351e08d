// What the parts of an order-free simulator's text have in common.
#pragma once

#include <cstddef>
#include <utility>

#include "write/flow_facts.h"
#include "write/flow_stats.h"
#include "write/writer.h"

namespace lpn::sim {

class FlowPart {
 protected:
  // All must outlive the part.
  FlowPart(const FlowFacts& facts, const FlowStats& stats, Writer& out)
      : facts_(facts),
        stats_(stats),
        out_(out),
        net_(facts.net()),
        declared_(facts.declared()),
        plan_(facts.plan()) {}

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_.line(format, std::forward<Args>(args)...);
  }

  const FlowFacts& facts_;
  const FlowStats& stats_;
  Writer& out_;
  const Net& net_;
  std::size_t declared_;
  const Plan& plan_;
};

}  // namespace lpn::sim

// What the parts of an order-free simulator's text have in common.
#pragma once

#include <cstddef>
#include <utility>

#include "write/equal.h"
#include "write/flow_facts.h"
#include "write/flow_stats.h"
#include "write/link.h"
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

  // write(i) for all i < count, whose blocks do not depend on their order (equal.h).
  template <typename Write>
  void each(std::size_t count, const Members& members, const Write& write) {
    const std::string before = out_.take();
    std::vector<std::string> blocks;
    for (std::size_t i = 0; i < count; ++i) {
      write(i);
      blocks.push_back(out_.take());
    }
    out_.add(before);
    out_.add(repeated(blocks, members));
  }

  const FlowFacts& facts_;
  const FlowStats& stats_;
  Writer& out_;
  const Net& net_;
  std::size_t declared_;
  const Plan& plan_;
};

}  // namespace lpn::sim

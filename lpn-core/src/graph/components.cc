#include "lpn/graph/components.h"

#include <algorithm>
#include <limits>

namespace lpn {

std::vector<std::vector<std::uint32_t>> strong_components(
    const std::vector<std::vector<std::uint32_t>>& next) {
  // Tarjan's algorithm with a stack of our own: a chain of 100 000 stages must not overflow the
  // machine's.
  constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();
  struct Frame {
    std::uint32_t node;
    std::size_t edge;
  };
  std::vector<std::uint32_t> order(next.size(), kUnseen), low(next.size(), 0);
  std::vector<bool> on_path(next.size(), false);
  std::vector<std::uint32_t> path;
  std::vector<Frame> frames;
  std::vector<std::vector<std::uint32_t>> found;
  std::uint32_t count = 0;
  const auto enter = [&](std::uint32_t node) {
    order[node] = low[node] = count++;
    path.push_back(node);
    on_path[node] = true;
    frames.push_back({node, 0});
  };
  for (std::uint32_t root = 0; root < next.size(); ++root) {
    if (order[root] != kUnseen) continue;
    enter(root);
    while (!frames.empty()) {
      const std::uint32_t node = frames.back().node;
      if (frames.back().edge < next[node].size()) {
        const std::uint32_t to = next[node][frames.back().edge++];
        if (order[to] == kUnseen)
          enter(to);
        else if (on_path[to])
          low[node] = std::min(low[node], order[to]);
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[node]);
      if (low[node] != order[node]) continue;
      std::vector<std::uint32_t>& component = found.emplace_back();
      for (std::uint32_t member = kUnseen; member != node;) {
        member = path.back();
        path.pop_back();
        on_path[member] = false;
        component.push_back(member);
      }
      std::sort(component.begin(), component.end());
    }
  }
  return found;
}

}  // namespace lpn

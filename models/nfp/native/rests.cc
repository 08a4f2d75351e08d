#include "rests.h"

#include <algorithm>

namespace lpn::nfp {

Rests make_rests(const Graph& graph, const Analysis& analysis, bool per_byte) {
  Rests out;
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e)
    if (analysis.alive[e]) out.sizes.push_back(analysis.size[e]);
  std::sort(out.sizes.begin(), out.sizes.end());
  out.sizes.erase(std::unique(out.sizes.begin(), out.sizes.end()), out.sizes.end());
  if (out.sizes.empty()) return out;
  if (!per_byte) out.sizes = {out.sizes.back()};
  const auto n = static_cast<std::uint32_t>(graph.edges.size());
  // Edges by topological order of the block they enter, last first.
  std::vector<std::uint32_t> order(n);
  for (std::uint32_t e = 0; e < n; ++e) order[e] = e;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return graph.edges[a].to > graph.edges[b].to;
  });
  out.least_cycles.assign(n, std::numeric_limits<double>::infinity());
  for (std::size_t s = 0; s < out.sizes.size(); ++s) {
    std::vector<double> cycles(n, kNever), dram(n, kNever);
    for (const std::uint32_t e : order) {
      if (!analysis.alive[e] || analysis.size[e] > out.sizes[s]) continue;
      const EdgeCost& c = graph.costs[e];
      const std::uint32_t b = graph.edges[e].to;
      double most = kNever, most_dram = kNever, least = std::numeric_limits<double>::infinity();
      if (b == graph.fin) {
        most = static_cast<double>(c.last);
        most_dram = 0;
        least = most;
      }
      for (const bool taken : {false, true}) {
        const std::uint32_t o = taken ? graph.blocks[b].taken : graph.blocks[b].next;
        if (o == kNone || cycles[o] == kNever) continue;
        const auto last = static_cast<double>(taken ? c.last_taken : c.last);
        most = std::max(most, last + cycles[o]);
        most_dram = std::max(most_dram, dram[o]);
        if (s + 1 == out.sizes.size()) least = std::min(least, last + out.least_cycles[o]);
      }
      if (most == kNever) continue;
      cycles[e] = static_cast<double>(c.body) + most;
      dram[e] = c.dram + most_dram;
      if (s + 1 == out.sizes.size()) out.least_cycles[e] = static_cast<double>(c.body) + least;
    }
    out.cycles.push_back(std::move(cycles));
    out.dram.push_back(std::move(dram));
  }
  return out;
}

}  // namespace lpn::nfp

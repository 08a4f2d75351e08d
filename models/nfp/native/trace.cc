#include "trace.h"

#include "lpn/base/error.h"

namespace lpn::nfp {

Path path_taken(const Graph& graph, const Execution& run) {
  if (!run.ended) throw Error("E-nfp-path", "the packet's execution does not end");
  Path path{0};
  std::size_t at = 0;
  while (graph.edges[path.back()].to != graph.fin) {
    const Block& block = graph.blocks[graph.edges[path.back()].to];
    at += block.code.size();
    LPN_ASSERT(at <= run.trace.size() && run.trace[at - 1].instruction == block.code.back());
    const std::uint32_t edge = run.trace[at - 1].taken ? block.taken : block.next;
    if (edge == kNone)
      throw Error("E-nfp-path", "the packet runs the loop at ." + std::to_string(block.id) +
                                    " more often than --unroll allows; allow more");
    path.push_back(edge);
  }
  return path;
}

}  // namespace lpn::nfp

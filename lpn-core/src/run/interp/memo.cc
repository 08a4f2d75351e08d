#include "memo.h"

#include "lpn/net/facts.h"

namespace lpn::interp {

namespace {

constexpr std::uint64_t kCheap = 3;  // nodes: as quickly evaluated as looked up

// Whether it has the same value whenever it is evaluated during a start: not by the number of a
// token that is emitted or summed up, nor by what arcs are known to take so far.
std::vector<bool> steady_ones(const ExprPool& pool) {
  std::vector<bool> steady(pool.size());
  for (std::size_t at = 0; at < pool.size(); ++at) {  // children precede parents
    const Node& n = pool[static_cast<ExprId>(at)];
    bool is = n.op != Op::kIndex && n.op != Op::kBound && n.op != Op::kTaken &&
              kind_of(n.op) != Kind::kAggregate;
    for (int k = 0; k < op_info(n.op).arity; ++k) {
      is = is && steady[static_cast<std::size_t>(n.kids[static_cast<std::size_t>(k)])];
    }
    steady[at] = is;
  }
  return steady;
}

}  // namespace

Memo::Memo(const Net& net, bool use) : slot_(net.exprs.size(), kNone) {
  if (!use) return;
  const ExprPool& pool = net.exprs;
  const std::vector<bool> steady = steady_ones(pool);
  std::vector<std::size_t> seen_in(pool.size(), 0);  // the last transition that has it, from 1
  std::vector<ExprId> next;
  for (std::size_t k = 0; k < net.transitions.size(); ++k) {
    const auto use = [&](ExprId id) {
      const auto at = static_cast<std::size_t>(id);
      if (pool.tree_size(id) <= kCheap) return;
      if (seen_in[at] != k + 1) {
        seen_in[at] = k + 1;
        next.push_back(id);
      } else if (steady[at] && slot_[at] == kNone) {
        slot_[at] = static_cast<std::uint32_t>(kept_.size());
        kept_.emplace_back();
      }
    };
    for_each_formula(net.transitions[k], [&](const Formula& f, const Site&) { use(f.id); });
    while (!next.empty()) {
      const Node& n = pool[next.back()];
      next.pop_back();
      for (int j = 0; j < op_info(n.op).arity; ++j) use(n.kids[static_cast<std::size_t>(j)]);
    }
  }
}

}  // namespace lpn::interp

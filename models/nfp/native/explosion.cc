#include "explosion.h"

#include <utility>

namespace lpn::nfp {

Explosion::Explosion(const Graph& graph, const Analysis& analysis, Terms& terms, Symbolic& symbolic,
                     Conditions& conditions)
    : graph_(graph),
      analysis_(analysis),
      terms_(terms),
      symbolic_(symbolic),
      conditions_(conditions),
      liveness_(graph, analysis) {
  State first = symbolic.initial();
  liveness_.project(0, first, symbolic_, terms_);
  intern(0, std::move(first));
}

const Exploded& Explosion::run(std::uint32_t id) {
  if (nodes_[id].done) return nodes_[id];
  const std::uint32_t b = nodes_[id].block;
  const Block& block = graph_.blocks[b];
  State after = states_[nodes_[id].state];
  symbolic_.run(graph_.instructions, block.code, after);
  const Instruction& last = graph_.last(block);
  const bool branches = last.opcode == Opcode::kBranch && last.condition != Condition::kAlways;
  const TermId condition = branches ? symbolic_.condition(last, after) : kNoTerm;
  for (const bool taken : {false, true}) {
    const std::uint32_t e = taken ? block.taken : block.next;
    if (e == kNone || !analysis_.alive[e]) continue;
    std::vector<TermId> atoms;
    bool undefined = false;
    if (branches &&
        !conditions_.split(taken ? condition : terms_.negated(condition), atoms, undefined))
      continue;
    State next = after;
    symbolic_.leave(last, taken, next);
    const std::uint32_t to = graph_.edges[e].to;
    liveness_.project(to, next, symbolic_, terms_);
    const std::uint32_t target = intern(to, std::move(next));
    nodes_[id].to[taken] = target;
    nodes_[id].atoms[taken] = std::move(atoms);
    nodes_[id].undefined[taken] = undefined;
  }
  nodes_[id].done = true;
  return nodes_[id];
}

std::uint32_t Explosion::intern(std::uint32_t block, State state) {
  const std::size_t h = state.hash() * 31 + block;
  auto [first, last] = index_.equal_range(h);
  for (; first != last; ++first)
    if (nodes_[first->second].block == block && states_[nodes_[first->second].state] == state)
      return first->second;
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  nodes_.back().block = block;
  nodes_.back().state = static_cast<std::uint32_t>(states_.size());
  states_.push_back(std::move(state));
  index_.emplace(h, id);
  return id;
}

}  // namespace lpn::nfp

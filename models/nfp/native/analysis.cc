#include "analysis.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "lpn/base/error.h"

namespace lpn::nfp {
namespace {

// What is known of all packets that arrive somewhere.
struct Arriving {
  State state;
  std::vector<TermId> atoms;  // sorted
  std::uint32_t least, most;
};

// The pass forwards.
class Forwards {
 public:
  Forwards(const Graph& graph, Terms& terms, Symbolic& symbolic, Conditions& conditions,
           bool minimise)
      : graph_(graph),
        terms_(terms),
        symbolic_(symbolic),
        conditions_(conditions),
        minimise_(minimise),
        at_(graph.blocks.size()),
        cut_(graph.blocks.size()) {
    for (const auto& [block, taken] : graph.cut) {
      cut_[block].resize(2, false);
      cut_[block][taken] = true;
    }
  }

  void run(std::uint32_t least, std::uint32_t most, Analysis& out) {
    at_[0] = Arriving{symbolic_.initial(), {}, least, most};
    for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
      if (!at_[b]) continue;
      Arriving here = std::move(*at_[b]);
      at_[b].reset();
      leave(b, std::move(here), out);
    }
  }

 private:
  void leave(std::uint32_t b, Arriving here, Analysis& out);
  std::optional<Arriving> follow(const Arriving& here, const Instruction& last, bool taken,
                                 TermId condition);
  void meet(std::optional<Arriving>& target, Arriving next);

  const Graph& graph_;
  Terms& terms_;
  Symbolic& symbolic_;
  Conditions& conditions_;
  const bool minimise_;
  std::vector<std::optional<Arriving>> at_;  // by block
  std::vector<std::vector<bool>> cut_;       // by block: an unrolling limit cut it, by taken
};

void Forwards::leave(std::uint32_t b, Arriving here, Analysis& out) {
  const Block& block = graph_.blocks[b];
  symbolic_.run(graph_.instructions, block.code, here.state, &out.touches[b]);
  const Instruction& last = graph_.last(block);
  const bool branches = last.opcode == Opcode::kBranch && last.condition != Condition::kAlways;
  const TermId condition = branches ? symbolic_.condition(last, here.state) : kNoTerm;
  for (const bool taken : {false, true}) {
    const std::uint32_t e = taken ? block.taken : block.next;
    if (e == kNone) {
      if (!cut_[b].empty() && cut_[b][taken] && follow(here, last, taken, condition))
        out.loops_bounded = false;
      continue;
    }
    std::optional<Arriving> next = follow(here, last, taken, condition);
    if (!next) continue;
    out.alive[e] = true;
    out.size[e] = next->least;
    meet(at_[graph_.edges[e].to], std::move(*next));
  }
}

// What arrives behind a branch on `condition` (kNoTerm: it is none) that is taken or not; nothing
// when no packet can.
std::optional<Arriving> Forwards::follow(const Arriving& here, const Instruction& last, bool taken,
                                         TermId condition) {
  std::vector<TermId> atoms;
  bool undefined = false;
  if (condition != kNoTerm &&
      !conditions_.split(taken ? condition : terms_.negated(condition), atoms, undefined))
    return std::nullopt;
  Arriving next{here.state, here.atoms, here.least, here.most};
  bool sized = false;
  for (const TermId atom : atoms) {
    if (const auto bound = conditions_.bound(atom)) {
      next.least = std::max(next.least, bound->least);
      next.most = std::min(next.most, bound->most);
    } else {
      next.atoms.push_back(atom);
    }
  }
  if (next.least > next.most) return std::nullopt;
  if (!atoms.empty()) {
    std::sort(next.atoms.begin(), next.atoms.end());
    next.atoms.erase(std::unique(next.atoms.begin(), next.atoms.end()), next.atoms.end());
    if (minimise_)
      for (const TermId atom : next.atoms) sized |= conditions_.mentions_size(atom);
  }
  if (sized) {
    std::vector<TermId> asked = next.atoms;
    asked.push_back(
        terms_.negated(terms_.ult(terms_.size(), terms_.constant(kSizeBits, next.least))));
    const std::uint32_t size = conditions_.least_size(asked);
    if (size == 0 || size > next.most) return std::nullopt;
    next.least = std::max(next.least, size);
  }
  symbolic_.leave(last, taken, next.state);
  return next;
}

// `target` is then what it and `next` agree on.
void Forwards::meet(std::optional<Arriving>& target, Arriving next) {
  if (!target) {
    target = std::move(next);
    return;
  }
  target->state = symbolic_.merged(target->state, next.state);
  std::vector<TermId> both;
  std::set_intersection(target->atoms.begin(), target->atoms.end(), next.atoms.begin(),
                        next.atoms.end(), std::back_inserter(both));
  target->atoms = std::move(both);
  target->least = std::min(target->least, next.least);
  target->most = std::max(target->most, next.most);
}

// Blocks that no longer lead anywhere, and edges into them.
void drop_dead_ends(const Graph& graph, Analysis& out) {
  for (std::uint32_t b = static_cast<std::uint32_t>(graph.blocks.size()); b-- > 0;) {
    if (b == graph.fin) continue;
    const Block& block = graph.blocks[b];
    const bool leads = (block.next != kNone && out.alive[block.next]) ||
                       (block.taken != kNone && out.alive[block.taken]);
    if (leads) continue;
    out.touches[b].clear();
    if (b == 0) out.alive.assign(graph.edges.size(), false);
  }
  std::vector<bool> leads(graph.blocks.size(), false);
  leads[graph.fin] = true;
  for (std::uint32_t b = static_cast<std::uint32_t>(graph.blocks.size()); b-- > 0;)
    for (const std::uint32_t e : {graph.blocks[b].next, graph.blocks[b].taken})
      if (e != kNone && out.alive[e] && leads[graph.edges[e].to]) leads[b] = true;
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e)
    if (!leads[graph.edges[e].to]) out.alive[e] = false;
}

}  // namespace

Analysis analyse(const Graph& graph, Terms& terms, Symbolic& symbolic, Conditions& conditions,
                 std::uint32_t least, std::uint32_t most, bool minimise) {
  Analysis out;
  out.alive.assign(graph.edges.size(), false);
  out.alive[0] = true;
  out.size.assign(graph.edges.size(), least);
  out.touches.resize(graph.blocks.size());
  Forwards(graph, terms, symbolic, conditions, minimise).run(least, most, out);
  drop_dead_ends(graph, out);
  return out;
}

Graph make_bounded_graph(const std::vector<Instruction>& listing, const Costs& costs,
                         std::uint32_t& limit) {
  constexpr std::uint32_t most_rounds = 8192;
  constexpr std::size_t most_blocks = 100'000;
  const auto least = static_cast<std::uint32_t>(costs.min_packet),
             most = static_cast<std::uint32_t>(costs.max_packet);
  const auto bounded = [&](std::uint32_t rounds) -> std::optional<Graph> {
    Unroll unroll;
    unroll.all = rounds;
    Graph graph = make_graph(listing, unroll, costs, most_blocks);
    Terms terms(least, most);
    Symbolic symbolic(terms);
    Conditions conditions(terms, least, most);
    if (!analyse(graph, terms, symbolic, conditions, least, most, false).loops_bounded)
      return std::nullopt;
    return graph;
  };
  try {
    for (limit = 2; limit <= most_rounds; limit *= 2)
      if (bounded(limit)) {
        // The least that does, so that a limit given by hand means the same.
        std::uint32_t lo = limit / 2;
        while (lo + 1 < limit) {
          const std::uint32_t middle = lo + (limit - lo) / 2;
          (bounded(middle) ? limit : lo) = middle;
        }
        return *bounded(limit);
      }
  } catch (const Error& error) {
    if (error.code() != "E-nfp-size") throw;
  }
  throw Error(
      "E-nfp-loop",
      "the program has a loop, and no counter makes its limit evident; write --unroll N, or "
      "--unroll N:BLOCK,... with one for each block");
}

}  // namespace lpn::nfp

#include "graph.h"

#include <algorithm>
#include <unordered_map>

#include "lpn/base/error.h"

namespace lpn::nfp {
namespace {

struct RawBlock {
  std::vector<std::uint32_t> code;
  std::uint32_t next = kNone, taken = kNone;  // raw blocks
  bool looped = false;                        // it can reach itself
  std::uint32_t component = 0;                // equal where blocks reach each other
};

struct Raw {
  std::vector<Instruction> instructions;
  std::vector<RawBlock> blocks;
  std::uint32_t fin = 0;
};

bool jumps(const Instruction& i) {
  return i.opcode == Opcode::kBranch && i.condition == Condition::kAlways;
}

// Strongly connected components; marks blocks that can reach themselves.
void mark_loops(Raw& raw) {
  const std::size_t n = raw.blocks.size();
  std::vector<std::uint32_t> index(n, kNone), low(n, 0), stack;
  std::vector<bool> on(n, false);
  std::uint32_t count = 0;
  struct Frame {
    std::uint32_t block;
    int step;
  };
  for (std::uint32_t root = 0; root < n; ++root) {
    if (index[root] != kNone) continue;
    std::vector<Frame> frames{{root, 0}};
    while (!frames.empty()) {
      Frame& f = frames.back();
      const std::uint32_t b = f.block;
      if (f.step == 0) {
        index[b] = low[b] = count++;
        stack.push_back(b);
        on[b] = true;
      }
      bool entered = false;
      while (f.step < 2) {
        const std::uint32_t to = f.step++ == 0 ? raw.blocks[b].next : raw.blocks[b].taken;
        if (to == kNone) continue;
        if (to == b) raw.blocks[b].looped = true;
        if (index[to] == kNone) {
          frames.push_back({to, 0});
          entered = true;
          break;
        }
        if (on[to]) low[b] = std::min(low[b], index[to]);
      }
      if (entered) continue;
      if (low[b] == index[b]) {
        const bool several = stack.back() != b;
        for (std::uint32_t out = kNone; out != b;) {
          out = stack.back();
          stack.pop_back();
          on[out] = false;
          raw.blocks[out].component = b;
          if (several) raw.blocks[out].looped = true;
        }
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().block] = std::min(low[frames.back().block], low[b]);
    }
  }
}

Raw raw_graph(std::vector<Instruction> listing) {
  Raw raw;
  raw.instructions = std::move(listing);
  Instruction fin;
  fin.opcode = Opcode::kFin;
  fin.id = kFinId;
  fin.text = "fin";
  raw.instructions.push_back(fin);
  const auto end = static_cast<std::uint32_t>(raw.instructions.size() - 1);
  std::unordered_map<std::uint32_t, std::uint32_t> at;
  for (std::uint32_t k = 0; k < end; ++k) at.emplace(raw.instructions[k].id, k);
  const auto of = [&](std::uint32_t id) {
    const auto found = at.find(id);
    return found == at.end() ? end : found->second;
  };

  // Instructions that can be reached, with the number of edges into each.
  std::vector<std::uint32_t> next(end + 1, kNone), taken(end + 1, kNone), into(end + 1, 0);
  std::vector<bool> seen(end + 1, false);
  std::vector<std::uint32_t> work{of(0)};
  seen[of(0)] = true;
  ++into[of(0)];
  while (!work.empty()) {
    const std::uint32_t k = work.back();
    work.pop_back();
    if (k == end) continue;
    const Instruction& i = raw.instructions[k];
    if (!jumps(i)) next[k] = of(i.id + 1);
    if (i.opcode == Opcode::kBranch) taken[k] = of(i.target);
    for (const std::uint32_t to : {next[k], taken[k]}) {
      if (to == kNone) continue;
      ++into[to];
      if (!seen[to]) {
        seen[to] = true;
        work.push_back(to);
      }
    }
  }

  // A block goes on while its only way out leads to an instruction with one way in.
  std::vector<std::uint32_t> block(end + 1, kNone);
  std::vector<std::uint32_t> starts{of(0)};
  block[of(0)] = 0;
  for (std::size_t b = 0; b < starts.size(); ++b) {
    RawBlock made;
    std::uint32_t k = starts[b];
    while (true) {
      made.code.push_back(k);
      const bool straight = k != end && raw.instructions[k].opcode != Opcode::kBranch;
      if (!straight || next[k] == end || into[next[k]] != 1) break;
      k = next[k];
    }
    const auto number = [&](std::uint32_t to) {
      if (to == kNone) return kNone;
      if (block[to] == kNone) {
        block[to] = static_cast<std::uint32_t>(starts.size());
        starts.push_back(to);
      }
      return block[to];
    };
    made.next = number(next[k]);
    made.taken = number(taken[k]);
    raw.blocks.push_back(std::move(made));
  }
  raw.fin = block[end];
  mark_loops(raw);
  return raw;
}

// Depth first from the entry; a copy of a looped block per depth, which is how often the block is
// on the stack.
class Unroller {
 public:
  Unroller(const Raw& raw, const Unroll& unroll, std::size_t most)
      : raw_(raw), unroll_(unroll), most_(most) {
    on_stack_.assign(raw.blocks.size(), 0);
  }

  Graph run() {
    Graph out;
    struct Frame {
      std::uint32_t block, copy;
      int step;
    };
    std::vector<Frame> frames;
    const auto enter = [&](std::uint32_t block, std::uint32_t depth) {
      const std::uint32_t copy = add(block, depth);
      ++on_stack_[block];
      frames.push_back({block, copy, 0});
      return copy;
    };
    enter(0, 0);
    while (!frames.empty()) {
      Frame& f = frames.back();
      if (f.step == 2) {
        --on_stack_[f.block];
        order_.push_back(f.copy);
        frames.pop_back();
        continue;
      }
      const bool taken = f.step++ == 1;
      const std::uint32_t to = taken ? raw_.blocks[f.block].taken : raw_.blocks[f.block].next;
      if (to == kNone) continue;
      std::uint32_t depth = 0;
      if (raw_.blocks[to].looped) {
        // Within a loop rounds do not run backwards; a loop after another one starts afresh.
        const bool same = raw_.blocks[f.block].component == raw_.blocks[to].component;
        depth = std::max(on_stack_[to], same ? copies_[f.copy].depth : 0);
        if (depth >= limit(to)) {
          cut_.emplace_back(f.copy, taken);
          continue;
        }
      }
      const auto found = index_.find(key(to, depth));
      const std::uint32_t from = f.copy;
      const std::uint32_t copy = found != index_.end() ? found->second : enter(to, depth);
      (taken ? copies_[from].taken : copies_[from].next) = copy;
    }
    return finish(std::move(out));
  }

 private:
  struct Copy {
    std::uint32_t block = 0, depth = 0, next = kNone, taken = kNone;
  };

  static std::uint64_t key(std::uint32_t block, std::uint32_t depth) {
    return std::uint64_t{block} << 32 | depth;
  }

  std::uint32_t limit(std::uint32_t block) const {
    const auto found = unroll_.blocks.find(raw_.instructions[raw_.blocks[block].code.front()].id);
    if (found != unroll_.blocks.end()) return found->second;
    if (unroll_.all) return *unroll_.all;
    throw Error(
        "E-nfp-loop",
        "the loop through block ." +
            std::to_string(raw_.instructions[raw_.blocks[block].code.front()].id) +
            " has no limit; write --unroll N, or --unroll N:BLOCK,... with one for each block");
  }

  std::uint32_t add(std::uint32_t block, std::uint32_t depth) {
    if (copies_.size() >= most_)
      throw Error("E-nfp-size", "unrolling makes more than " + std::to_string(most_) +
                                    " blocks; write a smaller --unroll");
    const auto copy = static_cast<std::uint32_t>(copies_.size());
    copies_.push_back({block, depth});
    index_.emplace(key(block, depth), copy);
    return copy;
  }

  // Copies in topological order (the reverse of how the search left them), with edges. Copies from
  // which the end cannot be reached stay: a path is never built through them.
  Graph finish(Graph out) {
    std::vector<std::uint32_t> place(copies_.size());
    const auto n = static_cast<std::uint32_t>(order_.size());
    for (std::uint32_t k = 0; k < n; ++k) place[order_[k]] = n - 1 - k;
    out.blocks.resize(n);
    out.edges.push_back({kNone, 0, true});
    out.fin = kNone;
    for (std::uint32_t k = 0; k < n; ++k) {
      const Copy& copy = copies_[order_[n - 1 - k]];
      Block& block = out.blocks[k];
      block.code = raw_.blocks[copy.block].code;
      block.id = raw_.instructions[block.code.front()].id;
      block.depth = copy.depth;
      if (copy.block == raw_.fin) out.fin = k;
      for (const bool taken : {false, true}) {
        const std::uint32_t to = taken ? copy.taken : copy.next;
        if (to == kNone) continue;
        (taken ? block.taken : block.next) = static_cast<std::uint32_t>(out.edges.size());
        out.edges.push_back({k, place[to], taken});
      }
    }
    for (const auto& [copy, taken] : cut_) out.cut.emplace_back(place[copy], taken);
    return out;
  }

  const Raw& raw_;
  const Unroll& unroll_;
  std::size_t most_;
  std::vector<std::uint32_t> on_stack_;  // by raw block: how often
  std::vector<Copy> copies_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
  std::vector<std::uint32_t> order_;
  std::vector<std::pair<std::uint32_t, bool>> cut_;
};

void check_costs(const Graph& graph, const Costs& costs) {
  for (const Block& block : graph.blocks)
    for (const std::uint32_t k : block.code) {
      const Instruction& i = graph.instructions[k];
      if (i.dram() && dram_cost(costs, i) < 0)
        throw Error("E-nfp-cost", "line " + std::to_string(i.line) +
                                      ": what a write to DRAM costs the memory "
                                      "engine is not known ('" +
                                      i.text +
                                      "'); measure it, and give --costs a table "
                                      "with dram_write");
    }
}

// The least `Since` over all ways of arriving, carried along every edge in topological order.
void edge_costs(Graph& graph, const Costs& costs) {
  std::vector<Since> at(graph.edges.size(), Since::never());
  at[0] = {};
  graph.costs.resize(graph.edges.size());
  std::vector<std::vector<std::uint32_t>> into(graph.blocks.size());
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) into[graph.edges[e].to].push_back(e);
  for (std::uint32_t b = 0; b < graph.blocks.size(); ++b) {
    const Block& block = graph.blocks[b];
    Since out = Since::never();
    for (const std::uint32_t e : into[b]) {
      Since since = at[e];
      EdgeCost& c = graph.costs[e];
      for (std::size_t k = 0; k < block.code.size(); ++k) {
        const Instruction& i = graph.instructions[block.code[k]];
        const Cycles cycles = cost(costs, i, since, false);
        c.dram += dram_cost(costs, i);
        if (k + 1 < block.code.size()) {
          c.body += cycles;
        } else {
          c.last = cycles;
          c.last_taken = cost(costs, i, since, true);
        }
        since = after(i, since, cycles);
      }
      out = least(out, since);
    }
    for (const std::uint32_t e : {block.next, block.taken})
      if (e != kNone) at[e] = least(at[e], out);
  }
}

template <class Visit>  // (instruction, cycles, taken)
void walk(const Graph& graph, const Costs& costs, const Path& path, const Visit& visit) {
  Since since;
  for (std::size_t p = 0; p < path.size(); ++p) {
    const Block& block = graph.blocks[graph.edges[path[p]].to];
    for (std::size_t k = 0; k < block.code.size(); ++k) {
      const Instruction& i = graph.instructions[block.code[k]];
      const bool taken =
          k + 1 == block.code.size() && p + 1 < path.size() && graph.edges[path[p + 1]].taken;
      const Cycles cycles = cost(costs, i, since, taken);
      visit(block.code[k], cycles);
      since = after(i, since, cycles);
    }
  }
}

}  // namespace

bool cyclic(const std::vector<Instruction>& listing) {
  const Raw raw = raw_graph(listing);
  return std::any_of(raw.blocks.begin(), raw.blocks.end(),
                     [](const RawBlock& b) { return b.looped; });
}

Graph make_graph(std::vector<Instruction> listing, const Unroll& unroll, const Costs& costs,
                 std::size_t most_blocks) {
  Raw raw = raw_graph(std::move(listing));
  for (const auto& [id, limit] : unroll.blocks) {
    if (std::none_of(raw.blocks.begin(), raw.blocks.end(), [&, id = id](const RawBlock& b) {
          return !b.code.empty() && raw.instructions[b.code.front()].id == id;
        }))
      throw Error("E-nfp-unroll", "no block begins at ." + std::to_string(id) +
                                      "; lpn nfp graph shows the blocks and where they begin");
  }
  Graph out = Unroller(raw, unroll, most_blocks).run();
  out.instructions = std::move(raw.instructions);
  if (out.fin == kNone)
    throw Error("E-nfp-loop", "no path reaches the end of the program" +
                                  std::string(out.cut.empty() ? "" : "; write a larger --unroll"));
  check_costs(out, costs);
  edge_costs(out, costs);
  return out;
}

std::string notation(const Graph& graph, const Path& path) {
  std::string out;
  for (const std::uint32_t e : path)
    out +=
        (graph.edges[e].taken ? "->" : "--") + std::to_string(graph.blocks[graph.edges[e].to].id);
  return out;
}

Path parse_path(const Graph& graph, std::string_view text) {
  const auto fail = [&](const std::string& message) { throw Error("E-nfp-path", message); };
  Path path;
  for (std::size_t at = 0; at < text.size();) {
    const bool taken = text.substr(at, 2) == "->";
    if (!taken && text.substr(at, 2) != "--")
      fail("'" + std::string(text.substr(at, 12)) + "' is no step of a path; write ->0--15->15000");
    at += 2;
    std::uint64_t id = 0;
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at - from < 6)
      id = id * 10 + static_cast<std::uint64_t>(text[at++] - '0');
    if (at == from) fail("'" + std::string(text.substr(from - 2, 12)) + "' has no block");
    std::uint32_t edge = 0;
    if (!path.empty()) {
      const Block& block = graph.blocks[graph.edges[path.back()].to];
      edge = taken ? block.taken : block.next;
    } else if (!taken) {
      fail("a path begins with '->'");
    }
    if (edge == kNone || graph.blocks[graph.edges[edge].to].id != id)
      fail("step " + std::to_string(path.size() + 1) + ", '" + std::string(taken ? "->" : "--") +
           std::to_string(id) + "', is no edge of the program (or beyond --unroll)");
    path.push_back(edge);
  }
  if (path.empty() || graph.edges[path.back()].to != graph.fin)
    fail("a path ends with block " + std::to_string(kFinId));
  return path;
}

PathCost path_cost(const Graph& graph, const Costs& costs, const Path& path) {
  PathCost out;
  out.cycles = out.max_cycles = costs.overhead;
  walk(graph, costs, path, [&](std::uint32_t, Cycles cycles) { out.cycles += cycles; });
  for (std::size_t p = 0; p < path.size(); ++p) {
    const EdgeCost& c = graph.costs[path[p]];
    const bool taken = p + 1 < path.size() && graph.edges[path[p + 1]].taken;
    out.max_cycles += c.body + (taken ? c.last_taken : c.last);
    out.dram_cycles += c.dram;
  }
  return out;
}

std::vector<Step> steps(const Graph& graph, const Costs& costs, const Path& path) {
  std::vector<Step> out;
  walk(graph, costs, path, [&](std::uint32_t k, Cycles cycles) {
    out.push_back({k, cycles, dram_cost(costs, graph.instructions[k])});
  });
  return out;
}

std::vector<Segment> segments(const Graph& graph, const Costs& costs, const Path& path) {
  std::vector<Segment> out(1);
  walk(graph, costs, path, [&](std::uint32_t k, Cycles cycles) {
    const Instruction& i = graph.instructions[k];
    Segment& now = out.back();
    if (i.opcode != Opcode::kMem) {
      now.cycles += cycles;
      return;
    }
    now.cycles += i.swaps ? costs.swap : costs.access;
    now.waits = i.swaps;
    now.words = i.command == MemCommand::kWrite8 ? (i.count + 3) / 4 : i.count;
    now.access = !i.dram()                          ? Access::kSram
                 : i.command == MemCommand::kRead32 ? Access::kDramRead
                 : i.command == MemCommand::kAddImm ? Access::kDramAdd
                                                    : Access::kDramWrite;
    out.emplace_back();
  });
  return out;
}

}  // namespace lpn::nfp

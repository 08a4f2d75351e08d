#include "guarantee.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "analysis.h"
#include "lpn/base/error.h"
#include "symbolic.h"

namespace lpn::nfp {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kSame = 1e-9;  // relative difference of values that are one and the same

// ---- Longest rests of paths
// ----------------------------------------------------------------------------------

// Per distinct least packet size s, ascending: the most that can follow from an edge on, through
// edges no packet of more than s bytes is needed for. In packet-rate mode there is one s.
struct Rests {
  std::vector<std::uint32_t> sizes;
  std::vector<std::vector<double>> cycles, dram;  // [size][edge], kNever: the end is not reached
  std::vector<double> least_cycles;               // [edge], over all sizes
};

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

// ---- States of the program, shared by all paths that reach them
// ------------------------------------------------

constexpr std::uint32_t kUnknown = kNone - 1;

struct Exploded {
  std::uint32_t block = 0;
  std::uint32_t state = 0;  // index into the pool
  bool done = false;
  std::uint32_t to[2] = {kNone, kNone};  // by not taken, taken
  std::vector<TermId> atoms[2];
  bool undefined[2] = {false, false};
};

class Explosion {
 public:
  Explosion(const Graph& graph, const Analysis& analysis, Terms& terms, Symbolic& symbolic,
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

  const Exploded& operator[](std::uint32_t id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }

  // The node with what follows it.
  const Exploded& run(std::uint32_t id) {
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

 private:
  std::uint32_t intern(std::uint32_t block, State state) {
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

  const Graph& graph_;
  const Analysis& analysis_;
  Terms& terms_;
  Symbolic& symbolic_;
  Conditions& conditions_;
  Liveness liveness_;
  std::vector<Exploded> nodes_;
  std::vector<State> states_;
  std::unordered_multimap<std::size_t, std::uint32_t> index_;
};

// ---- What has been learned
// -------------------------------------------------------------------------------------

// Sets of conditions that together need a packet of at least so many bytes, or (kImpossible) cannot
// hold: as an automaton along paths. Its state is what is left of each set of which something has
// been met, without those that another one makes superfluous, and only while the rest can still be
// met.
class Learned {
 public:
  static constexpr std::uint32_t kImpossible = ~0u;
  struct Step {
    std::uint32_t state = 0;  // kNone: a contradiction is complete
    std::uint32_t size = 0;   // the packet's size is at least this
  };

  Learned() { intern({}); }

  // `where`: block at which each condition of the path was met, the latest. False when nothing of
  // it is new.
  bool learn(std::vector<TermId> core, std::uint32_t size,
             const std::unordered_map<TermId, std::uint32_t>& where) {
    std::sort(core.begin(), core.end());
    core.erase(std::unique(core.begin(), core.end()), core.end());
    bool news = false;
    for (const TermId atom : core) {
      const auto at = where.find(atom);
      if (at == where.end()) continue;
      std::uint32_t& latest = latest_[atom];
      if (at->second + 1 > latest) {
        latest = at->second + 1;
        news = true;
      }
    }
    Rest whole{std::move(core), size};
    if (known_.insert(whole).second) {
      for (const TermId atom : whole.atoms)
        with_[atom].push_back(static_cast<std::uint32_t>(sets_.size()));
      sets_.push_back(std::move(whole));
      news = true;
    }
    return news;
  }

  void restart() {
    states_.clear();
    index_.clear();
    steps_.clear();
    intern({});
  }

  // After the conditions of one step into `block`.
  Step step(std::uint32_t state, std::uint32_t node, bool taken, const std::vector<TermId>& atoms,
            std::uint32_t block) {
    if (state == 0 &&
        std::none_of(atoms.begin(), atoms.end(), [&](TermId a) { return with_.count(a) > 0; }))
      return {};
    const std::uint64_t key = (std::uint64_t{state} << 32 | node) * 2 + taken;
    const auto found = steps_.find(key);
    if (found != steps_.end()) return found->second;
    std::vector<Rest> left = states_[state];
    for (const TermId atom : atoms) {
      for (Rest& rest : left) {
        const auto at = std::lower_bound(rest.atoms.begin(), rest.atoms.end(), atom);
        if (at != rest.atoms.end() && *at == atom) rest.atoms.erase(at);
      }
      const auto with = with_.find(atom);
      if (with == with_.end()) continue;
      for (const std::uint32_t k : with->second) {
        Rest rest = sets_[k];
        std::erase(rest.atoms, atom);
        left.push_back(std::move(rest));
      }
    }
    Step out;
    for (const Rest& rest : left)
      if (rest.atoms.empty()) out.size = std::max(out.size, rest.size);
    if (out.size == kImpossible) {
      out.state = kNone;
    } else {
      std::erase_if(left, [&](const Rest& rest) {
        return rest.atoms.empty() || std::any_of(rest.atoms.begin(), rest.atoms.end(),
                                                 [&](TermId a) { return latest_[a] <= block + 1; });
      });
      std::sort(left.begin(), left.end(), [](const Rest& a, const Rest& b) {
        if (a.atoms.size() != b.atoms.size()) return a.atoms.size() < b.atoms.size();
        return a.atoms != b.atoms ? a.atoms < b.atoms : a.size > b.size;
      });
      std::vector<Rest> least;
      for (Rest& rest : left) {
        const bool implied = std::any_of(least.begin(), least.end(), [&](const Rest& r) {
          return r.size >= rest.size && std::includes(rest.atoms.begin(), rest.atoms.end(),
                                                      r.atoms.begin(), r.atoms.end());
        });
        if (!implied) least.push_back(std::move(rest));
      }
      out.state = intern(std::move(least));
    }
    steps_.emplace(key, out);
    return out;
  }

 private:
  struct Rest {
    std::vector<TermId> atoms;  // sorted
    std::uint32_t size;
    bool operator==(const Rest&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Rest& r) const {
      std::size_t h = r.size;
      for (const TermId t : r.atoms) h = (h ^ t) * 0x9e3779b97f4a7c15ull ^ h >> 31;
      return h;
    }
    std::size_t operator()(const std::vector<Rest>& v) const {
      std::size_t h = v.size();
      for (const Rest& r : v) h = h * 1099511628211ull ^ (*this)(r);
      return h;
    }
  };

  std::uint32_t intern(std::vector<Rest> state) {
    const auto [at, fresh] =
        index_.emplace(std::move(state), static_cast<std::uint32_t>(states_.size()));
    if (fresh) states_.push_back(at->first);
    return at->second;
  }

  std::vector<Rest> sets_;
  std::unordered_set<Rest, Hash> known_;
  std::unordered_map<TermId, std::vector<std::uint32_t>> with_;
  std::unordered_map<TermId, std::uint32_t> latest_;  // block + 1
  std::vector<std::vector<Rest>> states_;
  std::unordered_map<std::vector<Rest>, std::uint32_t, Hash> index_;
  std::unordered_map<std::uint64_t, Step> steps_;
};

// ---- The search
// ------------------------------------------------------------------------------------------------

struct Label {
  std::uint32_t node = 0, edge = 0, learned = 0, parent = kNone;
  std::uint32_t size = 0;
  std::uint32_t with_atoms = kNone;  // nearest label, this one included, whose step had conditions
  double cycles = 0, dram = 0;       // before the block of `edge`
  double value = 0;                  // of the slowest completion, at most
  bool checked = false;              // complete, and possible with packets of `size`
  std::array<std::uint64_t, 8> met{};  // a Bloom filter of the variables in all conditions so far
};

class Search {
 public:
  Search(const Graph& graph, const Costs& costs, const Options& options,
         const std::function<bool(const Progress&)>& go_on)
      : graph_(graph),
        costs_(costs),
        options_(options),
        go_on_(go_on),
        least_(static_cast<std::uint32_t>(costs.min_packet)),
        most_(static_cast<std::uint32_t>(costs.max_packet)),
        terms_(least_, most_),
        symbolic_(terms_),
        conditions_(terms_, least_, most_),
        analysis_(analyse(graph, terms_, symbolic_, conditions_, least_, most_, options.per_byte)),
        rests_(make_rests(graph, analysis_, options.per_byte)) {
    if (rests_.sizes.empty() || !analysis_.alive[0]) none();
  }

  Findings run() {
    Findings out;
    out.loops_bounded = analysis_.loops_bounded;
    out.naive = naive();
    Explosion explosion(graph_, analysis_, terms_, symbolic_, conditions_);
    explosion_ = &explosion;
    bound_ = bound(0, static_cast<double>(costs_.overhead), 0, least_);
    bool stopped = false;
    while (!stopped && found_.size() < options_.paths) {
      const std::size_t before = facts_;
      const Round round = search(false, 0);
      // Should a round have nothing to learn and yet have dropped what it needs, nothing is dropped
      // any more.
      if (round == Round::kLearned && facts_ == before) drops_ = false;
      if (round == Round::kStopped) stopped = true;
      if (round == Round::kEmpty) {
        bound_ = 0;
        break;
      }
    }
    if (!found_.empty()) {
      if (found_.size() == options_.paths)
        bound_ = found_.back().slow.value;  // those that are left come after it
      if (!stopped) settle_tie();
    }
    if (found_.empty() && !stopped) none();
    if (found_.empty()) witness();
    out.complete = !stopped;
    for (const Found& f : found_) out.slowest.push_back(f.slow);
    if (!found_.empty() && !stopped)
      out.slower = count_slower(found_.front().slow.value);
    else
      out.slower = -1;
    out.bound = bound_;
    out.refuted = refuted_;
    out.states = explosion.size();
    out.restarts = restarts_;
    out.z3_checks = conditions_.z3_checks();
    return out;
  }

 private:
  struct Found {
    SlowPath slow;
  };

  [[noreturn]] void none() const {
    throw Error("E-nfp-none",
                std::string("no packet reaches the end of the program") +
                    (analysis_.loops_bounded
                         ? ""
                         : " within these limits of its loops; write a larger --unroll"));
  }

  enum class Round { kFound, kLearned, kEmpty, kStopped };

  double worse(double cycles, double dram) const { return std::max(cycles, options_.cores * dram); }

  // The slowest that can still come after the block of `edge` is entered at these costs with this
  // packet.
  double bound(std::uint32_t edge, double cycles, double dram, std::uint32_t size) const {
    if (!options_.per_byte) {
      if (rests_.cycles[0][edge] == kNever) return kNever;
      return worse(cycles + rests_.cycles[0][edge], dram + rests_.dram[0][edge]);
    }
    double out = kNever;
    const auto from =
        std::upper_bound(rests_.sizes.begin(), rests_.sizes.end(), size) - rests_.sizes.begin();
    for (auto s = static_cast<std::size_t>(from > 0 ? from - 1 : 0); s < rests_.sizes.size(); ++s) {
      if (rests_.cycles[s][edge] == kNever) continue;
      const double v = worse(cycles + rests_.cycles[s][edge], dram + rests_.dram[s][edge]);
      out = std::max(out, v / std::max(rests_.sizes[s], size));
    }
    return out;
  }

  Naive naive() const {
    Naive out;
    double best = kNever, best_dram = kNever;
    for (std::size_t s = 0; s < rests_.sizes.size(); ++s) {
      if (rests_.cycles[s][0] == kNever) continue;
      const double cycles = static_cast<double>(costs_.overhead) + rests_.cycles[s][0],
                   dram = rests_.dram[s][0];
      const double per = options_.per_byte ? rests_.sizes[s] : 1;
      if (cycles / per > best) {
        best = cycles / per;
        out.cycles = static_cast<Cycles>(std::llround(cycles));
        out.cycles_size = options_.per_byte ? rests_.sizes[s] : least_;
      }
      if (dram / per > best_dram) {
        best_dram = dram / per;
        out.dram = dram;
        out.dram_size = options_.per_byte ? rests_.sizes[s] : least_;
      }
    }
    return out;
  }

  // One pass, slowest first, until a possible path is certain to be the slowest not yet found.
  // `tied`: instead the path with fewest core cycles among those with memory engine cycles worth
  // `value`.
  Round search(bool tied, double value);
  void settle_tie();
  void witness();
  std::uint32_t add(Label label, std::uint32_t node, bool taken);
  std::vector<TermId> atoms_of(std::uint32_t label) const;
  // Of them those that share a variable with `fresh`, directly or through others.
  std::vector<TermId> concerned(std::uint32_t label, const std::vector<TermId>& fresh);
  static void meet(std::array<std::uint64_t, 8>& filter, TermId variable) {
    const std::uint32_t h = variable * 2654435761u;
    filter[h >> 6 & 7] |= std::uint64_t{1} << (h & 63);
    filter[h >> 15 & 7] |= std::uint64_t{1} << (h >> 9 & 63);
  }
  static bool may_have(const std::array<std::uint64_t, 8>& filter, TermId variable) {
    const std::uint32_t h = variable * 2654435761u;
    return filter[h >> 6 & 7] >> (h & 63) & filter[h >> 15 & 7] >> (h >> 9 & 63) & 1;
  }
  void learn(const std::vector<TermId>& core, std::uint32_t size, std::uint32_t label,
             std::uint32_t node = kNone, bool taken = false, std::uint32_t block = 0);
  Path path_of(std::uint32_t label) const;
  double count_slower(double value) const;

  const Graph& graph_;
  const Costs& costs_;
  const Options& options_;
  const std::function<bool(const Progress&)>& go_on_;
  std::uint32_t least_, most_;
  Terms terms_;
  Symbolic symbolic_;
  Conditions conditions_;
  Analysis analysis_;
  Rests rests_;
  Explosion* explosion_ = nullptr;
  Learned learned_;
  std::vector<Label> labels_;
  std::vector<std::pair<std::uint32_t, bool>>
      steps_;  // by label: the node and direction it came by
  std::vector<Found> found_;
  std::unordered_map<std::string, Verdict> verdicts_;  // by path
  double bound_ = 0;
  std::uint64_t refuted_ = 0, restarts_ = 0;
  std::size_t facts_ = 0;  // learned
  bool drops_ = true;
};

// The label that `taken` of `node` leads to (kNone: the start), with what it must obey.
std::uint32_t Search::add(Label label, std::uint32_t node, bool taken) {
  const auto id = static_cast<std::uint32_t>(labels_.size());
  const std::vector<TermId>* atoms = node == kNone ? nullptr : &(*explosion_)[node].atoms[taken];
  const bool has = atoms != nullptr && !atoms->empty();
  label.with_atoms = has ? id : label.parent == kNone ? kNone : labels_[label.parent].with_atoms;
  if (has)
    for (const TermId atom : *atoms)
      for (const TermId v : conditions_.variables(atom)) meet(label.met, v);
  labels_.push_back(label);
  steps_.emplace_back(node, taken);
  return id;
}

std::vector<TermId> Search::atoms_of(std::uint32_t label) const {
  std::vector<TermId> out;
  for (std::uint32_t k = labels_[label].with_atoms; k != kNone;) {
    const auto& [node, taken] = steps_[k];
    const auto& atoms = (*explosion_)[node].atoms[taken];
    out.insert(out.end(), atoms.begin(), atoms.end());
    const std::uint32_t parent = labels_[k].parent;
    k = parent == kNone ? kNone : labels_[parent].with_atoms;
  }
  return out;
}

std::vector<TermId> Search::concerned(std::uint32_t label, const std::vector<TermId>& fresh) {
  std::vector<TermId> variables, out;
  const auto add = [&](TermId atom) {
    for (const TermId v : conditions_.variables(atom))
      if (std::find(variables.begin(), variables.end(), v) == variables.end())
        variables.push_back(v);
  };
  for (const TermId atom : fresh) add(atom);
  for (std::size_t before = 0; before != variables.size();) {
    before = variables.size();
    out.clear();
    for (std::uint32_t k = labels_[label].with_atoms; k != kNone;) {
      if (std::none_of(variables.begin(), variables.end(),
                       [&](TermId v) { return may_have(labels_[k].met, v); }))
        break;
      const auto& [node, taken] = steps_[k];
      for (const TermId atom : (*explosion_)[node].atoms[taken]) {
        const auto& own = conditions_.variables(atom);
        const bool shares = std::any_of(own.begin(), own.end(), [&](TermId v) {
          return std::find(variables.begin(), variables.end(), v) != variables.end();
        });
        if (!shares) continue;
        out.push_back(atom);
        add(atom);
      }
      const std::uint32_t parent = labels_[k].parent;
      k = parent == kNone ? kNone : labels_[parent].with_atoms;
    }
  }
  return out;
}

Path Search::path_of(std::uint32_t label) const {
  Path out;
  for (std::uint32_t k = label; k != kNone; k = labels_[k].parent) out.push_back(labels_[k].edge);
  std::reverse(out.begin(), out.end());
  return out;
}

void Search::learn(const std::vector<TermId>& core, std::uint32_t size, std::uint32_t label,
                   std::uint32_t node, bool taken, std::uint32_t block) {
  std::unordered_map<TermId, std::uint32_t> where;
  const auto note = [&](const std::vector<TermId>& atoms, std::uint32_t at) {
    for (const TermId a : atoms) {
      std::uint32_t& w = where[a];
      w = std::max(w, at);
    }
  };
  if (node != kNone) note((*explosion_)[node].atoms[taken], block);
  for (std::uint32_t k = labels_[label].with_atoms; k != kNone;) {
    const auto& [n, t] = steps_[k];
    note((*explosion_)[n].atoms[t], graph_.edges[labels_[k].edge].to);
    const std::uint32_t parent = labels_[k].parent;
    k = parent == kNone ? kNone : labels_[parent].with_atoms;
  }
  ++refuted_;
  facts_ += learned_.learn(core, size, where);
}

Search::Round Search::search(bool tied, double wanted) {
  Explosion& ex = *explosion_;
  learned_.restart();
  ++restarts_;
  labels_.clear();
  steps_.clear();
  struct Entry {
    double key;  // largest first
    double second;
    std::uint32_t label;
    bool operator<(const Entry& o) const {
      if (key != o.key) return key < o.key;
      if (second != o.second) return second < o.second;
      return label < o.label;  // depth first among equals
    }
  };
  std::priority_queue<Entry> queue;
  // Arrivals at (node, edge, learned, size): how many that are as slow in both respects have been
  // before.
  struct Arrival {
    double cycles, dram;
  };
  std::unordered_map<std::uint64_t,
                     std::vector<std::pair<std::array<std::uint32_t, 4>, std::vector<Arrival>>>>
      arrivals;
  const std::size_t allowed = tied ? 1 : options_.paths;
  double lost = kNever;  // the slowest that was left out because another had been there
  bool dirty = false;

  const auto push = [&](const Label& label, std::uint32_t node, bool taken) {
    const std::uint32_t id = add(label, node, taken);
    const double left = label.cycles + rests_.least_cycles[label.edge];
    queue.push(tied ? Entry{-left, label.value, id} : Entry{label.value, 0, id});
  };
  Label start;
  start.size = least_;
  start.cycles = static_cast<double>(costs_.overhead);
  start.value = bound(0, start.cycles, 0, least_);
  push(start, kNone, false);
  std::uint64_t ticks = 0;

  while (!queue.empty()) {
    const Entry top = queue.top();
    if (!tied && !dirty) bound_ = std::min(bound_, top.key);
    if (++ticks % 512 == 0 && !go_on_({bound_, ex.size(), refuted_, found_.size()}))
      return Round::kStopped;
    queue.pop();
    const Label here = labels_[top.label];
    const std::uint32_t b = graph_.edges[here.edge].to;
    if (here.checked) {
      // Another might have been slower that was dropped for one since refuted.
      if (dirty && (tied || lost > here.value)) return Round::kLearned;
      const Path path = path_of(top.label);
      SlowPath slow;
      slow.path = path;
      slow.cost = path_cost(graph_, costs_, path);
      slow.value = here.value;
      slow.example = verdicts_[std::string(reinterpret_cast<const char*>(path.data()),
                                           path.size() * sizeof(path[0]))]
                         .example;
      if (tied) {
        const auto other = std::find_if(found_.begin(), found_.end(),
                                        [&](const Found& f) { return f.slow.path == path; });
        if (other != found_.end())
          std::rotate(found_.begin(), other, other + 1);
        else
          found_.front() = {std::move(slow)};
        return Round::kFound;
      }
      found_.push_back({std::move(slow)});
      if (found_.size() == options_.paths) return Round::kFound;
      continue;
    }
    if (b == graph_.fin) {
      const Path path = path_of(top.label);
      const std::string key(reinterpret_cast<const char*>(path.data()),
                            path.size() * sizeof(path[0]));
      if (!tied && std::any_of(found_.begin(), found_.end(),
                               [&](const Found& f) { return f.slow.path == path; }))
        continue;
      const auto known = verdicts_.find(key);
      Verdict verdict;
      if (known != verdicts_.end()) {
        verdict = known->second;
      } else {
        for (std::uint32_t k = top.label; k != kNone; k = labels_[k].parent) {
          const auto& [node, taken] = steps_[k];
          if (node == kNone || !ex[node].undefined[taken]) continue;
          const Instruction& last = graph_.last(graph_.blocks[ex[node].block]);
          throw Error("E-nfp-undefined", "line " + std::to_string(last.line) + ": the branch '" +
                                             last.text +
                                             "' depends on something undefined on path " +
                                             notation(graph_, path).substr(0, 400));
        }
        const std::vector<TermId> atoms = atoms_of(top.label);
        verdict = conditions_.solve(atoms, options_.z3_seconds);
        if (verdict.kind == Verdict::Kind::kSat) {
          verdict.example.size = std::max(verdict.example.size, here.size);
          // Its conditions need a larger packet than was known: others that were dropped for it may
          // not.
          if (options_.per_byte && verdict.example.size > here.size)
            verdict.core = conditions_.size_core(atoms, verdict.example.size);
        }
        verdicts_.emplace(key, verdict);
      }
      if (verdict.kind == Verdict::Kind::kUnsat) {
        learn(verdict.core, Learned::kImpossible, top.label);
        dirty = true;
        continue;
      }
      if (verdict.kind == Verdict::Kind::kUnknown) return Round::kStopped;
      // The path's own value, which its bound may have exceeded.
      const EdgeCost& c = graph_.costs[here.edge];
      Label done = here;
      done.checked = true;
      done.size = verdict.example.size;
      if (options_.per_byte && done.size > here.size) {
        learn(verdict.core, done.size, top.label);
        dirty = true;
      }
      const double own =
          worse(here.cycles + static_cast<double>(c.body + c.last), here.dram + c.dram);
      done.value = options_.per_byte ? own / done.size : own;
      if (tied && done.value < wanted * (1 - kSame)) continue;
      const auto id = static_cast<std::uint32_t>(labels_.size());
      labels_.push_back(done);
      steps_.push_back(steps_[top.label]);
      if (labels_.back().with_atoms == top.label) labels_.back().with_atoms = id;
      queue.push(tied ? Entry{top.key, done.value, id} : Entry{done.value, 0, id});
      continue;
    }
    const std::array<std::uint32_t, 4> place{here.node, here.edge, here.learned,
                                             options_.per_byte ? here.size : 0};
    const std::uint64_t h =
        ((std::uint64_t{here.node} << 32 | here.edge) * 0x9e3779b97f4a7c15ull ^ here.learned) * 31 +
        place[3];
    auto& bucket = arrivals[h];
    auto at =
        std::find_if(bucket.begin(), bucket.end(), [&](const auto& p) { return p.first == place; });
    if (at == bucket.end()) at = bucket.insert(bucket.end(), {place, {}});
    const auto before = static_cast<std::size_t>(
        std::count_if(at->second.begin(), at->second.end(), [&](const Arrival& a) {
          return tied ? a.cycles <= here.cycles && a.dram >= here.dram
                      : a.cycles >= here.cycles && a.dram >= here.dram;
        }));
    if (drops_ && before >= allowed) {
      lost = std::max(lost, here.value);
      continue;
    }
    at->second.push_back({here.cycles, here.dram});

    ex.run(here.node);
    const EdgeCost& c = graph_.costs[here.edge];
    for (const bool taken : {false, true}) {
      const std::uint32_t target = ex[here.node].to[taken];
      if (target == kNone) continue;
      const std::uint32_t e = taken ? graph_.blocks[b].taken : graph_.blocks[b].next;
      Label next;
      next.node = target;
      next.edge = e;
      next.parent = top.label;
      next.met = here.met;
      next.cycles = here.cycles + static_cast<double>(c.body + (taken ? c.last_taken : c.last));
      next.dram = here.dram + c.dram;
      next.size = std::max(here.size, options_.per_byte ? analysis_.size[e] : 0);
      const std::vector<TermId>& atoms = ex[here.node].atoms[taken];
      for (const TermId atom : atoms)
        if (const auto limit = conditions_.bound(atom))
          next.size = std::max(next.size, limit->least);
      const Learned::Step step =
          learned_.step(here.learned, here.node, taken, atoms, graph_.edges[e].to);
      if (step.state == kNone) continue;
      next.learned = step.state;
      if (options_.per_byte) next.size = std::max(next.size, step.size);
      next.value = bound(e, next.cycles, next.dram, next.size);
      if (next.value == kNever) continue;
      if (tied) {
        const double dram = next.dram + rests_.dram.back()[e];
        if (next.value < wanted * (1 - kSame) ||
            options_.cores * dram < wanted * (1 - kSame) * (options_.per_byte ? next.size : 1))
          continue;
      }
      if (!atoms.empty()) {
        const std::vector<TermId> others = concerned(top.label, atoms);
        if (const auto core = conditions_.refute(others, atoms)) {
          learn(*core, Learned::kImpossible, top.label, here.node, taken, graph_.edges[e].to);
          dirty = true;
          continue;
        }
      }
      push(next, here.node, taken);
    }
  }
  if (dirty && (tied || lost != kNever)) return Round::kLearned;
  return Round::kEmpty;
}

// When the search was stopped before it found a path: one that is possible, depth first along the
// slowest rests. Not the slowest, but it shows how far the bound can be from it.
void Search::witness() {
  constexpr std::size_t most_steps = 20'000;
  Explosion& ex = *explosion_;
  labels_.clear();
  steps_.clear();
  std::vector<std::uint32_t> stack;
  const auto push = [&](const Label& label, std::uint32_t node, bool taken) {
    stack.push_back(add(label, node, taken));
  };
  Label start;
  start.size = least_;
  start.cycles = static_cast<double>(costs_.overhead);
  push(start, kNone, false);
  for (std::size_t step = 0; step < most_steps && !stack.empty(); ++step) {
    const std::uint32_t id = stack.back();
    stack.pop_back();
    const Label here = labels_[id];
    const std::uint32_t b = graph_.edges[here.edge].to;
    const EdgeCost& c = graph_.costs[here.edge];
    if (b == graph_.fin) {
      bool undefined = false;
      for (std::uint32_t k = id; k != kNone; k = labels_[k].parent)
        undefined |= steps_[k].first != kNone && ex[steps_[k].first].undefined[steps_[k].second];
      if (undefined) continue;
      Verdict verdict = conditions_.solve(atoms_of(id), 1);
      if (verdict.kind != Verdict::Kind::kSat) continue;
      SlowPath slow;
      slow.path = path_of(id);
      slow.cost = path_cost(graph_, costs_, slow.path);
      slow.example = std::move(verdict.example);
      slow.example.size = std::max(slow.example.size, here.size);
      const double own =
          worse(here.cycles + static_cast<double>(c.body + c.last), here.dram + c.dram);
      slow.value = options_.per_byte ? own / slow.example.size : own;
      found_.push_back({std::move(slow)});
      return;
    }
    ex.run(here.node);
    std::vector<std::pair<Label, bool>> children;
    for (const bool taken : {false, true}) {
      if (ex[here.node].to[taken] == kNone) continue;
      Label next = here;
      next.node = ex[here.node].to[taken];
      next.edge = taken ? graph_.blocks[b].taken : graph_.blocks[b].next;
      next.parent = id;
      next.cycles = here.cycles + static_cast<double>(c.body + (taken ? c.last_taken : c.last));
      next.dram = here.dram + c.dram;
      const std::vector<TermId>& atoms = ex[here.node].atoms[taken];
      for (const TermId atom : atoms)
        if (const auto limit = conditions_.bound(atom))
          next.size = std::max(next.size, limit->least);
      next.value = bound(next.edge, next.cycles, next.dram, next.size);
      if (next.value == kNever ||
          (!atoms.empty() && conditions_.refute(concerned(id, atoms), atoms)))
        continue;
      children.emplace_back(next, taken);
    }
    std::sort(children.begin(), children.end(),
              [](const auto& x, const auto& y) { return x.first.value < y.first.value; });
    for (const auto& [label, taken] : children) push(label, here.node, taken);
  }
}

// Forwards over edges, paths of equal costs and size together, while they can still become slower.
double Search::count_slower(double value) const {
  struct Key {
    double cycles, dram;
    std::uint32_t size;
    auto operator<=>(const Key&) const = default;
  };
  constexpr std::size_t most_keys = 200'000;
  std::vector<std::uint32_t> order(graph_.edges.size());
  for (std::uint32_t e = 0; e < order.size(); ++e) order[e] = e;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return graph_.edges[a].to < graph_.edges[b].to;
  });
  std::vector<std::map<Key, double>> at(graph_.edges.size());
  at[0][{static_cast<double>(costs_.overhead), 0, least_}] = 1;
  const double above = value * (1 + kSame);
  double out = 0;
  std::size_t keys = 0;
  for (const std::uint32_t e : order) {
    if (!analysis_.alive[e]) continue;
    const EdgeCost& c = graph_.costs[e];
    const std::uint32_t b = graph_.edges[e].to;
    for (const auto& [key, count] : at[e]) {
      if (b == graph_.fin) {
        out += count;  // its bound was looked at, and is exact here
        continue;
      }
      for (const bool taken : {false, true}) {
        const std::uint32_t o = taken ? graph_.blocks[b].taken : graph_.blocks[b].next;
        if (o == kNone || !analysis_.alive[o]) continue;
        Key next{key.cycles + static_cast<double>(c.body + (taken ? c.last_taken : c.last)),
                 std::round((key.dram + c.dram) * 1e9) / 1e9,
                 options_.per_byte ? std::max(key.size, analysis_.size[o]) : key.size};
        if (bound(o, next.cycles, next.dram, next.size) <= above) continue;
        at[o][next] += count;
        if (++keys > most_keys) return -1;
      }
    }
    at[e].clear();
  }
  return out;
}

// Where the memory engine decides, several paths may be equally slow: the one that needs the cores
// least is told.
void Search::settle_tie() {
  const SlowPath slow = found_.front().slow;
  const double per = options_.per_byte ? slow.example.size : 1;
  const double dram = options_.cores * slow.cost.dram_cycles / per;
  if (dram < slow.value * (1 - kSame)) return;
  for (std::size_t before = facts_; search(true, slow.value) == Round::kLearned && facts_ > before;)
    before = facts_;
}

}  // namespace

Findings find_slowest(const Graph& graph, const Costs& costs, const Options& options,
                      const std::function<bool(const Progress&)>& go_on) {
  return Search(graph, costs, options, go_on).run();
}

}  // namespace lpn::nfp

#include "guarantee.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis.h"
#include "explosion.h"
#include "learned.h"
#include "lpn/base/error.h"
#include "rests.h"
#include "symbolic.h"

namespace lpn::nfp {
namespace {

constexpr double kSame = 1e-9;  // relative difference of values that are one and the same

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
        bound_ = found_.back().value;  // those that are left come after it
      if (!stopped) settle_tie();
    }
    if (found_.empty() && !stopped) none();
    if (found_.empty()) witness();
    out.complete = !stopped;
    out.slower = !found_.empty() && !stopped ? count_slower(found_.front().value) : -1;
    out.slowest = found_;
    out.bound = bound_;
    out.refuted = refuted_;
    out.states = explosion.size();
    out.restarts = restarts_;
    out.z3_checks = conditions_.z3_checks();
    return out;
  }

 private:
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

  class Pass;
  Round search(bool tied, double wanted);
  void settle_tie();
  void witness();
  bool take_witness(std::uint32_t id, const Label& here);
  const Verdict& verdict_on(std::uint32_t label, const Path& path);

  // The label that enters the program.
  Label start() const {
    Label out;
    out.size = least_;
    out.cycles = static_cast<double>(costs_.overhead);
    return out;
  }
  Label after(const Label& here, std::uint32_t id, bool taken);
  // Of the complete path of `here`, which its bound may exceed, with a packet of so many bytes.
  double own_value(const Label& here, std::uint32_t size) const {
    const EdgeCost& c = graph_.costs[here.edge];
    const double own =
        worse(here.cycles + static_cast<double>(c.body + c.last), here.dram + c.dram);
    return options_.per_byte ? own / size : own;
  }
  std::vector<SlowPath>::iterator find(const Path& path) {
    return std::find_if(found_.begin(), found_.end(),
                        [&](const SlowPath& f) { return f.path == path; });
  }
  static std::string key_of(const Path& path) {
    return {reinterpret_cast<const char*>(path.data()), path.size() * sizeof(path[0])};
  }

  // The nearest label above `label` whose step had conditions; kNone: there is none.
  std::uint32_t conditions_above(std::uint32_t label) const {
    const std::uint32_t parent = labels_[label].parent;
    return parent == kNone ? kNone : labels_[parent].with_atoms;
  }
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
  std::vector<SlowPath> found_;
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

// What follows `here` by `taken`: its costs, and the packet that its own conditions need.
Label Search::after(const Label& here, std::uint32_t id, bool taken) {
  const Exploded& node = (*explosion_)[here.node];
  const Block& block = graph_.blocks[graph_.edges[here.edge].to];
  const EdgeCost& c = graph_.costs[here.edge];
  Label next;
  next.node = node.to[taken];
  next.edge = taken ? block.taken : block.next;
  next.parent = id;
  next.met = here.met;
  next.cycles = here.cycles + static_cast<double>(c.body + (taken ? c.last_taken : c.last));
  next.dram = here.dram + c.dram;
  next.size = here.size;
  for (const TermId atom : node.atoms[taken])
    if (const auto limit = conditions_.bound(atom)) next.size = std::max(next.size, limit->least);
  return next;
}

std::vector<TermId> Search::atoms_of(std::uint32_t label) const {
  std::vector<TermId> out;
  for (std::uint32_t k = labels_[label].with_atoms; k != kNone; k = conditions_above(k)) {
    const auto& [node, taken] = steps_[k];
    const auto& atoms = (*explosion_)[node].atoms[taken];
    out.insert(out.end(), atoms.begin(), atoms.end());
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
    for (std::uint32_t k = labels_[label].with_atoms; k != kNone; k = conditions_above(k)) {
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
  for (std::uint32_t k = labels_[label].with_atoms; k != kNone; k = conditions_above(k)) {
    const auto& [n, t] = steps_[k];
    note((*explosion_)[n].atoms[t], graph_.edges[labels_[k].edge].to);
  }
  ++refuted_;
  facts_ += learned_.learn(core, size, where);
}

// One pass, slowest first, until a possible path is certain to be the slowest not yet found.
// `tied`: instead the path with fewest core cycles among those with memory engine cycles worth
// `wanted`.
class Search::Pass {
 public:
  Pass(Search& search, bool tied, double wanted);
  Round run();

 private:
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
  struct Arrival {
    double cycles, dram;
  };

  void push(const Label& label, std::uint32_t node, bool taken);
  // What becomes of the label `id`, which is `here`; a Round when that ends the pass.
  std::optional<Round> take_possible(std::uint32_t id, const Label& here);
  std::optional<Round> judge_complete(const Entry& top, const Label& here);
  void go_on_from(std::uint32_t id, const Label& here);

  bool slower_were_here(const Label& here);
  bool holds(std::uint32_t id, const Label& here, bool taken, Label& next);

  Search& s_;
  const bool tied_;
  const double wanted_;
  std::priority_queue<Entry> queue_;
  // Arrivals at (node, edge, learned, size): how many that are as slow in both respects have been
  // before.
  std::unordered_map<std::uint64_t,
                     std::vector<std::pair<std::array<std::uint32_t, 4>, std::vector<Arrival>>>>
      arrivals_;
  double lost_ = kNever;  // the slowest that was left out because another had been there
  bool dirty_ = false;    // something was learned
};

Search::Pass::Pass(Search& search, bool tied, double wanted)
    : s_(search), tied_(tied), wanted_(wanted) {
  s_.learned_.restart();
  ++s_.restarts_;
  s_.labels_.clear();
  s_.steps_.clear();
  Label start = s_.start();
  start.value = s_.bound(0, start.cycles, 0, s_.least_);
  push(start, kNone, false);
}

void Search::Pass::push(const Label& label, std::uint32_t node, bool taken) {
  const std::uint32_t id = s_.add(label, node, taken);
  const double left = label.cycles + s_.rests_.least_cycles[label.edge];
  queue_.push(tied_ ? Entry{-left, label.value, id} : Entry{label.value, 0, id});
}

Search::Round Search::Pass::run() {
  std::uint64_t ticks = 0;
  while (!queue_.empty()) {
    const Entry top = queue_.top();
    if (!tied_ && !dirty_) s_.bound_ = std::min(s_.bound_, top.key);
    if (++ticks % 512 == 0 &&
        !s_.go_on_({s_.bound_, s_.explosion_->size(), s_.refuted_, s_.found_.size()}))
      return Round::kStopped;
    queue_.pop();
    const Label here = s_.labels_[top.label];
    std::optional<Round> end;
    if (here.checked)
      end = take_possible(top.label, here);
    else if (s_.graph_.edges[here.edge].to == s_.graph_.fin)
      end = judge_complete(top, here);
    else if (!slower_were_here(here))
      go_on_from(top.label, here);
    if (end) return *end;
  }
  if (dirty_ && (tied_ || lost_ != kNever)) return Round::kLearned;
  return Round::kEmpty;
}

std::optional<Search::Round> Search::Pass::take_possible(std::uint32_t id, const Label& here) {
  // Another might have been slower that was dropped for one since refuted.
  if (dirty_ && (tied_ || lost_ > here.value)) return Round::kLearned;
  SlowPath slow;
  slow.path = s_.path_of(id);
  slow.cost = path_cost(s_.graph_, s_.costs_, slow.path);
  slow.value = here.value;
  slow.example = s_.verdicts_[key_of(slow.path)].example;
  if (tied_) {
    const auto other = s_.find(slow.path);
    if (other != s_.found_.end())
      std::rotate(s_.found_.begin(), other, other + 1);
    else
      s_.found_.front() = std::move(slow);
    return Round::kFound;
  }
  s_.found_.push_back(std::move(slow));
  if (s_.found_.size() == s_.options_.paths) return Round::kFound;
  return std::nullopt;
}

std::optional<Search::Round> Search::Pass::judge_complete(const Entry& top, const Label& here) {
  const Path path = s_.path_of(top.label);
  if (!tied_ && s_.find(path) != s_.found_.end()) return std::nullopt;
  const Verdict& verdict = s_.verdict_on(top.label, path);
  if (verdict.kind == Verdict::Kind::kUnsat) {
    s_.learn(verdict.core, Learned::kImpossible, top.label);
    dirty_ = true;
    return std::nullopt;
  }
  if (verdict.kind == Verdict::Kind::kUnknown) return Round::kStopped;
  Label done = here;
  done.checked = true;
  done.size = verdict.example.size;
  if (s_.options_.per_byte && done.size > here.size) {
    s_.learn(verdict.core, done.size, top.label);
    dirty_ = true;
  }
  done.value = s_.own_value(here, done.size);
  if (tied_ && done.value < wanted_ * (1 - kSame)) return std::nullopt;
  const auto id = static_cast<std::uint32_t>(s_.labels_.size());
  s_.labels_.push_back(done);
  s_.steps_.push_back(s_.steps_[top.label]);
  if (s_.labels_.back().with_atoms == top.label) s_.labels_.back().with_atoms = id;
  queue_.push(tied_ ? Entry{top.key, done.value, id} : Entry{done.value, 0, id});
  return std::nullopt;
}

// Whether so many labels that are as slow have been at this place that `here` cannot be among the
// slowest. Notes it as lost if so, else as one that has been there.
bool Search::Pass::slower_were_here(const Label& here) {
  const std::size_t allowed = tied_ ? 1 : s_.options_.paths;
  const std::array<std::uint32_t, 4> place{here.node, here.edge, here.learned,
                                           s_.options_.per_byte ? here.size : 0};
  const std::uint64_t h =
      ((std::uint64_t{here.node} << 32 | here.edge) * 0x9e3779b97f4a7c15ull ^ here.learned) * 31 +
      place[3];
  auto& bucket = arrivals_[h];
  auto at =
      std::find_if(bucket.begin(), bucket.end(), [&](const auto& p) { return p.first == place; });
  if (at == bucket.end()) at = bucket.insert(bucket.end(), {place, {}});
  const auto before = static_cast<std::size_t>(
      std::count_if(at->second.begin(), at->second.end(), [&](const Arrival& a) {
        return tied_ ? a.cycles <= here.cycles && a.dram >= here.dram
                     : a.cycles >= here.cycles && a.dram >= here.dram;
      }));
  if (s_.drops_ && before >= allowed) {
    lost_ = std::max(lost_, here.value);
    return true;
  }
  at->second.push_back({here.cycles, here.dram});
  return false;
}

void Search::Pass::go_on_from(std::uint32_t id, const Label& here) {
  s_.explosion_->run(here.node);
  for (const bool taken : {false, true}) {
    Label next;
    if (holds(id, here, taken, next)) push(next, here.node, taken);
  }
}

// Whether the block that `here` enters can be left by `taken` to a path that is asked for: `next`.
bool Search::Pass::holds(std::uint32_t id, const Label& here, bool taken, Label& next) {
  const Exploded& node = (*s_.explosion_)[here.node];
  if (node.to[taken] == kNone) return false;
  const bool per_byte = s_.options_.per_byte;
  const std::vector<TermId>& atoms = node.atoms[taken];
  next = s_.after(here, id, taken);
  const std::uint32_t block = s_.graph_.edges[next.edge].to;
  const Learned::Step step = s_.learned_.step(here.learned, here.node, taken, atoms, block);
  if (step.state == kNone) return false;
  next.learned = step.state;
  if (per_byte) next.size = std::max({next.size, s_.analysis_.size[next.edge], step.size});
  next.value = s_.bound(next.edge, next.cycles, next.dram, next.size);
  if (next.value == kNever) return false;
  if (tied_) {
    const double least = wanted_ * (1 - kSame);
    const double dram = next.dram + s_.rests_.dram.back()[next.edge];
    if (next.value < least || s_.options_.cores * dram < least * (per_byte ? next.size : 1))
      return false;
  }
  if (atoms.empty()) return true;
  const auto core = s_.conditions_.refute(s_.concerned(id, atoms), atoms);
  if (!core) return true;
  s_.learn(*core, Learned::kImpossible, id, here.node, taken, block);
  dirty_ = true;
  return false;
}

Search::Round Search::search(bool tied, double wanted) { return Pass(*this, tied, wanted).run(); }

// Whether the complete path of `label` is possible. Throws for one that depends on something
// undefined.
const Verdict& Search::verdict_on(std::uint32_t label, const Path& path) {
  const std::string key = key_of(path);
  const auto known = verdicts_.find(key);
  if (known != verdicts_.end()) return known->second;
  for (std::uint32_t k = label; k != kNone; k = labels_[k].parent) {
    const auto& [node, taken] = steps_[k];
    if (node == kNone || !(*explosion_)[node].undefined[taken]) continue;
    const Instruction& last = graph_.last(graph_.blocks[(*explosion_)[node].block]);
    throw Error("E-nfp-undefined", "line " + std::to_string(last.line) + ": the branch '" +
                                       last.text + "' depends on something undefined on path " +
                                       notation(graph_, path).substr(0, 400));
  }
  const std::uint32_t size = labels_[label].size;
  const std::vector<TermId> atoms = atoms_of(label);
  Verdict verdict = conditions_.solve(atoms, options_.z3_seconds());
  if (verdict.kind == Verdict::Kind::kSat) {
    verdict.example.size = std::max(verdict.example.size, size);
    // Its conditions need a larger packet than was known: others that were dropped for it may not.
    if (options_.per_byte && verdict.example.size > size)
      verdict.core = conditions_.size_core(atoms, verdict.example.size);
  }
  return verdicts_.emplace(key, std::move(verdict)).first->second;
}

// When the search was stopped before it found a path: one that is possible, depth first along the
// slowest rests. Not the slowest, but it shows how far the bound can be from it.
void Search::witness() {
  constexpr std::size_t most_steps = 20'000;
  labels_.clear();
  steps_.clear();
  std::vector<std::uint32_t> stack{add(start(), kNone, false)};
  for (std::size_t step = 0; step < most_steps && !stack.empty(); ++step) {
    const std::uint32_t id = stack.back();
    stack.pop_back();
    const Label here = labels_[id];
    if (graph_.edges[here.edge].to == graph_.fin) {
      if (take_witness(id, here)) return;
      continue;
    }
    explosion_->run(here.node);
    std::vector<std::pair<Label, bool>> children;
    for (const bool taken : {false, true}) {
      const Exploded& node = (*explosion_)[here.node];
      if (node.to[taken] == kNone) continue;
      Label next = after(here, id, taken);
      next.value = bound(next.edge, next.cycles, next.dram, next.size);
      const std::vector<TermId>& atoms = node.atoms[taken];
      if (next.value == kNever ||
          (!atoms.empty() && conditions_.refute(concerned(id, atoms), atoms)))
        continue;
      children.emplace_back(next, taken);
    }
    std::sort(children.begin(), children.end(),
              [](const auto& x, const auto& y) { return x.first.value < y.first.value; });
    for (const auto& [label, taken] : children) stack.push_back(add(label, here.node, taken));
  }
}

// Whether the complete path of `id` is seen to be possible within a second; it is then what was
// found.
bool Search::take_witness(std::uint32_t id, const Label& here) {
  for (std::uint32_t k = id; k != kNone; k = labels_[k].parent) {
    const auto& [node, taken] = steps_[k];
    if (node != kNone && (*explosion_)[node].undefined[taken]) return false;
  }
  Verdict verdict = conditions_.solve(atoms_of(id), 1);
  if (verdict.kind != Verdict::Kind::kSat) return false;
  SlowPath slow;
  slow.path = path_of(id);
  slow.cost = path_cost(graph_, costs_, slow.path);
  slow.example = std::move(verdict.example);
  slow.example.size = std::max(slow.example.size, here.size);
  slow.value = own_value(here, slow.example.size);
  found_.push_back(std::move(slow));
  return true;
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
  const SlowPath slow = found_.front();
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

#include "lpn/structure/structure.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"
#include "lpn/expr/build.h"
#include "lpn/graph/components.h"
#include "lpn/graph/union_find.h"
#include "lpn/net/bounds.h"
#include "lpn/net/initial.h"

namespace lpn {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

std::size_t at(PlaceId p) { return static_cast<std::size_t>(p); }
std::size_t at(TransitionId t) { return static_cast<std::size_t>(t); }

bool is_constant(const Net& net, const Formula& formula, std::int64_t value) {
  std::int64_t found = 0;
  return net.exprs.is_const(formula.id, found) && found == value;
}
const InputArc* find_arc(const Transition& t, PlaceId place, std::uint32_t& number) {
  for (std::uint32_t k = 0; k < t.inputs.size(); ++k) {
    if (t.inputs[k].place == place && !t.inputs[k].inhibit) {
      number = k;
      return &t.inputs[k];
    }
  }
  return nullptr;
}

// ---- guards that exclude each other ----------------------------------------------------------

// A conjunction of conditions in one pool, where the arc over which the head is seen is arc 0.
// What the conditions say about a term: it lies in a range without some values.
struct Facts {
  struct Term {
    std::int64_t lo = kLowest, hi = kHighest;
    std::set<std::int64_t> not_values;
  };
  std::map<ExprId, Term> terms;
  std::set<ExprId> holds, fails;  // other conditions
};

class Excluder {
 public:
  Excluder(const Net& net, PlaceId place) : net_(net), place_(place) {}

  bool exclusive(TransitionId a, TransitionId b) {
    std::vector<Literal> literals = conditions(a);
    const std::vector<Literal>& others = conditions(b);
    literals.insert(literals.end(), others.begin(), others.end());
    steps_ = 0;
    return contradictory(std::move(literals), {});
  }

  // The same question to a solver, about all that their guards say of the tokens they both see.
  bool impossible(TransitionId a, TransitionId b, Feasibility& solver);

 private:
  // A condition that must hold (or not, when `negated`).
  struct Literal {
    ExprId id{};
    bool negated = false;
  };
  // Per pair, and per place: guards from strangers must not keep us for ever.
  static constexpr int kMaxSteps = 1024;
  static constexpr int kMaxAllSteps = 1 << 18;

  const std::vector<Literal>& conditions(TransitionId id) {
    const auto [it, is_new] = conditions_.try_emplace(id);
    const Transition& t = net_[id];
    std::uint32_t arc = 0;
    if (is_new && find_arc(t, place_, arc) != nullptr) {
      for (const InputArc& input : t.inputs) {
        if (input.guard) collect(t, input.guard->id, arc, it->second);
      }
    }
    return it->second;
  }

  // Splits the conjunction and keeps what reads tokens of `arc` and parameters alone.
  void collect(const Transition& t, ExprId id, std::uint32_t arc, std::vector<Literal>& into) {
    const Node& node = net_.exprs[id];
    if (node.op == Op::kAnd) {
      collect(t, node.kids[0], arc, into);
      collect(t, node.kids[1], arc, into);
      return;
    }
    const Reads reads = net_.exprs.reads(id);
    const bool only_arc = reads.tokens.empty() || reads.tokens == std::vector<std::uint32_t>{arc};
    if (!only_arc || !reads.occupancy.empty() || !reads.free.empty() || !reads.taken.empty() ||
        has_aggregate(id)) {
      return;
    }
    std::vector<ExprId> params;
    for (std::uint32_t k = 0; k < net_.params.size(); ++k) params.push_back(pool_.param(k));
    const std::vector<std::uint32_t> arcs(t.inputs.size(), 0);
    into.push_back({substitute(net_.exprs, id, pool_, params, arcs), false});
  }

  // Aggregates run over as many tokens as the arc needs, which differs between two arcs.
  bool has_aggregate(ExprId id) const {
    const Node& node = net_.exprs[id];
    if (kind_of(node.op) == Kind::kAggregate) return true;
    for (int k = 0; k < op_info(node.op).arity; ++k) {
      if (has_aggregate(node.kids[static_cast<std::size_t>(k)])) return true;
    }
    return false;
  }

  // True when `todo` and `facts` cannot hold together. Splits alternatives; gives up (false) when
  // there are too many.
  bool contradictory(std::vector<Literal> todo, Facts facts) {
    while (!todo.empty()) {
      if (++steps_ > kMaxSteps || ++all_steps_ > kMaxAllSteps) return false;
      const Literal literal = todo.back();
      todo.pop_back();
      const Node node = pool_[literal.id];
      switch (kind_of(node.op)) {
        case Kind::kLogic: {
          if (node.op == Op::kNot) {
            todo.push_back({node.kids[0], !literal.negated});
            continue;
          }
          if ((node.op == Op::kAnd) != literal.negated) {
            todo.push_back({node.kids[0], literal.negated});
            todo.push_back({node.kids[1], literal.negated});
            continue;
          }
          auto other = todo;
          todo.push_back({node.kids[0], literal.negated});
          other.push_back({node.kids[1], literal.negated});
          return contradictory(std::move(todo), facts) && contradictory(std::move(other), facts);
        }
        case Kind::kChoice: {  // of conditions: the type of a literal is boolean
          auto other = todo;
          todo.push_back({node.kids[0], false});
          todo.push_back({node.kids[1], literal.negated});
          other.push_back({node.kids[0], true});
          other.push_back({node.kids[2], literal.negated});
          return contradictory(std::move(todo), facts) && contradictory(std::move(other), facts);
        }
        case Kind::kAssumption:  // a false condition is an error, and then nothing starts
          todo.push_back({node.kids[0], false});
          todo.push_back({node.kids[1], literal.negated});
          continue;
        case Kind::kConstant:
          if ((node.op == Op::kTrue) == literal.negated) return true;
          continue;
        case Kind::kComparison:
          if (clashes(literal, node, facts)) return true;
          continue;
        case Kind::kVariable:
        case Kind::kRun:
        case Kind::kArithmetic:
        case Kind::kTable:
        case Kind::kAggregate: LPN_ASSERT(!"a condition"); continue;
      }
    }
    return false;
  }

  // Adds one comparison to the facts; true when they cannot all hold.
  bool clashes(const Literal& literal, const Node& node, Facts& facts) {
    std::int64_t constant = 0;
    const ExprId left = node.kids[0], right = node.kids[1];
    if (node.op == Op::kEq || node.op == Op::kNe) {
      const bool equal = (node.op == Op::kEq) != literal.negated;
      if (pool_.is_const(right, constant)) return add_equal(left, constant, equal, facts);
      if (pool_.is_const(left, constant)) return add_equal(right, constant, equal, facts);
      // Written as x == y whichever way it was asked, so that complements meet.
      Node plain = node;
      plain.op = Op::kEq;
      if (plain.kids[1] < plain.kids[0]) std::swap(plain.kids[0], plain.kids[1]);
      return add_condition(pool_.make(plain), equal, facts);
    }
    if (node.op != Op::kLt && node.op != Op::kLe) {
      return add_condition(literal.id, !literal.negated, facts);
    }
    const bool strict = node.op == Op::kLt;
    if (pool_.is_const(right, constant)) {
      // x < c, x <= c, and their complements c <= x, c < x.
      return literal.negated ? add_least(left, constant, !strict, facts)
                             : add_most(left, constant, strict, facts);
    }
    if (pool_.is_const(left, constant)) {
      return literal.negated ? add_most(right, constant, !strict, facts)
                             : add_least(right, constant, strict, facts);
    }
    // not (x <= y) is y < x: kept as "y < x holds", and x <= y as "y < x fails".
    Node plain = node;
    plain.op = Op::kLt;
    if (!strict) std::swap(plain.kids[0], plain.kids[1]);
    return add_condition(pool_.make(plain), strict != literal.negated, facts);
  }

  bool add_condition(ExprId id, bool value, Facts& facts) {
    (value ? facts.holds : facts.fails).insert(id);
    return (value ? facts.fails : facts.holds).contains(id);
  }
  bool add_least(ExprId term, std::int64_t value, bool strict, Facts& facts) {
    if (strict && value == kHighest) return true;
    auto& t = facts.terms[term];
    t.lo = std::max(t.lo, strict ? value + 1 : value);
    return empty(t);
  }
  bool add_most(ExprId term, std::int64_t value, bool strict, Facts& facts) {
    if (strict && value == kLowest) return true;
    auto& t = facts.terms[term];
    t.hi = std::min(t.hi, strict ? value - 1 : value);
    return empty(t);
  }
  bool add_equal(ExprId term, std::int64_t value, bool equal, Facts& facts) {
    auto& t = facts.terms[term];
    if (equal) {
      t.lo = std::max(t.lo, value);
      t.hi = std::min(t.hi, value);
    } else {
      t.not_values.insert(value);
    }
    return empty(t);
  }
  static bool empty(const Facts::Term& t) {
    if (t.lo > t.hi) return true;
    std::int64_t value = t.lo;
    while (t.not_values.contains(value)) {
      if (value == t.hi) return true;
      ++value;
    }
    return false;
  }

  bool require_known(ExprId id, const Leaves& leaves, Feasibility& solver);

  const Net& net_;
  PlaceId place_;
  ExprPool pool_;
  std::map<TransitionId, std::vector<Literal>> conditions_;
  int steps_ = 0;
  int all_steps_ = 0;
  int questions_ = 0;
};

bool Excluder::impossible(TransitionId a, TransitionId b, Feasibility& solver) {
  // Per pair, and pairs per place.
  constexpr FeasibilityLimits kLimits{.work = 500'000, .seconds = 1};
  constexpr int kMaxQuestions = 2'000;
  if (++questions_ > kMaxQuestions) return false;
  solver.push();
  Leaves leaves;
  for (const Param& param : net_.params) {
    leaves.params.push_back(solver.term(solver.integer(param.name, param.range.value_or(Range{}))));
  }
  // Position k from the head is the same token for both; (position, property) -> variable.
  std::map<std::pair<std::int64_t, std::uint32_t>, ExprId> tokens;
  const auto& fields = net_.type_of(place_).fields;
  bool asked = false;
  for (const TransitionId id : {a, b}) {
    const Transition& t = net_[id];
    std::uint32_t own = 0;
    if (find_arc(t, place_, own) == nullptr) continue;
    // How many tokens an arc needs, and takes, matters to aggregates; only constants are used.
    leaves.needed = [&](std::uint32_t arc) { return arc_facts(net_, t, arc).need; };
    leaves.taken = [&](std::uint32_t arc) -> std::optional<ExprId> {
      const auto weight = arc_facts(net_, t, arc).weight;
      if (!weight) return std::nullopt;
      return solver.pool().constant(*weight);
    };
    leaves.token = [&](std::uint32_t arc, std::uint32_t field,
                       std::int64_t which) -> std::optional<ExprId> {
      if (arc != own) return std::nullopt;
      const auto [it, is_new] = tokens.try_emplace({which, field});
      if (is_new) {
        it->second =
            solver.term(solver.integer(fields[field].name, fields[field].range.value_or(Range{})));
      }
      return it->second;
    };
    for (const InputArc& input : t.inputs) {
      if (input.guard) asked |= require_known(input.guard->id, leaves, solver);
    }
  }
  const bool never = asked && solver.check(kLimits) == Answer::kUnsat;
  solver.pop();
  return never;
}

// Requires the parts of a conjunction that can be told from what both transitions see; true when
// there are any. Fewer parts only make less impossible.
bool Excluder::require_known(ExprId id, const Leaves& leaves, Feasibility& solver) {
  const Node& node = net_.exprs[id];
  if (node.op == Op::kAnd) {
    const bool first = require_known(node.kids[0], leaves, solver);
    return require_known(node.kids[1], leaves, solver) || first;
  }
  try {
    const auto condition = instantiate(net_.exprs, id, solver.pool(), leaves);
    if (condition) solver.require(*condition);
    return condition.has_value();
  } catch (const Error&) {
    return false;  // too large when written out
  }
}

enum class Proof : std::uint8_t { kNone, kGuards, kSolver };

// ---- credit loops ----------------------------------------------------------------------------

// Every firing takes a token of the place or emits one into it, and so holds one of its slots.
bool holds_slot(const Net& net, const Transition& t, PlaceId place) {
  for (const InputArc& arc : t.inputs) {
    if (arc.place == place && !arc.inhibit && bounds(net, &t, arc.weight.id).lo >= 1) return true;
  }
  for (const OutputArc& arc : t.outputs) {
    if (arc.place != place) continue;
    for (const Emission& emission : arc.emissions) {
      if (bounds(net, &t, emission.count.id).lo >= 1) return true;
    }
  }
  return false;
}

// Tokens of constant number that each transition takes from and puts into each place; none for a
// place that the workload fills or of which some arc depends on tokens or parameters.
struct Flow {
  std::vector<std::map<std::uint32_t, std::pair<Wide, Wide>>> by_transition;
  std::vector<std::vector<std::uint32_t>> by_place;
  std::vector<bool> constant;  // per place

  explicit Flow(const Net& net)
      : by_transition(net.transitions.size()),
        by_place(net.places.size()),
        constant(net.places.size(), true) {
    for (std::size_t p = 0; p < net.places.size(); ++p) {
      if (net.places[p].start) constant[p] = false;
    }
    for (std::uint32_t k = 0; k < net.transitions.size(); ++k) {
      for (const InputArc& arc : net.transitions[k].inputs) {
        if (arc.inhibit) continue;
        std::int64_t n = 0;
        if (!net.exprs.is_const(arc.weight.id, n)) constant[at(arc.place)] = false;
        if (n != 0) by_transition[k][static_cast<std::uint32_t>(arc.place)].first += n;
      }
      for (const OutputArc& arc : net.transitions[k].outputs) {
        for (const Emission& emission : arc.emissions) {
          std::int64_t n = 0;
          if (!net.exprs.is_const(emission.count.id, n)) constant[at(arc.place)] = false;
          if (n != 0) by_transition[k][static_cast<std::uint32_t>(arc.place)].second += n;
        }
      }
      for (const auto& [place, weights] : by_transition[k]) by_place[place].push_back(k);
    }
  }
};

// Grows a set of places until every firing balances: a transition that does not needs one more of
// its places. Where there is a choice, one after the other is tried, depth first.
class LoopSearch {
 public:
  LoopSearch(const Net& net, const Flow& flow) : net_(net), flow_(flow) {}

  // A balanced set that contains `from`, all of constant weights; empty when none was found. Loops
  // with tokens of their own that it need not have are left out: they would only add to its tokens.
  std::set<std::uint32_t> find(std::uint32_t from) {
    std::set<std::uint32_t> places = search(from);
    const std::set<std::uint32_t> all = places;
    for (const std::uint32_t p : all) {
      if (p == from || !places.contains(p) || net_.places[p].initial.empty()) continue;
      std::set<std::uint32_t> others = places;
      others.erase(from);
      within_ = &others;
      for (const std::uint32_t part : search(p)) places.erase(part);
      within_ = nullptr;
    }
    return places;
  }

 private:
  std::set<std::uint32_t> search(std::uint32_t from) {
    if (!flow_.constant[from]) return {};
    steps_ = 0;
    std::set<std::uint32_t> places{from};
    return grow(places, flow_.by_place[from], 0) ? places : std::set<std::uint32_t>{};
  }

  // Looks at an arc, per search and in all: a hub in a stranger's net must not keep us for ever.
  static constexpr int kMaxSteps = 500'000;
  static constexpr int kMaxAllSteps = 4'000'000;
  static constexpr int kMaxDepth = 500;

  // `todo`: the transitions that may not be balanced. Leaves `places` as they were on failure.
  bool grow(std::set<std::uint32_t>& places, std::vector<std::uint32_t> todo, int depth) {
    std::vector<std::uint32_t> added;
    const auto add = [&](std::uint32_t p) {
      places.insert(p);
      added.push_back(p);
      todo.insert(todo.end(), flow_.by_place[p].begin(), flow_.by_place[p].end());
    };
    while (!todo.empty() && steps_ <= kMaxSteps && all_steps_ <= kMaxAllSteps) {
      const std::vector<std::uint32_t> candidates = missing(places, todo.back());
      if (candidates == std::vector<std::uint32_t>{kBalanced}) {
        todo.pop_back();
        continue;
      }
      if (candidates.size() == 1) {
        add(candidates.front());
        continue;
      }
      for (const std::uint32_t p : candidates) {
        if (depth == kMaxDepth) break;
        places.insert(p);
        auto next = todo;
        next.insert(next.end(), flow_.by_place[p].begin(), flow_.by_place[p].end());
        if (grow(places, std::move(next), depth + 1)) return true;
        places.erase(p);
      }
      break;
    }
    if (todo.empty()) return true;
    for (const std::uint32_t p : added) places.erase(p);
    return false;
  }

  static constexpr std::uint32_t kBalanced = std::numeric_limits<std::uint32_t>::max();

  // The places of a transition that bring it nearer to balance; kBalanced alone when it is.
  std::vector<std::uint32_t> missing(const std::set<std::uint32_t>& places, std::uint32_t k) {
    Wide taken = 0, put = 0;
    for (const auto& [p, weights] : flow_.by_transition[k]) {
      ++steps_;
      ++all_steps_;
      if (!places.contains(p)) continue;
      taken += weights.first;
      put += weights.second;
    }
    if (taken == put) return {kBalanced};
    std::vector<std::uint32_t> found;
    for (const auto& [p, weights] : flow_.by_transition[k]) {
      const Wide more = weights.second - weights.first;
      const bool nearer =
          taken > put ? more > 0 && more <= taken - put : more < 0 && -more <= put - taken;
      if (nearer && flow_.constant[p] && !places.contains(p) &&
          (within_ == nullptr || within_->contains(p))) {
        found.push_back(p);
      }
    }
    return found;
  }

  const Net& net_;
  const Flow& flow_;
  const std::set<std::uint32_t>* within_ = nullptr;  // where a search may go, if not anywhere
  int steps_ = 0;
  int all_steps_ = 0;
};

}  // namespace

bool exclude_each_other(const Net& net, PlaceId place, TransitionId a, TransitionId b,
                        Feasibility* solver) {
  Excluder excluder(net, place);
  return excluder.exclusive(a, b) || (solver != nullptr && excluder.impossible(a, b, *solver));
}

std::vector<Conflict> conflicts(const Net& net, Feasibility* solver) {
  // Comparing every pair is quadratic; a place with more consumers is not called a router.
  constexpr std::size_t kMaxCompared = 128;
  std::vector<Conflict> found;
  const std::vector<PlaceUse> uses = place_uses(net);
  std::map<PlaceId, Excluder> excluders;
  std::map<std::pair<TransitionId, TransitionId>, Proof> proofs;
  // Guards on the head of any place that both consume from decide the pair everywhere.
  const auto prove = [&](PlaceId shared, TransitionId a, TransitionId b) {
    const auto [it, is_new] = proofs.try_emplace({a, b}, Proof::kNone);
    if (!is_new) return it->second;
    std::vector<PlaceId> places{shared};
    for (std::uint32_t k = 0; k < net[a].inputs.size(); ++k) {
      const PlaceId place = net[a].inputs[k].place;
      if (place == shared || arc_facts(net, net[a], k).only_watches()) continue;
      std::uint32_t number = 0;
      const InputArc* other = find_arc(net[b], place, number);
      if (other != nullptr && !arc_facts(net, net[b], number).only_watches()) {
        places.push_back(place);
      }
    }
    for (const PlaceId place : places) {
      if (excluders.try_emplace(place, net, place).first->second.exclusive(a, b))
        return it->second = Proof::kGuards;
    }
    for (const PlaceId place : places) {
      if (solver != nullptr && excluders.at(place).impossible(a, b, *solver))
        return it->second = Proof::kSolver;
    }
    return it->second;
  };
  for (std::uint32_t p = 0; p < uses.size(); ++p) {
    Conflict conflict{static_cast<PlaceId>(p), {}, false, false};
    std::merge(uses[p].takers.begin(), uses[p].takers.end(), uses[p].readers.begin(),
               uses[p].readers.end(), std::back_inserter(conflict.consumers));
    if (uses[p].takers.empty() || conflict.consumers.size() < 2) continue;
    conflict.router = conflict.consumers.size() <= kMaxCompared;
    for (std::size_t i = 0; i < conflict.consumers.size() && conflict.router; ++i) {
      for (std::size_t j = i + 1; j < conflict.consumers.size() && conflict.router; ++j) {
        const Proof proof = prove(conflict.place, conflict.consumers[i], conflict.consumers[j]);
        conflict.router = proof != Proof::kNone;
        conflict.by_solver |= proof == Proof::kSolver;
      }
    }
    conflict.by_solver &= conflict.router;
    found.push_back(std::move(conflict));
  }
  return found;
}

std::vector<CreditLoop> credit_loops(const Net& net) {
  std::vector<CreditLoop> loops;
  const std::vector<PlaceUse> uses = place_uses(net);
  for (std::uint32_t p = 0; p < net.places.size(); ++p) {
    if (!net.places[p].capacity) continue;
    const auto place = static_cast<PlaceId>(p);
    CreditLoop loop{{place}, {}, true};
    std::vector<TransitionId> touching;
    std::set_union(uses[p].producers.begin(), uses[p].producers.end(), uses[p].takers.begin(),
                   uses[p].takers.end(), std::back_inserter(touching));
    std::copy_if(touching.begin(), touching.end(), std::back_inserter(loop.transitions),
                 [&](TransitionId t) { return holds_slot(net, net[t], place); });
    loops.push_back(std::move(loop));
  }
  const Flow flow(net);
  LoopSearch search(net, flow);
  std::set<std::set<std::uint32_t>> seen;
  // A long ring is found once, not again from each of its places with tokens.
  constexpr std::size_t kLarge = 64;
  std::vector<bool> in_large(net.places.size(), false);
  for (std::uint32_t p = 0; p < net.places.size(); ++p) {
    if (net.places[p].initial.empty() || in_large[p]) continue;
    const std::set<std::uint32_t> places = search.find(p);
    if (places.empty() || !seen.insert(places).second) continue;
    CreditLoop loop;
    std::set<std::uint32_t> transitions;
    for (const std::uint32_t place : places) {
      if (places.size() > kLarge) in_large[place] = true;
      loop.places.push_back(static_cast<PlaceId>(place));
      transitions.insert(flow.by_place[place].begin(), flow.by_place[place].end());
    }
    for (const std::uint32_t k : transitions)
      loop.transitions.push_back(static_cast<TransitionId>(k));
    if (!loop.transitions.empty()) loops.push_back(std::move(loop));
  }
  return loops;
}

std::int64_t loop_tokens(const Net& net, const ParamValues& params, const CreditLoop& loop) {
  if (loop.capacity) {
    const Place& place = net[loop.places.front()];
    return param_value(net, params, *place.capacity, "the capacity of place '" + place.name + "'",
                       0);
  }
  Wide tokens = 0;
  for (const PlaceId id : loop.places) {
    for (const Initial& initial : net[id].initial) {
      tokens += param_value(net, params, initial.count,
                            "the initial tokens of place '" + net[id].name + "'", 0);
    }
  }
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(tokens, kMost));
}

std::vector<TransitionId> unbounded_concurrency(const Net& net) {
  std::vector<bool> bounded(net.transitions.size(), false);
  for (const CreditLoop& loop : credit_loops(net)) {
    for (const TransitionId t : loop.transitions) bounded[at(t)] = true;
  }
  std::vector<TransitionId> found;
  for (std::uint32_t k = 0; k < net.transitions.size(); ++k) {
    const Transition& t = net.transitions[k];
    if (bounded[k] || t.servers || is_constant(net, t.delay, 0)) continue;
    std::int64_t interval = 0;
    if (t.interval && net.exprs.is_const(t.interval->id, interval) && interval >= 1) continue;
    found.push_back(static_cast<TransitionId>(k));
  }
  return found;
}

std::vector<TransitionId> dead_transitions(const Net& net) {
  std::vector<bool> fillable(net.places.size()), alive(net.transitions.size());
  std::vector<std::size_t> missing(net.transitions.size());
  std::vector<std::vector<std::uint32_t>> needed_by(net.places.size());
  std::vector<std::uint32_t> places;
  const auto fill = [&](std::uint32_t p) {
    if (!fillable[p]) places.push_back(p);
    fillable[p] = true;
  };
  // An arc needs a token for sure when a constant weight or threshold says so.
  const auto needs = [&net](const InputArc& arc) {
    std::int64_t w = 0, k = 0;
    const bool weighs = net.exprs.is_const(arc.weight.id, w) && w > 0;
    return !arc.inhibit &&
           (weighs || (arc.threshold && net.exprs.is_const(arc.threshold->id, k) && k > 0));
  };
  const auto start = [&](std::uint32_t k) {
    alive[k] = true;
    for (const OutputArc& arc : net.transitions[k].outputs)
      fill(static_cast<std::uint32_t>(arc.place));
  };
  for (std::uint32_t k = 0; k < net.transitions.size(); ++k) {
    for (const InputArc& arc : net.transitions[k].inputs) {
      if (!needs(arc)) continue;
      ++missing[k];
      needed_by[at(arc.place)].push_back(k);
    }
  }
  for (std::uint32_t p = 0; p < net.places.size(); ++p) {
    if (net.places[p].start || !net.places[p].initial.empty()) fill(p);
  }
  for (std::uint32_t k = 0; k < net.transitions.size(); ++k) {
    if (missing[k] == 0) start(k);
  }
  while (!places.empty()) {
    const std::uint32_t p = places.back();
    places.pop_back();
    for (const std::uint32_t k : needed_by[p]) {
      if (--missing[k] == 0) start(k);
    }
  }
  std::vector<TransitionId> dead;
  for (std::uint32_t k = 0; k < net.transitions.size(); ++k) {
    if (!alive[k]) dead.push_back(static_cast<TransitionId>(k));
  }
  return dead;
}

std::vector<std::vector<TransitionId>> components(const Net& net) {
  // The bipartite graph transition -> place -> transition; places come after transitions.
  const std::size_t n = net.transitions.size();
  std::vector<std::vector<std::uint32_t>> next(n + net.places.size());
  for (std::uint32_t k = 0; k < n; ++k) {
    for (const OutputArc& arc : net.transitions[k].outputs) {
      next[k].push_back(static_cast<std::uint32_t>(n + at(arc.place)));
    }
    for (const InputArc& arc : net.transitions[k].inputs) next[n + at(arc.place)].push_back(k);
  }
  std::vector<std::vector<TransitionId>> found;
  for (const std::vector<std::uint32_t>& members : strong_components(next)) {
    std::vector<TransitionId> component;
    for (const std::uint32_t member : members) {
      if (member < n) component.push_back(static_cast<TransitionId>(member));
    }
    if (!component.empty()) found.push_back(std::move(component));
  }
  return found;
}

std::vector<MarkedGraph> marked_graphs(const Net& net) {
  const std::vector<PlaceUse> uses = place_uses(net);
  UnionFind connected(net.transitions.size());
  std::vector<std::uint32_t> simple;
  for (std::uint32_t p = 0; p < net.places.size(); ++p) {
    const PlaceUse& use = uses[p];
    if (use.producers.size() != 1 || use.takers.size() != 1 || !use.readers.empty() ||
        !use.watchers.empty()) {
      continue;
    }
    const auto place = static_cast<PlaceId>(p);
    std::uint32_t number = 0;
    find_arc(net[use.takers.front()], place, number);
    const ArcFacts in = arc_facts(net, net[use.takers.front()], number);
    std::size_t emissions = 0;
    bool ones = in.weight == 1 && in.need == 1;
    for (const OutputArc& arc : net[use.producers.front()].outputs) {
      if (arc.place != place) continue;
      emissions += arc.emissions.size();
      for (const Emission& emission : arc.emissions) {
        ones = ones && is_constant(net, emission.count, 1);
      }
    }
    if (!ones || emissions != 1) continue;
    simple.push_back(p);
    connected.join(static_cast<std::uint32_t>(use.producers.front()),
                   static_cast<std::uint32_t>(use.takers.front()));
  }
  std::map<std::uint32_t, MarkedGraph> parts;
  for (std::uint32_t k = 0; k < net.transitions.size(); ++k) {
    parts[connected.find(k)].transitions.push_back(static_cast<TransitionId>(k));
  }
  for (const std::uint32_t p : simple) {
    parts[connected.find(static_cast<std::uint32_t>(uses[p].takers.front()))].places.push_back(
        static_cast<PlaceId>(p));
  }
  std::vector<MarkedGraph> found;
  for (auto& [key, part] : parts) {
    if (part.transitions.size() >= 2) found.push_back(std::move(part));
  }
  std::sort(found.begin(), found.end(), [](const MarkedGraph& a, const MarkedGraph& b) {
    return a.transitions.front() < b.transitions.front();
  });
  return found;
}

}  // namespace lpn

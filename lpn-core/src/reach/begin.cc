// From an input space to the states after instant 0: what is known of a net beforehand.
#include <fmt/format.h>

#include <algorithm>

#include "lpn/expr/eval.h"
#include "lpn/expr/total.h"
#include "lpn/net/bounds.h"
#include "lpn/net/facts.h"
#include "lpn/net/lower.h"
#include "lpn/run/latencies.h"
#include "stepper.h"

namespace lpn::reach {
namespace {

constexpr std::uint64_t kMostTokens = 1 << 20;
constexpr std::size_t kMostSetups = 1 << 12;

std::vector<DomainId> domains_of(TermSets& sets, const InputSpace& space) {
  std::vector<DomainId> domains;
  for (const Param& v : space.variables.params) {
    LPN_ASSERT(v.range.has_value());
    domains.push_back(v.range->lo > v.range->hi ? kForgotten : sets.domain({*v.range}));
  }
  return domains;
}

// Calls visit(arc, field) for every token property that a formula reads.
template <typename Visit>
void each_read(const ExprPool& pool, ExprId id, std::vector<bool>& seen, Visit&& visit) {
  if (seen.size() < pool.size()) seen.resize(pool.size());
  if (seen[static_cast<std::size_t>(id)]) return;
  seen[static_cast<std::size_t>(id)] = true;
  const Node& node = pool[id];
  if (node.op == Op::kToken) visit(node.a, node.b);
  for (int k = 0; k < op_info(node.op).arity; ++k) {
    each_read(pool, node.kids[static_cast<std::size_t>(k)], seen, visit);
  }
}

}  // namespace

Stepper::Stepper(const Net& net, const InputSpace& space, const ReachQuestion& question,
                 const ReachOptions& options)
    : declared_(net),
      net_(lower(net)),
      space_(space),
      question_(question),
      options_(options),
      pool_(space.variables.exprs),
      sets_(pool_, space.variables.params.size()),
      domains_(domains_of(sets_, space)),
      sums_(sets_, space.constraints, domains_),
      arcs_(net_.transitions.size()),
      neighbours_(net_.places.size()) {
  for (std::size_t k = 0; k < net_.transitions.size(); ++k) {
    const Transition& t = net_.transitions[k];
    clocked_ = clocked_ || t.clock.has_value();
    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
      const auto place = static_cast<std::size_t>(t.inputs[a].place);
      arcs_[k].push_back({place, t.inputs[a].inhibit, arc_facts(net_, t, a).reads_head});
      neighbours_[place].push_back(static_cast<std::uint32_t>(k));
    }
  }
  for (const Place& place : net_.places) {
    width_.push_back(net_[place.type].fields.size());
    has_done_ = has_done_ || place.done;
  }
  needs_done_ = net_.done_count.has_value() || space.done_count.has_value() ||
                question_.what == ReachQuestion::What::kCompletion;
  born_.resize(net_.places.size());
  if (question_.what == ReachQuestion::What::kResponse) {
    const auto p = static_cast<std::size_t>(question_.place);
    born_[p] = birth_field(net_.type_of(question_.place));
  }
  find_live();
  for (const ExprId constraint : space.constraints) read_differences(constraint);
}

Stepper::~Stepper() = default;

// Properties on which nothing that happens can depend need not be remembered. What may fail is
// evaluated all the same, and so are the properties it reads.
void Stepper::find_live() {
  for (std::size_t p = 0; p < net_.places.size(); ++p) {
    live_.emplace_back(width_[p], false);
    if (born_[p]) live_[p][*born_[p]] = true;  // of the place that is asked about
  }
  for (const Transition& t : net_.transitions) {
    NetBounds bounds(net_, &t);
    Totality total(bounds);
    auto& arcs = safe_.emplace_back();
    for (const OutputArc& arc : t.outputs) {
      const auto& fields = net_.type_of(arc.place).fields;
      auto& emissions = arcs.emplace_back();
      for (const Emission& emission : arc.emissions) {
        auto& safe = emissions.emplace_back();
        for (std::size_t f = 0; f < fields.size(); ++f) {
          const ExprId id = emission.fields[f].id;
          const Range range = bounds.of(id);
          const bool inside = !fields[f].range ||
                              (range.lo >= fields[f].range->lo && range.hi <= fields[f].range->hi);
          safe.push_back(total(id) && inside);
        }
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < net_.transitions.size(); ++k) {
      const Transition& t = net_.transitions[k];
      std::vector<bool> seen;
      for_each_formula(t, [&](const Formula& formula, const Site& site) {
        if (site.kind == SiteKind::kField) {
          const auto target = static_cast<std::size_t>(t.outputs[site.arc].place);
          if (!live_[target][site.field] && safe_[k][site.arc][site.emission][site.field]) return;
        }
        each_read(net_.exprs, formula.id, seen, [&](std::uint32_t arc, std::uint32_t field) {
          std::vector<bool>& live = live_[arcs_[k][arc].place];
          if (live[field]) return;
          live[field] = true;
          changed = true;
        });
      });
    }
  }
}

// A term with what is decided in it.
Value Stepper::resolved(const State& state, ExprId term) {
  Value value = sets_.value(term);
  if (value.decided()) return value;
  const std::vector<std::uint32_t> reads = sets_.variables(term);
  for (const std::uint32_t v : reads) {
    const Domain& domain = sets_[state.domains[v]];
    if (domain.count == 1) value = sets_.decided(value, v, domain.ranges.front().lo);
  }
  return value;
}

void Stepper::begin(std::vector<State>& out) {
  if (question_.what == ReachQuestion::What::kResponse) find_births();
  State state;
  state.domains = domains_;
  state.spent.resize(sums_.count());
  for (const DomainId domain : domains_) {
    if (domain == kForgotten) return;  // no input
  }
  for (std::size_t v = 0; v < domains_.size(); ++v) {
    if (sets_[domains_[v]].count == 1) {
      restrict(state, static_cast<std::uint32_t>(v), domains_[v]);
    }
  }
  if (!sums_.fit(state.domains, state.spent)) return;
  std::vector<State> open{std::move(state)};
  while (!open.empty()) {
    tick();
    open_ = open.size() * bytes_of(open.back());
    for (const State& state : out) open_ += bytes_of(state);
    State each = std::move(open.back());
    open.pop_back();
    try {
      prepare(each, out);
    } catch (const Undecided& undecided) {
      split(each, undecided.term, open);
    } catch (const EvalFault&) {
      may_fail = true;
    }
  }
  open_ = 0;
}

// Parameters and numbers of tokens must be known; then the tokens are placed.
void Stepper::prepare(State state, std::vector<State>& out) {
  const auto known = [&](ExprId term) {
    const Value value = resolved(state, term);
    if (!value.decided()) throw Undecided{value.id()};
    return value.number;
  };
  Setup setup;
  for (std::size_t k = 0; k < space_.params.size(); ++k) {
    const std::int64_t value = known(space_.params[k]);
    const auto& range = net_.params[k].range;
    if (range && (value < range->lo || value > range->hi)) throw EvalFault{Fault::kRange, value};
    setup.params.push_back(value);
  }
  const auto of = [&](const Formula& formula, std::int64_t least, std::int64_t index = 0) {
    const std::int64_t value = eval_params(net_.exprs, formula.id, setup.params, index);
    if (value < least) throw EvalFault{Fault::kRange, value};
    return value;
  };
  for (const Transition& t : net_.transitions) {
    setup.servers.push_back(t.servers ? static_cast<std::uint64_t>(of(*t.servers, 1)) : 0);
    setup.period.push_back(t.clock ? of(t.clock->period, 1) : 0);
    setup.phase.push_back(t.clock ? of(t.clock->phase, 0) : 0);
    if (setup.period.back() > kLongest || setup.phase.back() > kLongest) {
      throw NotCovered("a clock's period is too long");
    }
  }
  if (net_.done_count) setup.done = static_cast<std::uint64_t>(of(*net_.done_count, 0));
  if (space_.done_count) setup.done = space_.done_count;
  state.queues.resize(net_.places.size());
  for (std::size_t p = 0; p < net_.places.size(); ++p) {
    for (const Initial& initial : net_.places[p].initial) {
      const std::int64_t count = of(initial.count, 0);
      if (width_[p] == 0) {
        state.queues[p].free += static_cast<std::uint64_t>(count);
        continue;
      }
      if (count > static_cast<std::int64_t>(kMostTokens)) throw NotCovered("too many tokens");
      for (std::int64_t i = 0; i < count; ++i) {
        std::vector<Value> row;
        for (const Formula& field : initial.fields) {
          row.push_back({eval_params(net_.exprs, field.id, setup.params, i), Value::kNumber});
        }
        if (born_[p] && row[*born_[p]].number != 0) {
          throw NotCovered("tokens are born at another time than they arrive");
        }
        place(state, p, std::move(row), 1);
      }
    }
  }
  for (const InputSpace::Tokens& tokens : space_.tokens) {
    const auto p = static_cast<std::size_t>(tokens.place);
    std::uint64_t count = tokens.rows.size();
    if (tokens.count) {
      const std::int64_t given = known(*tokens.count);
      if (given < 0 || static_cast<std::uint64_t>(given) > count) {
        throw EvalFault{Fault::kRange, given};
      }
      count = static_cast<std::uint64_t>(given);
    }
    for (std::uint64_t k = 0; k < count; ++k) {
      std::vector<Value> row;
      for (const ExprId term : tokens.rows[k]) row.push_back(resolved(state, term));
      const Value at = tokens.at.empty() ? Value{} : resolved(state, tokens.at[k]);
      if (born_[p] && !(row[*born_[p]] == at)) {
        throw NotCovered("tokens are born at another time than they arrive");
      }
      if (tokens.at.empty()) {
        place(state, p, std::move(row), 1);
        continue;
      }
      check(state, p, row);
      state.arrivals.push_back({static_cast<std::uint32_t>(p), 0, at,
                                std::make_shared<std::vector<Value>>(std::move(row))});
    }
  }
  for (std::size_t p = 0; p < net_.places.size(); ++p) {
    if (!net_.places[p].credit_of) continue;
    const PlaceId full = *net_.places[p].credit_of;
    const auto slots = static_cast<std::uint64_t>(of(*net_[full].capacity, 0));
    const std::uint64_t there = state.queues[static_cast<std::size_t>(full)].free;
    if (there > slots) throw EvalFault{Fault::kRange};
    state.queues[p].free = slots - there;
  }
  if (setups_.size() >= kMostSetups) throw NotCovered("too many values of parameters");
  state.setup = static_cast<std::uint32_t>(setups_.size());
  setups_.push_back(std::move(setup));
  for (std::uint32_t k = 0; k < net_.transitions.size(); ++k) state.dirty.push_back(k);
  if (question_.what == ReachQuestion::What::kBacklog) {
    const Queue& asked = state.queues[static_cast<std::size_t>(question_.place)];
    record(static_cast<std::int64_t>(asked.free), static_cast<std::int64_t>(asked.free));
  }
  if (question_.what == ReachQuestion::What::kResponse &&
      state.queues[static_cast<std::size_t>(question_.place)].free > 0) {
    record(0, 0);  // born where they stay
  }
  if (!schedule(state)) return;
  arrive(std::move(state), 0, out);
}

void Stepper::place(State& state, std::size_t place, std::vector<Value> row, std::uint64_t count) {
  Queue& queue = state.queues[place];
  queue.free += count;
  if (queue.free > kMostTokens && width_[place] != 0) throw NotCovered("too many tokens");
  if (width_[place] == 0) return;
  if (!queue.rows) queue.rows = std::make_shared<std::vector<Value>>();
  require_room(2 * queue.rows->size() * sizeof(Value));
  check(state, place, row);
  for (const Value& value : row) queue.rows->push_back(value);
}

// Properties must be in their ranges; those that nobody reads are forgotten.
void Stepper::check(const State& state, std::size_t place, std::vector<Value>& row) {
  const auto& fields = net_.type_of(static_cast<PlaceId>(place)).fields;
  for (std::size_t f = 0; f < row.size(); ++f) {
    if (fields[f].range) {
      Span span{{row[f].number, row[f].number}, 1, false};
      if (!row[f].decided()) span = sets_.span(row[f].id(), state.domains);
      if (span.may_fail || span.range.lo < fields[f].range->lo ||
          span.range.hi > fields[f].range->hi) {
        may_fail = true;
      }
      if (span.range.hi < fields[f].range->lo || span.range.lo > fields[f].range->hi) {
        throw EvalFault{Fault::kRange};
      }
    } else if (!row[f].decided() && sets_.span(row[f].id(), state.domains).may_fail) {
      may_fail = true;
    }
    if (!live_[place][f]) row[f] = {};
  }
}

}  // namespace lpn::reach

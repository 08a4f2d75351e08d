#include "lpn/structure/invariants.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"
#include "lpn/net/bounds.h"
#include "structure/amounts.h"
#include "structure/exact_lp.h"

namespace lpn {
namespace {

std::size_t at(PlaceId p) { return static_cast<std::size_t>(p); }
std::size_t at(TransitionId t) { return static_cast<std::size_t>(t); }

// Moves, puts and needs of one transition.
struct Firing {
  std::map<std::uint32_t, Amount> change;              // per place that can be weighed
  std::vector<std::map<ExprId, std::int64_t>> modes;   // what atoms can be together
  std::vector<std::pair<ExprId, Range>> atoms;         // the others, one by one
  std::map<std::uint32_t, std::int64_t> needs, takes;  // at least, where not 0
  std::set<std::uint32_t> wants_empty;
};

}  // namespace

struct Invariants::Impl {
  // A weighted place; or a place and its credits as one, whose sum never changes.
  struct Column {
    PlaceId place{};  // the place that a `pair` bounds
    bool pair = false;
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Proof {
    std::map<std::uint32_t, std::int64_t> weights;  // column -> integer
  };

  const Net& net;
  std::vector<Column> columns;
  std::vector<std::int64_t> cost;                 // per column: its tokens at time 0, at most
  std::vector<std::uint32_t> column_of, pair_of;  // per place, or kNone
  std::vector<Firing> firings;
  Programme programme;
  mutable std::int64_t budget = 10'000'000;  // what the searches may look at, all together

  Impl(const Net& given, Feasibility* solver)
      : net(given), column_of(net.places.size(), kNone), pair_of(net.places.size(), kNone) {
    make_columns();
    for (std::uint32_t k = 0; k < net.transitions.size(); ++k) look_at(k, solver);
    std::vector<std::vector<std::map<std::uint32_t, std::int64_t>>> rows;
    for (Firing& firing : firings) rows.push_back(rows_of(firing));
    programme.columns.resize(columns.size());
    for (auto& of_transition : rows) {
      for (auto& row : of_transition) {
        // A column may have been dropped by a later transition.
        std::erase_if(row, [&](const auto& entry) { return dropped(entry.first); });
        programme.add_row(row);
      }
    }
  }

  bool dropped(std::uint32_t column) const {
    return !columns[column].pair && column_of[at(columns[column].place)] != column;
  }

  // ---- tokens at time 0 ----------------------------------------------------------------------

  Range initial(PlaceId place) const {
    Wide lo = 0, hi = 0;
    for (const Initial& group : net[place].initial) {
      const Range r = bounds(net, nullptr, group.count.id);
      lo += std::max<std::int64_t>(r.lo, 0);
      hi += std::max<std::int64_t>(r.hi, 0);
    }
    return {static_cast<std::int64_t>(std::min<Wide>(lo, kTooMany)),
            static_cast<std::int64_t>(std::min<Wide>(hi, kTooMany))};
  }

  std::uint32_t add_column(PlaceId place, bool pair, std::int64_t tokens) {
    if (tokens >= kTooMany) return kNone;
    columns.push_back({place, pair});
    cost.push_back(tokens);
    return static_cast<std::uint32_t>(columns.size() - 1);
  }

  void make_columns() {
    for (std::uint32_t p = 0; p < net.places.size(); ++p) {
      const auto place = static_cast<PlaceId>(p);
      if (!net.places[p].credit_of) {
        if (!net.places[p].start) column_of[p] = add_column(place, false, initial(place).hi);
        continue;
      }
      const PlaceId bounded = *net.places[p].credit_of;
      const std::int64_t capacity =
          std::max<std::int64_t>(bounds(net, nullptr, net[bounded].capacity->id).hi, 0);
      pair_of[p] = pair_of[at(bounded)] = add_column(bounded, true, capacity);
      if (net[bounded].start || capacity >= kTooMany) continue;
      column_of[p] =
          add_column(place, false, std::max<std::int64_t>(capacity - initial(bounded).lo, 0));
    }
  }

  // ---- what firings change -------------------------------------------------------------------

  void look_at(std::uint32_t k, Feasibility* solver) {
    const Transition& t = net.transitions[k];
    Amounts amounts(net, static_cast<TransitionId>(k), solver);
    Firing& firing = firings.emplace_back();
    const auto add = [&](PlaceId place, ExprId id, std::int64_t factor) {
      const auto p = static_cast<std::uint32_t>(place);
      if (net[place].credit_of) return;  // the opposite of its place
      const std::uint32_t credit = credit_place(p);
      if (column_of[p] == kNone && (credit == kNone || column_of[credit] == kNone)) return;
      try {
        firing.change[p].add(amounts.of(id), factor);
      } catch (const GiveUp&) {
        drop(p);
        if (credit != kNone) drop(credit);
        firing.change.erase(p);
      }
    };
    for (const InputArc& arc : t.inputs) {
      const auto p = static_cast<std::uint32_t>(arc.place);
      if (arc.inhibit) {
        firing.wants_empty.insert(p);
        continue;
      }
      add(arc.place, arc.weight.id, -1);
      if (const auto n = guarded([&] { return amounts.least_needed(arc); })) firing.needs[p] = n;
      if (const auto n = guarded([&] { return amounts.least_taken(arc); })) firing.takes[p] = n;
    }
    for (const OutputArc& arc : t.outputs) {
      for (const Emission& emission : arc.emissions) add(arc.place, emission.count.id, 1);
    }
    std::set<ExprId> atoms;
    for (const auto& [place, amount] : firing.change) {
      for (const auto& [id, factor] : amount.atoms) atoms.insert(id);
    }
    std::set<ExprId> together;
    firing.modes = amounts.modes(atoms, together);
    for (const ExprId id : atoms) {
      if (!together.contains(id)) firing.atoms.emplace_back(id, amounts.range(id));
    }
  }

  static std::int64_t guarded(const std::function<std::int64_t()>& number) {
    try {
      return number();
    } catch (const GiveUp&) {
      return 0;
    }
  }

  std::uint32_t credit_place(std::uint32_t p) const {
    if (pair_of[p] == kNone) return kNone;
    if (credits_.empty()) {
      for (std::uint32_t c = 0; c < net.places.size(); ++c) {
        if (net.places[c].credit_of) {
          credits_.emplace(static_cast<std::uint32_t>(*net.places[c].credit_of), c);
        }
      }
    }
    return credits_.at(p);
  }
  mutable std::unordered_map<std::uint32_t, std::uint32_t> credits_;

  void drop(std::uint32_t p) { column_of[p] = kNone; }

  // The weighted sum must not grow whatever values the atoms have. Those with modes have them all
  // tried; in the others it is linear, so the extremes suffice, and of many or wide ones each must
  // do no harm by itself.
  std::vector<std::map<std::uint32_t, std::int64_t>> rows_of(const Firing& firing) {
    constexpr std::size_t kCorners = 3;
    constexpr std::int64_t kWide = 1 << 16;
    using Row = std::map<std::uint32_t, std::int64_t>;
    std::vector<std::pair<ExprId, std::int64_t>> corners;  // atom, width
    std::vector<ExprId> alone;
    std::map<ExprId, std::int64_t> least;
    for (const auto& [id, range] : firing.atoms) {
      const bool known = range.lo <= kWide;
      least[id] = known ? range.lo : 0;
      const Wide width = Wide{range.hi} - least[id];
      if (width == 0) continue;
      if (width <= kWide && corners.size() < kCorners)
        corners.emplace_back(id, static_cast<std::int64_t>(width));
      else
        alone.push_back(id);
    }
    const std::size_t corner_count = std::size_t{1} << corners.size();
    const std::size_t row_count = firing.modes.size() * corner_count;
    std::vector<Row> rows(row_count + alone.size());
    for (const auto& change : firing.change) {
      const std::uint32_t p = change.first;
      const auto& amount = change.second;
      const auto factor = [&amount](ExprId id) {
        const auto it = amount.atoms.find(id);
        return it == amount.atoms.end() ? 0 : it->second;
      };
      const auto set = [&](std::size_t row, std::int64_t growth) {
        if (growth == 0) return;
        const std::uint32_t credit = credit_place(p);
        if (column_of[p] != kNone) rows[row][column_of[p]] = -growth;
        if (credit != kNone && column_of[credit] != kNone) rows[row][column_of[credit]] = growth;
      };
      try {
        Wide base = amount.constant;
        for (const auto& [id, value] : least) base += Wide{factor(id)} * value;
        for (std::size_t row = 0; row < row_count; ++row) {
          Wide growth = base;
          for (const auto& [id, value] : firing.modes[row / corner_count]) {
            growth += Wide{factor(id)} * Amount::checked(value);
          }
          for (std::size_t k = 0; k < corners.size(); ++k) {
            if ((row % corner_count >> k & 1) == 0) continue;
            growth += Wide{factor(corners[k].first)} * corners[k].second;
          }
          set(row, Amount::checked(growth));
        }
        for (std::size_t k = 0; k < alone.size(); ++k) set(row_count + k, factor(alone[k]));
      } catch (const GiveUp&) {
        const std::uint32_t credit = credit_place(p);
        drop(p);
        if (credit != kNone) drop(credit);
      }
    }
    // Several ways may change these places alike.
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  // ---- proofs --------------------------------------------------------------------------------

  // `work`: what the search may look at; a search that has nothing to lose gets less.
  std::optional<Proof> search(const std::map<std::uint32_t, std::int64_t>& goal,
                              const std::vector<std::int64_t>& costs, std::int64_t work) const {
    try {
      const auto solution = Simplex(programme, costs, work, budget).solve(goal);
      if (solution) return proof_of(*solution);
    } catch (const GiveUp&) {
    }
    return std::nullopt;
  }

  // In integers, checked. Throws GiveUp when they become too large.
  Proof proof_of(const Weights& solution) const {
    Wide scale = 1;
    for (const auto& [column, weight] : solution) {
      scale = times(scale, weight.den / gcd(scale, weight.den));
    }
    Proof proof;
    for (const auto& [column, weight] : solution) {
      const Wide integer = times(weight.num, scale / weight.den);
      if (integer > kTooMany) throw GiveUp{};
      proof.weights.emplace(column, static_cast<std::int64_t>(integer));
    }
    // What a place and its credits share rests on the capacity alone.
    const Proof found = proof;
    for (const auto& [column, weight] : found.weights) {
      const auto p = static_cast<std::uint32_t>(columns[column].place);
      if (columns[column].pair || pair_of[p] == kNone || net.places[p].credit_of) continue;
      const std::uint32_t credit = column_of[credit_place(p)];
      const auto other = found.weights.find(credit);
      if (credit == kNone || other == found.weights.end()) continue;
      const std::int64_t shared = std::min(weight, other->second);
      proof.weights[pair_of[p]] += shared;
      for (const std::uint32_t c : {column, credit}) {
        if ((proof.weights.at(c) -= shared) == 0) proof.weights.erase(c);
      }
    }
    check(proof);
    return proof;
  }

  // That no firing adds to the weighted sum, in integers and without the search's tables.
  void check(const Proof& proof) const {
    std::set<std::uint32_t> touched;
    for (const auto& [column, weight] : proof.weights) {
      LPN_ASSERT(weight > 0);
      for (const auto& [row, value] : programme.columns[column]) touched.insert(row);
    }
    for (const std::uint32_t row : touched) {
      Wide sum = 0;
      for (const auto& [column, value] : programme.rows[row]) {
        const auto it = proof.weights.find(column);
        if (it != proof.weights.end()) sum = plus(sum, times(value, it->second));
      }
      LPN_ASSERT(sum >= 0);
    }
  }

  Wide tokens_at_start(const Proof& proof) const {
    Wide sum = 0;
    for (const auto& [column, weight] : proof.weights) {
      sum = plus(sum, times(cost[column], weight));
    }
    return sum;
  }

  // Weight that a place shares with its credits needs no initial count.
  std::vector<PlaceId> relies_on(const Proof& proof) const {
    std::set<PlaceId> places;
    for (const auto& [column, weight] : proof.weights) {
      const Column& c = columns[column];
      if (!c.pair) places.insert(net[c.place].credit_of.value_or(c.place));
    }
    return {places.begin(), places.end()};
  }

  // The best bound that was found for a place, by questions about others too.
  mutable std::unordered_map<std::uint32_t, TokenBound> best;

  void learn(const Proof& proof) const {
    try {
      const Wide total = tokens_at_start(proof);
      auto invariant = std::make_shared<PlaceInvariant>();
      std::map<PlaceId, std::int64_t> weights;
      for (const auto& [column, weight] : proof.weights) {
        const Column& c = columns[column];
        weights[c.place] += weight;
        if (!c.pair) continue;
        weights[static_cast<PlaceId>(credit_place(static_cast<std::uint32_t>(c.place)))] += weight;
      }
      invariant->weights.assign(weights.begin(), weights.end());
      invariant->relies_on = relies_on(proof);
      for (const auto& [place, weight] : weights) {
        const auto tokens = static_cast<std::int64_t>(total / weight);
        const auto [it, is_new] = best.try_emplace(static_cast<std::uint32_t>(place));
        // What rests on fewer initial tokens is of more use.
        const auto merit = [](const TokenBound& b) {
          return std::pair(b.tokens, b.because->relies_on.size());
        };
        const TokenBound bound{tokens, invariant};
        if (is_new || merit(bound) < merit(it->second)) it->second = bound;
      }
    } catch (const GiveUp&) {
    }
  }

  std::optional<TokenBound> bound(PlaceId place) const {
    const auto p = static_cast<std::uint32_t>(place);
    const auto known = [&]() -> std::optional<TokenBound> {
      const auto it = best.find(p);
      if (it == best.end()) return std::nullopt;
      return it->second;
    };
    std::map<std::uint32_t, std::int64_t> goal;
    if (pair_of[p] != kNone) {
      if (!best.contains(p)) learn({{{pair_of[p], 1}}});
      goal.emplace(pair_of[p], 1);
    }
    // Only a place that is never filled has a bound of 0, and that is no use to anybody.
    if (const auto found = known(); found && found->tokens <= 1) return found;
    if (column_of[p] == kNone) return known();
    goal.emplace(column_of[p], 1);
    try {
      const Forced least = forced(programme, column_of[p]);
      if (least.weights) learn(proof_of(*least.weights));
      if (least.decided) return known();
    } catch (const GiveUp&) {
    }
    const std::int64_t work = best.contains(p) ? Simplex::kLittleWork : Simplex::kMuchWork;
    if (const auto proof = search(goal, cost, work)) learn(*proof);
    return known();
  }

  // Whether no reachable state has as many tokens as `needs`: its weighted sum would be larger than
  // that at time 0.
  bool unreachable(const std::map<std::uint32_t, std::int64_t>& needs,
                   std::vector<PlaceId>* relied) const {
    std::map<std::uint32_t, std::int64_t> goal;
    for (std::uint32_t column = 0; column < columns.size(); ++column) {
      if (!dropped(column) && cost[column] != 0) goal[column] -= cost[column];
    }
    for (const auto& [p, n] : needs) {
      for (const std::uint32_t column : {column_of[p], pair_of[p]}) {
        if (column != kNone) goal[column] += n;
      }
    }
    if (std::none_of(goal.begin(), goal.end(), [](const auto& e) { return e.second > 0; }))
      return false;
    const std::vector<std::int64_t> ones(columns.size(), 1);
    const auto proof = search(goal, ones, Simplex::kMuchWork);
    if (!proof) return false;
    try {
      Wide sum = 0;
      for (const auto& [column, weight] : proof->weights) {
        if (const auto it = goal.find(column); it != goal.end()) {
          sum = plus(sum, times(it->second, weight));
        }
      }
      LPN_ASSERT(sum > 0);
    } catch (const GiveUp&) {
      return false;
    }
    if (relied != nullptr) {
      const std::vector<PlaceId> more = relies_on(*proof);
      std::vector<PlaceId> all;
      std::set_union(relied->begin(), relied->end(), more.begin(), more.end(),
                     std::back_inserter(all));
      *relied = std::move(all);
    }
    return true;
  }

  static bool meet(const std::set<std::uint32_t>& empty,
                   const std::map<std::uint32_t, std::int64_t>& present) {
    return std::any_of(empty.begin(), empty.end(),
                       [&](std::uint32_t p) { return present.contains(p); });
  }

  bool exclusive(const Firing& a, const Firing& b, std::vector<PlaceId>* relied) const {
    if (meet(a.wants_empty, b.needs) || meet(b.wants_empty, a.needs)) return true;
    std::map<std::uint32_t, std::int64_t> needs = a.needs;
    for (const auto& [p, n] : b.needs) needs[p] = std::max(needs[p], n);
    return unreachable(needs, relied);
  }

  // A firing of `a` in flight has locked its tokens; `b` needs free ones.
  bool locks_out(const Firing& a, const Firing& b, std::vector<PlaceId>* relied) const {
    if (meet(b.wants_empty, a.takes)) return true;
    std::map<std::uint32_t, std::int64_t> needs = b.needs;
    for (const auto& [p, n] : a.takes) needs[p] += n;
    return unreachable(needs, relied);
  }
};

Invariants::Invariants(const Net& lowered, Feasibility* solver)
    : impl_(std::make_unique<Impl>(lowered, solver)) {}
Invariants::~Invariants() = default;
Invariants::Invariants(Invariants&&) noexcept = default;
Invariants& Invariants::operator=(Invariants&&) noexcept = default;

std::optional<TokenBound> Invariants::bound(PlaceId place) const { return impl_->bound(place); }

bool Invariants::mutually_exclusive(std::span<const TransitionId> transitions,
                                    std::vector<PlaceId>* relies_on) const {
  std::vector<PlaceId> relied;
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    for (std::size_t j = i + 1; j < transitions.size(); ++j) {
      const Firing& a = impl_->firings[at(transitions[i])];
      const Firing& b = impl_->firings[at(transitions[j])];
      if (transitions[i] == transitions[j] || !impl_->exclusive(a, b, &relied)) return false;
    }
  }
  if (relies_on != nullptr) *relies_on = std::move(relied);
  return true;
}

bool Invariants::never_overlap(TransitionId a, TransitionId b,
                               std::vector<PlaceId>* relies_on) const {
  const Firing& x = impl_->firings[at(a)];
  const Firing& y = impl_->firings[at(b)];
  std::vector<PlaceId> relied;
  const auto& servers = impl_->net[a].servers;
  const bool one_server =
      a == b && servers && lpn::bounds(impl_->net, nullptr, servers->id).hi <= 1;
  if (!one_server &&
      (!impl_->locks_out(x, y, &relied) || (a != b && !impl_->locks_out(y, x, &relied)))) {
    return false;
  }
  if (relies_on != nullptr) *relies_on = std::move(relied);
  return true;
}

std::optional<std::int64_t> token_bound(const Net& lowered, PlaceId place) {
  const auto found = Invariants(lowered).bound(place);
  if (!found) return std::nullopt;
  return found->tokens;
}

bool at_most_one_token(const Net& lowered, PlaceId place) {
  const auto found = token_bound(lowered, place);
  return found && *found <= 1;
}

bool mutually_exclusive(const Net& lowered, std::span<const TransitionId> transitions) {
  return Invariants(lowered).mutually_exclusive(transitions);
}

}  // namespace lpn

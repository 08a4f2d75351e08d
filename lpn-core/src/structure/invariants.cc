#include "lpn/structure/invariants.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"
#include "lpn/expr/eval.h"
#include "lpn/expr/range.h"

namespace lpn {
namespace {

std::size_t at(PlaceId p) { return static_cast<std::size_t>(p); }
std::size_t at(TransitionId t) { return static_cast<std::size_t>(t); }

// ---- exact rationals -------------------------------------------------------------------------

// The search is given up; nothing is claimed.
struct GiveUp {};

Wide times(Wide a, Wide b) {
  Wide r = 0;
  if (__builtin_mul_overflow(a, b, &r)) throw GiveUp{};
  return r;
}
Wide plus(Wide a, Wide b) {
  Wide r = 0;
  if (__builtin_add_overflow(a, b, &r)) throw GiveUp{};
  return r;
}
Wide gcd(Wide a, Wide b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b != 0) {
    const Wide r = a % b;
    a = b;
    b = r;
  }
  return a;
}

// In lowest terms, the denominator positive; 128 bits or GiveUp.
struct Rational {
  Wide num = 0, den = 1;

  Rational() = default;
  Rational(Wide n) : num(n) {}  // NOLINT: integers are rationals
  Rational(Wide n, Wide d) : num(n), den(d) {
    if (den < 0) num = times(num, -1), den = times(den, -1);
    const Wide g = gcd(num, den);
    if (g > 1) num /= g, den /= g;
  }
  bool is_zero() const { return num == 0; }
  bool negative() const { return num < 0; }
  bool positive() const { return num > 0; }
};
Rational operator*(const Rational& a, const Rational& b) {
  if (a.is_zero() || b.is_zero()) return {};
  const Wide g = gcd(a.num, b.den), h = gcd(b.num, a.den);
  return {times(a.num / g, b.num / h), times(a.den / h, b.den / g)};
}
Rational operator+(const Rational& a, const Rational& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  if (a.den == 1 && b.den == 1) return {plus(a.num, b.num)};
  return {plus(times(a.num, b.den), times(b.num, a.den)), times(a.den, b.den)};
}
Rational inverse(const Rational& a) { return {a.den, a.num}; }
Rational negated(const Rational& a) { return {times(a.num, -1), a.den}; }
bool operator<(const Rational& a, const Rational& b) {
  return times(a.num, b.den) < times(b.num, a.den);
}

// ---- the linear programme --------------------------------------------------------------------

using Sparse = std::vector<std::pair<std::uint32_t, std::int64_t>>;

// Columns are weights y >= 0; each row says sum(coefficient * y) >= 0.
struct Programme {
  std::vector<Sparse> rows;     // (column, coefficient)
  std::vector<Sparse> columns;  // (row, coefficient)

  void add_row(const std::map<std::uint32_t, std::int64_t>& row) {
    if (std::all_of(row.begin(), row.end(), [](const auto& e) { return e.second >= 0; })) return;
    const auto number = static_cast<std::uint32_t>(rows.size());
    rows.emplace_back();
    for (const auto& [column, value] : row) {
      if (value == 0) continue;
      rows.back().emplace_back(column, value);
      columns[column].emplace_back(number, value);
    }
  }
};

using Weights = std::map<std::uint32_t, Rational>;

// The least weights with a weight of 1 for `from` where each follows from those before: a firing
// that adds to the sum takes from one other column only, which must then weigh as much. Answers
// long chains and rings, in which the simplex method below is slow. Where a firing takes from no
// other column there are no weights at all; where there is a choice, nothing is decided.
struct Forced {
  bool decided = false;
  std::optional<Weights> weights;
};
Forced forced(const Programme& programme, std::uint32_t from) {
  constexpr int kMaxVisits = 16;  // of a row; weights that multiply round a loop never end
  Weights weights{{from, Rational(1)}};
  std::map<std::uint32_t, int> visits;
  std::vector<std::uint32_t> columns{from};
  while (!columns.empty()) {
    const std::uint32_t column = columns.back();
    columns.pop_back();
    for (const auto& [row, own] : programme.columns[column]) {
      if (own >= 0) continue;  // more weight here only helps
      Rational sum;
      std::optional<std::pair<std::uint32_t, std::int64_t>> helper;
      bool choice = false;
      for (const auto& [other, value] : programme.rows[row]) {
        if (value > 0) {
          choice |= helper.has_value();
          helper.emplace(other, value);
        }
        const auto it = weights.find(other);
        if (it != weights.end()) sum = sum + it->second * Rational(value);
      }
      if (!sum.negative()) continue;
      if (!helper) return {true, std::nullopt};
      if (choice || ++visits[row] > kMaxVisits) return {};
      auto& weight = weights[helper->first];
      weight = weight + negated(sum) * inverse(Rational(helper->second));
      columns.push_back(helper->first);
    }
  }
  return {true, std::move(weights)};
}

// Least cost * y with every row, and sum(goal * y) >= 1. All costs are >= 0, so the dual simplex
// method needs no first phase; it works on the dictionary (basic = constant + nonbasic terms) and
// touches only what the goal reaches, however large the net is.
class Simplex {
 public:
  static constexpr std::int64_t kMuchWork = 200'000;  // terms looked at
  static constexpr std::int64_t kLittleWork = 5'000;

  Simplex(const Programme& programme, const std::vector<std::int64_t>& cost, std::int64_t work,
          std::int64_t& budget)
      : programme_(programme),
        cost_(cost),
        work_(work),
        budget_(budget),
        first_slack_(static_cast<std::uint32_t>(programme.columns.size())),
        goal_slack_(first_slack_ + static_cast<std::uint32_t>(programme.rows.size())) {}

  // The columns that are not 0; none: there is no solution. Throws GiveUp.
  std::optional<Weights> solve(const std::map<std::uint32_t, std::int64_t>& goal) {
    Row row;
    row.constant = Rational(-1);
    for (const auto& [column, value] : goal) {
      if (value != 0) row.terms.emplace(column, Rational(value));
    }
    put(goal_slack_, std::move(row));
    spend(static_cast<std::int64_t>(goal.size()));
    for (int pivots = 0; !negative_.empty(); ++pivots) {
      if (pivots > kMaxPivots) throw GiveUp{};
      // Bland's rule, the least number among candidates, cannot cycle; while there is progress, the
      // most negative constant needs fewer steps.
      std::uint32_t leaving = *negative_.begin();
      if (pivots < kFreePivots) {
        for (const std::uint32_t basic : negative_) {
          if (rows_.at(basic).constant < rows_.at(leaving).constant) leaving = basic;
        }
      }
      std::optional<std::uint32_t> entering;
      Rational best;
      for (const auto& [column, value] : rows_.at(leaving).terms) {
        spend(1);
        if (!value.positive()) continue;
        const Rational ratio = reduced(column) * inverse(value);
        if (!entering || ratio < best) entering = column, best = ratio;
      }
      if (!entering) return std::nullopt;
      pivot(leaving, *entering);
    }
    Weights solution;
    for (const auto& [basic, found] : rows_) {
      if (basic < first_slack_ && !found.constant.is_zero())
        solution.emplace(basic, found.constant);
    }
    return solution;
  }

 private:
  static constexpr int kMaxPivots = 4'000;
  static constexpr int kFreePivots = 400;

  struct Row {
    Rational constant;
    std::map<std::uint32_t, Rational> terms;
  };

  void spend(std::int64_t work) {
    work_ -= work;
    budget_ -= work;
    if (work_ < 0 || budget_ < 0) throw GiveUp{};
  }

  Rational reduced(std::uint32_t variable) const {
    if (const auto it = reduced_.find(variable); it != reduced_.end()) return it->second;
    return variable < first_slack_ ? Rational(cost_[variable]) : Rational(0);
  }

  void put(std::uint32_t basic, Row row) {
    for (const auto& [column, value] : row.terms) where_[column].insert(basic);
    if (row.constant.negative()) negative_.insert(basic);
    rows_[basic] = std::move(row);
  }

  // Rows of the programme appear here when a column of theirs is about to enter, so that those that
  // have not appeared read nonbasic columns only.
  void appear(std::uint32_t column) {
    if (column >= first_slack_) return;
    for (const auto& [number, value] : programme_.columns[column]) {
      if (!appeared_.insert(number).second) continue;
      Row row;
      for (const auto& [other, coefficient] : programme_.rows[number]) {
        row.terms.emplace(other, Rational(coefficient));
        spend(1);
      }
      put(first_slack_ + number, std::move(row));
    }
  }

  void pivot(std::uint32_t leaving, std::uint32_t entering) {
    appear(entering);
    Row row = std::move(rows_.at(leaving));
    rows_.erase(leaving);
    negative_.erase(leaving);
    for (const auto& [column, value] : row.terms) where_[column].erase(leaving);
    // leaving = constant + a * entering + rest, so entering = (leaving - constant - rest) / a
    const Rational scale = inverse(row.terms.at(entering));
    row.terms.erase(entering);
    const Rational minus = negated(scale);
    row.constant = row.constant * minus;
    for (auto& [column, value] : row.terms) value = value * minus;
    row.terms.emplace(leaving, scale);

    const Rational price = reduced(entering);
    reduced_[entering] = Rational(0);
    if (!price.is_zero()) {
      for (const auto& [column, value] : row.terms) {
        reduced_[column] = reduced(column) + price * value;
      }
    }
    const std::set<std::uint32_t> users = where_[entering];
    for (const std::uint32_t user : users) {
      Row& other = rows_.at(user);
      const Rational factor = other.terms.at(entering);
      other.terms.erase(entering);
      other.constant = other.constant + factor * row.constant;
      for (const auto& [column, value] : row.terms) {
        spend(1);
        const auto [it, is_new] = other.terms.try_emplace(column);
        it->second = it->second + factor * value;
        if (it->second.is_zero()) {
          other.terms.erase(it);
          where_[column].erase(user);
        } else if (is_new) {
          where_[column].insert(user);
        }
      }
      if (other.constant.negative())
        negative_.insert(user);
      else
        negative_.erase(user);
    }
    where_.erase(entering);
    put(entering, std::move(row));
  }

  const Programme& programme_;
  const std::vector<std::int64_t>& cost_;
  std::int64_t work_;                            // left for this question
  std::int64_t& budget_;                         // left for all questions about a net
  std::uint32_t first_slack_, goal_slack_;       // of the rows; of the goal
  std::unordered_map<std::uint32_t, Row> rows_;  // by basic variable
  std::unordered_map<std::uint32_t, std::set<std::uint32_t>> where_;  // nonbasic: rows reading it
  std::unordered_map<std::uint32_t, Rational> reduced_;  // costs that are no longer the given ones
  std::set<std::uint32_t> negative_;
  std::set<std::uint32_t> appeared_;
};

// Initial counts and weights beyond this are no use.
constexpr std::int64_t kTooMany = std::int64_t{1} << 40;

// ---- what a firing adds ----------------------------------------------------------------------

// A number of tokens as constant + sum(factor * value of a formula).
struct Amount {
  std::int64_t constant = 0;
  std::map<ExprId, std::int64_t> atoms;

  void add(const Amount& other, std::int64_t factor) {
    constant = checked(Wide{constant} + Wide{other.constant} * factor);
    for (const auto& [id, value] : other.atoms) {
      auto& mine = atoms[id];
      mine = checked(Wide{mine} + Wide{value} * factor);
      if (mine == 0) atoms.erase(id);
    }
  }
  static std::int64_t checked(Wide value) {
    if (value > kTooMany || value < -kTooMany) throw GiveUp{};
    return static_cast<std::int64_t>(value);
  }
};

// The amounts of one transition, with what its guards say about them.
class Amounts {
 public:
  Amounts(const Net& net, TransitionId id, Feasibility* solver)
      : net_(net), transition_(net[id]), bounds_(net, &net[id]), solver_(solver) {
    for (const InputArc& arc : transition_.inputs) {
      if (arc.guard) conjuncts(arc.guard->id, false);
    }
  }

  // A weight or count: an error when negative, and then nothing more happens.
  Amount of(ExprId id) {
    // Taking a number and putting as many must meet as one formula.
    for (const Node* n = &net_.exprs[id]; n->op == Op::kTaken; n = &net_.exprs[id]) {
      if (transition_.inputs[n->a].inhibit) return {};
      id = transition_.inputs[n->a].weight.id;
    }
    Amount amount;
    if (!split(id, 1, amount)) {
      amount = {};
      atom(id, 1, amount);
    }
    return amount;
  }

  // Of an atom, as a part of an amount. Only one that is a whole weight or count may be negative
  // by its ranges, and that would be an error.
  Range range(ExprId id) {
    Range range = bounds_.of(id);
    range.lo = std::max<std::int64_t>(range.lo, 0);
    range.hi = std::max(range.lo, range.hi);
    return range;
  }

  // What several atoms can be at once: each way in which the guards hold and nothing fails, for
  // those atoms that read few values, or compare what they read with constants only. `together`
  // gets these atoms; never empty, so that no atoms are together in one way.
  std::vector<std::map<ExprId, std::int64_t>> modes(const std::set<ExprId>& atoms,
                                                    std::set<ExprId>& together);

  // The least number of tokens that an arc needs, or takes, of its place when it holds.
  std::int64_t least_needed(const InputArc& arc) {
    std::int64_t least = least_taken(arc);
    if (arc.threshold) least = std::max(least, lowest(of(arc.threshold->id)));
    return least;
  }
  std::int64_t least_taken(const InputArc& arc) {
    return arc.inhibit ? 0 : std::max<std::int64_t>(lowest(of(arc.weight.id)), 0);
  }

 private:
  std::int64_t lowest(const Amount& amount) {
    Wide sum = amount.constant;
    for (const auto& [id, factor] : amount.atoms) {
      const Range r = range(id);
      sum += Wide{factor} * (factor > 0 ? r.lo : r.hi);
    }
    return static_cast<std::int64_t>(std::clamp<Wide>(sum, 0, kMaxTokens));
  }

  // Conditions that hold, or fail, whenever the transition starts.
  void conjuncts(ExprId id, bool negated) {
    const Node& n = net_.exprs[id];
    if (n.op == Op::kNot) return conjuncts(n.kids[0], !negated);
    if ((n.op == Op::kAnd && !negated) || (n.op == Op::kOr && negated)) {
      conjuncts(n.kids[0], negated);
      conjuncts(n.kids[1], negated);
      return;
    }
    facts_.emplace(id, !negated);
    std::int64_t value = 0;
    if (n.op == (negated ? Op::kNe : Op::kEq)) {
      if (net_.exprs.is_const(n.kids[1], value)) fixed_.emplace(n.kids[0], value);
      if (net_.exprs.is_const(n.kids[0], value)) fixed_.emplace(n.kids[1], value);
    }
  }

  // What the guards say about a condition, if that is plain.
  std::optional<bool> decided(ExprId id) {
    if (const auto it = facts_.find(id); it != facts_.end()) return it->second;
    const Node& n = net_.exprs[id];
    if (n.op == Op::kNot) {
      if (const auto x = decided(n.kids[0])) return !*x;
    }
    if (kind_of(n.op) == Kind::kComparison) {
      const auto x = constant(n.kids[0]), y = constant(n.kids[1]);
      if (x && y) return apply_op(n.op, *x, *y) != 0;
    }
    const Range r = bounds_.of(id);
    if (r.lo == 1) return true;
    if (r.hi == 0) return false;
    return std::nullopt;
  }
  std::optional<std::int64_t> constant(ExprId id) {
    std::int64_t value = 0;
    if (net_.exprs.is_const(id, value)) return value;
    if (const auto it = fixed_.find(id); it != fixed_.end()) return it->second;
    return std::nullopt;
  }

  // Adds factor * id; false when a part may be negative, so that it says less than the whole.
  bool split(ExprId id, std::int64_t factor, Amount& into) {
    if (const auto value = constant(id)) {
      into.add({*value, {}}, factor);
      return true;
    }
    const Node n = net_.exprs[id];
    const ExprId x = n.kids[0], y = n.kids[1];
    if (n.op == Op::kAdd) return split(x, factor, into) && split(y, factor, into);
    if (n.op == Op::kSub) {
      return split(x, factor, into) && split(y, Amount::checked(-Wide{factor}), into);
    }
    if (n.op == Op::kMul) {
      std::int64_t value = 0;
      if (net_.exprs.is_const(x, value))
        return split(y, Amount::checked(Wide{factor} * value), into);
      if (net_.exprs.is_const(y, value))
        return split(x, Amount::checked(Wide{factor} * value), into);
    }
    if (n.op == Op::kSelect) {
      if (const auto side = decided(x)) return split(n.kids[*side ? 1 : 2], factor, into);
    }
    if (n.op == Op::kAssume) return split(y, factor, into);
    if (n.op == Op::kTaken) {
      const InputArc& arc = transition_.inputs[n.a];
      return arc.inhibit || split(arc.weight.id, factor, into);
    }
    return atom(id, factor, into);
  }

  bool atom(ExprId id, std::int64_t factor, Amount& into) {
    if (const auto value = settled(id)) {
      into.add({*value, {}}, factor);
      return true;
    }
    into.add({0, {{id, 1}}}, factor);
    return bounds_.of(id).lo >= 0;
  }

  // The only value a formula can have under the guards, by ranges, or as the solver says.
  std::optional<std::int64_t> settled(ExprId id) {
    if (const auto it = settled_.find(id); it != settled_.end()) return it->second;
    const Range r = bounds_.of(id);
    std::optional<std::int64_t> value;
    if (r.lo == r.hi)
      value = r.lo;
    else if (solver_ != nullptr && !facts_.empty())
      value = ask(id);
    settled_.emplace(id, value);
    return value;
  }

  std::optional<std::int64_t> ask(ExprId id);

  const Net& net_;
  const Transition& transition_;
  Bounds bounds_;
  Feasibility* solver_;
  std::map<ExprId, bool> facts_;          // conditions that guards decide
  std::map<ExprId, std::int64_t> fixed_;  // x of guards x == c
  std::map<ExprId, std::optional<std::int64_t>> settled_;
};

// A property of a token, or a parameter, that formulas read: (arc, property, position) or
// (kParam, parameter, 0).
struct Leaf {
  static constexpr std::uint32_t kParam = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t arc = 0, index = 0;
  std::int64_t position = 0;
  auto operator<=>(const Leaf&) const = default;
};

// How formulas read leaves, to find few values that stand for all.
class LeafUse {
 public:
  LeafUse(const Net& net, const Transition& t) : net_(&net), transition_(&t) {}

  // False when something else is read.
  bool look(ExprId id) {
    const Node& n = net_->exprs[id];
    switch (kind_of(n.op)) {
      case Kind::kVariable: return leaf(n, nullptr);
      case Kind::kRun: return n.op == Op::kToken && leaf(n, nullptr);
      case Kind::kAggregate: return false;
      case Kind::kComparison:
        for (int k = 0; k < 2; ++k) {
          const Node& x = net_->exprs[n.kids[static_cast<std::size_t>(k)]];
          std::int64_t value = 0;
          if (!net_->exprs.is_const(n.kids[static_cast<std::size_t>(1 - k)], value)) continue;
          if (x.op == Op::kParam || x.op == Op::kToken) return leaf(x, &value);
        }
        break;
      case Kind::kConstant:
      case Kind::kArithmetic:
      case Kind::kLogic:
      case Kind::kChoice:
      case Kind::kTable:
      case Kind::kAssumption: break;
    }
    for (int k = 0; k < op_info(n.op).arity; ++k) {
      if (!look(n.kids[static_cast<std::size_t>(k)])) return false;
    }
    return true;
  }

  // Every value of a leaf, or, when it is only compared, one for each outcome of all comparisons;
  // none when there are too many.
  std::optional<std::map<Leaf, std::vector<std::int64_t>>> values() const {
    std::map<Leaf, std::vector<std::int64_t>> all;
    std::size_t product = 1;
    for (const auto& [leaf, use] : uses_) {
      std::set<std::int64_t> values;
      const Range r = use.range;
      if (Wide{r.hi} - r.lo < static_cast<Wide>(kMostModes)) {
        for (std::int64_t v = r.lo; v <= r.hi; ++v) values.insert(v);
      } else if (use.bare) {
        return std::nullopt;
      } else {
        values = {r.lo, r.hi};
        for (const std::int64_t c : use.constants) {
          for (const Wide v : {Wide{c} - 1, Wide{c}, Wide{c} + 1}) {
            if (v >= r.lo && v <= r.hi) values.insert(static_cast<std::int64_t>(v));
          }
        }
      }
      product *= values.size();
      if (product > kMostModes) return std::nullopt;
      all.emplace(leaf, std::vector<std::int64_t>(values.begin(), values.end()));
    }
    return all;
  }

  bool reads_only(const LeafUse& other) const {
    return std::all_of(other.uses_.begin(), other.uses_.end(),
                       [&](const auto& use) { return uses_.contains(use.first); });
  }
  void merge(const LeafUse& other) {
    for (const auto& [leaf, use] : other.uses_) {
      Use& mine = uses_.try_emplace(leaf, Use{use.range, false, {}}).first->second;
      mine.bare |= use.bare;
      mine.constants.insert(use.constants.begin(), use.constants.end());
    }
  }

 private:
  static constexpr std::size_t kMostModes = 512;

  struct Use {
    Range range;
    bool bare = false;  // other than compared with a constant
    std::set<std::int64_t> constants;
  };

  bool leaf(const Node& n, const std::int64_t* compared_with) {
    Leaf leaf{Leaf::kParam, n.a, 0};
    std::optional<Range> range;
    if (n.op == Op::kParam) {
      range = net_->params[n.a].range;
    } else {
      if (!net_->exprs.is_const(n.kids[0], leaf.position)) return false;
      leaf.arc = n.a;
      leaf.index = n.b;
      range = net_->type_of(transition_->inputs[n.a].place).fields[n.b].range;
    }
    Use& use = uses_.try_emplace(leaf, Use{range.value_or(Range{}), false, {}}).first->second;
    if (compared_with != nullptr)
      use.constants.insert(*compared_with);
    else
      use.bare = true;
    return true;
  }

  const Net* net_;
  const Transition* transition_;
  std::map<Leaf, Use> uses_;
};

// One way to fill the leaves, for eval().
struct LeafValues : EvalScope {
  std::map<Leaf, std::int64_t> values;

  std::int64_t param(std::uint32_t k) const { return values.at({Leaf::kParam, k, 0}); }
  std::int64_t token(std::uint32_t arc, std::uint32_t field, std::int64_t which) const {
    return values.at({arc, field, which});
  }
  // LeafUse lets none of these through.
  std::int64_t occupancy(std::uint32_t) const { return impossible(); }
  std::int64_t free(std::uint32_t) const { return impossible(); }
  std::int64_t taken(std::uint32_t) const { return impossible(); }
  std::int64_t needed(std::uint32_t) const { return impossible(); }

 private:
  static std::int64_t impossible() {
    LPN_ASSERT(!"only leaves are read");
    return 0;
  }
};

std::vector<std::map<ExprId, std::int64_t>> Amounts::modes(const std::set<ExprId>& atoms,
                                                           std::set<ExprId>& together) {
  // One atom with a range is no worse by itself, unless guards or gaps say more; it is cheap.
  LeafUse use(net_, transition_);
  for (const ExprId id : atoms) {
    LeafUse one(net_, transition_);
    if (!one.look(id)) continue;
    LeafUse both = use;
    both.merge(one);
    if (!both.values()) continue;
    use = both;
    together.insert(id);
  }
  std::map<ExprId, bool> facts;
  if (!together.empty()) {
    for (const auto& [id, holds] : facts_) {
      LeafUse one(net_, transition_);
      if (!one.look(id) || !use.reads_only(one)) continue;
      LeafUse both = use;
      both.merge(one);
      if (!both.values()) continue;
      use = both;
      facts.emplace(id, holds);
    }
  }
  const auto choices = *use.values();
  std::set<std::map<ExprId, std::int64_t>> found;
  LeafValues env;
  const auto fill = [&](const auto& self, auto leaf) -> void {
    if (leaf != choices.end()) {
      for (const std::int64_t value : leaf->second) {
        env.values[leaf->first] = value;
        self(self, std::next(leaf));
      }
      return;
    }
    try {
      for (const auto& [id, holds] : facts) {
        if ((eval(net_.exprs, id, env) != 0) != holds) return;
      }
      std::map<ExprId, std::int64_t> mode;
      for (const ExprId id : together) {
        const std::int64_t value = eval(net_.exprs, id, env);
        if (value < 0) return;  // see range(): an error
        mode.emplace(id, value);
      }
      found.insert(std::move(mode));
    } catch (const EvalFault&) {  // then nothing starts, now or later
    }
  };
  fill(fill, choices.begin());
  return {found.begin(), found.end()};
}

// Declares what a transition's formulas read as variables of the solver.
class Variables {
 public:
  Variables(const Net& net, const Transition& t, Feasibility& solver)
      : net_(net), transition_(t), bounds_(net, &t), solver_(solver) {
    for (const Param& param : net.params) {
      leaves_.params.push_back(
          solver.term(solver.integer(param.name, param.range.value_or(Range{}))));
    }
    leaves_.needed = [this](std::uint32_t arc) -> std::optional<std::int64_t> {
      const InputArc& input = transition_.inputs[arc];
      const Range weight = bounds_.of(input.weight.id);
      const Range need = input.threshold ? bounds_.of(input.threshold->id) : weight;
      if (weight.lo != weight.hi || need.lo != need.hi) return std::nullopt;
      return std::max({weight.lo, need.lo, std::int64_t{0}});
    };
    leaves_.token = [this](std::uint32_t arc, std::uint32_t field, std::int64_t which) {
      return std::optional(variable(1, arc, field, which));
    };
    leaves_.taken = [this](std::uint32_t arc) { return std::optional(variable(2, arc, 0, 0)); };
    leaves_.occupancy = [this](std::uint32_t arc) { return std::optional(variable(3, arc, 0, 0)); };
    leaves_.free = [this](std::uint32_t arc) { return std::optional(variable(4, arc, 0, 0)); };
  }
  Variables(const Variables&) = delete;

  std::optional<ExprId> operator()(ExprId id) {
    try {
      return instantiate(net_.exprs, id, solver_.pool(), leaves_);
    } catch (const Error&) {
      return std::nullopt;  // too large
    }
  }

 private:
  ExprId variable(int kind, std::uint32_t arc, std::uint32_t field, std::int64_t which) {
    const auto [it, is_new] = made_.try_emplace({kind, arc, field, which});
    if (!is_new) return it->second;
    const InputArc& input = transition_.inputs[arc];
    Range range{0, std::numeric_limits<std::int64_t>::max()};
    if (kind == 1) range = net_.type_of(input.place).fields[field].range.value_or(Range{});
    if (kind == 2) {
      range = bounds_.of(input.weight.id);
      range.lo = std::max<std::int64_t>(range.lo, 0);
      if (input.inhibit) range = {0, 0};
    }
    return it->second = solver_.term(solver_.integer(input.name, range));
  }

  const Net& net_;
  const Transition& transition_;
  Bounds bounds_;
  Feasibility& solver_;
  Leaves leaves_;
  std::map<std::tuple<int, std::uint32_t, std::uint32_t, std::int64_t>, ExprId> made_;
};

std::optional<std::int64_t> Amounts::ask(ExprId id) {
  constexpr FeasibilityLimits kLimits{.work = 200'000, .seconds = 0.5};
  solver_->push();
  std::optional<std::int64_t> value;
  {
    Variables variables(net_, transition_, *solver_);
    const auto term = variables(id);
    for (const auto& [fact, holds] : facts_) {
      const auto condition = variables(fact);
      if (!condition) continue;
      solver_->require(holds ? *condition : solver_->pool().unary(Op::kNot, *condition));
    }
    if (term) {
      // The value is computed without an error, or nothing starts: any example will do, if another
      // value is impossible.
      const ExprId any = solver_->pool().binary(Op::kEq, *term, *term);
      solver_->require(any);
      if (solver_->check(kLimits) == Answer::kSat) {
        const std::int64_t candidate = solver_->value(*term);
        solver_->require(
            solver_->pool().binary(Op::kNe, *term, solver_->pool().constant(candidate)));
        if (solver_->check(kLimits) == Answer::kUnsat) value = candidate;
      }
    }
  }
  solver_->pop();
  return value;
}

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
    for (const auto& [p, amount] : firing.change) {
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

#include "path_units.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"
#include "lpn/graph/union_find.h"
#include "lpn/net/bounds.h"

namespace lpn::smt {
namespace {

constexpr std::uint64_t kMaxTuples = 1 << 16;  // of a unit
constexpr std::uint64_t kSmallUnit = 1 << 12;  // of a unit made of sums that few variables share
constexpr std::size_t kFew = 4;
constexpr std::int64_t kLargest = std::int64_t{1} << 44;  // of any number that bounds work with

struct Summands {
  Wide constant = 0;
  std::vector<std::pair<std::int64_t, ExprId>> parts;  // factor, term
};

// Writes factor * id as a sum. Conditions of `assume` hold for every input and are dropped.
void split(const ExprPool& pool, ExprId id, std::int64_t factor, Summands& out) {
  const Node& n = pool[id];
  std::int64_t value = 0, product = 0;
  if (n.op == Op::kConst) {
    out.constant += Wide{factor} * n.value;
    return;
  }
  if (n.op == Op::kAdd || n.op == Op::kSub) {
    split(pool, n.kids[0], factor, out);
    return split(pool, n.kids[1], n.op == Op::kAdd ? factor : -factor, out);
  }
  if (n.op == Op::kNeg) return split(pool, n.kids[0], -factor, out);
  if (n.op == Op::kAssume) return split(pool, n.kids[1], factor, out);
  if (n.op == Op::kMul) {
    for (int k = 0; k < 2; ++k) {
      if (pool.is_const(n.kids[static_cast<std::size_t>(k)], value) &&
          !__builtin_mul_overflow(factor, value, &product) && product < kLargest &&
          product > -kLargest) {
        if (product != 0) split(pool, n.kids[static_cast<std::size_t>(1 - k)], product, out);
        return;
      }
    }
  }
  for (auto& [f, part] : out.parts) {
    if (part == id) {
      f += factor;
      return;
    }
  }
  out.parts.emplace_back(factor, id);
}

}  // namespace

class PathUnits::Builder {
 public:
  explicit Builder(PathUnits& path)
      : p_(path),
        pool_(path.space_->variables.exprs),
        params_(path.space_->variables.params),
        bounds_(path.space_->variables, nullptr),
        tied_(params_.size()),
        tuples_(params_.size()) {
    for (std::size_t k = 0; k < params_.size(); ++k) {
      const Range range = *params_[k].range;
      const auto width =
          static_cast<std::uint64_t>(range.hi) - static_cast<std::uint64_t>(range.lo);
      tuples_[k] = range.hi < range.lo ? 0 : width < kMaxTuples ? width + 1 : kMaxTuples + 1;
      many_ += tuples_[k] > 1;
    }
  }

  void build() {
    mark_needed();
    collect_conditions();
    tie();
    list_units();
    if (p_.empty_) return;
    time_arcs();
    if (p_.empty_) return;
    limit();
    measure();
  }

 private:
  using Variables = std::vector<std::uint32_t>;

  std::uint32_t root(std::uint32_t v) { return tied_.find(v); }
  const Variables& reads(ExprId id) {
    const auto [it, fresh] = reads_.try_emplace(static_cast<std::uint32_t>(id));
    if (fresh) {
      for (const std::uint32_t v : pool_.reads(id).params) {
        if (tuples_[v] != 1) it->second.push_back(v);
      }
    }
    return it->second;
  }
  // The unit of all the variables; nullopt: several, or too many values.
  bool one_unit(const Variables& variables) {
    for (const std::uint32_t v : variables) {
      if (root(v) != root(variables[0])) return false;
    }
    return variables.empty() || tuples_[root(variables[0])] <= kMaxTuples;
  }
  bool merge(const Variables& variables, std::uint64_t most) {
    std::set<std::uint32_t> roots;
    for (const std::uint32_t v : variables) roots.insert(root(v));
    std::uint64_t product = 1;
    for (const std::uint32_t r : roots) {
      product *= tuples_[r];
      if (product > most) return false;
    }
    if (roots.empty()) return true;
    const std::uint32_t first = *roots.begin();
    for (const std::uint32_t r : roots) tied_.join(r, first);
    tuples_[first] = product;
    return true;
  }

  // What the measure depends on, and what the path's orders say comes before that.
  void mark_needed() {
    const Timing& timing = p_.timing();
    std::vector<std::vector<std::size_t>> earlier(timing.size());
    for (const Order& order : p_.path_->orders) {
      if (order.before < order.after) earlier[at(order.after)].push_back(at(order.before));
    }
    p_.needed_.assign(timing.size(), false);
    for (const auto& [weight, instant] : p_.measure_.instants) p_.needed_[at(instant)] = true;
    for (std::size_t v = timing.size(); v-- > 1;) {
      if (!p_.needed_[v]) continue;
      for (const std::size_t before : earlier[v]) p_.needed_[before] = true;
      for (const Timing::Arc& arc : timing[static_cast<InstantId>(v)].after) {
        p_.needed_[at(arc.from)] = true;
      }
    }
    p_.needed_[0] = true;
  }

  void collect_conditions() {
    for (const ExprId id : p_.space_->constraints) conjuncts(id);
    for (const ExprId id : p_.path_->conditions) conjuncts(id);
    std::sort(conditions_.begin(), conditions_.end());
    conditions_.erase(std::unique(conditions_.begin(), conditions_.end()), conditions_.end());
  }
  void conjuncts(ExprId id) {
    if (pool_[id].op == Op::kAnd) {
      conjuncts(pool_[id].kids[0]);
      conjuncts(pool_[id].kids[1]);
    } else {
      conditions_.push_back(id);
    }
  }

  // The condition as sums that are at most 0; none: it is not of that form.
  std::vector<Summands> comparisons(ExprId id) {
    bool negated = false;
    while (pool_[id].op == Op::kNot) id = pool_[id].kids[0], negated = !negated;
    const Node& n = pool_[id];
    const bool equal = negated ? n.op == Op::kNe : n.op == Op::kEq;
    if (!equal && n.op != Op::kLt && n.op != Op::kLe) return {};
    Summands sum;  // left - right
    split(pool_, n.kids[0], 1, sum);
    split(pool_, n.kids[1], -1, sum);
    std::erase_if(sum.parts, [](const auto& part) { return part.first == 0; });
    const auto flipped = [](Summands s) {
      s.constant = -s.constant;
      for (auto& part : s.parts) part.first = -part.first;
      return s;
    };
    std::vector<Summands> all;
    if (equal) {
      all = {sum, flipped(sum)};
    } else {
      if (negated) sum = flipped(sum);  // not (a < b): b <= a
      if ((n.op == Op::kLt) != negated) sum.constant += 1;
      all = {std::move(sum)};
    }
    for (Summands& s : all) clear_division(s);
    return all;
  }
  // x // d <= c is x <= c * d + d - 1, and x // d >= c is x >= c * d: means become sums.
  void clear_division(Summands& s) {
    std::int64_t d = 0;
    if (s.parts.size() != 1 || std::abs(s.parts[0].first) != 1) return;
    const Node& n = pool_[s.parts[0].second];
    if (n.op != Op::kFloorDiv || !pool_.is_const(n.kids[1], d) || d <= 0 || d > kLargest) return;
    if (s.constant > kLargest || s.constant < -kLargest) return;
    Summands x;
    x.constant = s.constant * d - (s.parts[0].first > 0 ? d - 1 : 0);
    split(pool_, n.kids[0], s.parts[0].first, x);
    s = std::move(x);
  }

  void tie() {
    const auto tie_parts = [&](const Summands& sum) {
      for (const auto& [factor, part] : sum.parts) merge(reads(part), kMaxTuples);
    };
    for (std::size_t v = 1; v < p_.needed_.size(); ++v) {
      if (!p_.needed_[v]) continue;
      for (const Timing::Arc& arc : p_.timing()[static_cast<InstantId>(v)].after) {
        for (const Summands& sum : alternatives(v, arc.delay)) tie_parts(sum);
      }
    }
    if (p_.path_->fault) merge(reads(*p_.path_->fault), kMaxTuples);
    for (const ExprId id : conditions_) {
      const Variables& variables = reads(id);
      const std::vector<Summands> sums = comparisons(id);
      if (sums.empty()) {
        merge(variables, kMaxTuples);
      } else {
        for (const Summands& sum : sums) tie_parts(sum);
        // Relations of a token's properties, rather than a sum that the whole workload shares.
        if (variables.size() == 2 || (variables.size() <= kFew && 2 * variables.size() <= many_)) {
          merge(variables, kSmallUnit);
        }
      }
    }
  }

  const Summands& summands(ExprId id) {
    const auto [it, fresh] = summands_.try_emplace(static_cast<std::uint32_t>(id));
    if (fresh) split(pool_, id, 1, it->second);
    return it->second;
  }

  void list_units() {
    std::map<std::uint32_t, Variables> members;
    p_.rest_.resize(params_.size());
    unit_of_.assign(params_.size(), kNoUnit);
    for (std::uint32_t v = 0; v < params_.size(); ++v) {
      const Range range = *params_[v].range;
      p_.rest_[v] = range.lo;
      if (tuples_[root(v)] == 0) p_.empty_ = true;
      if (tuples_[root(v)] <= kMaxTuples) {
        members[root(v)].push_back(v);
      } else {
        p_.complete_ = false;
      }
    }
    if (p_.empty_) return;
    for (auto& [r, variables] : members) {
      for (const std::uint32_t v : variables) {
        unit_of_[v] = static_cast<std::uint32_t>(p_.units_.size());
      }
      p_.units_.push_back({.variables = variables, .tuples = {}, .size = 0});
    }
    std::vector<std::vector<ExprId>> local(p_.units_.size());
    for (const ExprId id : conditions_) {
      if (const auto u = unit_of(reads(id))) {
        local[*u].push_back(id);
      } else if (reads(id).empty()) {
        if (!holds(id, p_.rest_)) p_.empty_ = true;
      } else {
        shared_.push_back(id);
      }
    }
    for (std::uint32_t u = 0; u < p_.units_.size(); ++u) list(u, local[u]);
  }
  std::optional<std::uint32_t> unit_of(const Variables& variables) {
    if (variables.empty()) return std::nullopt;
    const std::uint32_t u = unit_of_[variables[0]];
    for (const std::uint32_t v : variables) {
      if (unit_of_[v] != u) return std::nullopt;
    }
    return u == kNoUnit ? std::nullopt : std::optional(u);
  }
  bool holds(ExprId id, const Assignment& values) {
    try {
      return eval_params(pool_, id, values) != 0;
    } catch (const EvalFault&) {
      return false;
    }
  }
  bool fails(ExprId id, const Assignment& values) {
    try {
      eval_params(pool_, id, values);
      return false;
    } catch (const EvalFault&) {
      return true;
    }
  }

  void list(std::uint32_t u, const std::vector<ExprId>& local) {
    Unit& unit = p_.units_[u];
    Assignment values = p_.rest_;
    const bool faulty = p_.path_->fault && unit_of(reads(*p_.path_->fault)) == u;
    for (;;) {
      if (std::all_of(local.begin(), local.end(), [&](ExprId id) { return holds(id, values); }) &&
          (!faulty || fails(*p_.path_->fault, values))) {
        for (const std::uint32_t v : unit.variables) unit.tuples.push_back(values[v]);
        ++unit.size;
      }
      std::size_t k = unit.variables.size();
      while (k > 0 && values[unit.variables[k - 1]] == params_[unit.variables[k - 1]].range->hi) {
        --k;
        values[unit.variables[k]] = params_[unit.variables[k]].range->lo;
      }
      if (k == 0) break;
      ++values[unit.variables[k - 1]];
    }
    if (unit.size == 0) p_.empty_ = true;
  }

  void put(std::uint32_t u, std::uint32_t row, Assignment& values) const {
    const Unit& unit = p_.units_[u];
    const std::size_t width = unit.variables.size();
    for (std::size_t k = 0; k < width; ++k) {
      values[unit.variables[k]] = unit.tuples[row * width + k];
    }
  }

  // Delays that fail for a tuple: no input of the path has it.
  void time_arcs() {
    for (bool again = true; again;) {
      again = false;
      faults_.assign(p_.units_.size(), {});
      p_.functions_.clear();
      p_.by_hash_.clear();
      p_.arcs_.assign(p_.timing().size(), {});
      for (std::size_t v = 1; v < p_.needed_.size(); ++v) {
        if (!p_.needed_[v]) continue;
        for (const Timing::Arc& arc : p_.timing()[static_cast<InstantId>(v)].after) {
          for (const Summands& sum : alternatives(v, arc.delay)) {
            p_.arcs_[v].push_back({static_cast<std::uint32_t>(arc.from), delay(sum)});
          }
        }
      }
      for (std::uint32_t u = 0; u < p_.units_.size(); ++u) {
        if (!faults_[u].empty()) drop(u, faults_[u]), again = true;
      }
      if (p_.empty_) return;
    }
  }
  void drop(std::uint32_t u, const std::set<std::uint32_t>& rows) {
    Unit& unit = p_.units_[u];
    const std::size_t width = unit.variables.size();
    std::vector<std::int64_t> kept;
    for (std::uint32_t row = 0; row < unit.size; ++row) {
      if (rows.contains(row)) continue;
      kept.insert(kept.end(), unit.tuples.begin() + static_cast<std::ptrdiff_t>(row * width),
                  unit.tuples.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
    }
    unit.tuples = std::move(kept);
    unit.size -= static_cast<std::uint32_t>(rows.size());
    if (unit.size == 0) p_.empty_ = true;
  }

  Sum delay(const Summands& summands) {
    Sum sum = table(summands);
    if (sum.slack != 0) relax("a delay that reads more than tables hold has its range");
    return sum;
  }
  // Of a latest instant, a delay that is a largest of several sums is several delays.
  std::vector<Summands> alternatives(std::size_t v, ExprId id) {
    constexpr std::size_t kMost = 16;
    std::vector<Summands> all{summands(id)};
    if (p_.timing()[static_cast<InstantId>(v)].kind != Timing::Kind::kMax) return all;
    for (std::size_t k = 0; k < all.size();) {
      auto& parts = all[k].parts;
      const auto largest = std::find_if(parts.begin(), parts.end(), [&](const auto& part) {
        const Op op = pool_[part.second].op;
        return ((part.first > 0 && op == Op::kMax) || (part.first < 0 && op == Op::kMin)) &&
               reads(part.second).size() > 1;
      });
      if (largest == parts.end() || all.size() >= kMost) {
        ++k;
        continue;
      }
      const auto [factor, term] = *largest;
      parts.erase(largest);
      Summands other = all[k];
      split(pool_, pool_[term].kids[0], factor, all[k]);
      split(pool_, pool_[term].kids[1], factor, other);
      all.push_back(std::move(other));
    }
    return all;
  }
  void relax(const std::string& what) {
    if (std::find(p_.relaxed_.begin(), p_.relaxed_.end(), what) == p_.relaxed_.end()) {
      p_.relaxed_.push_back(what);
    }
  }

  Sum table(const Summands& summands) {
    Wide constant = summands.constant, slack = 0;
    std::map<std::uint32_t, std::vector<Wide>> tables;
    Assignment values = p_.rest_;
    for (const auto& [factor, part] : summands.parts) {
      const Variables& variables = reads(part);
      if (variables.empty()) {
        try {
          constant += Wide{factor} * eval_params(pool_, part, values);
          continue;
        } catch (const EvalFault&) {
          p_.empty_ = true;
          return {};
        }
      }
      const auto u = unit_of(variables);
      if (!u) {
        const Range range = bounds_.of(part);
        const Wide a = Wide{factor} * range.lo, b = Wide{factor} * range.hi;
        constant += std::min(a, b);
        slack += std::max(a, b) - std::min(a, b);
        continue;
      }
      std::vector<Wide>& sums = tables[*u];
      sums.resize(p_.units_[*u].size);
      for (std::uint32_t row = 0; row < p_.units_[*u].size; ++row) {
        put(*u, row, values);
        try {
          sums[row] += Wide{factor} * eval_params(pool_, part, values);
        } catch (const EvalFault&) {
          faults_[*u].insert(row);
        }
      }
      for (const std::uint32_t v : p_.units_[*u].variables) values[v] = p_.rest_[v];
    }
    Sum sum;
    for (auto& [u, sums] : tables) {
      std::vector<std::int64_t> numbers(sums.size());
      const Wide least = *std::min_element(sums.begin(), sums.end());
      const bool same = *std::max_element(sums.begin(), sums.end()) == least;
      if (same) {
        constant += least;
        continue;
      }
      std::transform(sums.begin(), sums.end(), numbers.begin(), [&](Wide x) { return fit(x); });
      sum.functions.push_back(p_.intern(u, std::move(numbers)));
    }
    sum.constant = fit(constant);
    sum.slack = fit(slack);
    return sum;
  }
  std::int64_t fit(Wide x) {
    if (x > kLargest || x < -kLargest) too_large_ = true;
    return static_cast<std::int64_t>(std::clamp<Wide>(x, -kLargest, kLargest));
  }

  void limit() {
    const bool large_before = too_large_;
    for (const ExprId id : shared_) {
      const std::vector<Summands> sums = comparisons(id);
      bool whole = !sums.empty();
      for (const Summands& summands : sums) {
        const bool second = &summands != &sums.front();
        too_large_ = false;
        faults_.assign(p_.units_.size(), {});
        const Sum sum = table(summands);
        // A sum that cannot be had as tables is left out, which is sound.
        const bool usable =
            !too_large_ && std::all_of(faults_.begin(), faults_.end(),
                                       [](const auto& rows) { return rows.empty(); });
        whole = whole && usable && sum.slack == 0;
        if (!usable) continue;
        Wide most = 0;
        for (const std::uint32_t f : sum.functions) most += p_.functions_[f].hi;
        if (most <= -sum.constant) continue;  // always so
        p_.limits_.push_back({sum.functions, -sum.constant, {id, second}});
      }
      if (!whole) relax("a condition that is not a sum over few values is left out of the bound");
    }
    too_large_ = large_before;
  }

  // Every instant is at most the largest delays added up.
  void measure() {
    Wide sum = 0;
    for (std::size_t v = 1; v < p_.arcs_.size(); ++v) {
      Wide most = 0;
      for (const TimedArc& arc : p_.arcs_[v]) {
        Wide hi = Wide{std::abs(arc.delay.constant)} + arc.delay.slack;
        for (const std::uint32_t f : arc.delay.functions) {
          hi += std::max(std::abs(p_.functions_[f].lo), std::abs(p_.functions_[f].hi));
        }
        most = std::max(most, hi);
      }
      sum += most + (p_.timing()[static_cast<InstantId>(v)].period - 1);
    }
    // Of the measure too, whatever its signs.
    const auto size = [](Wide x) { return x < 0 ? -x : x; };
    Wide weights = 1;
    for (const auto& [weight, instant] : p_.measure_.instants) weights += size(weight);
    if (weights > kLargest || sum > kLargest) too_large_ = true;
    const Wide all = too_large_ ? 0 : sum * weights + size(p_.measure_.constant);
    if (!too_large_ && all <= kLargest) p_.magnitude_ = static_cast<std::int64_t>(all);
  }

  static constexpr std::uint32_t kNoUnit = std::numeric_limits<std::uint32_t>::max();

  PathUnits& p_;
  const ExprPool& pool_;
  const std::vector<Param>& params_;
  NetBounds bounds_;
  UnionFind tied_;                     // variables that are looked at together
  std::vector<std::uint64_t> tuples_;  // per root
  std::size_t many_ = 0;               // variables with several values
  std::vector<std::uint32_t> unit_of_;
  std::vector<ExprId> conditions_, shared_;
  std::unordered_map<std::uint32_t, Variables> reads_;
  std::unordered_map<std::uint32_t, Summands> summands_;
  std::vector<std::set<std::uint32_t>> faults_;
  bool too_large_ = false;
};

PathUnits::PathUnits(const InputSpace& space, const Path& path, Measure measure)
    : space_(&space), path_(&path) {
  for (const Param& param : space.variables.params) LPN_ASSERT(param.range);
  std::map<InstantId, std::int64_t> weights;
  for (const auto& [weight, instant] : measure.instants) {
    LPN_ASSERT(at(instant) < path.timing.size());
    if (__builtin_add_overflow(weights[instant], weight, &weights[instant])) {
      throw Error("E-measure", "a quantity counts more than 2**63 times");
    }
  }
  measure_.constant = measure.constant;
  for (const auto& [instant, weight] : weights) {
    if (weight != 0 && instant != kTimeZero) measure_.instants.emplace_back(weight, instant);
  }
  Builder(*this).build();
}

std::uint32_t PathUnits::intern(std::uint32_t unit, std::vector<std::int64_t> values) {
  std::uint64_t hash = unit;
  for (const std::int64_t x : values) {
    hash = (hash ^ static_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29;
  }
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Function& f = functions_[it->second];
    if (f.unit == unit && f.values == values) return it->second;
  }
  const auto id = static_cast<std::uint32_t>(functions_.size());
  const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
  Function made{.unit = unit, .values = {}, .lo = *lo, .hi = *hi};
  made.values = std::move(values);
  functions_.push_back(std::move(made));
  by_hash_.emplace(hash, id);
  return id;
}

std::uint32_t PathUnits::plus(std::uint32_t f, std::uint32_t g) {
  const std::uint64_t key = (std::uint64_t{std::min(f, g)} << 32) | std::max(f, g);
  if (const auto it = sums_.find(key); it != sums_.end()) return it->second;
  LPN_ASSERT(functions_[f].unit == functions_[g].unit);
  std::vector<std::int64_t> values = functions_[f].values;
  for (std::size_t k = 0; k < values.size(); ++k) values[k] += functions_[g].values[k];
  const std::uint32_t id = intern(functions_[f].unit, std::move(values));
  sums_.emplace(key, id);
  return id;
}

Time PathUnits::least(const Sum& sum) const {
  Time t = sum.constant;
  for (const std::uint32_t f : sum.functions) t += functions_[f].lo;
  return t;
}

Time PathUnits::most(const Sum& sum) const {
  Time t = sum.constant + sum.slack;
  for (const std::uint32_t f : sum.functions) t += functions_[f].hi;
  return t;
}

Assignment PathUnits::assignment(const Choice& choice) const {
  Assignment values = rest_;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    const std::size_t width = unit.variables.size();
    for (std::size_t k = 0; k < width; ++k) {
      values[unit.variables[k]] = unit.tuples[choice[u] * width + k];
    }
  }
  return values;
}

std::optional<Choice> PathUnits::choice(const Assignment& values) const {
  Choice choice(units_.size());
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    const std::size_t width = unit.variables.size();
    const auto compare = [&](std::uint32_t row) {
      for (std::size_t k = 0; k < width; ++k) {
        const std::int64_t x = unit.tuples[row * width + k], y = values[unit.variables[k]];
        if (x != y) return x < y ? -1 : 1;
      }
      return 0;
    };
    std::uint32_t lo = 0, hi = unit.size;
    while (lo < hi) {
      const std::uint32_t middle = lo + (hi - lo) / 2;
      if (compare(middle) < 0) {
        lo = middle + 1;
      } else {
        hi = middle;
      }
    }
    if (lo == unit.size || compare(lo) != 0) return std::nullopt;
    choice[u] = lo;
  }
  return choice;
}

std::optional<Time> PathUnits::value(const Assignment& values) const {
  if (!contains(*space_, values) || !follows(*path_, *space_, values)) return std::nullopt;
  try {
    return smt::value(measure_, evaluate(path_->timing, *space_, values));
  } catch (const EvalFault&) {
    return std::nullopt;
  }
}

std::optional<InstantId> PathUnits::instant() const {
  const auto& all = measure_.instants;
  if (measure_.constant != 0 || all.size() != 1 || all[0].first != 1) return std::nullopt;
  return all[0].second;
}

Numbering numbering(const InputSpace& space, const Target& target) {
  const PathUnits path(space, *target.path, measure_of(target, false));
  Numbering found;
  for (const Unit& unit : path.units()) found.units.push_back(unit.variables);
  for (const Limit& limit : path.limits()) found.limits.push_back(limit.source);
  return found;
}

bool is_sum(const Target& target) {
  if (!target.measure) return false;
  const auto& all = target.measure->instants;
  return target.measure->constant != 0 || all.size() != 1 || all[0].first != 1;
}

Measure measure_of(const Target& target, bool negated) {
  Measure measure = target.measure ? *target.measure : Measure{{{1, target.instant}}, 0};
  if (!negated) return measure;
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const bool fits = std::none_of(measure.instants.begin(), measure.instants.end(),
                                 [&](const auto& each) { return each.first == kLeast; });
  if (!fits || measure.constant == kLeast) {
    throw Error("E-measure", "a quantity that counts -2**63 times");
  }
  measure.constant = -measure.constant;
  for (auto& [weight, instant] : measure.instants) weight = -weight;
  return measure;
}

Time PathUnits::estimate(const Choice& choice) const {
  times_.assign(arcs_.size(), 0);
  for (std::size_t v = 1; v < arcs_.size(); ++v) {
    if (!needed_[v]) continue;
    const auto of = [&](const TimedArc& arc) {
      Time t = times_[arc.from] + arc.delay.constant;
      for (const std::uint32_t f : arc.delay.functions) {
        t += functions_[f].values[choice[functions_[f].unit]];
      }
      return t;
    };
    const Timing::Node& node = timing()[static_cast<InstantId>(v)];
    Time t = 0;
    switch (node.kind) {
      case Timing::Kind::kMax:
        for (const TimedArc& arc : arcs_[v]) t = std::max(t, of(arc));
        break;
      case Timing::Kind::kGate:
        t = of(arcs_[v][0]);
        if (t >= of(arcs_[v][1])) t = std::max(t, of(arcs_[v][2]));
        break;
      case Timing::Kind::kEdge: {
        t = of(arcs_[v][0]);
        const Time past = floor_mod(t - node.phase, node.period);
        if (past != 0) t += node.period - past;
        break;
      }
    }
    times_[v] = t;
  }
  Time sum = measure_.constant;
  for (const auto& [weight, instant] : measure_.instants) sum += weight * times_[at(instant)];
  return sum;
}

bool PathUnits::within_limits(const Choice& choice) const {
  return std::all_of(limits_.begin(), limits_.end(), [&](const Limit& limit) {
    Wide sum = 0;
    for (const std::uint32_t f : limit.functions) {
      sum += functions_[f].values[choice[functions_[f].unit]];
    }
    return sum <= limit.cap;
  });
}

std::size_t most_arrivals(const PathUnits& path) {
  std::size_t arcs = 0;
  for (std::size_t v = 0; v < path.timing().size(); ++v) arcs += path.arcs(v).size();
  return 20'000 + 16 * arcs;
}

}  // namespace lpn::smt

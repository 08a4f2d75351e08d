#include "sum_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "linear_programme.h"
#include "lpn/base/error.h"
#include "lpn/classes/differences.h"

namespace lpn::smt {
namespace {

constexpr std::int64_t kEntries = 20'000;  // of a table
constexpr std::size_t kMostPairs = 4000;   // of instants, compared
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Cutting planes for the weights of a part's chains and for its multipliers: its bound is convex in
// them.
class PartCuts {
 public:
  // Multipliers of these `limits`, chains to these `negatives`; begins with the part's own chains.
  PartCuts(const PathUnits& path, const Chains& chains, const Step::Part& part,
           const std::vector<std::pair<InstantId, std::int64_t>>& negatives,
           const std::vector<std::size_t>& limits, std::int64_t denominator)
      : p_(path),
        known_(chains),
        negatives_(negatives),
        limits_(limits),
        scale_(static_cast<double>(denominator)),
        denominator_(denominator) {
    double steepest = 1;
    for (const Unit& unit : p_.units()) steepest += unit.size;
    steepest *= static_cast<double>(std::max<std::int64_t>(part.weight, 1));
    total_ = lp_.add_column(-kInfinity, kInfinity, 1);
    for (const auto& [instant, weight] : negatives_) {
      rows_[instant] = lp_.add_row(-kInfinity, static_cast<double>(weight), {});
    }
    for (std::size_t k = 0; k < limits_.size(); ++k) {
      multipliers_.push_back(lp_.add_column(0, steepest, 0));
    }
    for (const Step::Toll& toll : part.tolls) add_chain(toll);
  }

  // False: it is there already.
  bool add_chain(const Step::Toll& toll) {
    for (const Step::Toll& known : chains_) {
      if (known.instant == toll.instant && known.chain.arcs == toll.chain.arcs) return false;
    }
    std::vector<std::pair<int, double>> entries{{rows_.at(toll.instant), 1.0}};
    for (const Cut& cut : cuts_) entries.emplace_back(cut.row, length(toll, cut.choice));
    chains_.push_back(toll);
    weights_.push_back(lp_.add_column(0, kInfinity, 0, entries));
    return true;
  }

  // The part is, for any weights, at least what the path and choice of this solution come to.
  // `total`: what it was for those tried.
  void add_cut(const Step::Part& tried, Wide total, const UpperBound::Result& result) {
    double constant = static_cast<double>(total) / scale_;
    for (const Step::Toll& toll : tried.tolls) {
      constant += static_cast<double>(toll.chain.weight) / scale_ * length(toll, result.whole);
    }
    std::vector<std::pair<int, double>> entries{{total_, 1.0}};
    for (std::size_t k = 0; k < limits_.size(); ++k) {
      const auto slack = static_cast<double>(result.slack[limits_[k]]);
      constant -= slack * static_cast<double>(tried.multipliers[limits_[k]]) / scale_;
      entries.emplace_back(multipliers_[k], -slack);
    }
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      entries.emplace_back(weights_[c], length(chains_[c], result.whole));
    }
    cuts_.push_back({lp_.add_row(constant, kInfinity, entries), result.whole});
  }

  // The least that the cuts allow; nullopt: no solution in time.
  std::optional<double> solve() {
    if (!lp_.solve(1)) return std::nullopt;
    return lp_.objective();
  }

  // Weights and multipliers of the solution. False: they are too large.
  bool read(Step::Part& part) const {
    std::map<InstantId, std::int64_t> room;
    for (const auto& [instant, weight] : negatives_) room[instant] = weight * denominator_;
    part.tolls.clear();
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      std::int64_t& left = room[chains_[c].instant];
      const std::int64_t w =
          std::min(left, std::int64_t{std::llround(lp_.value(weights_[c]) * scale_)});
      if (w <= 0) continue;
      left -= w;
      part.tolls.push_back({chains_[c].instant, {w, chains_[c].chain.arcs}});
    }
    Wide heaviest = 0;
    for (std::size_t k = 0; k < limits_.size(); ++k) {
      const double m = lp_.value(multipliers_[k]) * scale_;
      part.multipliers[limits_[k]] = std::llround(std::clamp(m, 0.0, 1e15));
      for (const std::uint32_t f : p_.limits()[limits_[k]].functions) {
        heaviest += (Wide{p_.function(f).hi} - p_.function(f).lo) * part.multipliers[limits_[k]];
      }
    }
    return heaviest <= (Wide{1} << 59);
  }

 private:
  struct Cut {
    int row;
    Choice choice;
  };

  double length(const Step::Toll& toll, const Choice& choice) const {
    const Chains::Chain known = known_.of(toll.instant, toll.chain.arcs);
    std::int64_t t = known.constant;
    for (const std::uint32_t f : known.functions)
      t += p_.function(f).values[choice[p_.function(f).unit]];
    return static_cast<double>(t);
  }

  const PathUnits& p_;
  const Chains& known_;
  const std::vector<std::pair<InstantId, std::int64_t>>& negatives_;
  const std::vector<std::size_t>& limits_;
  double scale_;
  std::int64_t denominator_;
  LinearProgramme lp_;
  int total_ = 0;                   // column: what the part comes to
  std::map<InstantId, int> rows_;   // chains to an instant do not count more often than it does
  std::vector<int> multipliers_;    // columns, per limit
  std::vector<Step::Toll> chains_;  // tolls of weights to be found
  std::vector<int> weights_;        // columns, per chain
  std::vector<Cut> cuts_;
};

}  // namespace

// Positive instants go with negative ones so that, added up, they can be least far behind them.
SumBound::SumBound(PathUnits& path) : p_(path), chains_(path) {
  if (p_.measure().instants.empty()) return;
  Differences differences(p_.timing(), p_.space());
  std::vector<std::pair<InstantId, std::int64_t>> left;
  for (const auto& [weight, instant] : p_.measure().instants) {
    if (weight < 0) left.emplace_back(instant, -weight);
  }
  struct Pair {
    Time apart;
    std::size_t positive, negative;
  };
  const std::size_t near = std::max<std::size_t>(kMostPairs / p_.measure().instants.size(), 4);
  std::vector<std::pair<InstantId, std::int64_t>> open;
  std::vector<Pair> pairs;
  for (const auto& [weight, instant] : p_.measure().instants) {
    if (weight < 0) continue;
    // Both are in the order of their numbers; of many only those near each other are compared.
    const auto middle = static_cast<std::size_t>(
        std::lower_bound(left.begin(), left.end(), std::pair(instant, std::int64_t{0})) -
        left.begin());
    for (std::size_t n = middle > near ? middle - near : 0;
         n < std::min(left.size(), middle + near); ++n) {
      pairs.push_back({differences.upper(instant, left[n].first), open.size(), n});
    }
    open.emplace_back(instant, weight);
  }
  LinearProgramme lp;
  std::vector<int> supply, demand, columns;
  for (const auto& [instant, weight] : open) {
    supply.push_back(lp.add_row(-kInfinity, static_cast<double>(weight), {}));
  }
  for (const auto& [instant, weight] : left) {
    demand.push_back(lp.add_row(-kInfinity, static_cast<double>(weight), {}));
  }
  for (const Pair& pair : pairs) {
    // Against leaving both alone.
    const double alone = static_cast<double>(differences.latest(open[pair.positive].first)) -
                         static_cast<double>(differences.earliest(left[pair.negative].first));
    // One path less a chain is never worse than both alone: pairs are made where it seems equal
    // too.
    columns.push_back(lp.add_column(0, kInfinity, static_cast<double>(pair.apart) - alone - 1,
                                    {{supply[pair.positive], 1.0}, {demand[pair.negative], 1.0}}));
  }
  if (!pairs.empty() && !lp.solve(5)) pairs.clear();
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const Pair& pair = pairs[k];
    auto& [negative, weight] = left[pair.negative];
    auto& [positive, own] = open[pair.positive];
    const std::int64_t both =
        std::min({weight, own, std::int64_t{std::llround(lp.value(columns[k]))}});
    if (both <= 0) continue;
    Part part{positive, both, {{negative, both}}, {}, std::make_unique<UpperBound>(p_, positive)};
    if (pair.apart < *p_.magnitude()) part.apart = pair.apart;
    parts_.push_back(std::move(part));
    own -= both;
    weight -= both;
  }
  for (const auto& [instant, weight] : open) {
    if (weight > 0) {
      parts_.push_back({instant, weight, {}, {}, std::make_unique<UpperBound>(p_, instant)});
    }
  }
  Part rest{kTimeZero, 0, {}, {}, std::make_unique<UpperBound>(p_, kTimeZero)};
  for (const auto& [instant, weight] : left) {
    if (weight > 0) rest.negatives.emplace_back(instant, weight);
  }
  if (!rest.negatives.empty()) parts_.push_back(std::move(rest));
}

Step SumBound::first(const Box& box, const Choice& choice) {
  Step step;
  std::int64_t& denominator = step.denominator;
  denominator = 1 << 10;
  while (denominator > 1 && *p_.magnitude() > (std::int64_t{1} << 59) / denominator)
    denominator /= 2;
  const std::vector<std::int64_t> least = least_use(p_, box);
  // The widest limit that matters is kept exactly.
  std::optional<std::uint32_t> budget;
  for (std::uint32_t l = 0; l < p_.limits().size(); ++l) {
    if (!binding(p_, box, l)) continue;
    if (!budget || p_.limits()[l].functions.size() > p_.limits()[*budget].functions.size())
      budget = l;
  }
  for (const Part& part : parts_) {
    Step::Part made;
    made.instant = part.instant;
    made.weight = part.weight;
    made.multipliers.assign(p_.limits().size(), 0);
    made.budget = budget;
    if (budget) made.quantum = quantum(p_, box, *budget, least[*budget], kEntries);
    for (const auto& [instant, weight] : part.negatives) {
      made.tolls.push_back(
          {instant, {weight * denominator, chains_.longest(instant, choice).arcs}});
    }
    step.parts.push_back(std::move(made));
  }
  return step;
}

UpperBound::Charge SumBound::charge(const Step::Part& part, std::int64_t denominator,
                                    Wide& constant) {
  UpperBound::Charge charge{.scale = denominator * std::max<std::int64_t>(part.weight, 1),
                            .budget = part.budget,
                            .quantum = part.quantum,
                            .multipliers = part.multipliers,
                            .tolls = {}};
  std::map<std::uint32_t, std::int64_t> tolls;
  for (const Step::Toll& toll : part.tolls) {
    const Chains::Chain chain = chains_.of(toll.instant, toll.chain.arcs);
    constant -= Wide{toll.chain.weight} * chain.constant;
    for (const std::uint32_t f : chain.functions) tolls[f] += toll.chain.weight;
  }
  charge.tolls.assign(tolls.begin(), tolls.end());
  return charge;
}

SumBound::Result SumBound::solve(const Box& box, const Step& step, int rounds) {
  Result result;
  result.step = step;
  Wide total = Wide{p_.measure().constant} * step.denominator;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Step::Part& part = result.step.parts[k];
    Wide sum = 0;
    const UpperBound::Charge charged = charge(part, step.denominator, sum);
    UpperBound::Result solved = parts_[k].upper->solve(box, charged);
    sum += solved.total;
    if (rounds > 0) {
      sum = improve(box, k, part, sum, solved, step.denominator, rounds);
      // What a path does not read is cheapest at one tuple for a budget and at another for chains,
      // of which a budget takes the better for each; a multiplier weighs them.
      if (part.budget && !part.tolls.empty()) {
        Step::Part other = part;
        other.budget.reset();
        other.quantum = 1;
        Wide total_other = 0;
        const UpperBound::Charge charged_other = charge(other, step.denominator, total_other);
        UpperBound::Result solved_other = parts_[k].upper->solve(box, charged_other);
        total_other = improve(box, k, other, total_other + solved_other.total, solved_other,
                              step.denominator, rounds);
        if (total_other < sum) sum = total_other, part = other, solved = std::move(solved_other);
      }
    }
    part.behind.reset();
    if (parts_[k].apart) {
      const Wide apart = Wide{*parts_[k].apart} * part.weight * step.denominator;
      if (apart <= sum) sum = apart, part.behind = parts_[k].negatives[0].first;
    }
    total += sum;
    result.choices.push_back(std::move(solved.whole));
  }
  const Wide d = step.denominator;
  result.bound = static_cast<Time>(total >= 0 ? total / d : -((-total + d - 1) / d));
  return result;
}

// Better tolls and multipliers for a part, in so many rounds; what it comes to then.
Wide SumBound::improve(const Box& box, std::size_t number, Step::Part& part, Wide best,
                       UpperBound::Result& found, std::int64_t denominator, int rounds) {
  std::vector<std::size_t> limits;
  for (std::size_t l = 0; l < p_.limits().size(); ++l) {
    if (part.budget != l && binding(p_, box, l)) limits.push_back(l);
  }
  if (part.tolls.empty() && limits.empty()) return best;
  const auto& negatives = parts_[number].negatives;
  PartCuts cuts(p_, chains_, part, negatives, limits, denominator);
  Step::Part tried = part;
  UpperBound::Result result = found;
  Wide total = best;
  for (int round = 0; round < rounds; ++round) {
    cuts.add_cut(tried, total, result);
    bool added = false;
    for (const auto& [instant, weight] : negatives) {
      added |= cuts.add_chain({instant, {0, chains_.longest(instant, result.whole).arcs}});
    }
    const std::optional<double> hope = cuts.solve();
    if (!hope) break;
    if (!added && *hope > static_cast<double>(best) / static_cast<double>(denominator) - 0.01)
      break;
    if (!cuts.read(tried)) break;
    total = 0;
    const UpperBound::Charge charged = charge(tried, denominator, total);
    result = parts_[number].upper->solve(box, charged);
    total += result.total;
    if (total < best) best = total, part = tried, found = result;
  }
  return best;
}

}  // namespace lpn::smt

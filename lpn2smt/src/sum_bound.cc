#include "sum_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "linear_programme.h"
#include "lpn/base/error.h"
#include "lpn/classes/differences.h"

namespace lpn::smt {
namespace {

constexpr std::int64_t kEntries = 20'000;  // of a table
constexpr std::size_t kMostPairs = 4000;   // of instants, compared
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

std::int64_t quantum(const Problem& problem, const Box& box, std::size_t limit, std::int64_t least,
                     std::int64_t entries) {
  std::int64_t common = 0;
  for (const std::uint32_t f : problem.limits()[limit].functions) {
    const Function& function = problem.function(f);
    const auto [first, end] = box[function.unit];
    const std::int64_t lo =
        *std::min_element(function.values.begin() + first, function.values.begin() + end);
    for (std::uint32_t row = first; row < end; ++row) {
      common = std::gcd(common, function.values[row] - lo);
    }
  }
  common = std::max<std::int64_t>(common, 1);
  const std::int64_t budget = (problem.limits()[limit].cap - least) / common;
  return common * (budget / entries + 1);
}

bool binding(const Problem& problem, const Box& box, std::size_t limit) {
  Wide most = 0;
  for (const std::uint32_t f : problem.limits()[limit].functions) {
    const Function& function = problem.function(f);
    const auto [first, end] = box[function.unit];
    most += *std::max_element(function.values.begin() + first, function.values.begin() + end);
  }
  return most > problem.limits()[limit].cap;
}

// Positive instants go with negative ones so that, added up, they can be least far behind them.
Sums::Sums(Problem& problem) : p_(problem), mix_(problem) {
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
    Part part{positive, both, {{negative, both}}, {}, std::make_unique<Longest>(p_, positive)};
    if (pair.apart < *p_.magnitude()) part.apart = pair.apart;
    parts_.push_back(std::move(part));
    own -= both;
    weight -= both;
  }
  for (const auto& [instant, weight] : open) {
    if (weight > 0) {
      parts_.push_back({instant, weight, {}, {}, std::make_unique<Longest>(p_, instant)});
    }
  }
  Part rest{kTimeZero, 0, {}, {}, std::make_unique<Longest>(p_, kTimeZero)};
  for (const auto& [instant, weight] : left) {
    if (weight > 0) rest.negatives.emplace_back(instant, weight);
  }
  if (!rest.negatives.empty()) parts_.push_back(std::move(rest));
}

Step Sums::first(const Box& box, const Choice& choice) {
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
      made.tolls.push_back({instant, {weight * denominator, mix_.longest(instant, choice).arcs}});
    }
    step.parts.push_back(std::move(made));
  }
  return step;
}

Longest::Charge Sums::charge(const Step::Part& part, std::int64_t denominator, Wide& constant) {
  Longest::Charge charge{.scale = denominator * std::max<std::int64_t>(part.weight, 1),
                         .budget = part.budget,
                         .quantum = part.quantum,
                         .multipliers = part.multipliers,
                         .tolls = {}};
  std::map<std::uint32_t, std::int64_t> tolls;
  for (const Step::Toll& toll : part.tolls) {
    const Mix::Chain chain = mix_.chain(toll.instant, toll.chain.arcs);
    constant -= Wide{toll.chain.weight} * chain.constant;
    for (const std::uint32_t f : chain.functions) tolls[f] += toll.chain.weight;
  }
  charge.tolls.assign(tolls.begin(), tolls.end());
  return charge;
}

Sums::Result Sums::solve(const Box& box, const Step& step, int rounds) {
  Result result;
  result.step = step;
  Wide total = Wide{p_.measure().constant} * step.denominator;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Step::Part& part = result.step.parts[k];
    Wide sum = 0;
    const Longest::Charge charged = charge(part, step.denominator, sum);
    Longest::Result solved = parts_[k].longest->solve(box, charged);
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
        const Longest::Charge charged_other = charge(other, step.denominator, total_other);
        Longest::Result solved_other = parts_[k].longest->solve(box, charged_other);
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

// Cutting planes for the weights of chains and for multipliers: the part's bound is convex in them.
Wide Sums::improve(const Box& box, std::size_t number, Step::Part& part, Wide best,
                   Longest::Result& found, std::int64_t denominator, int rounds) {
  std::vector<std::size_t> limits;
  double steepest = 1;
  for (std::size_t l = 0; l < p_.limits().size(); ++l) {
    if (part.budget != l && binding(p_, box, l)) limits.push_back(l);
  }
  if (part.tolls.empty() && limits.empty()) return best;
  const auto scale = static_cast<double>(denominator);
  for (const Unit& unit : p_.units()) steepest += unit.size;
  steepest *= static_cast<double>(std::max<std::int64_t>(part.weight, 1));

  LinearProgramme lp;
  const int theta = lp.add_column(-kInfinity, kInfinity, 1);
  std::map<InstantId, int> rows;
  for (const auto& [instant, weight] : parts_[number].negatives) {
    rows[instant] = lp.add_row(-kInfinity, static_cast<double>(weight), {});
  }
  std::vector<int> multipliers;
  for (std::size_t k = 0; k < limits.size(); ++k)
    multipliers.push_back(lp.add_column(0, steepest, 0));
  std::vector<Step::Toll> chains;
  std::vector<int> weights;
  struct Cut {
    int row;
    Choice choice;
  };
  std::vector<Cut> cuts;
  const auto add_chain = [&](const Step::Toll& toll) {
    for (const Step::Toll& known : chains) {
      if (known.instant == toll.instant && known.chain.arcs == toll.chain.arcs) return false;
    }
    std::vector<std::pair<int, double>> entries{{rows.at(toll.instant), 1.0}};
    for (const Cut& cut : cuts) {
      entries.emplace_back(cut.row,
                           static_cast<double>(length(toll.chain, toll.instant, cut.choice)));
    }
    chains.push_back(toll);
    weights.push_back(lp.add_column(0, kInfinity, 0, entries));
    return true;
  };
  for (const Step::Toll& toll : part.tolls) add_chain(toll);

  Step::Part tried = part;
  Longest::Result result = found;
  Wide total = best;
  for (int round = 0; round < rounds; ++round) {
    // theta >= what the path and choice of this solution come to, for any weights.
    double constant = static_cast<double>(total) / scale;
    for (const Step::Toll& toll : tried.tolls) {
      constant += static_cast<double>(toll.chain.weight) / scale *
                  static_cast<double>(length(toll.chain, toll.instant, result.whole));
    }
    std::vector<std::pair<int, double>> entries{{theta, 1.0}};
    for (std::size_t k = 0; k < limits.size(); ++k) {
      const auto slack = static_cast<double>(result.slack[limits[k]]);
      constant -= slack * static_cast<double>(tried.multipliers[limits[k]]) / scale;
      entries.emplace_back(multipliers[k], -slack);
    }
    for (std::size_t c = 0; c < chains.size(); ++c) {
      entries.emplace_back(weights[c], static_cast<double>(length(
                                           chains[c].chain, chains[c].instant, result.whole)));
    }
    cuts.push_back({lp.add_row(constant, kInfinity, entries), result.whole});
    bool added = false;
    for (const auto& [instant, weight] : parts_[number].negatives) {
      added |= add_chain({instant, {0, mix_.longest(instant, result.whole).arcs}});
    }
    if (!lp.solve(1)) break;
    if (!added && lp.objective() > static_cast<double>(best) / scale - 0.01) break;
    std::map<InstantId, std::int64_t> room;
    for (const auto& [instant, weight] : parts_[number].negatives)
      room[instant] = weight * denominator;
    tried.tolls.clear();
    for (std::size_t c = 0; c < chains.size(); ++c) {
      std::int64_t& left = room[chains[c].instant];
      const std::int64_t w =
          std::min(left, std::int64_t{std::llround(lp.value(weights[c]) * scale)});
      if (w <= 0) continue;
      left -= w;
      tried.tolls.push_back({chains[c].instant, {w, chains[c].chain.arcs}});
    }
    Wide heaviest = 0;
    for (std::size_t k = 0; k < limits.size(); ++k) {
      const double m = lp.value(multipliers[k]) * scale;
      tried.multipliers[limits[k]] = std::llround(std::clamp(m, 0.0, 1e15));
      for (const std::uint32_t f : p_.limits()[limits[k]].functions) {
        heaviest += (Wide{p_.function(f).hi} - p_.function(f).lo) * tried.multipliers[limits[k]];
      }
    }
    if (heaviest > (Wide{1} << 59)) break;
    total = 0;
    const Longest::Charge charged = charge(tried, denominator, total);
    result = parts_[number].longest->solve(box, charged);
    total += result.total;
    if (total < best) best = total, part = tried, found = result;
  }
  return best;
}

std::int64_t Sums::length(const Step::Chain& chain, InstantId instant, const Choice& choice) const {
  const Mix::Chain known = mix_.chain(instant, chain.arcs);
  std::int64_t t = known.constant;
  for (const std::uint32_t f : known.functions)
    t += p_.function(f).values[choice[p_.function(f).unit]];
  return t;
}

}  // namespace lpn::smt

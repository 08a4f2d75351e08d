#include "lower_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lpn::smt {
namespace {

constexpr double kTolerance = 1e-7;
constexpr double kSeconds = 3;  // of one solution
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Wide ceil_quotient(Wide x, Wide y) { return x / y + (x % y > 0 ? 1 : 0); }

}  // namespace

LowerColumns::LowerColumns(const PathUnits& path, const Box& box, const Chains& chains)
    : p_(path), box_(box), chains_(chains), uses_(path.units().size()), columns_(uses_.size()) {
  for (std::size_t l = 0; l < p_.limits().size(); ++l) {
    for (const std::uint32_t f : p_.limits()[l].functions)
      uses_[p_.function(f).unit].emplace_back(l, f);
  }
  for (const std::uint32_t f : chains.read()) {
    penalty_ += static_cast<double>(p_.function(f).hi - p_.function(f).lo);
  }
  scale_ = std::int64_t{1} << 20;
  while (scale_ > 1 && *p_.magnitude() > (std::int64_t{1} << 60) / scale_) scale_ /= 2;

  length_ = lp_.add_column(-kInfinity, kInfinity, 1);
  for (const Limit& limit : p_.limits()) {
    limit_rows_.push_back(lp_.add_row(-kInfinity, static_cast<double>(limit.cap), {}));
    excess_.push_back(lp_.add_column(0, kInfinity, penalty_, {{limit_rows_.back(), -1.0}}));
  }
  for (std::size_t u = 0; u < uses_.size(); ++u) unit_rows_.push_back(lp_.add_row(1, 1, {}));
  for (std::size_t u = 0; u < uses_.size(); ++u) {
    const auto [first, end] = box_[u];
    add_tuple(u, first);
    add_tuple(u, end - 1);
    for (const auto& [l, f] : uses_[u]) {
      const auto& table = p_.function(f).values;
      const auto least = std::min_element(table.begin() + first, table.begin() + end);
      add_tuple(u, static_cast<std::uint32_t>(least - table.begin()));
    }
  }
}

bool LowerColumns::add_tuple(std::size_t unit, std::uint32_t row) {
  for (const Column& column : columns_[unit]) {
    if (column.row == row) return false;
  }
  std::vector<std::pair<int, double>> entries{{unit_rows_[unit], 1.0}};
  for (const auto& [l, f] : uses_[unit]) {
    entries.emplace_back(limit_rows_[l], static_cast<double>(p_.function(f).values[row]));
  }
  for (const Active& a : active_) {
    const auto it = a.function.find(static_cast<std::uint32_t>(unit));
    if (it == a.function.end()) continue;
    entries.emplace_back(a.row, -static_cast<double>(p_.function(it->second).values[row]));
  }
  columns_[unit].push_back({row, lp_.add_column(0, kInfinity, 0, entries)});
  return true;
}

bool LowerColumns::add_chain(std::size_t number) {
  for (const Active& a : active_) {
    if (a.chain == number) return false;
  }
  const Chains::Chain& chain = chains_.kept(number);
  Active made{number, 0, {}};
  std::vector<std::pair<int, double>> entries{{length_, 1.0}};
  for (const std::uint32_t f : chain.functions) {
    const std::uint32_t u = p_.function(f).unit;
    made.function.emplace(u, f);
    for (const Column& column : columns_[u]) {
      entries.emplace_back(column.number, -static_cast<double>(p_.function(f).values[column.row]));
    }
  }
  made.row = lp_.add_row(static_cast<double>(chain.constant), kInfinity, entries);
  active_.push_back(std::move(made));
  return true;
}

bool LowerColumns::solve() { return lp_.solve(kSeconds); }

double LowerColumns::excess() const {
  double sum = 0;
  for (const int column : excess_) sum += lp_.value(column);
  return sum;
}

void LowerColumns::mixed(MixedInput& shares) const {
  shares.resize(columns_.size());
  for (std::size_t u = 0; u < columns_.size(); ++u) {
    shares[u].clear();
    for (const Column& column : columns_[u]) {
      const double share = lp_.value(column.number);
      if (share > 1e-6) shares[u].emplace_back(column.row, share);
    }
  }
}

std::vector<std::pair<std::size_t, std::uint32_t>> LowerColumns::shorter_tuples() const {
  std::vector<std::vector<double>> reduced(columns_.size());  // costs, per tuple of the box
  for (std::size_t u = 0; u < reduced.size(); ++u) {
    if (box_[u].second - box_[u].first <= 2) continue;
    reduced[u].assign(box_[u].second - box_[u].first, 0);
    for (const auto& [l, f] : uses_[u]) {
      const double m = -lp_.dual(limit_rows_[l]);
      if (m == 0) continue;
      for (std::size_t k = 0; k < reduced[u].size(); ++k) {
        reduced[u][k] += m * static_cast<double>(p_.function(f).values[box_[u].first + k]);
      }
    }
  }
  for (const Active& a : active_) {
    const double y = lp_.dual(a.row);
    if (y == 0) continue;
    for (const auto& [u, f] : a.function) {
      for (std::size_t k = 0; k < reduced[u].size(); ++k) {
        reduced[u][k] += y * static_cast<double>(p_.function(f).values[box_[u].first + k]);
      }
    }
  }
  std::vector<std::pair<std::size_t, std::uint32_t>> tuples;
  for (std::size_t u = 0; u < reduced.size(); ++u) {
    if (reduced[u].empty()) continue;
    const auto least = std::min_element(reduced[u].begin(), reduced[u].end());
    if (*least - lp_.dual(unit_rows_[u]) < -kTolerance) {
      tuples.emplace_back(u,
                          box_[u].first + static_cast<std::uint32_t>(least - reduced[u].begin()));
    }
  }
  return tuples;
}

Wide LowerColumns::Weighed::least() const {
  Wide all = total;
  for (const auto& sum : sums) all += *std::min_element(sum.begin(), sum.end());
  return all;
}

LowerColumns::Weighed LowerColumns::weigh_limits(Step::Kind kind, double divide) const {
  Weighed weighed;
  Step& step = weighed.step;
  step.kind = kind;
  step.denominator = scale_;
  for (std::size_t l = 0; l < p_.limits().size(); ++l) {
    const double m =
        std::max(0.0, -lp_.dual(limit_rows_[l])) / divide * static_cast<double>(scale_);
    step.multipliers.push_back(m < 1e15 ? std::llround(m) : 0);
    weighed.total -= Wide{step.multipliers[l]} * p_.limits()[l].cap;
  }
  for (std::size_t u = 0; u < uses_.size(); ++u) {
    const auto [first, end] = box_[u];
    std::vector<Wide>& sums = weighed.sums.emplace_back(end - first, 0);
    for (const auto& [l, f] : uses_[u]) {
      if (step.multipliers[l] == 0) continue;
      for (std::size_t k = 0; k < sums.size(); ++k) {
        sums[k] += Wide{step.multipliers[l]} * p_.function(f).values[first + k];
      }
    }
  }
  return weighed;
}

// Weights of chains, which add up to the scale: what rounding leaves goes to the heaviest.
void LowerColumns::weigh_chains(Weighed& weighed) const {
  std::vector<Step::Chain>& chains = weighed.step.chains;
  std::vector<std::size_t> numbers;
  std::int64_t rest = scale_;
  for (const Active& a : active_) {
    const double y = std::max(0.0, lp_.dual(a.row)) * static_cast<double>(scale_);
    const std::int64_t w = std::min(rest, static_cast<std::int64_t>(std::llround(y)));
    if (w == 0) continue;
    rest -= w;
    chains.push_back({w, chains_.kept(a.chain).arcs});
    numbers.push_back(a.chain);
  }
  if (chains.empty()) {
    chains.push_back({0, chains_.kept(active_[0].chain).arcs});
    numbers.push_back(active_[0].chain);
  }
  std::max_element(chains.begin(), chains.end(), [](const Step::Chain& a, const Step::Chain& b) {
    return a.weight < b.weight;
  })->weight += rest;
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const Chains::Chain& chain = chains_.kept(numbers[c]);
    weighed.total += Wide{chains[c].weight} * chain.constant;
    for (const std::uint32_t f : chain.functions) {
      const Function& function = p_.function(f);
      auto& sum = weighed.sums[function.unit];
      for (std::size_t k = 0; k < sum.size(); ++k) {
        sum[k] += Wide{chains[c].weight} * function.values[box_[function.unit].first + k];
      }
    }
  }
}

std::pair<Time, Step> LowerColumns::bound() const {
  Weighed weighed = weigh_limits(Step::Kind::kRelaxation, 1);
  weigh_chains(weighed);
  const Wide ticks = ceil_quotient(weighed.least(), scale_);
  const Time bound =
      static_cast<Time>(std::clamp<Wide>(ticks, 0, std::numeric_limits<Time>::max() - 1));
  return {bound, std::move(weighed.step)};
}

std::optional<Step> LowerColumns::no_input() const {
  Weighed weighed = weigh_limits(Step::Kind::kNoInput, penalty_);
  if (weighed.least() <= 0) return std::nullopt;
  return std::move(weighed.step);
}

}  // namespace lpn::smt

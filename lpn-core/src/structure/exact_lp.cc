#include "structure/exact_lp.h"

#include <algorithm>

namespace lpn {

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

void Programme::add_row(const std::map<std::uint32_t, std::int64_t>& row) {
  if (std::all_of(row.begin(), row.end(), [](const auto& e) { return e.second >= 0; })) return;
  const auto number = static_cast<std::uint32_t>(rows.size());
  rows.emplace_back();
  for (const auto& [column, value] : row) {
    if (value == 0) continue;
    rows.back().emplace_back(column, value);
    columns[column].emplace_back(number, value);
  }
}

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

std::optional<Weights> Simplex::solve(const std::map<std::uint32_t, std::int64_t>& goal) {
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
    if (basic < first_slack_ && !found.constant.is_zero()) solution.emplace(basic, found.constant);
  }
  return solution;
}

void Simplex::spend(std::int64_t work) {
  work_ -= work;
  budget_ -= work;
  if (work_ < 0 || budget_ < 0) throw GiveUp{};
}

Rational Simplex::reduced(std::uint32_t variable) const {
  if (const auto it = reduced_.find(variable); it != reduced_.end()) return it->second;
  return variable < first_slack_ ? Rational(cost_[variable]) : Rational(0);
}

void Simplex::put(std::uint32_t basic, Row row) {
  for (const auto& [column, value] : row.terms) where_[column].insert(basic);
  if (row.constant.negative()) negative_.insert(basic);
  rows_[basic] = std::move(row);
}

void Simplex::appear(std::uint32_t column) {
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

void Simplex::pivot(std::uint32_t leaving, std::uint32_t entering) {
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

}  // namespace lpn

// Linear programmes in exact rationals, for the weights of place invariants.
//
// A solution in floating point would have to be rounded and checked again, and where that failed
// nothing would be known. Here numbers are fractions of 128-bit integers, and whatever does not
// fit, or takes too long, is given up (GiveUp), never rounded. Two ways:
//
// - forced(): where each weight follows from those before, as along a pipeline or round a ring.
//   Most nets are of this kind; it is linear in what it looks at.
// - Simplex: the dual method on a sparse dictionary. All costs are >= 0, so it starts from the
//   slacks without a first phase, and rows appear only when a column of theirs enters: a question
//   about one corner of a large net touches that corner alone.
//
// Both are searches: what they find is checked again in integers by who asked (invariants.cc).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lpn/base/wide.h"

namespace lpn {

// The search is given up; nothing is claimed.
struct GiveUp {};

Wide times(Wide a, Wide b);
Wide plus(Wide a, Wide b);
Wide gcd(Wide a, Wide b);

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
Rational operator*(const Rational& a, const Rational& b);
Rational operator+(const Rational& a, const Rational& b);
bool operator<(const Rational& a, const Rational& b);
Rational inverse(const Rational& a);
Rational negated(const Rational& a);

using Sparse = std::vector<std::pair<std::uint32_t, std::int64_t>>;

// Columns are weights y >= 0; each row says sum(coefficient * y) >= 0.
struct Programme {
  std::vector<Sparse> rows;     // (column, coefficient)
  std::vector<Sparse> columns;  // (row, coefficient)

  void add_row(const std::map<std::uint32_t, std::int64_t>& row);
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
Forced forced(const Programme& programme, std::uint32_t from);

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
  std::optional<Weights> solve(const std::map<std::uint32_t, std::int64_t>& goal);

 private:
  static constexpr int kMaxPivots = 4'000;
  static constexpr int kFreePivots = 400;

  struct Row {
    Rational constant;
    std::map<std::uint32_t, Rational> terms;
  };

  void spend(std::int64_t work);

  Rational reduced(std::uint32_t variable) const;

  void put(std::uint32_t basic, Row row);

  // Rows of the programme appear here when a column of theirs is about to enter, so that those that
  // have not appeared read nonbasic columns only.
  void appear(std::uint32_t column);

  void pivot(std::uint32_t leaving, std::uint32_t entering);

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

}  // namespace lpn

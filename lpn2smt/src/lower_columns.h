// The linear programme behind the least of a box: over mixed inputs, a mean of its inputs that no
// limit forbids, the longest of some chains to the instant becomes as short as can be. Tuples are
// its columns and chains its rows; both are added as they matter. Its answers are hints: what is
// read from them is rounded to integers and computed again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "box.h"
#include "chains.h"
#include "linear_programme.h"
#include "lpn/smt/certificate.h"
#include "path_units.h"

namespace lpn::smt {

class LowerColumns {
 public:
  // Borrows all three. Begins with a few tuples per unit and no chain.
  LowerColumns(const PathUnits& path, const Box& box, const Chains& chains);

  // False: it is there already.
  bool add_tuple(std::size_t unit, std::uint32_t row);
  bool add_chain(std::size_t number);  // of those that `chains` keeps

  // False: no solution in time. What follows is of the last solution.
  bool solve();
  // How long the longest chain of the mixed input is.
  double length() const { return lp_.value(length_); }
  // By how much the mixed input passes the limits.
  double excess() const;
  void mixed(MixedInput& shares) const;
  // Per unit at most one tuple that would make the mix shorter.
  std::vector<std::pair<std::size_t, std::uint32_t>> shorter_tuples() const;

  // The bound of its weights and multipliers, rounded to integers first: exact.
  std::pair<Time, Step> bound() const;
  // A proof by the limits alone that the box has no input, if they give one.
  std::optional<Step> no_input() const;

 private:
  struct Active {
    std::size_t chain;
    int row;
    std::map<std::uint32_t, std::uint32_t> function;  // per unit
  };
  struct Column {
    std::uint32_t row;  // the tuple
    int number;
  };
  // A step under construction: what it comes to is `total` and the least of each unit's sums.
  struct Weighed {
    Step step;
    Wide total = 0;
    std::vector<std::vector<Wide>> sums;  // per unit and tuple of the box

    Wide least() const;
  };
  Weighed weigh_limits(Step::Kind kind, double divide) const;
  void weigh_chains(Weighed& weighed) const;

  const PathUnits& p_;
  const Box& box_;
  const Chains& chains_;
  std::vector<std::vector<std::pair<std::size_t, std::uint32_t>>> uses_;  // limit, function
  std::int64_t scale_ = 1;  // of weights and multipliers
  double penalty_ = 1;      // of an excess
  LinearProgramme lp_;
  int length_ = 0;
  std::vector<int> limit_rows_, unit_rows_, excess_;
  std::vector<Active> active_;
  std::vector<std::vector<Column>> columns_;  // per unit
};

}  // namespace lpn::smt

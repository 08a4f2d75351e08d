// The least that an instant can be: a mix of chains of delays that no input makes shorter.
//
// The instant is at least as late as each chain that leads to it, so at least as late as a weighted
// mean of several; multipliers account for the limits. What is left is a sum over units, of which
// each takes its least. Weights and multipliers come from a linear programme over mixed inputs
// (lower_columns.h), to which chains and tuples are added as they matter.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "box.h"
#include "chains.h"
#include "lower_columns.h"
#include "lpn/smt/certificate.h"
#include "path_units.h"

namespace lpn::smt {

class LowerBound {
 public:
  // Borrows the path, whose measure is one instant. REQUIRES inputs and a magnitude.
  explicit LowerBound(PathUnits& path) : p_(path), chains_(path) {}

  struct Result {
    std::optional<Time> bound;  // none: the box has no input
    Step step;
    MixedInput mixed;  // what the last solution was a mix of
  };
  // Stops early when `go_on` is false: asked with what there is so far. REQUIRES least_use() within
  // the caps.
  Result solve(const Box& box, const std::function<bool(const Result&)>& go_on);

 private:
  using Value = std::function<double(const Function&)>;
  // A mixed input's functions, smoothed over the rounds.
  using Smoothed = std::unordered_map<const Function*, double>;

  // The longest chain when functions have these values: its length and number.
  std::pair<double, std::size_t> longest(const Value& of);
  bool extend(LowerColumns& columns, const MixedInput& mixed, bool first, Smoothed& smoothed);

  PathUnits& p_;
  Chains chains_;
  std::vector<std::size_t> last_;  // chains that had weight in the last solution
};

}  // namespace lpn::smt

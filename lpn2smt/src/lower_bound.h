// The least that an instant can be: a mix of chains of delays that no input makes shorter.
//
// The instant is at least as late as each chain that leads to it, so at least as late as a weighted
// mean of several; multipliers account for the limits. What is left is a sum over units, of which
// each takes its least. Weights and multipliers come from a linear programme over mixed inputs, to
// which chains and tuples are added as they matter.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "lpn/classes/differences.h"
#include "lpn/smt/search.h"
#include "path_units.h"
#include "upper_bound.h"

namespace lpn::smt {

class Mix {
 public:
  explicit Mix(Problem& problem);

  struct Result {
    std::optional<Time> bound;  // none: the box has no input
    Step step;
    // Per unit its tuples in the mixed input, with their shares.
    std::vector<std::vector<std::pair<std::uint32_t, double>>> mixed;
  };
  // Stops early when `go_on` is false: asked with what there is so far. REQUIRES least_use() within
  // the caps.
  Result solve(const Box& box, const std::function<bool(const Result&)>& go_on);

  // Arcs from an instant back to time zero, and what their delays are at least.
  struct Chain {
    std::vector<std::uint32_t> arcs;
    std::int64_t constant = 0;
    std::vector<std::uint32_t> functions;  // one per unit
  };
  // The longest chain to an instant when functions have these values; its length.
  std::pair<double, Chain> longest(InstantId target, const std::vector<double>& values);
  // The same for a choice.
  Chain longest(InstantId target, const Choice& choice);
  // What is known of the chain with these arcs. A chain may have several functions of a unit.
  Chain chain(InstantId target, const std::vector<std::uint32_t>& arcs) const;

 private:
  struct Arc {
    std::uint32_t from = 0;
    const Sum* delay = nullptr;  // null: `constant`
    std::int64_t constant = 0;
    std::uint32_t number = 0;  // in Step::Chain
  };
  std::size_t keep(Chain chain);

  Problem& p_;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<std::uint32_t> read_;  // functions of arcs
  std::vector<Chain> chains_;
  std::map<std::vector<std::uint32_t>, std::size_t> known_;
  std::vector<std::size_t> last_;  // chains that had weight in the last solution
};

}  // namespace lpn::smt

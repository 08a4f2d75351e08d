// The largest a sum of instants can be: instants with positive weights go with some that have
// negative ones, and of each pair counts how far the one can be behind the other, or a longest path
// to the one less chains to the other, for an input of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lower_bound.h"
#include "lpn/smt/search.h"
#include "path_units.h"
#include "upper_bound.h"

namespace lpn::smt {

// Uses of a limit are multiples of it beyond the least, or it is more than that so that a table has
// `entries` at most.
std::int64_t quantum(const Problem& problem, const Box& box, std::size_t limit, std::int64_t least,
                     std::int64_t entries);
// Whether a limit can matter in the box.
bool binding(const Problem& problem, const Box& box, std::size_t limit);

class Sums {
 public:
  explicit Sums(Problem& problem);

  struct Result {
    Time bound = 0;
    Step step;
    std::vector<Choice> choices;  // an input of each part
  };
  // The step's parts for this box, as they are or, in so many rounds, with better tolls and
  // multipliers. REQUIRES least_use() within the caps.
  Result solve(const Box& box, const Step& step, int rounds);
  // With chains that are longest for the choice.
  Step first(const Box& box, const Choice& choice);

 private:
  struct Part {
    InstantId instant{};
    std::int64_t weight = 0;
    std::vector<std::pair<InstantId, std::int64_t>> negatives;  // with weights
    std::optional<Time> apart;  // most that the instant is behind its only negative
    std::unique_ptr<Longest> longest;
  };
  Longest::Charge charge(const Step::Part& part, std::int64_t denominator, Wide& constant);
  std::int64_t length(const Step::Chain& chain, InstantId instant, const Choice& choice) const;
  Wide improve(const Box& box, std::size_t number, Step::Part& part, Wide total,
               Longest::Result& result, std::int64_t denominator, int rounds);

  Problem& p_;
  Mix mix_;
  std::vector<Part> parts_;
};

}  // namespace lpn::smt

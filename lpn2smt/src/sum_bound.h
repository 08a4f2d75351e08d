// The largest a sum of instants can be: instants with positive weights go with some that have
// negative ones, and of each pair counts how far the one can be behind the other, or a longest path
// to the one less chains to the other, for an input of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "box.h"
#include "chains.h"
#include "lpn/smt/certificate.h"
#include "path_units.h"
#include "upper_bound.h"

namespace lpn::smt {

class SumBound {
 public:
  explicit SumBound(PathUnits& path);

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
    std::unique_ptr<UpperBound> upper;
  };
  UpperBound::Charge charge(const Step::Part& part, std::int64_t denominator, Wide& constant);
  Wide improve(const Box& box, std::size_t number, Step::Part& part, Wide total,
               UpperBound::Result& result, std::int64_t denominator, int rounds);

  PathUnits& p_;
  Chains chains_;
  std::vector<Part> parts_;
};

}  // namespace lpn::smt

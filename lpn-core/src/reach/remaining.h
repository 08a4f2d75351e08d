// How long a run can still go on at most, from what its tokens are and nothing else.
//
// While a run goes on, a firing is in flight, an interval has not passed, or a clock is waited for.
// So what is left of it is at most the longest that is under way now, and what all firings to come
// take together, one after the other.
// How many there can be follows from the tokens: weights of places such that each firing takes at
// least as much weight as it puts back and its own duration besides (a solution of a linear
// programme, checked in integers). The weight of a marking is then a bound.
#pragma once

#include <optional>
#include <vector>

#include "lpn/net/net.h"
#include "state.h"

namespace lpn::reach {

class Remaining {
 public:
  enum class What : std::uint8_t { kTime, kCommits, kBusy, kDone };
  // Of a lowered net whose runs begin with `state`: time, commits of a transition, ticks of those
  // of its firings that start from here on, or tokens put into done places.
  Remaining(const Net& net, const ParamValues& params, TermSets& sets, const State& state,
            What what, TransitionId counted = {});

  // Nullopt: nothing is known.
  std::optional<std::int64_t> of(const State& state) const;

 private:
  struct Fields;
  void find_ranges(const Net& net, const ParamValues& params, TermSets& sets, const State& state);

  const Net& net_;
  What what_ = What::kTime;
  std::uint32_t counted_ = 0;
  std::vector<std::vector<Range>> ranges_;  // per place and property: of all tokens ever
  std::vector<bool> reached_;               // per place: it may have a token
  std::vector<std::int64_t> weights_;       // per place, in 1/scale_
  std::int64_t scale_ = 0;                  // 0: there are no weights
};

}  // namespace lpn::reach

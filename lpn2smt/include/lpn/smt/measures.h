// What can be asked of a path beside its latency: sums of instants, in ticks.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lpn/classes/input_space.h"
#include "lpn/classes/timing.h"
#include "lpn/net/net.h"

namespace lpn::smt {

// weight * instant, added up, and a constant.
struct Measure {
  std::vector<std::pair<std::int64_t, InstantId>> instants;
  std::int64_t constant = 0;
};

// What is bounded: an instant of a path, or a sum of several. The path is borrowed.
struct Target {
  const Path* path = nullptr;
  InstantId instant{};
  std::optional<Measure> measure = {};  // instead of the instant
};

// Measures of one path; instants that they need are added to its timing. Borrows all three.
class Measures {
 public:
  // `net` as declared; the path is one of partition(net, space).
  Measures(const Net& net, InputSpace& space, Path& path);

  // Throws Error "E-measure" when the path has no latency.
  Measure latency();
  // Ticks in which at least one firing of `transition` is in flight.
  Measure busy(TransitionId transition);
  // Ticks in which `transition` waits for nothing but `place`, as docs/semantics.md defines it.
  // Throws Error "E-measure" when the place is neither its input nor a bounded output, when the
  // transition is inhibited or its guards count tokens, or when too many tokens come in any order.
  Measure stall(TransitionId transition, PlaceId place);
  // The same of one input, from the times of its firings alone.
  std::int64_t stall_of(TransitionId transition, PlaceId place, const Assignment& input) const;
  // When the k-th token, from 1 on, was produced into a `done` place. Throws Error "E-measure" when
  // there are fewer, "E-partition" when it depends on the input which firing produces it.
  Measure completion(std::uint64_t k);
  // Commits of a transition: a constant.
  Measure commits(TransitionId transition);

 private:
  InstantId latest(std::vector<Timing::Arc> after);
  const Transition& waiting(TransitionId transition, PlaceId place) const;
  bool concerns(const InputArc& arc, PlaceId place) const;

  const Net& declared_;
  Net net_;  // lowered
  InputSpace& space_;
  Path& path_;
  ExprId zero_;
};

// The value of a measure, given the times of all instants.
std::int64_t value(const Measure& measure, const std::vector<Time>& times);

}  // namespace lpn::smt

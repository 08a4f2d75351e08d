// The interpreter: the definition of what a net does (docs/semantics.md), made executable.
//
// Slow and plain on purpose, about a million firings a second. Other engines are compared with it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lpn/net/marking.h"
#include "lpn/net/net.h"
#include "lpn/run/interp_options.h"
#include "lpn/run/run.h"

namespace lpn {

class Interp {
 public:
  // REQUIRES verify(net).empty(). Copies what it needs. Throws Error: "E-param-value" when a
  // parameter gives servers < 1, a negative count, a period < 1, ...; "E-capacity" when a place
  // starts with more tokens than it can hold; "E-condition" of `until`.
  Interp(const Net& net, const ParamValues& params, const Marking& marking,
         InterpOptions options = {});
  ~Interp();
  Interp(Interp&&) noexcept;
  Interp& operator=(Interp&&) noexcept;

  // From then on `watcher`, which must live as long as this or be replaced (null: nobody), sees
  // what happens; before the first run. on_wait needs options.stats.
  void watch(Watcher* watcher);

  // Who may stop the runs to come; nothing: nobody. After a stop the run only repeats its answer.
  void set_poll(Poll poll);

  // Tokens that arrive at `time`, before the first group of that instant. Throws Error "E-push"
  // when that instant has already been simulated or the place has a capacity.
  void push(PlaceId place, std::span<const std::int64_t> values, Time time);

  // Tokens that arrive at `times`, never falling, each as one that is pushed; of one instant before
  // those of push(). Throws Error "E-push" as push does, and for a time before one that was fed
  // into the place.
  void feed(PlaceId place, std::span<const std::int64_t> values, std::span<const Time> times);

  // Before the first run: a place from which no transition takes keeps when each token arrived;
  // tokens of the start arrived at 0. `take` then removes what has arrived since the last call.
  void collect(PlaceId place);
  Collected take(PlaceId place);

  // Simulates every instant <= limit, or to the end. May be called again with a later limit.
  // Throws RunError, then always; Error "E-call" for an observer without options.trace, in a run.
  RunResult run(Time limit = kForever, Observer* observer = nullptr);

  Time now() const;  // of a stopped run, the instant it was at
  // The next instant at which something may happen, 0 before the first; none: nothing will.
  std::optional<Time> next() const;
  // Why a transition does not start now, after an instant; kNone before the first run, and where it
  // could but for what has ended the run.
  Blocked why(TransitionId transition) const;
  std::uint64_t occupancy(PlaceId place) const;
  std::uint64_t free_tokens(PlaceId place) const;
  // The free tokens of a place, row-major.
  std::vector<std::int64_t> tokens(PlaceId place) const;
  Stats stats() const;  // Error "E-call" without options.stats
  // What the guide's probes of a transition were at its starts, row-major.
  const std::vector<std::int64_t>& probed(TransitionId transition) const;

 private:
  friend void explain_stall(
      const Net& net, const ParamValues& params,
      const std::function<std::pair<std::uint64_t, std::vector<std::int64_t>>(PlaceId)>& tokens,
      RunResult& result);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// For engines that do not keep reasons: fills `undrained` and `blocked` of a quiet run, given the
// tokens (count, row-major values) left in each place.
void explain_stall(
    const Net& net, const ParamValues& params,
    const std::function<std::pair<std::uint64_t, std::vector<std::int64_t>>(PlaceId)>& tokens,
    RunResult& result);

}  // namespace lpn

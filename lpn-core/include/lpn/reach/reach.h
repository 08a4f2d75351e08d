// Bounds by reachable states: what the runs of all inputs of a space have at most, or at least.
//
// Symbolic execution (classes/partition.h) keeps a path for every way a run may go, and the bound
// of each is exact. Here states are merged: of an input only what tokens still hold is kept, as a
// set of values, and of times only bounds on differences between instants to come. States that
// agree in all but these are joined when there are many, and then stand for more than the inputs
// have. So bounds are sound and may be loose, and their number grows with that of the states, not
// of the inputs. Zones of timed automata, over the semantics of docs/semantics.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lpn/classes/input_space.h"
#include "lpn/net/net.h"

namespace lpn {

struct ReachQuestion {
  enum class What : std::uint8_t {
    kLatency,
    kCompletion,
    kCommits,
    kBusy,
    kResponse,  // the longest time from birth to arrival in `place`; not the least of it
    kBacklog,   // the most tokens in `place`
  };
  What what = What::kLatency;
  std::uint64_t k = 1;        // kCompletion: of the k-th done token
  TransitionId transition{};  // kCommits, kBusy
  PlaceId place{};            // kResponse, from which nothing takes; kBacklog
  bool maximum = true;
};

struct ReachOptions {
  std::size_t zones = 1;     // kept apart of states that differ in times only; more are joined
  std::uint64_t values = 2;  // a delay of at most so many values is decided, not bounded
  std::uint64_t states = 200'000;             // at most; 0: any number
  std::size_t memory = std::size_t{2} << 30;  // bytes, of states and of what is known of terms
  // A bound that is close enough: states through which no run comes beyond it are looked at last,
  // when the bound is known and only how runs end is not.
  std::optional<std::int64_t> enough;
  // Asked a few times a second with the states looked at and waiting, and whether no state waits
  // that may pass what is enough; false ends the work.
  std::function<bool(std::uint64_t, std::uint64_t, bool)> go_on;
};

struct Reached {
  // A bound for every input whose run ends and has the quantity; none when not known. With
  // `complete` and no bound, no input has it.
  std::optional<std::int64_t> bound;
  bool complete =
      false;        // all states were looked at; else the bound is what was left in the worst case
  std::string why;  // not complete: "stopped at ...", or what is not covered
  bool may_stall = false, may_fail = false;  // some input, as far as is known
  std::uint64_t states = 0;
};

// REQUIRES check_space(net, space).
Reached bound_by_states(const Net& net, const InputSpace& space, const ReachQuestion& question,
                        const ReachOptions& options = {});

// The most done tokens that any run can produce, however long it goes on, from what takes tokens
// and what puts them alone; none: not known. REQUIRES as above.
std::optional<std::uint64_t> most_done_tokens(const Net& net, const InputSpace& space);

}  // namespace lpn

// Every input of a small space, run: the largest value that linear forms of a run's quantities
// have, with inputs that have it. A proof by trying, for what symbolic execution refuses or does
// not finish.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lpn/classes/input_space.h"
#include "lpn/net/net.h"
#include "lpn/sim/library.h"

namespace lpn::sim {

// What a run has.
struct Quantity {
  enum class Kind : std::uint8_t {
    kOne,         // 1
    kLatency,     // in ticks; an input without latency has no value
    kCompletion,  // time of the `index`-th done token, from 1; an input with fewer has no value
    kBusy,        // ticks in which transition `index` has a firing in flight
    kCommits,     // of transition `index`
    kTerm,        // of the input: term `index` of the space
    // The longest time from birth (lpn/run/latencies.h) to when a token came into place `index`,
    // from which nothing takes; an input with no such token has no value.
    kResponse,
    kBacklog,  // the most tokens that place `index` ever held
  };
  Kind kind{};
  std::uint64_t index = 0;
};

// The sum of coefficients times quantities.
using Form = std::vector<std::pair<Quantity, std::int64_t>>;

struct EveryInputOptions {
  const Library* library = nullptr;  // of the net, without trace; null: the interpreter runs
  unsigned threads = 0;              // 0: one per processor
  const std::vector<Assignment>* listed = nullptr;  // these instead of all
  std::uint64_t first = 0;                          // of all assignments, in lexicographic order
  std::uint64_t most = UINT64_MAX;                  // assignments to look at from there on
  // Of one run; an input that needs more is "endless".
  std::uint64_t most_commits = 200'000;
  std::uint64_t memory = std::uint64_t{1} << 30;  // bytes, as Budget
  std::uint64_t group_limit = std::uint64_t{1} << 20;
  // Asked a few times a second with the assignments looked at so far; false ends the work.
  std::function<bool(std::uint64_t)> go_on;
};

struct EveryInput {
  struct Largest {
    std::int64_t value = 0;
    Assignment input;  // the first in lexicographic order
  };
  std::uint64_t assignments = 0;                // looked at
  std::uint64_t inputs = 0;                     // of them in the space
  bool complete = false;                        // everything that was asked for
  std::vector<std::optional<Largest>> largest;  // per form; none: no input has a value
  std::vector<std::uint64_t> without;           // per form: inputs that end and have no value
  std::uint64_t silent = 0;                     // inputs without a done token
  // The first input that stalls, or ends in an error; that needs more than a run may.
  std::optional<Assignment> stalled, failed, endless;
};

// REQUIRES check_space(net, space), and that its ranges allow fewer than 2^63 assignments. A
// library is used only where all forms are made of kOne, kLatency and kTerm. Inputs that stall,
// fail or do not end have no value. Throws Error "E-overflow" when a form leaves 64 bits or a term
// has no value.
EveryInput run_every_input(const Net& net, const InputSpace& space, const std::vector<Form>& forms,
                           const EveryInputOptions& options = {});

}  // namespace lpn::sim

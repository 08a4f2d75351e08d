// Proved bounds of an instant over all inputs of a space, with an input that comes as close.
//
// The largest latency is a longest path whose delays share what the space's constraints allow; the
// least is a mix of paths that no input makes shorter. Both are searched branch and bound, and hold
// at every moment: a bound that is proved and an input that was found. All that is claimed is exact
// integer arithmetic. A certificate says how each path's bound is derived; check() derives it
// again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lpn/classes/input_space.h"
#include "lpn/classes/timing.h"
#include "lpn/expr/feasibility.h"
#include "lpn/smt/measures.h"

namespace lpn::smt {

// What is bounded: an instant of a path, or a sum of several. The path is borrowed.
struct Target {
  const Path* path = nullptr;
  InstantId instant{};
  std::optional<Measure> measure = {};  // instead of the instant
};
// Their latencies; paths without one are left out.
std::vector<Target> latencies(std::span<const Path* const> paths);

// Why no input in a box of a path's inputs is beyond the bound. Limits are the sums that conditions
// over several units bound from above, in the order of the space's constraints and the path's
// conditions; a multiplier belongs to each.
struct Step {
  enum class Kind : std::uint8_t {
    kSplit,       // two boxes: the tuples of `unit` before number `tuple`, then the others
    kNoInput,     // the multipliers times the limits cannot be kept by any input
    kPoint,       // one choice is left: it is no input of the path, or evaluated
    kRelaxation,  // maximum: longest path with a budget and multipliers; minimum: mix of paths
    kSolver,      // a solver found no input beyond `threshold`: `smtlib` is unsatisfiable
  };
  // Steps from the instant back to time zero: at each instant the number of an arc, where one whose
  // delay is the largest of several sums counts as several. At a gate 0,
  // or 2 where the path is surely blocked there.
  struct Chain {
    std::int64_t weight = 0;
    std::vector<std::uint32_t> arcs;
    bool operator==(const Chain&) const = default;
  };

  // Of a measure (to be maximised; else its negative is): a longest path to an instant with a
  // positive weight, less chains to instants with negative weights, all of the same input. The
  // weights of an instant's parts add up to its own at least, those of chains to an instant, over
  // the denominator, to its own at most.
  struct Toll {
    InstantId instant{};
    Chain chain;
    bool operator==(const Toll&) const = default;
  };
  struct Part {
    InstantId instant{};  // kTimeZero: only chains
    std::int64_t weight = 0;
    std::vector<std::int64_t> multipliers;
    std::optional<std::uint32_t> budget;
    std::int64_t quantum = 1;
    std::vector<Toll> tolls;
    // Instead of all that: how far the instant can be behind this one (differences.h).
    std::optional<InstantId> behind;
    bool operator==(const Part&) const = default;
  };

  Kind kind = Kind::kRelaxation;
  std::uint32_t unit = 0, tuple = 0;
  std::int64_t denominator = 1;  // of weights and multipliers
  std::vector<std::int64_t> multipliers;
  std::optional<std::uint32_t> budget;  // maximum: this limit is kept exactly, in multiples of
  std::int64_t quantum = 1;             // quantum
  std::vector<Part> parts;              // of a measure, instead of what stands above and below
  std::vector<Chain> chains;            // minimum: weights add up to the denominator at most
  Time threshold = 0;
  std::string smtlib;
  bool operator==(const Step&) const = default;
};

// No input of the path has its instant beyond `bound`. A split is followed by its first box's
// steps, then by those of the second. Of a path without inputs the bound may be anything.
struct PathCertificate {
  std::size_t path = 0;  // position among the targets
  bool maximum = true;
  Time bound = 0;
  std::vector<Step> steps;
  bool operator==(const PathCertificate&) const = default;
};

// Why a certificate proves nothing; nullopt: it proves its bound. What a solver decided counts as
// wrong unless `trusted` says that its formula is unsatisfiable. Throws Error "E-space".
std::optional<std::string> check(
    const InputSpace& space, const Target& target, const PathCertificate& certificate,
    const std::function<bool(const std::string& smtlib)>& trusted = nullptr);

struct Progress {
  std::optional<Time> proved, found;
  const Assignment* witness = nullptr;
  std::uint64_t boxes = 0;
  double seconds = 0;
};

struct BoundOptions {
  double seconds = 0;           // 0: none
  std::uint64_t max_boxes = 0;  // 0: any number
  // Decides boxes that branching leaves open; null: branching goes on.
  std::function<std::unique_ptr<Feasibility>()> solver = {};
  FeasibilityLimits question{.work = 2'000'000, .seconds = 10};
  // Called whenever a bound or the input improves, and now and then; false stops, both are kept.
  std::function<bool(const Progress&)> progress = {};
  std::uint64_t seed = 1;
};

struct BoundResult {
  // maximum: found <= any input's largest instant <= proved; minimum: proved <= ... <= found.
  std::optional<Time> proved;  // none: nothing could be proved, or no path has an input
  std::optional<Time> found;
  Assignment witness;                         // evaluates to `found`, on the path below
  std::size_t path = 0;                       // position among the targets
  bool exact = false;                         // proved == found
  bool no_input = false;                      // proved: no path has an input
  std::vector<PathCertificate> certificates;  // one per target, when `proved` or `no_input`
  std::uint64_t boxes = 0;
  double seconds = 0;
  std::vector<std::string> notes;  // what the bounds leave out
};

// The largest and the least that the targets can be over the inputs of the space, in ticks. Throws
// Error "E-space" when a variable has no range.
BoundResult maximize(const InputSpace& space, std::span<const Target> targets,
                     const BoundOptions& options = {});
BoundResult minimize(const InputSpace& space, std::span<const Target> targets,
                     const BoundOptions& options = {});

}  // namespace lpn::smt

// Proved bounds of an instant over all inputs of a space, with an input that comes as close.
//
// The largest latency is a longest path whose delays share what the space's constraints allow; the
// least is a mix of paths that no input makes shorter. Both are searched branch and bound, and hold
// at every moment: a bound that is proved and an input that was found. All that is claimed is exact
// integer arithmetic, with a certificate (certificate.h) of each path's bound.
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
#include "lpn/smt/certificate.h"
#include "lpn/smt/measures.h"

namespace lpn::smt {

// The latencies of paths; those without one are left out.
std::vector<Target> latencies(std::span<const Path* const> paths);

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
  // Enough to stop at: a bound proved that is as good, or an input found that is as far.
  std::optional<Time> enough_proved = {}, enough_found = {};
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

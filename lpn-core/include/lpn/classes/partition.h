// Input classes: symbolic execution of a net over an input space.
//
// A firing that nothing else can change happens as soon as its tokens are known, at a time computed
// from theirs alone; where several compete for tokens, merge into one place or look at how full a
// place is, they happen one at a time in the order of time. It splits where a guard, a weight, a
// count or such an order depends on the input ("Performance Interfaces for Hardware Accelerators",
// appendix A.2). A class fixes how often every transition commits and how many tokens each firing
// takes and puts; it is the union of its paths. Paths are disjoint.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lpn/classes/timing.h"
#include "lpn/expr/feasibility.h"

namespace lpn {

struct InputClass {
  Outcome outcome = Outcome::kLatency;
  std::vector<std::uint64_t> commits;  // per transition
  std::vector<Path> paths;
};

// A part of the work: the paths that begin with some choices.
struct Branch {
  Choices choices;
  std::vector<Assignment> samples;  // inputs of it that are known
  bool exact = false;               // Partition::exact of the partition that it is from
};

struct Partition {
  InputSpace space;  // as given, with the terms of all paths in its pool
  std::vector<InputClass> classes;
  // Every input of the space (or of the branches asked for) is in a class. If not, `why` says which
  // limit was reached, and `open` is what is left to do.
  bool complete = true;
  std::string why;
  std::vector<Branch> open;
  std::uint64_t unresolved = 0;  // paths of which the solver could not say whether they have inputs
  // Groups mattered, so all was executed with them. Branches of a partition that is not exact may
  // turn out to need it; then nothing was done but setting `restart`: begin again, with `exact`.
  bool exact = false;
  bool restart = false;
};

struct PartitionOptions {
  // Makes a solver for each question that ranges, samples and enumeration leave open; null: such
  // questions are left unresolved, which is sound and may add empty paths.
  std::function<std::unique_ptr<Feasibility>()> solver;
  FeasibilityLimits question{.work = 200'000, .seconds = 2};
  std::uint64_t max_paths = 10'000;
  std::uint64_t max_firings = 200'000;  // of one path
  double seconds = 0;                   // 0: none
  // Spaces with at most so many assignments are enumerated instead of asking the solver.
  std::uint64_t enumerate = 4096;
  std::uint64_t seed = 1;        // of the samples
  std::vector<Branch> branches;  // only these; empty: the whole space
  bool exact = false;
  std::uint64_t max_open = 0;       // stop when so many branches wait, to share them out; 0: never
  std::vector<Assignment> samples;  // inputs already known
  // Called now and then, and for every path; false stops the work.
  std::function<bool(std::uint64_t paths, std::uint64_t open)> progress;
};

// Throws Error: "E-space" (the space does not fit the net), "E-partition" (what it cannot execute:
// names the transition, the arc and the line, and says what to write instead).
Partition partition(const Net& net, const InputSpace& space, const PartitionOptions& options = {});

// Whether the space has an input, as far as the solver tells within the limits.
Answer has_input(const InputSpace& space, Feasibility& solver, const FeasibilityLimits& limits);

}  // namespace lpn

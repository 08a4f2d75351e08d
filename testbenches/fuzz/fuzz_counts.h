// What a run of the fuzzer covered.
#pragma once

#include <cstdint>

#include "case.h"
#include "outcome.h"

namespace lpn::bench {

struct Counts {
  std::uint64_t nets, illegal, cases, discarded, refused, commits, longer, silent;
  std::uint64_t endings[3], stalled, faults[kFaults], groups, overtaken, pushes, late, stepped,
      waits[kWaits], free_runs, fallen_back;
  std::uint64_t too_big, batched;
  std::uint64_t features[24];
  double compiling, running;
};

void add(Counts& to, const Counts& from);
void count_features(const Net& net, Counts& counts);
void count_outcome(const Case& c, const Outcome& outcome, Counts& counts);
void print_counts(const Counts& counts);

}  // namespace lpn::bench

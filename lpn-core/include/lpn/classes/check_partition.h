// The check of a partition, which needs no trust in how its paths were found.
#pragma once

#include "lpn/classes/partition.h"

namespace lpn {

// Whether no input is in two paths, and, of a complete partition, every input is in one.
struct PartitionCheck {
  Answer overlap = Answer::kUnknown;  // kUnsat: paths are disjoint
  Answer gap = Answer::kUnknown;      // kUnsat: nothing is missing
  Assignment witness;                 // of either, when kSat
};

// Asks options.solver; without one nothing is known.
PartitionCheck check_partition(const Partition& partition, const PartitionOptions& options);

}  // namespace lpn

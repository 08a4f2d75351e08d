// Which accesses of streams to a memory find their line in a cache behind which DRAM is.
#pragma once

#include <cstdint>
#include <vector>

namespace lpn::system {

// Least recently used goes first; a line that is written is dirty until it goes.
struct Ways {
  std::int64_t sets = 1, ways = 1;  // sets: a power of two
};

// Of an access: kHit, kMiss, or the number of the dirty line that a miss throws out.
inline constexpr std::int64_t kHit = -2, kMiss = -1;

struct Stream {
  bool writes = false;
  std::vector<std::int64_t> lines, found;
};

// Access k is of line lines[k], stream whose[k]; all of them come `earlier` times before the time
// that is told. The lines of each stream, in order, and what each finds.
std::vector<Stream> cached(const std::int64_t* whose, const std::int64_t* lines, std::size_t count,
                           const std::vector<bool>& writes, Ways ways, std::int64_t earlier);

}  // namespace lpn::system

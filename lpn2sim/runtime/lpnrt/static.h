// What straight-line code for static parts stands on (see lpn2sim/src/generate_static.h).
#pragma once

#include <memory>

#include "lpnrt/flow.h"

namespace lpnrt {

// In long straight-line code the compiler's search for vectors inside one iteration costs more
// than it finds: values go to memory and come back as parts of vectors.
#if defined(__GNUC__) && !defined(__clang__)
#define LPNRT_STRAIGHT __attribute__((optimize("no-tree-slp-vectorize", "no-tree-vectorize")))
#else
#define LPNRT_STRAIGHT
#endif

// Queues of more tokens are left to the flow engine.
inline constexpr u64 kMostInRing = u64{1} << 20;

// Iterations between two questions whether to go on.
inline constexpr u64 kIterations = u64{1} << 20;

template <typename T>
[[gnu::always_inline]] inline T later(T x, T y) {
  return x > y ? x : y;
}
[[gnu::always_inline]] inline i64 most(i64 x, i64 y) { return x > y ? x : y; }
[[gnu::always_inline]] inline i64 least(i64 x, i64 y) { return x < y ? x : y; }
[[gnu::always_inline]] inline u64 fewer(u64 x, u64 y) { return x < y ? x : y; }

// Whole iterations that `tokens` last for, each taking `rate`; the last firing sees `beyond` more
// than it takes.
inline u64 iterations(u64 tokens, u64 rate, u64 beyond) {
  return tokens < beyond ? 0 : (tokens - beyond) / rate;
}

// Size - 1 of a ring for `tokens`.
inline u64 mask_for(u64 tokens) {
  u64 size = 1;
  while (size < tokens) size *= 2;
  return size - 1;
}

// The j-th of the last `count` commits; 0 where there were not so many.
inline u64 latest_of(const Chan<0>& commits, u64 j, u64 count) {
  const u64 missing = count - commits.size();
  return j < missing ? 0 : commits.instant(j - missing);
}

// A token of several by a computed index.
template <std::size_t N>
inline i64 pick(const i64 (&values)[N], i64 which, u64 where) {
  if (static_cast<u64>(which) >= N) fail(kTokenIndex, where, which);
  return values[which];
}

}  // namespace lpnrt

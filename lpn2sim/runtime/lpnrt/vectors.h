// The vector registers of the machine that runs the code, which is compiled for any.
#pragma once

#include "lpnrt/codes.h"

namespace lpnrt {

#if defined(__x86_64__) && defined(__GNUC__)
#define LPNRT_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static
#define LPNRT_AVX2 [[gnu::target("avx2")]] static
#else
#define LPNRT_AVX512 static
#define LPNRT_AVX2 static
#endif

inline constexpr u32 kMostLanes = 16;

// Inputs that fill a vector of this machine.
inline u32 lanes_here() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const u32 lanes =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
          ? 16
      : __builtin_cpu_supports("avx2") ? 8
                                       : 0;
  return lanes;
#else
  return 8;
#endif
}

}  // namespace lpnrt

// Numbers that generated code, the C interface and lpn-core agree upon: limits, what can go wrong,
// why a transition waits, which expression is meant.
#pragma once

#include <cstdint>
#include <limits>

namespace lpnrt {

using i64 = std::int64_t;
using u64 = std::uint64_t;
using u32 = std::uint32_t;
// Tables, rows of shared functions and what firings remember are as small as their numbers let
// them.
using Near = std::int16_t;
using Far = std::int32_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

inline constexpr i64 kForever = std::numeric_limits<i64>::max();  // no instant: never
inline constexpr i64 kLastInstant = kForever - 1;                 // lpn::kLastInstant
inline constexpr i64 kMaxTokens = i64{1} << 31;                   // lpn::kMaxTokens
#ifndef LPNRT_GROUP_LIMIT
#define LPNRT_GROUP_LIMIT (1ull << 20)  // lpn::kDefaultGroupLimit; tests set a smaller one
#endif
inline constexpr u64 kGroupLimit = LPNRT_GROUP_LIMIT;

// The order of lpn::Fault and lpn::Wait.
enum FaultCode : int {
  kOverflow,
  kDivisor,
  kNegativeDelay,
  kNegativeWeight,
  kNegativeCount,
  kNegativeInterval,
  kTooMany,
  kRange,
  kLookup,
  kTokenIndex,
  kEmpty,
  kAssume,
  kTakesNothing,
  kZeroDelay,
  kShift,
};
enum WaitCode : u32 { kReady, kToken, kCredit, kGuard, kInhibited, kServer, kInterval, kClock };

// Which expression of which transition: kind 4 bits, transition 20, arc 11, emission 10, field 6.
constexpr u64 site(u64 transition, u64 kind, u64 arc = 0, u64 emission = 0, u64 field = 0) {
  return kind << 47 | transition << 27 | arc << 16 | emission << 6 | field;
}

}  // namespace lpnrt

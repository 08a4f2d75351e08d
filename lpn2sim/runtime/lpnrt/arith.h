// Exact arithmetic: an operation whose result is wrong throws a Failure that says where.
#pragma once

#include <cstddef>

#include "lpnrt/codes.h"

namespace lpnrt {

struct Failure {
  int code;
  u64 site;
  i64 value;
};
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(int code, u64 where, i64 value = 0) {
  throw Failure{code, where, value};
}
// For a failure in the middle of an expression.
[[noreturn, gnu::cold, gnu::noinline]] inline i64 fail_value(int code, u64 where, i64 value = 0) {
  throw Failure{code, where, value};
}

inline i64 add(i64 x, i64 y, u64 where) {
  i64 r;
  if (__builtin_add_overflow(x, y, &r)) fail(kOverflow, where);
  return r;
}
inline i64 sub(i64 x, i64 y, u64 where) {
  i64 r;
  if (__builtin_sub_overflow(x, y, &r)) fail(kOverflow, where);
  return r;
}
inline i64 mul(i64 x, i64 y, u64 where) {
  i64 r;
  if (__builtin_mul_overflow(x, y, &r)) fail(kOverflow, where);
  return r;
}
inline i64 neg(i64 x, u64 where) { return sub(0, x, where); }
inline i64 abs(i64 x, u64 where) { return x < 0 ? sub(0, x, where) : x; }
inline i64 divisor(i64 x, u64 where) {
  if (x <= 0) fail(kDivisor, where, x);
  return x;
}
inline i64 shift_amount(i64 n, u64 where) {
  if (static_cast<u64>(n) > 63) fail(kShift, where, n);
  return n;
}
inline i64 shift_left(i64 x, i64 n) { return static_cast<i64>(static_cast<u64>(x) << n); }
inline i64 shift_left(i64 x, i64 n, u64 where) {
  const i64 r = shift_left(x, shift_amount(n, where));
  if (r >> n != x) fail(kOverflow, where);
  return r;
}
inline i64 floor_div(i64 x, i64 y) { return x / y - ((x % y) < 0 ? 1 : 0); }
inline i64 ceil_div(i64 x, i64 y) { return x / y + ((x % y) > 0 ? 1 : 0); }
inline i64 mod(i64 x, i64 y) {
  const i64 r = x % y;
  return r < 0 ? r + y : r;
}
[[gnu::always_inline]] inline i64 min(i64 x, i64 y) { return x < y ? x : y; }
[[gnu::always_inline]] inline i64 max(i64 x, i64 y) { return x > y ? x : y; }
// `c` ? x : y, without a branch.
[[gnu::always_inline]] inline i64 pick(bool c, i64 x, i64 y) {
  return y ^ ((x ^ y) & -static_cast<i64>(c));
}
template <typename T, std::size_t N>
inline i64 lookup(const T (&table)[N], i64 x, u64 where) {
  if (static_cast<u64>(x) >= N) fail(kLookup, where, x);
  return table[x];
}

// `now` + `ticks`, an instant.
inline i64 instant_after(i64 ticks, i64 now, u64 where) {
  i64 r;  // one later: what overflows is exactly what lies behind the last instant
  if (__builtin_add_overflow(ticks, now + 1, &r)) fail(kOverflow, where);
  return r - 1;
}

// The first multiple of the period, seen from the phase, that is not before `at`; kForever: none.
inline i64 edge(i64 at, i64 period, i64 phase) {
  i64 r;
  return __builtin_add_overflow(at, mod(phase - at, period), &r) ? kForever : r;
}

// What was computed when it was first asked for.
struct Kept {
  i64 value = 0;
  bool known = false;
  i64 is(i64 computed) {
    known = true;
    return value = computed;
  }
};

}  // namespace lpnrt

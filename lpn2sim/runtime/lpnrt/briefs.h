// Records of firings without delay: written by a start, read by the commits of the next group, with
// no other start between them. So the next such firing, of whatever transition, uses the same
// memory, which is in the cache then.
#pragma once

#include <new>
#include <type_traits>

#include "lpnrt/codes.h"
#include "lpnrt/variants.h"

namespace lpnrt {

template <typename Record>
inline constexpr u64 kBrief = (sizeof(Record) + 7) / 8 * 8;

#if LPNRT_TRACE || LPNRT_PATH
// Others look at these between start and commit: each transition has its own.
template <u64 Bytes>
struct Briefs {};

template <typename Record>
struct Brief : Record {
  template <u64 Bytes>
  Record& begin(Briefs<Bytes>&) {
    return *this;
  }
  template <u64 Bytes>
  Record& end(Briefs<Bytes>&) {
    return *this;
  }
};
#else
// Room for one record of each transition.
template <u64 Bytes>
struct Briefs {
  u32 used = 0;
  alignas(8) char bytes[Bytes];
};

template <typename Record>
struct Brief {
  static_assert(std::is_trivially_copyable_v<Record> && alignof(Record) <= 8);
  u32 at;
  template <u64 Bytes>
  Record& begin(Briefs<Bytes>& all) {
    at = all.used;
    all.used += kBrief<Record>;
    return *new (all.bytes + at) Record;
  }
  // The record is there until the next begin().
  template <u64 Bytes>
  Record& end(Briefs<Bytes>& all) {
    all.used -= kBrief<Record>;
    return *std::launder(reinterpret_cast<Record*>(all.bytes + at));
  }
};
#endif

}  // namespace lpnrt

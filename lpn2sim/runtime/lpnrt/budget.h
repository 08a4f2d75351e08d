// What a run may use, and who may stop it (lpn_budget in abi.h).
//
// Engines count their steps down (Engine::fuel) and ask now and then whether to go on; containers
// charge what they allocate to the account of the call under way. Whatever says no throws Stopped,
// from any place: the run is then answered as far as it came, and only that answer is left of it.
#pragma once

#include <algorithm>
#include <ctime>

#include "lpnrt/codes.h"

namespace lpnrt {

// The order of lpn::Stop.
enum StopCode : int {
  kGoesOn,
  kAsked,
  kOutOfMemory,
  kOutOfTime,
  kGroupsHere,
  kFiringsHere,
  kTokensAtStart
};
struct Stopped {
  int why;
};

inline constexpr u32 kSteps = 1u << 14;  // between two questions
inline constexpr i64 kFew = 64;          // tokens that count as a step
inline constexpr u32 kSoft = 1u << 16;   // by how much a container's size grows without a question

inline u64 clock_ns() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<u64>(at.tv_sec) * 1'000'000'000 + static_cast<u64>(at.tv_nsec);
}

// Bytes of the containers of an instance.
struct Account {
  u64 used = 0;
  u64 limit = ~u64{0};
  void (*rest)(void* engine) = nullptr;  // asks; throws Stopped
  void* engine = nullptr;
};
inline constinit thread_local Account* account = nullptr;  // of the call under way

[[gnu::noinline, gnu::cold]] inline void charge(u64 bytes) {
  if (account == nullptr) return;
  if (bytes > account->limit - account->used) throw Stopped{kOutOfMemory};
  account->used += bytes;
}
[[gnu::noinline, gnu::cold]] inline void refund(u64 bytes) {
  if (account != nullptr) account->used -= std::min(bytes, account->used);
}
[[gnu::noinline, gnu::cold]] inline void rest() {
  if (account != nullptr && account->rest != nullptr) account->rest(account->engine);
}

}  // namespace lpnrt

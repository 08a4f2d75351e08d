// The runtime knows nobody, so it numbers faults, waits and sites again, and repeats two limits.
// This file sees both sides and does not compile unless they agree; a new fault or wait that is
// missing here does not either (-Werror=switch).

#include "lpnrt/codes.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "lpn/net/facts.h"
#include "lpn/run/run.h"
#include "lpnrt/abi.h"
#include "lpnrt/budget.h"

namespace lpn::sim {
namespace {

enum class Same : std::uint8_t { kNo, kYes, kNoSuchCode };

constexpr Same agree(int mine, int theirs) { return mine == theirs ? Same::kYes : Same::kNo; }

constexpr Same same(Fault fault) {
  const auto is = [fault](int theirs) { return agree(static_cast<int>(fault), theirs); };
  switch (fault) {
#define LPN_FAULT(enumerator, ...) \
  case Fault::enumerator:          \
    return is(lpnrt::enumerator);
#include "lpn/base/fault.def"
#undef LPN_FAULT
  }
  return Same::kNoSuchCode;
}

constexpr Same same(Wait wait) {
  const auto is = [wait](lpnrt::WaitCode theirs) {
    return agree(static_cast<int>(wait), static_cast<int>(theirs));
  };
  switch (wait) {
    case Wait::kNone: return is(lpnrt::kReady);
    case Wait::kToken: return is(lpnrt::kToken);
    case Wait::kCredit: return is(lpnrt::kCredit);
    case Wait::kGuard: return is(lpnrt::kGuard);
    case Wait::kInhibited: return is(lpnrt::kInhibited);
    case Wait::kServer: return is(lpnrt::kServer);
    case Wait::kInterval: return is(lpnrt::kInterval);
    case Wait::kClock: return is(lpnrt::kClock);
  }
  return Same::kNoSuchCode;
}

template <typename Code>
constexpr bool all_same() {
  for (int k = 0;; ++k) {
    const Same found = same(static_cast<Code>(k));
    if (found != Same::kYes) return found == Same::kNoSuchCode && k > 0;
  }
}

constexpr bool fault_codes_are_told() {
  constexpr std::string_view mine[] = {
#define LPN_FAULT(enumerator, code, text) code,
#include "lpn/base/fault.def"
#undef LPN_FAULT
  };
  constexpr std::string_view theirs[] = {LPN_FAULT_CODES};
  return std::equal(std::begin(mine), std::end(mine), std::begin(theirs), std::end(theirs));
}

static_assert(all_same<Fault>());
static_assert(fault_codes_are_told());
static_assert(all_same<Wait>());
static_assert(same(static_cast<Wait>(kWaits)) == Same::kNoSuchCode);
static_assert(kMaxTokens == lpnrt::kMaxTokens);
static_assert(kForever == lpnrt::kForever);
static_assert(static_cast<int>(Stop::kTokens) == LPN_STOP_TOKENS);
static_assert(static_cast<int>(Stop::kTokens) == lpnrt::kTokensAtStart);
static_assert(static_cast<int>(Ending::kStopped) == LPN_STOPPED);
static_assert(kLastInstant == lpnrt::kLastInstant);
static_assert(kDefaultGroupLimit == lpnrt::kGroupLimit);
// lpnrt::Engine writes it as a number, for a fault of no formula.
static_assert(static_cast<int>(SiteKind::kNone) == LPN_AT_NONE && LPN_AT_NONE == 7);
static_assert(static_cast<int>(SiteKind::kDelay) == LPN_AT_DELAY);
static_assert(static_cast<int>(SiteKind::kField) == LPN_AT_FIELD);
static_assert(static_cast<int>(Wait::kClock) == LPN_WAIT_CLOCK);
static_assert(static_cast<int>(Wait::kGuard) == LPN_WAIT_GUARD);

}  // namespace
}  // namespace lpn::sim

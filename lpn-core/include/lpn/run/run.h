// What a run is, for every engine: commits observed, how it ended, statistics, and its errors.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/base/fault.h"
#include "lpn/net/facts.h"
#include "lpn/net/net.h"

namespace lpn {

// Tokens are named by their origin: (transition, firing number, output arc, index), or for initial
// and pushed ones (place, index) with `initial` set.
struct TokenId {
  std::uint32_t source = 0;  // transition, or place when `initial`
  bool initial = false;
  std::uint32_t arc = 0;
  std::uint64_t firing = 0;
  std::uint64_t index = 0;
  bool operator==(const TokenId&) const = default;
};

// One commit. `firing` counts the transition's starts from 0. Credit tokens do not appear.
struct Commit {
  Time time = 0;
  std::uint64_t group = 0;
  TransitionId transition{};
  std::uint64_t firing = 0;
  Time start = 0;
  std::vector<std::vector<TokenId>> taken;  // per declared input arc
  std::vector<std::uint64_t> produced;      // tokens appended, per declared output arc
  bool operator==(const Commit&) const = default;
};

// Sees every commit, in order. Called by the engine; must not call back into it.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_commit(const Commit& commit) = 0;
};

enum class Ending : std::uint8_t {
  kQuiet,      // nothing can happen any more
  kDone,       // the declared number of done tokens was produced
  kLimit,      // the given time limit was reached
  kStopped,    // before its end, perhaps in the midst of an instant: RunResult::stop says why
  kCondition,  // a condition came to hold (InterpOptions::until), after the instant now()
};

// What a run may use; 0: any. What is too much for it ends as an answer, never as an error: how far
// it came. Looked at every few thousand steps, so a limit may be passed by as much.
struct Budget {
  // With 0 a run for which the machine has no more memory throws std::bad_alloc instead.
  std::uint64_t memory = 0;   // bytes of tokens and firings, as the engine keeps them
  double seconds = 0;         // of wall time inside the engine, from the first token placed
  std::uint64_t groups = 0;   // at one instant; more than kDefaultGroupLimit are an error anyway
  std::uint64_t firings = 0;  // at one instant
  std::uint64_t tokens = 0;   // at the start
  double asked_seconds = 0;   // of a run that goes on with what another left: what both may take
};
enum class Stop : std::uint8_t { kNone, kAsked, kMemory, kSeconds, kGroups, kFirings, kTokens };
// "memory limit of 1000000 bytes reached"; for kMemory without a limit "out of memory".
std::string stop_text(Stop stop, const Budget& budget);

// Asked now and then, also within an instant and while tokens are placed, with the time and the
// commits so far; true: stop. Must not throw.
using Poll = std::function<bool(Time, std::uint64_t)>;

// Why a transition cannot start: its first failing arc in arc order, else server, interval, clock.
enum class Wait : std::uint8_t {
  kNone,       // it could
  kToken,      // an input arc lacks tokens
  kCredit,     // the place it would fill has no free slot
  kGuard,      // a guard is false
  kInhibited,  // an inhibiting place is not empty
  kServer,     // all servers are busy
  kInterval,   // the interval since its last start has not passed
  kClock,      // not on its clock's edge
};
inline constexpr int kWaits = 8;
const char* wait_name(Wait wait);  // "no token", "no credit", ...

struct Blocked {
  TransitionId transition{};
  Wait wait = Wait::kNone;
  std::uint32_t arc = 0;  // for kToken, kGuard, kInhibited: the declared input arc; kCredit: the
                          // place (PlaceId) that is full
  bool operator==(const Blocked&) const = default;
};

// What has arrived in a place that a run collects.
struct Collected {
  std::vector<std::int64_t> values;  // row-major, in the order of arrival
  std::vector<Time> times;
};

// One firing: everything about it is known when it starts.
struct Started {
  TransitionId transition{};
  std::uint64_t firing = 0;
  Time start = 0;
  Time due = 0;
  std::span<const std::uint64_t> taken;     // per declared input arc
  std::span<const std::uint64_t> produced;  // per declared output arc
  // Of the lowered net (lower.h), in which room in a place is tokens, too:
  std::span<const std::uint64_t> all_taken{}, all_produced{};
  std::span<const std::uint64_t> needed{};  // per input arc, at a start only
  std::uint64_t group = 0;                  // of its instant, in which this happens
  std::uint32_t slot = 0;                   // no other firing in flight has it
  Time not_before = 0;                      // from when the interval let it start
  bool late = false;                        // ordered: due with the one before it, not by its delay
  bool full = false;                        // all servers are busy since it started
  std::span<const std::int64_t> values{};   // rows of the tokens it puts, arc by arc
};

// Sees what the interpreter does as it does it (Interp::watch); must not call back into it.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_start(const Started& firing) = 0;
  virtual void on_commit(const Started& firing) = 0;  // at its due time
  // A token with these values, one per property, comes from outside.
  virtual void on_arrival(Time time, PlaceId place, std::span<const std::int64_t> values) = 0;
  // With statistics: why a transition waits after an instant that may have changed it. `wait` is
  // what the statistics count from then on.
  virtual void on_wait(Time time, const Blocked& why) = 0;
};

struct RunResult {
  Ending ending = Ending::kQuiet;
  std::optional<Time> latency;  // see docs/semantics.md "Latency"; none: no done token
  Time last_commit = 0;
  std::uint64_t commits = 0;
  std::uint64_t done_tokens = 0;
  bool stalled = false;            // quiet with undrained places or too few done tokens
  std::vector<Blocked> blocked;    // when stalled
  std::vector<PlaceId> undrained;  // when stalled: the places that should be empty
  Stop stop = Stop::kNone;         // with kStopped
  bool operator==(const RunResult&) const = default;
};

// Times in ticks, over [0, end of the run].
struct TransitionStats {
  std::uint64_t commits = 0;
  Time busy = 0;                      // at least one firing in flight
  std::array<Time, kWaits> waited{};  // by Wait, as it stands after each instant; sums to `end`
};
struct PlaceStats {
  double mean = 0;  // occupancy, locked tokens included, averaged over time
  std::uint64_t peak = 0;
};
struct Stats {
  Time end = 0;
  std::vector<TransitionStats> transitions;
  std::vector<PlaceStats> places;  // declared places
};

// An error during a run. `site` says which expression of the transition.
struct RunFault {
  Fault fault{};
  Time time = 0;
  std::uint64_t group = 0;
  TransitionId transition{};
  Site site;
  std::int64_t value = 0;  // the offending value where there is one
  bool operator==(const RunFault&) const = default;
};

// "blk(nonzero=70, plane=1), slot.count=3": the first tokens in front of a transition, and how many
// there are where it only counts, for messages. `tokens` gives a place's free tokens, row-major,
// `occupancy` all of it, and is asked only where a formula of the transition reads it.
std::string describe_heads(const Net& net, TransitionId transition,
                           const std::function<std::vector<std::int64_t>(PlaceId)>& tokens,
                           const std::function<std::uint64_t(PlaceId)>& occupancy);

class RunError : public Error {
 public:
  // `heads` describes the tokens in front of the transition, "blk(nonzero=70)"; may be empty.
  RunError(const Net& net, RunFault fault, const std::string& heads);
  const RunFault& fault() const { return fault_; }

 private:
  RunFault fault_;
};

inline constexpr std::uint64_t kDefaultGroupLimit = std::uint64_t{1} << 20;

}  // namespace lpn

// What happened on one channel, cycle by cycle of its clock, in sums and as a list of transfers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace lpn::wave {

// What a channel does in a cycle, sampled just before the clock's edge. One with no ready signal
// never stalls or starves. An operation (start and done, or a busy flag) is idle or active.
enum class Phase : std::uint8_t {
  kIdle,      // neither valid nor ready; no operation
  kStarved,   // ready without valid
  kStalled,   // valid without ready: back-pressure
  kTransfer,  // both
  kActive,    // an operation goes on
  kUnknown,   // x or z decides
  kReset,     // not observed
};
constexpr std::size_t kPhases = 7;

// The value of a payload field; bits that are x or z are set in `unknown` and clear in `value`.
struct Value {
  std::uint64_t value = 0, unknown = 0;
  bool operator==(const Value& other) const = default;
};

// Runs are of consecutive cycles in one phase.
struct Totals {
  std::array<std::uint64_t, kPhases> cycles{};
  std::array<std::uint64_t, kPhases> runs{};
  std::array<std::uint64_t, kPhases> longest{};
  std::uint64_t transfers = 0;          // of an operation: those that have ended
  std::uint64_t duration = 0;           // of all of those together, in cycles
  std::uint64_t shortest_duration = 0;  // 0 without any
  std::uint64_t longest_duration = 0;
  std::int64_t first = 0, last = 0;  // edges of the first and last transfer
};

// Transfers since they were last taken, a column each.
struct Transfers {
  std::vector<std::int64_t> edge;     // number of the clock's edge
  std::vector<std::int64_t> stalled;  // cycles of back-pressure since the transfer before; of an
                                      // operation its duration
  std::vector<std::uint64_t> values, unknowns;  // fields one after the other, row by row
};

class Channel {
 public:
  // `until_confirmed`: only what lies before the last confirm() counts. `told`: transfers are what
  // transfers() says, not the cycles of that phase.
  Channel(std::size_t fields, bool keep, bool until_confirmed, bool told)
      : now_(fields), keep_(keep), until_confirmed_(until_confirmed), told_(told) {}

  // From edge `edge` on (edges rise) the phase is `phase`; with kTransfer, `values` are those of
  // it.
  void set(std::int64_t edge, Phase phase, const std::vector<Value>& values);
  // `count` transfers at edge `edge`, all with these values.
  void transfers(std::int64_t edge, std::uint64_t count, const std::vector<Value>& values);
  // An operation that began at edge `begin` has ended; `values` are those of its end.
  void operation(std::int64_t begin, std::int64_t end, const std::vector<Value>& values);
  // Counts up to, not including, edge `edge`; the phase goes on.
  void settle(std::int64_t edge);
  // What is counted so far stands.
  void confirm();
  // settle, and the last run is over.
  void finish(std::int64_t edge);

  Phase phase() const { return phase_; }
  const Totals& totals() const { return until_confirmed_ ? confirmed_ : totals_; }
  Transfers take();

 private:
  void end_run();
  void keep(std::int64_t edge, std::uint64_t waited);

  Totals totals_, confirmed_;
  std::size_t confirmed_rows_ = 0;
  Transfers transfers_;
  std::vector<Value> now_;
  bool keep_, until_confirmed_, told_;
  Phase phase_ = Phase::kReset;
  std::int64_t since_ = 0;     // counted up to here
  std::uint64_t run_ = 0;      // cycles of this run so far
  std::uint64_t stalled_ = 0;  // since the last transfer
};

}  // namespace lpn::wave

// Samples the channels of a design at the edges of their clocks.
//
// A channel is sampled just before its clock's edge: what changes at the instant of the edge, in
// whatever order the dump has it, counts from the next edge on. An edge is a change of the clock
// between 0 and 1; from or to x or z is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lpn/wave/channel.h"
#include "lpn/wave/history.h"
#include "lpn/wave/vcd_reader.h"

namespace lpn::wave {

// One bit of a watched signal (bit 0 is the last character of its value).
struct Bit {
  std::uint32_t watched = 0, bit = 0;
  bool inverted = false;
};

// `width` bits from `lsb` on, at `shift` of a field.
struct Slice {
  std::uint32_t watched = 0, lsb = 0, width = 1, shift = 0;
};
using Field = std::vector<Slice>;  // 64 bits at most

struct ClockSpec {
  Bit signal;               // inverted: the falling edge counts; not looked at with a period
  std::vector<Bit> resets;  // in reset while any of them is not 0
  // No signal: an edge at each multiple of so many times, from the first one on. 0: the signal's.
  std::int64_t period = 0;
};

struct ChannelSpec {
  // kHandshake: first = valid, second = ready, none: valid alone. kOperation: begins at an edge
  // with first = start, ends at the next one with second = done. kBusy: first = the flag, an
  // operation per run of it. kCounter: `counter` says how many transfers there have been. Each list
  // has to be 1 in all its bits.
  enum class Kind : std::uint8_t { kHandshake, kOperation, kBusy, kCounter };
  Kind kind = Kind::kHandshake;
  std::uint32_t clock = 0;
  std::vector<Bit> first, second;
  std::vector<Field> fields;
  Field counter;
  // Another channel of this clock: what comes after its last transfer does not count.
  std::optional<std::uint32_t> until;
};

// From where cycles are counted: each clock's first edge at or after an instant.
struct Origin {
  // The first edge outside of reset; the first one at which `channel` has valid = 1 (an operation:
  // start or busy); or a time of the dump.
  enum class Kind : std::uint8_t { kReset, kChannel, kTime };
  Kind kind = Kind::kReset;
  std::uint32_t channel = 0;
  std::int64_t time = 0;
};

// An episode: cycles of back-pressure of one channel with at most `window` other cycles between two
// of them. Of an episode of one channel, those of the others that had begun before and were not
// over precede it.
struct Preceding {
  std::uint32_t channel = 0;
  std::uint64_t episodes = 0;  // of the victim that it precedes
  std::uint64_t cycles = 0;    // of back-pressure in those
  std::int64_t lead = 0;       // sum over those of how much earlier it began, in times of the dump
};

// A release: the transfer that ends back-pressure. Of a channel's releases, how many come `lag`
// cycles after the last release of another one of the same clock, for the most frequent lag.
struct Following {
  std::uint32_t channel = 0;
  std::uint64_t lag = 0;  // 0 to the window
  std::uint64_t releases = 0;
};

struct ClockTotals {
  std::int64_t edges = 0;
  std::optional<std::int64_t> origin;  // the edge that is cycle 0
  std::int64_t first = 0, last = 0;    // times of the first and the last edge
};

class Sampler : public Listener {
 public:
  struct Options {
    Origin origin;
    std::uint64_t window = 16;
    bool keep = false;  // the list of transfers
    std::optional<History::Options> history = std::nullopt;
    bool times = false;  // its positions are times of the dump, not edges of each channel's clock
  };
  // `widths`: of the watched signals, in bits.
  Sampler(const std::vector<std::uint32_t>& widths, std::vector<ClockSpec> clocks,
          std::vector<ChannelSpec> channels, Options options);

  void on_time(std::int64_t time) override;
  void on_change(std::uint32_t watched, std::string_view bits) override;

  // Counts everything up to the last instant that is complete.
  void settle();
  // The end of the dump; when it is `whole`, its last instant is complete.
  void finish(bool whole);

  std::int64_t time() const { return complete_; }  // of the last complete instant; -1: none
  const std::vector<ClockTotals>& clocks() const { return clock_totals_; }
  std::size_t channels() const { return channels_.size(); }
  const Totals& totals(std::size_t channel) const { return channels_[channel].totals(); }
  Transfers take(std::size_t channel) { return channels_[channel].take(); }
  std::uint64_t episodes(std::size_t channel) const { return stalls_[channel].episodes; }
  const std::vector<Preceding>& preceding(std::size_t channel) const {
    return stalls_[channel].preceding;
  }

  std::optional<std::int64_t> origin() const { return origin_; }  // its time
  // Of all channels, behind finish(); null unless it was asked for.
  const History* history() const { return history_ ? &*history_ : nullptr; }

  std::uint64_t releases(std::size_t channel) const { return stalls_[channel].releases; }
  std::vector<Following> following(std::size_t channel) const;

 private:
  struct Watched {
    std::vector<std::uint64_t> value, unknown;  // before this instant
    std::vector<std::uint64_t> next_value, next_unknown;
    std::uint32_t width = 1;
    bool changed = false;
    std::vector<std::uint32_t> clocks, channels;  // that read it
  };
  struct Stalls {
    bool open = false;
    std::int64_t begin = 0;     // time of this episode's first cycle
    std::int64_t end_edge = 0;  // the edge after its last cycle so far
    std::int64_t run = 0;       // edge at which this run began
    std::uint64_t episodes = 0;
    std::uint64_t releases = 0;
    std::optional<std::int64_t> last_release;  // edge
    std::vector<std::uint64_t> lags;           // per channel and lag; empty before the first
    std::vector<std::pair<std::uint32_t, std::int64_t>> before;  // channel, lead
    std::vector<Preceding> preceding;
  };
  enum class Truth : std::uint8_t { kNo, kYes, kUnknown };

  Truth bit(const Bit& b) const;
  Truth all(const std::vector<Bit>& bits) const;
  Value field(const Field& field) const;
  const std::vector<Value>& payload(const ChannelSpec& spec);
  bool in_reset(const ClockSpec& clock) const;
  void end_instant();
  void sample(std::uint32_t clock);
  void sample_channel(std::uint32_t channel, std::int64_t edge, bool reset);
  bool begins(std::uint32_t channel) const;
  void edge_of(std::uint32_t clock);
  void run_periods(std::int64_t until);
  void count(std::uint32_t channel, std::int64_t edge, bool reset);
  void operate(std::uint32_t channel, std::int64_t edge, bool reset);
  void set(std::uint32_t channel, std::int64_t edge, Phase phase);
  // From where positions of a channel's history count.
  std::optional<std::int64_t> origin_of(std::uint32_t channel) const;
  void begin_stall(std::uint32_t channel, std::int64_t edge);
  void count_releases(std::int64_t edge);
  void count_stall(std::uint32_t channel, std::int64_t edge);
  void look_again(std::uint32_t channel);
  void confirm_others(std::uint32_t channel);

  std::vector<Watched> watched_;
  std::vector<std::uint32_t> changed_;
  std::vector<ClockSpec> clocks_;
  std::vector<ClockTotals> clock_totals_;
  std::vector<ChannelSpec> specs_;
  std::vector<Channel> channels_;
  std::vector<Stalls> stalls_;
  std::vector<std::optional<std::int64_t>> operations_;  // edge at which it began
  std::vector<std::optional<std::uint64_t>> counts_;     // of counters, at the last edge
  std::vector<std::vector<std::uint32_t>> confirms_;     // per channel: those that it ends
  std::vector<std::vector<std::uint32_t>> dirty_;        // per clock: channels to look at
  std::vector<std::uint8_t> is_dirty_;
  std::vector<std::uint32_t> looked_at_, confirming_, released_;
  std::vector<std::uint32_t> edges_;  // clocks with an edge at this instant
  std::vector<Value> values_;         // of the channel that is looked at
  Options options_;
  std::optional<History> history_;
  std::optional<std::int64_t> origin_;
  std::int64_t time_ = 0, complete_ = -1, begin_ = 0;
  bool begun_ = false;
};

}  // namespace lpn::wave

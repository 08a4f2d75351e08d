// Ticks as the times of files that count seconds.
#pragma once

#include <cstdint>
#include <string>

#include "lpn/net/net.h"

namespace lpn::viz {

// The clock of a VCD. A net with a frequency has a unit of which a tick is a whole number,
// femtoseconds rounded down where none is; any other net, and one whose times would leave 63 bits,
// 1 ns a tick.
class DumpClock {
 public:
  // `latest`: the last tick that is written.
  DumpClock(const Net& net, Time latest);

  std::int64_t operator()(Time tick) const;
  const std::string& timescale() const { return timescale_; }  // "10 ns"
  const std::string& tick() const { return tick_; }            // "40 ns"

 private:
  std::string timescale_ = "1 ns";
  std::string tick_ = "1 ns";
  std::int64_t units_ = 1;      // of the timescale
  std::int64_t per_ticks_ = 1;  // are so many ticks
};

// The clock of a timeline, whose viewers count nanoseconds: a net with a frequency of at most 1 GHz
// has its own times, rounded down; others 1 us a tick, so that no two instants fall together.
class TimelineClock {
 public:
  explicit TimelineClock(const Net& net);

  // Nanoseconds as decimal microseconds. Of durations: text(begin, end), so that slices nest.
  std::string text(Time tick) const { return text(0, tick); }
  std::string text(Time begin, Time end) const;
  std::string tick() const;  // "0.004 us"

 private:
  std::int64_t frequency_ = 0;  // 0: 1 us a tick
};

}  // namespace lpn::viz

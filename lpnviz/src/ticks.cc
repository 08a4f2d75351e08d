#include "lpn/viz/ticks.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace lpn::viz {
namespace {

__extension__ typedef unsigned __int128 Unsigned;

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::array<const char*, 6> kUnits = {"s", "ms", "us", "ns", "ps", "fs"};

Unsigned scaled(Time tick, std::int64_t units, std::int64_t per_ticks) {
  return static_cast<Unsigned>(tick) * static_cast<Unsigned>(units) /
         static_cast<Unsigned>(per_ticks);
}

}  // namespace

DumpClock::DumpClock(const Net& net, Time latest) {
  if (!net.frequency) return;
  // Units of 1 s, 100 ms, 10 ms, ... 1 fs.
  std::int64_t per_second = 1;
  int digits = 0;
  while (digits < 15 && per_second % *net.frequency != 0) {
    per_second *= 10;
    ++digits;
  }
  if (scaled(latest, per_second, *net.frequency) > std::numeric_limits<std::int64_t>::max()) return;
  units_ = per_second;
  per_ticks_ = *net.frequency;
  const auto unit = static_cast<std::size_t>((digits + 2) / 3);
  const int ten = digits % 3 == 0 ? 1 : digits % 3 == 1 ? 100 : 10;
  timescale_ = fmt::format("{} {}", ten, kUnits[unit]);
  if (units_ % per_ticks_ == 0) {
    tick_ = fmt::format("{} {}", units_ / per_ticks_ * ten, kUnits[unit]);
  } else {
    tick_ = fmt::format("1/{} s, times rounded down to 1 fs", per_ticks_);
  }
}

std::int64_t DumpClock::operator()(Time tick) const {
  return static_cast<std::int64_t>(scaled(tick, units_, per_ticks_));
}

TimelineClock::TimelineClock(const Net& net) {
  if (net.frequency && *net.frequency <= kNanoseconds) frequency_ = *net.frequency;
}

std::string TimelineClock::text(Time begin, Time end) const {
  if (frequency_ == 0) return fmt::format("{}", end - begin);
  const Unsigned span =
      scaled(end, kNanoseconds, frequency_) - scaled(begin, kNanoseconds, frequency_);
  const Unsigned whole = span / 1000;
  const auto rest = static_cast<int>(span % 1000);
  if (rest == 0) return fmt::format("{}", whole);
  std::string digits = fmt::format("{:03}", rest);
  digits.erase(digits.find_last_not_of('0') + 1);
  return fmt::format("{}.{}", whole, digits);
}

std::string TimelineClock::tick() const {
  if (frequency_ == 0) return "1 us";
  if (kNanoseconds % frequency_ == 0) return text(1) + " us";
  return fmt::format("1/{} s, rounded down to 1 ns", frequency_);
}

}  // namespace lpn::viz

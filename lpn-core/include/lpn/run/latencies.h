// How long requests took, from birth to done: histograms of a fixed size, whatever their number.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lpn/base/wide.h"
#include "lpn/net/net.h"
#include "lpn/run/run.h"

namespace lpn {

// A property with this name and range says when the request of a token was born: lpn.Birth.
inline constexpr const char* kBorn = "born";
inline constexpr Range kBornRange{0, std::int64_t{1} << 62};
std::optional<std::size_t> birth_field(const TokenType& type);

// Counts of values >= 0: each value below 32,768 by itself, larger ones with those that have the
// same 15 leading bits, so that a quantile is at most 0.0062 % too high. Mean, least and greatest
// are exact.
class Histogram {
 public:
  void add(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    if (bits < counts_[0].size()) [[likely]]
      ++counts_[0][bits];
    else
      add_apart(value);
  }
  void add(const Histogram& other);
  std::uint64_t count() const;
  double mean() const;  // REQUIRES count() > 0, as all below
  std::int64_t least() const;
  std::int64_t greatest() const;
  // The least value that at least the fraction `q` of all do not exceed (nearest rank).
  std::int64_t quantile(double q) const;
  // (first value, last value, count) of the cells that have any.
  struct Cell {
    std::int64_t first, last;
    std::uint64_t count;
  };
  std::vector<Cell> cells() const;

 private:
  static constexpr int kBits = 15;
  static constexpr std::size_t kHalf = std::size_t{1} << (kBits - 1);
  std::array<std::vector<std::uint64_t>, 64 - kBits + 1> counts_;  // by octave; the first has two
  // Of the values that have no cell of their own; what is said of the others is in their cells.
  std::uint64_t large_ = 0;
  Wide sum_ = 0;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max(), greatest_ = 0;

  void add_apart(std::int64_t value);
};

// What was done over time: equal windows, which double when there would be more than kWindows.
class OverTime {
 public:
  static constexpr std::size_t kWindows = 128;
  void add(Time time, std::uint64_t count, std::int64_t latency);  // of so many together
  struct Window {
    std::uint64_t count = 0;
    double latency = 0;  // sum
  };
  Time width() const { return Time{1} << doublings_; }
  // The last time of the window that a time falls into, as long as nothing later is added.
  Time last_with(Time time);
  const std::vector<Window>& windows() const { return windows_; }

 private:
  void reach(Time time);
  int doublings_ = 0;
  std::vector<Window> windows_;
};

class Latencies {
 public:
  // `born`, `by`: properties of the tokens; those with equal `by` are a class. Requests born before
  // `warm_up` are in the windows only.
  Latencies(std::size_t width, std::size_t born, std::optional<std::size_t> by, Time warm_up);

  Latencies(const Latencies&) = delete;
  Latencies& operator=(const Latencies&) = delete;

  // Throws Error "E-born" for a request that was born after it was done.
  void add(const Collected& done);

  Histogram all() const;
  const std::map<std::int64_t, Histogram>& classes() const { return classes_; }  // with `by`
  const OverTime& over_time() const { return over_time_; }

 private:
  std::size_t width_, born_;
  std::optional<std::size_t> by_;
  Time warm_up_;
  Histogram unclassed_;  // without `by`
  std::map<std::int64_t, Histogram> classes_;
  Histogram& of(std::int64_t key);
  std::array<Histogram*, 64> known_{};  // of the classes 0, 1, ...: in classes_
  OverTime over_time_;
};

}  // namespace lpn

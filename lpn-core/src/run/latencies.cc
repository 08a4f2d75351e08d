#include "lpn/run/latencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace lpn {
namespace {

// So much latency can be added up without overflow.
constexpr std::int64_t kMuch = std::int64_t{1} << 61;

}  // namespace

std::optional<std::size_t> birth_field(const TokenType& type) {
  for (std::size_t f = 0; f < type.fields.size(); ++f) {
    if (type.fields[f].name == kBorn && type.fields[f].range == kBornRange) return f;
  }
  return std::nullopt;
}

void Histogram::add_apart(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const int octave = std::max(0, static_cast<int>(std::bit_width(bits)) - kBits);
  auto& counts = counts_[static_cast<std::size_t>(octave)];
  if (counts.empty()) counts.resize(octave == 0 ? 2 * kHalf : kHalf);
  ++counts[(bits >> octave) - (octave == 0 ? 0 : kHalf)];
  if (octave == 0) return;
  least_ = std::min(least_, value);
  greatest_ = std::max(greatest_, value);
  ++large_;
  sum_ += value;
}

void Histogram::add(const Histogram& other) {
  for (std::size_t octave = 0; octave < counts_.size(); ++octave) {
    const auto& from = other.counts_[octave];
    auto& to = counts_[octave];
    if (to.size() < from.size()) to.resize(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) to[k] += from[k];
  }
  large_ += other.large_;
  sum_ += other.sum_;
  least_ = std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
}

std::uint64_t Histogram::count() const {
  return std::accumulate(counts_[0].begin(), counts_[0].end(), large_);
}

double Histogram::mean() const {
  std::uint64_t count = large_;
  Wide sum = sum_;
  for (std::size_t value = 0; value < counts_[0].size(); ++value) {
    count += counts_[0][value];
    sum += static_cast<Wide>(counts_[0][value]) * static_cast<Wide>(value);
  }
  return static_cast<double>(sum) / static_cast<double>(count);
}

std::int64_t Histogram::least() const {
  for (std::size_t value = 0; value < counts_[0].size(); ++value) {
    if (counts_[0][value] != 0) return static_cast<std::int64_t>(value);
  }
  return least_;
}

std::int64_t Histogram::greatest() const {
  if (large_ != 0) return greatest_;
  for (std::size_t value = counts_[0].size(); value > 0; --value) {
    if (counts_[0][value - 1] != 0) return static_cast<std::int64_t>(value - 1);
  }
  return 0;
}

std::vector<Histogram::Cell> Histogram::cells() const {
  std::vector<Cell> found;
  const std::int64_t most = greatest();
  for (std::size_t octave = 0; octave < counts_.size(); ++octave) {
    const auto& counts = counts_[octave];
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (counts[k] == 0) continue;
      const std::uint64_t lead = k + (octave == 0 ? 0 : kHalf);
      const auto first = static_cast<std::int64_t>(lead << octave);
      const auto last = static_cast<std::int64_t>(((lead + 1) << octave) - 1);
      found.push_back({first, std::min(last, most), counts[k]});
    }
  }
  return found;
}

std::int64_t Histogram::quantile(double q) const {
  const double rank = std::ceil(q * static_cast<double>(count()));
  const auto wanted = static_cast<std::uint64_t>(std::max(1.0, rank));
  std::uint64_t before = 0;
  for (const Cell& cell : cells()) {
    before += cell.count;
    if (before >= wanted) return cell.last;
  }
  return greatest();
}

void OverTime::reach(Time time) {
  while (time >> doublings_ >= static_cast<Time>(kWindows)) {
    ++doublings_;
    for (std::size_t k = 0; k < windows_.size(); ++k) {
      const Window moved = std::exchange(windows_[k], {});
      windows_[k / 2].count += moved.count;
      windows_[k / 2].latency += moved.latency;
    }
    windows_.resize((windows_.size() + 1) / 2);
  }
}

Time OverTime::last_with(Time time) {
  reach(time);
  return time | (width() - 1);
}

void OverTime::add(Time time, std::uint64_t count, std::int64_t latency) {
  reach(time);
  const auto at = static_cast<std::size_t>(time >> doublings_);
  if (at >= windows_.size()) windows_.resize(at + 1);
  windows_[at].count += count;
  windows_[at].latency += static_cast<double>(latency);
}

Latencies::Latencies(std::size_t width, std::size_t born, std::optional<std::size_t> by,
                     Time warm_up)
    : width_(width), born_(born), by_(by), warm_up_(warm_up) {}

void Latencies::add(const Collected& done) {
  const std::int64_t* row = done.values.data();
  // Of the window that is filled: its times, what came last, how many since it was begun.
  Time first = 0, last = -1, latest = 0;
  std::uint64_t count = 0;
  std::int64_t together = 0;
  const auto put = [&] {
    if (count != 0) over_time_.add(latest, count, together);
    count = 0;
    together = 0;
  };
  for (std::size_t k = 0; k < done.times.size(); ++k, row += width_) {
    const Time time = done.times[k];
    const std::int64_t born = row[born_], latency = time - born;
    if (latency < 0) {
      put();
      throw Error("E-born", fmt::format("a request was done at {} and born at {}, which is later; "
                                        "`born` is when it came, and is only copied on its way",
                                        time, born));
    }
    if (time < first || time > last || latency > kMuch || together > kMuch) {
      put();
      last = over_time_.last_with(time);
      first = last - over_time_.width() + 1;
    }
    latest = time;
    ++count;
    together += latency;
    if (born < warm_up_) continue;
    (by_ ? of(row[*by_]) : unclassed_).add(latency);
  }
  put();
}

Histogram Latencies::all() const {
  Histogram all = unclassed_;
  for (const auto& [key, histogram] : classes_) all.add(histogram);
  return all;
}

Histogram& Latencies::of(std::int64_t key) {
  if (key < 0 || key >= static_cast<std::int64_t>(known_.size())) return classes_[key];
  Histogram*& known = known_[static_cast<std::size_t>(key)];
  if (known == nullptr) known = &classes_[key];
  return *known;
}

}  // namespace lpn

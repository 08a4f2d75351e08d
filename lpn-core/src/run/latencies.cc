#include "lpn/run/latencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace lpn {

std::optional<std::size_t> birth_field(const TokenType& type) {
  for (std::size_t f = 0; f < type.fields.size(); ++f) {
    if (type.fields[f].name == kBorn && type.fields[f].range == kBornRange) return f;
  }
  return std::nullopt;
}

void Histogram::add(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const int octave = std::max(0, static_cast<int>(std::bit_width(bits)) - kBits);
  auto& counts = counts_[static_cast<std::size_t>(octave)];
  if (counts.empty()) counts.resize(octave == 0 ? 2 * kHalf : kHalf);
  ++counts[(bits >> octave) - (octave == 0 ? 0 : kHalf)];
  least_ = count_ == 0 ? value : std::min(least_, value);
  greatest_ = std::max(greatest_, value);
  ++count_;
  sum_ += value;
}

double Histogram::mean() const { return static_cast<double>(sum_) / static_cast<double>(count_); }

std::vector<Histogram::Cell> Histogram::cells() const {
  std::vector<Cell> found;
  for (std::size_t octave = 0; octave < counts_.size(); ++octave) {
    const auto& counts = counts_[octave];
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (counts[k] == 0) continue;
      const std::uint64_t lead = k + (octave == 0 ? 0 : kHalf);
      const auto first = static_cast<std::int64_t>(lead << octave);
      const auto last = static_cast<std::int64_t>(((lead + 1) << octave) - 1);
      found.push_back({first, std::min(last, greatest_), counts[k]});
    }
  }
  return found;
}

std::int64_t Histogram::quantile(double q) const {
  const double rank = std::ceil(q * static_cast<double>(count_));
  const auto wanted = static_cast<std::uint64_t>(std::max(1.0, rank));
  std::uint64_t before = 0;
  for (const Cell& cell : cells()) {
    before += cell.count;
    if (before >= wanted) return cell.last;
  }
  return greatest_;
}

void OverTime::add(Time time, std::int64_t latency) {
  while (time >> doublings_ >= static_cast<Time>(kWindows)) {
    ++doublings_;
    for (std::size_t k = 0; k < windows_.size(); ++k) {
      const Window moved = std::exchange(windows_[k], {});
      windows_[k / 2].count += moved.count;
      windows_[k / 2].latency += moved.latency;
    }
    windows_.resize((windows_.size() + 1) / 2);
  }
  const auto at = static_cast<std::size_t>(time >> doublings_);
  if (at >= windows_.size()) windows_.resize(at + 1);
  ++windows_[at].count;
  windows_[at].latency += static_cast<double>(latency);
}

Latencies::Latencies(std::size_t width, std::size_t born, std::optional<std::size_t> by,
                     Time warm_up)
    : width_(width), born_(born), by_(by), warm_up_(warm_up) {}

void Latencies::add(const Collected& done) {
  const std::int64_t* row = done.values.data();
  for (std::size_t k = 0; k < done.times.size(); ++k, row += width_) {
    const std::int64_t latency = done.times[k] - row[born_];
    if (latency < 0) {
      throw Error("E-born", fmt::format("a request was done at {} and born at {}, which is later; "
                                        "`born` is when it came, and is only copied on its way",
                                        done.times[k], row[born_]));
    }
    over_time_.add(done.times[k], latency);
    if (row[born_] < warm_up_) continue;
    all_.add(latency);
    if (by_) of(row[*by_]).add(latency);
  }
}

Histogram& Latencies::of(std::int64_t key) {
  if (key < 0 || key >= static_cast<std::int64_t>(known_.size())) return classes_[key];
  Histogram*& known = known_[static_cast<std::size_t>(key)];
  if (known == nullptr) known = &classes_[key];
  return *known;
}

}  // namespace lpn

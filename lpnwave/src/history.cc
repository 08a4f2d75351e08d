#include "lpn/wave/history.h"

#include <algorithm>

#include "lpn/base/error.h"

namespace lpn::wave {
namespace {

void put(std::string& out, std::uint64_t value) {
  while (value >= 128) {
    out.push_back(static_cast<char>((value & 127) | 128));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

std::size_t at(Phase phase) { return static_cast<std::size_t>(phase); }

}  // namespace

History::History(std::size_t channels, const Options& options)
    : options_(options), rows_(channels) {
  LPN_ASSERT(options_.bins >= 2 && options_.bins % 2 == 0);
  for (Row& row : rows_) row.bins.assign(options_.bins, {});
}

void History::set(std::size_t channel, std::int64_t position, Phase phase,
                  std::optional<std::int64_t> origin) {
  Row& row = rows_[channel];
  if (phase == row.phase) return;
  add(row, position, origin);
  row.phase = phase;
}

void History::confirm(std::size_t channel, std::int64_t position,
                      std::optional<std::int64_t> origin) {
  Row& row = rows_[channel];
  add(row, position, origin);
  row.confirmed = position;
  const auto bin = static_cast<std::size_t>(position / width_);
  row.at_confirmed = bin < row.bins.size() ? row.bins[bin] : Bin{};
}

void History::finish(std::size_t channel, std::int64_t position, std::optional<std::int64_t> origin,
                     bool cut) {
  Row& row = rows_[channel];
  add(row, position, origin);
  if (!cut) return;
  const auto bin = static_cast<std::size_t>(row.confirmed / width_);
  for (std::size_t k = bin; k < row.bins.size(); ++k) row.bins[k] = Bin{};
  if (bin < row.bins.size()) row.bins[bin] = row.at_confirmed;
  row.last = std::clamp(row.confirmed, std::max<std::int64_t>(row.first, 0), row.last);
}

void History::add(Row& row, std::int64_t end, std::optional<std::int64_t> origin) {
  if (end <= row.since) return;
  std::int64_t begin = row.since, last = end;
  count(row, end);
  if (options_.part) {
    if (!origin) return;
    begin = std::max(begin, *origin + options_.part->first);
    last = std::min(last, *origin + options_.part->second);
  }
  if (closed_) last = std::min(last, *closed_);
  if (begin < last) keep(row, begin, last);
}

void History::count(Row& row, std::int64_t end) {
  while (end > width_ * static_cast<std::int64_t>(options_.bins)) widen();
  std::int64_t p = row.since;
  while (p < end) {
    const std::int64_t bin = p / width_;
    const std::int64_t to = std::min(end, (bin + 1) * width_);
    row.bins[static_cast<std::size_t>(bin)][at(row.phase)] += static_cast<std::uint64_t>(to - p);
    p = to;
  }
  row.since = end;
}

void History::widen() {
  for (Row& row : rows_) {
    const std::int64_t bin = row.confirmed / width_;
    for (std::size_t p = 0; p < kPhases; ++p) {
      if (bin % 2 == 1) row.at_confirmed[p] += row.bins[static_cast<std::size_t>(bin - 1)][p];
      for (std::size_t k = 0; k < options_.bins / 2; ++k) {
        row.bins[k][p] = row.bins[2 * k][p] + row.bins[2 * k + 1][p];
      }
      for (std::size_t k = options_.bins / 2; k < options_.bins; ++k) row.bins[k][p] = 0;
    }
  }
  width_ *= 2;
}

void History::keep(Row& row, std::int64_t begin, std::int64_t end) {
  if (row.first < 0) row.first = begin;
  if (row.run > 0 && row.last_phase != row.phase) {
    const std::size_t before = row.phases.size();
    put(row.phases, static_cast<std::uint64_t>(row.run) * 8 + at(row.last_phase));
    bytes_ += row.phases.size() - before;
    row.run = 0;
  }
  row.last_phase = row.phase;
  row.run += end - begin;
  row.last = end;
  if (bytes_ >= options_.bytes && !closed_) closed_ = end;
}

std::pair<std::int64_t, std::int64_t> History::kept() const {
  std::int64_t from = -1, to = 0;
  for (const Row& row : rows_) {
    if (row.first < 0) continue;
    from = from < 0 ? row.first : std::min(from, row.first);
    to = std::max(to, row.last);
  }
  return from < 0 ? std::pair<std::int64_t, std::int64_t>{0, 0} : std::pair{from, to};
}

std::string History::bins(std::size_t channel) const {
  const Row& row = rows_[channel];
  std::size_t used = 0;
  for (std::size_t k = 0; k < row.bins.size(); ++k) {
    for (const std::uint64_t n : row.bins[k]) {
      if (n != 0) used = k + 1;
    }
  }
  std::string out;
  put(out, static_cast<std::uint64_t>(width_));
  put(out, used);
  for (std::size_t p = 0; p < kPhases; ++p) {
    bool any = false;
    for (std::size_t k = 0; k < used; ++k) any = any || row.bins[k][p] != 0;
    put(out, any ? 1 : 0);
    for (std::size_t k = 0; any && k < used; ++k) put(out, row.bins[k][p]);
  }
  return out;
}

std::string History::phases(std::size_t channel) const {
  const Row& row = rows_[channel];
  std::string out;
  if (row.first < 0) return out;
  put(out, static_cast<std::uint64_t>(row.first));
  put(out, static_cast<std::uint64_t>(row.last - row.first));
  out += row.phases;
  if (row.run > 0) put(out, static_cast<std::uint64_t>(row.run) * 8 + at(row.last_phase));
  return out;
}

}  // namespace lpn::wave

#include "lpn/wave/channel.h"

#include <algorithm>
#include <utility>

namespace lpn::wave {
namespace {

std::size_t at(Phase phase) { return static_cast<std::size_t>(phase); }

}  // namespace

void Channel::keep(std::int64_t edge, std::uint64_t waited) {
  if (!keep_) return;
  transfers_.edge.push_back(edge);
  transfers_.stalled.push_back(static_cast<std::int64_t>(waited));
  for (const Value& v : now_) {
    transfers_.values.push_back(v.value);
    transfers_.unknowns.push_back(v.unknown);
  }
}

void Channel::settle(std::int64_t edge) {
  if (edge <= since_) return;
  const auto cycles = static_cast<std::uint64_t>(edge - since_);
  totals_.cycles[at(phase_)] += cycles;
  run_ += cycles;
  if (phase_ == Phase::kStalled) stalled_ += cycles;
  if (phase_ == Phase::kTransfer && !told_) {
    if (totals_.transfers == 0) totals_.first = since_;
    totals_.transfers += cycles;
    totals_.last = edge - 1;
    for (std::int64_t e = since_; keep_ && e < edge; ++e) {
      keep(e, stalled_);
      stalled_ = 0;
    }
    stalled_ = 0;
  }
  since_ = edge;
}

void Channel::end_run() {
  if (run_ == 0) return;
  ++totals_.runs[at(phase_)];
  totals_.longest[at(phase_)] = std::max(totals_.longest[at(phase_)], run_);
  run_ = 0;
}

void Channel::set(std::int64_t edge, Phase phase, const std::vector<Value>& values) {
  settle(edge);
  if (phase != phase_) end_run();
  phase_ = phase;
  if (phase == Phase::kTransfer) now_ = values;
}

void Channel::transfers(std::int64_t edge, std::uint64_t count, const std::vector<Value>& values) {
  if (totals_.transfers == 0) totals_.first = edge;
  totals_.transfers += count;
  totals_.last = edge;
  now_ = values;
  for (std::uint64_t k = 0; keep_ && k < count; ++k) keep(edge, 0);
}

void Channel::operation(std::int64_t begin, std::int64_t end, const std::vector<Value>& values) {
  const auto duration = static_cast<std::uint64_t>(end - begin);
  if (totals_.transfers == 0) {
    totals_.first = end;
    totals_.shortest_duration = duration;
  }
  ++totals_.transfers;
  totals_.last = end;
  totals_.duration += duration;
  totals_.shortest_duration = std::min(totals_.shortest_duration, duration);
  totals_.longest_duration = std::max(totals_.longest_duration, duration);
  now_ = values;
  keep(end, duration);
}

void Channel::finish(std::int64_t edge) {
  settle(edge);
  end_run();
}

void Channel::confirm() {
  confirmed_ = totals_;
  if (run_ > 0) {  // the run that goes on, as far as it has come
    const std::size_t k = at(phase_);
    ++confirmed_.runs[k];
    confirmed_.longest[k] = std::max(confirmed_.longest[k], run_);
  }
  confirmed_rows_ = transfers_.edge.size();
}

Transfers Channel::take() {
  if (!until_confirmed_ || confirmed_rows_ == transfers_.edge.size()) {
    confirmed_rows_ = 0;
    return std::exchange(transfers_, {});
  }
  Transfers taken;
  const auto move = [](auto& from, auto& to, std::size_t count) {
    const auto end = from.begin() + static_cast<std::ptrdiff_t>(count);
    to.assign(from.begin(), end);
    from.erase(from.begin(), end);
  };
  const std::size_t rows = std::exchange(confirmed_rows_, 0);
  move(transfers_.edge, taken.edge, rows);
  move(transfers_.stalled, taken.stalled, rows);
  move(transfers_.values, taken.values, rows * now_.size());
  move(transfers_.unknowns, taken.unknowns, rows * now_.size());
  return taken;
}

}  // namespace lpn::wave

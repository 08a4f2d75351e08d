#include "lpn/wave/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "lpn/base/error.h"

namespace lpn::wave {
namespace {

constexpr std::uint32_t kWord = 64;
constexpr std::int64_t kMostEdges = std::int64_t{1} << 30;  // of a period in one gap
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 20;  // transfers in one cycle

bool get(const std::vector<std::uint64_t>& words, std::uint32_t bit) {
  return (words[bit / kWord] >> bit % kWord & 1) != 0;
}

// `width` <= 64 bits from `lsb` on.
std::uint64_t part(const std::vector<std::uint64_t>& words, std::uint32_t lsb,
                   std::uint32_t width) {
  const std::uint32_t word = lsb / kWord, shift = lsb % kWord;
  std::uint64_t bits = words[word] >> shift;
  if (shift != 0 && word + 1 < words.size()) bits |= words[word + 1] << (kWord - shift);
  return width == kWord ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

}  // namespace

Sampler::Sampler(const std::vector<std::uint32_t>& widths, std::vector<ClockSpec> clocks,
                 std::vector<ChannelSpec> channels, Options options)
    : watched_(widths.size()),
      clocks_(std::move(clocks)),
      clock_totals_(clocks_.size()),
      specs_(std::move(channels)),
      stalls_(specs_.size()),
      operations_(specs_.size()),
      counts_(specs_.size()),
      confirms_(specs_.size()),
      dirty_(clocks_.size()),
      is_dirty_(specs_.size()),
      options_(options) {
  for (std::size_t k = 0; k < widths.size(); ++k) {
    Watched& w = watched_[k];
    w.width = widths[k];
    const std::size_t words = (w.width + kWord - 1) / kWord;
    w.value.assign(words, 0);
    w.unknown.assign(words, ~std::uint64_t{0});
    w.next_value = w.value;
    w.next_unknown = w.unknown;
  }
  const auto reads = [](std::vector<std::uint32_t>& readers, std::uint32_t who) {
    if (readers.empty() || readers.back() != who) readers.push_back(who);
  };
  for (std::uint32_t c = 0; c < clocks_.size(); ++c) {
    if (clocks_[c].period != 0) continue;
    LPN_ASSERT(clocks_[c].signal.bit < watched_.at(clocks_[c].signal.watched).width);
    reads(watched_[clocks_[c].signal.watched].clocks, c);
  }
  for (std::uint32_t k = 0; k < specs_.size(); ++k) {
    const ChannelSpec& spec = specs_[k];
    const auto bits = [&](const std::vector<Bit>& list) {
      for (const Bit& b : list) {
        LPN_ASSERT(b.bit < watched_.at(b.watched).width);
        reads(watched_[b.watched].channels, k);
      }
    };
    bits(spec.first);
    bits(spec.second);
    bits(clocks_.at(spec.clock).resets);
    const auto slices = [&](const Field& f) {
      for (const Slice& s : f) {
        LPN_ASSERT(s.lsb + s.width <= watched_.at(s.watched).width && s.shift + s.width <= kWord);
        reads(watched_[s.watched].channels, k);
      }
    };
    for (const Field& f : spec.fields) slices(f);
    slices(spec.counter);
    channels_.emplace_back(spec.fields.size(), options_.keep, spec.until.has_value(),
                           spec.kind == ChannelSpec::Kind::kCounter);
    if (spec.until) {
      LPN_ASSERT(specs_.at(*spec.until).clock == spec.clock);
      confirms_[*spec.until].push_back(k);
    }
    look_again(k);
  }
  if (options_.history) history_.emplace(specs_.size(), *options_.history);
}

Sampler::Truth Sampler::bit(const Bit& b) const {
  const Watched& w = watched_[b.watched];
  if (get(w.unknown, b.bit)) return Truth::kUnknown;
  return get(w.value, b.bit) != b.inverted ? Truth::kYes : Truth::kNo;
}

Sampler::Truth Sampler::all(const std::vector<Bit>& bits) const {
  Truth result = Truth::kYes;
  for (const Bit& b : bits) {
    const Truth t = bit(b);
    if (t == Truth::kNo) return t;
    if (t == Truth::kUnknown) result = t;
  }
  return result;
}

Value Sampler::field(const Field& field) const {
  Value v;
  for (const Slice& s : field) {
    const Watched& w = watched_[s.watched];
    v.value |= part(w.value, s.lsb, s.width) << s.shift;
    v.unknown |= part(w.unknown, s.lsb, s.width) << s.shift;
  }
  v.value &= ~v.unknown;
  return v;
}

const std::vector<Value>& Sampler::payload(const ChannelSpec& spec) {
  values_.clear();
  for (const Field& f : spec.fields) values_.push_back(field(f));
  return values_;
}

bool Sampler::in_reset(const ClockSpec& clock) const {
  return std::any_of(clock.resets.begin(), clock.resets.end(),
                     [this](const Bit& b) { return bit(b) != Truth::kNo; });
}

void Sampler::on_time(std::int64_t time) {
  if (begun_) {
    end_instant();
  } else {
    begin_ = time;
  }
  begun_ = true;
  time_ = time;
}

void Sampler::on_change(std::uint32_t watched, std::string_view bits) {
  begun_ = true;
  Watched& w = watched_[watched];
  if (!w.changed) {
    w.changed = true;
    changed_.push_back(watched);
  }
  const auto code = [](char c) {  // bit 0: value, bit 1: unknown
    return c == '0' ? 0U : c == '1' ? 1U : 2U;
  };
  if (w.width == 1) {
    const unsigned c = code(bits.back());
    w.next_value[0] = c & 1;
    w.next_unknown[0] = c >> 1;
    return;
  }
  // What is left of the highest bit given is 0, or x or z like it.
  const bool fill = code(bits.front()) == 2;
  std::fill(w.next_value.begin(), w.next_value.end(), 0);
  std::fill(w.next_unknown.begin(), w.next_unknown.end(), fill ? ~std::uint64_t{0} : 0);
  const auto given = static_cast<std::uint32_t>(std::min<std::size_t>(bits.size(), w.width));
  for (std::uint32_t word = 0; word * kWord < given; ++word) {
    const std::uint32_t count = std::min(kWord, given - word * kWord);
    std::uint64_t value = 0, unknown = 0;
    const char* const low = bits.data() + bits.size() - 1 - word * kWord;
    for (std::uint32_t k = count; k-- > 0;) {
      const unsigned c = code(*(low - k));
      value = value << 1 | (c & 1);
      unknown = unknown << 1 | c >> 1;
    }
    const std::uint64_t mask = count == kWord ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    w.next_value[word] = value;
    w.next_unknown[word] = (w.next_unknown[word] & ~mask) | unknown;
  }
}

void Sampler::look_again(std::uint32_t channel) {
  if (is_dirty_[channel] != 0) return;
  is_dirty_[channel] = 1;
  dirty_[specs_[channel].clock].push_back(channel);
}

// An edge of a clock with a period, at `time_`.
void Sampler::edge_of(std::uint32_t clock) {
  if (options_.origin.kind == Origin::Kind::kTime && !origin_ && time_ >= options_.origin.time) {
    origin_ = time_;
  }
  sample(clock);
  ClockTotals& totals = clock_totals_[clock];
  if (origin_ && !totals.origin) totals.origin = totals.edges - 1;
}

// The edges up to `until` of clocks with a period.
void Sampler::run_periods(std::int64_t until) {
  const std::int64_t now = time_;
  for (std::uint32_t c = 0; c < clocks_.size(); ++c) {
    const std::int64_t period = clocks_[c].period;
    ClockTotals& totals = clock_totals_[c];
    if (period == 0) continue;
    const std::int64_t target = until / period;
    if (target - totals.edges > kMostEdges && !(dirty_[c].empty() && totals.origin)) {
      throw Error("E-wave",
                  fmt::format("the time goes on from {} to {}, which are {} edges of a clock "
                              "with a period of {}",
                              complete_, until, target - totals.edges, period));
    }
    while (totals.edges < target) {
      if (dirty_[c].empty() && totals.origin) {  // nothing has changed since the last edge
        totals.edges = target;
        totals.last = totals.edges * period;
        break;
      }
      time_ = (totals.edges + 1) * period;
      edge_of(c);
    }
  }
  time_ = now;
}

void Sampler::end_instant() {
  run_periods(time_);
  edges_.clear();
  for (const std::uint32_t k : changed_) {
    const Watched& w = watched_[k];
    for (const std::uint32_t c : w.clocks) {
      const Bit& b = clocks_[c].signal;
      if (get(w.unknown, b.bit) || get(w.next_unknown, b.bit)) continue;
      const bool before = get(w.value, b.bit), after = get(w.next_value, b.bit);
      if (before != after && after != b.inverted) edges_.push_back(c);
    }
  }
  if (options_.origin.kind == Origin::Kind::kTime && !origin_ && !edges_.empty() &&
      time_ >= options_.origin.time) {
    origin_ = time_;
  }
  for (const std::uint32_t c : edges_) sample(c);
  for (const std::uint32_t c : edges_) {
    ClockTotals& totals = clock_totals_[c];
    if (origin_ && !totals.origin) totals.origin = totals.edges - 1;
  }
  for (const std::uint32_t k : changed_) {
    Watched& w = watched_[k];
    w.changed = false;
    w.value = w.next_value;
    w.unknown = w.next_unknown;
    for (const std::uint32_t channel : w.channels) look_again(channel);
  }
  changed_.clear();
  complete_ = time_;
}

void Sampler::sample(std::uint32_t clock) {
  ClockTotals& totals = clock_totals_[clock];
  const std::int64_t edge = totals.edges++;
  if (edge == 0) totals.first = time_;
  totals.last = time_;
  const bool reset = in_reset(clocks_[clock]);
  if (!reset && !origin_ && options_.origin.kind == Origin::Kind::kReset) origin_ = time_;
  looked_at_.clear();
  looked_at_.swap(dirty_[clock]);
  confirming_.clear();
  released_.clear();
  for (const std::uint32_t k : looked_at_) is_dirty_[k] = 0;
  for (const std::uint32_t k : looked_at_) {
    if (specs_[k].kind == ChannelSpec::Kind::kOperation) {
      operate(k, edge, reset);
    } else if (specs_[k].kind == ChannelSpec::Kind::kCounter) {
      count(k, edge, reset);
    } else {
      sample_channel(k, edge, reset);
    }
    confirm_others(k);
    if (!reset && !origin_ && options_.origin.kind == Origin::Kind::kChannel &&
        options_.origin.channel == k && begins(k)) {
      origin_ = time_;
    }
  }
  if (!released_.empty()) count_releases(edge);
  for (const std::uint32_t k : confirming_) {
    channels_[k].settle(edge + 1);
    channels_[k].confirm();
    if (history_) history_->confirm(k, (options_.times ? time_ : edge) + 1, origin_of(k));
  }
}

bool Sampler::begins(std::uint32_t channel) const {
  if (specs_[channel].kind == ChannelSpec::Kind::kCounter) {
    return channels_[channel].phase() == Phase::kTransfer;
  }
  return all(specs_[channel].first) == Truth::kYes;
}

// A transfer that goes on for many cycles is looked at in each of them.
void Sampler::confirm_others(std::uint32_t channel) {
  if (confirms_[channel].empty() || channels_[channel].phase() != Phase::kTransfer) return;
  confirming_.insert(confirming_.end(), confirms_[channel].begin(), confirms_[channel].end());
  look_again(channel);
}

void Sampler::sample_channel(std::uint32_t channel, std::int64_t edge, bool reset) {
  const ChannelSpec& spec = specs_[channel];
  const Truth valid = all(spec.first);
  Phase phase = Phase::kUnknown;
  if (reset) {
    phase = Phase::kReset;
  } else if (spec.kind == ChannelSpec::Kind::kBusy) {
    if (valid != Truth::kUnknown) phase = valid == Truth::kYes ? Phase::kActive : Phase::kIdle;
  } else if (spec.second.empty()) {
    if (valid != Truth::kUnknown) phase = valid == Truth::kYes ? Phase::kTransfer : Phase::kIdle;
  } else {
    const Truth ready = all(spec.second);
    if (valid != Truth::kUnknown && ready != Truth::kUnknown) {
      constexpr Phase kBoth[2][2] = {{Phase::kIdle, Phase::kStarved},
                                     {Phase::kStalled, Phase::kTransfer}};
      phase = kBoth[valid == Truth::kYes][ready == Truth::kYes];
    }
  }
  if (spec.kind == ChannelSpec::Kind::kBusy) {
    std::optional<std::int64_t>& begin = operations_[channel];
    if (phase == Phase::kActive && !begin) begin = edge;
    if (phase == Phase::kIdle && begin) {
      channels_[channel].operation(*begin, edge, payload(spec));
    }
    if (phase != Phase::kActive) begin.reset();
  }
  if (phase == Phase::kTransfer) payload(spec);
  set(channel, edge, phase);
}

// A dump that begins at time 0 begins with no transfers; else, and behind x or reset, what its
// first value counts is not known.
void Sampler::count(std::uint32_t channel, std::int64_t edge, bool reset) {
  const ChannelSpec& spec = specs_[channel];
  std::optional<std::uint64_t>& before = counts_[channel];
  const Value now = field(spec.counter);
  if (reset || now.unknown != 0) {
    before.reset();
    return set(channel, edge, reset ? Phase::kReset : Phase::kUnknown);
  }
  std::uint32_t width = 0;
  for (const Slice& s : spec.counter) width += s.width;
  if (!before) before = edge == 0 && begin_ == 0 ? 0 : now.value;
  const std::uint64_t mask = width >= kWord ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t more = (now.value - *before) & mask;
  if (more > mask / 2 || (options_.keep && more > kMostAtOnce)) {
    throw Error("E-wave",
                fmt::format("the count of channel {} goes from {} to {} at time {}, as no "
                            "count of transfers does",
                            channel + 1, *before, now.value, time_));
  }
  before = now.value;
  set(channel, edge, more == 0 ? Phase::kIdle : Phase::kTransfer);
  if (more == 0) return;
  channels_[channel].transfers(edge, more, payload(spec));
  look_again(channel);
}

// One operation at a time: a start while it goes on is part of it, and it takes a cycle at least.
void Sampler::operate(std::uint32_t channel, std::int64_t edge, bool reset) {
  const ChannelSpec& spec = specs_[channel];
  std::optional<std::int64_t>& begin = operations_[channel];
  const Truth start = all(spec.first), done = all(spec.second);
  look_again(channel);
  if (reset) {
    begin.reset();
    return set(channel, edge, Phase::kReset);
  }
  if (begin && done == Truth::kYes) {
    channels_[channel].operation(*begin, edge, payload(spec));
    begin.reset();
  }
  if (!begin && start == Truth::kYes) begin = edge;
  if (!begin && start == Truth::kUnknown) return set(channel, edge, Phase::kUnknown);
  if (begin && done == Truth::kUnknown) return set(channel, edge, Phase::kUnknown);
  set(channel, edge, begin ? Phase::kActive : Phase::kIdle);
}

void Sampler::set(std::uint32_t channel, std::int64_t edge, Phase phase) {
  const Phase before = channels_[channel].phase();
  if (before == Phase::kStalled) count_stall(channel, edge);
  if (before == Phase::kStalled && phase == Phase::kTransfer) released_.push_back(channel);
  if (before != Phase::kStalled && phase == Phase::kStalled) begin_stall(channel, edge);
  channels_[channel].set(edge, phase, values_);
  if (history_) history_->set(channel, options_.times ? time_ : edge, phase, origin_of(channel));
}

std::optional<std::int64_t> Sampler::origin_of(std::uint32_t channel) const {
  return options_.times ? origin_ : clock_totals_[specs_[channel].clock].origin;
}

void Sampler::begin_stall(std::uint32_t channel, std::int64_t edge) {
  Stalls& own = stalls_[channel];
  own.run = edge;
  const auto window = static_cast<std::int64_t>(options_.window);
  if (own.open && edge - own.end_edge <= window) return;
  own.open = true;
  own.begin = time_;
  own.end_edge = edge;
  own.before.clear();
  ++own.episodes;
  for (std::uint32_t k = 0; k < stalls_.size(); ++k) {
    const Stalls& other = stalls_[k];
    if (k == channel || !other.open || other.begin >= time_) continue;
    const bool still = channels_[k].phase() == Phase::kStalled ||
                       clock_totals_[specs_[k].clock].edges - other.end_edge <= window;
    if (still) own.before.emplace_back(k, time_ - other.begin);
  }
  for (const auto& [k, lead] : own.before) {
    auto found = std::find_if(own.preceding.begin(), own.preceding.end(),
                              [k = k](const Preceding& p) { return p.channel == k; });
    if (found == own.preceding.end()) {
      own.preceding.push_back({k, 0, 0, 0});
      found = own.preceding.end() - 1;
    }
    ++found->episodes;
    found->lead += lead;
  }
}

void Sampler::count_releases(std::int64_t edge) {
  for (const std::uint32_t k : released_) {
    ++stalls_[k].releases;
    stalls_[k].last_release = edge;
  }
  const std::size_t lags = options_.window + 1;
  for (const std::uint32_t k : released_) {
    Stalls& own = stalls_[k];
    own.lags.resize(stalls_.size() * lags);
    for (std::size_t other = 0; other < stalls_.size(); ++other) {
      const std::optional<std::int64_t>& last = stalls_[other].last_release;
      if (other == k || !last || specs_[other].clock != specs_[k].clock) continue;
      const auto lag = static_cast<std::uint64_t>(edge - *last);
      if (lag < lags) ++own.lags[other * lags + lag];
    }
  }
}

std::vector<Following> Sampler::following(std::size_t channel) const {
  std::vector<Following> list;
  const std::vector<std::uint64_t>& counts = stalls_[channel].lags;
  const auto lags = static_cast<std::ptrdiff_t>(options_.window + 1);
  for (std::uint32_t other = 0; other * lags < static_cast<std::ptrdiff_t>(counts.size());
       ++other) {
    const auto begin = counts.begin() + other * lags;
    const auto most = std::max_element(begin, begin + lags);
    if (*most > 0) list.push_back({other, static_cast<std::uint64_t>(most - begin), *most});
  }
  return list;
}

// The cycles of back-pressure from where they were last counted up to `edge`.
void Sampler::count_stall(std::uint32_t channel, std::int64_t edge) {
  Stalls& own = stalls_[channel];
  const auto cycles = static_cast<std::uint64_t>(edge - own.run);
  own.run = own.end_edge = edge;
  for (const auto& [k, lead] : own.before) {
    for (Preceding& p : own.preceding) {
      if (p.channel == k) p.cycles += cycles;
    }
  }
}

void Sampler::settle() {
  for (std::uint32_t k = 0; k < channels_.size(); ++k) {
    const std::int64_t edges = clock_totals_[specs_[k].clock].edges;
    if (channels_[k].phase() == Phase::kStalled) count_stall(k, edges);
    channels_[k].settle(edges);
  }
}

void Sampler::finish(bool whole) {
  if (whole && begun_) {
    end_instant();
    for (const ClockSpec& clock : clocks_) {
      if (clock.period != 0 && time_ <= kLast - clock.period) run_periods(time_ + clock.period);
    }
  }
  settle();
  for (std::uint32_t k = 0; k < channels_.size(); ++k) {
    const ClockTotals& clock = clock_totals_[specs_[k].clock];
    channels_[k].finish(clock.edges);
    if (!history_) continue;
    // The last cycle is as long as the others.
    const std::int64_t period =
        clock.edges > 1 ? (clock.last - clock.first) / (clock.edges - 1) : 1;
    history_->finish(k, options_.times ? clock.last + period : clock.edges, origin_of(k),
                     specs_[k].until.has_value());
  }
}

}  // namespace lpn::wave

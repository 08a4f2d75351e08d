// Three things are kept of a run: firings per transition (all of one is known at its start),
// reasons to wait per transition and tokens per place as they stand after each instant. A segment
// begins with the state at its first instant, so it can be shown without those before.
//
// The overview adds the same up in at most `bins` equal parts of the run, whose width doubles as
// the run grows: per transition the cycles it was busy, the firings that started and the cycles per
// reason to wait, per place the integral and the maximum of its tokens.
#include "lpn/viz/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "lpn/viz/export.h"
#include "numbers.h"

namespace lpn::viz {
namespace {

using Json = nlohmann::ordered_json;  // members stay in the order of writing

constexpr std::uint64_t kMostExact = std::uint64_t{1} << 53;  // of a double
constexpr std::uint64_t kMostSum = std::uint64_t{1} << 63;

// Per transition: busy, starts, then one per reason but kNone. Per place: integral, maximum.
constexpr std::size_t kStarts = 1, kFirstWait = 2;
constexpr std::size_t kPerTransition = kFirstWait + kWaits - 1;
constexpr std::size_t kPerPlace = 2;

bool varies(const Net& net, const Formula& f) { return !net.exprs.is_const(f.id); }

// A reason and what it is about, in one number.
std::uint64_t code_of(const Blocked& why) {
  const bool about = why.wait == Wait::kToken || why.wait == Wait::kCredit ||
                     why.wait == Wait::kGuard || why.wait == Wait::kInhibited;
  return static_cast<std::uint64_t>(why.wait) | (about ? std::uint64_t{why.arc} << 3 : 0);
}

// Time, value pairs as two columns of differences.
void put_changes(std::string& out, Time begin,
                 const std::vector<std::pair<Time, std::uint64_t>>& changes, std::uint64_t before,
                 bool differences) {
  put(out, before);
  put(out, changes.size());
  Time last = begin;
  for (const auto& [time, value] : changes) {
    put(out, static_cast<std::uint64_t>(time - last));
    last = time;
  }
  for (const auto& [time, value] : changes) {
    if (differences) {
      put_signed(out, static_cast<std::int64_t>(value - before));
      before = value;
    } else {
      put(out, value);
    }
  }
}

}  // namespace

Record::Record(const Net& net, const ParamValues& params, const Marking& marking,
               RecordOptions options)
    : net_(net),
      options_(options),
      values_(net, options.values),
      actors_(net.transitions.size()),
      levels_(net.places.size()) {
  for (std::size_t k = 0; k < actors_.size(); ++k) {
    const Transition& t = net.transitions[k];
    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
      if (!t.inputs[a].inhibit && varies(net, t.inputs[a].weight)) actors_[k].inputs.push_back(a);
    }
    for (std::uint32_t a = 0; a < t.outputs.size(); ++a) {
      const auto& emissions = t.outputs[a].emissions;
      if (std::any_of(emissions.begin(), emissions.end(),
                      [&](const Emission& e) { return varies(net, e.count); })) {
        actors_[k].outputs.push_back(a);
      }
    }
  }
  const auto tokens = viz::initial_tokens(net, params, marking);
  for (std::size_t p = 0; p < levels_.size(); ++p) {
    levels_[p].tokens = levels_[p].shown = levels_[p].before = tokens[p];
  }
  // Nets with many parts have fewer bins: what all of them say stays a few million numbers.
  const std::size_t series = actors_.size() * kPerTransition + levels_.size() * kPerPlace;
  while (options_.bins > 1024 && series * options_.bins > (std::size_t{1} << 22))
    options_.bins /= 2;
  bins_.resize(series);
  least_entries_ = options_.segment;
}

void Record::watch(Interp& interp) {
  values_.begin(interp);
  interp.watch(this);
}

std::size_t Record::busy_series(std::size_t transition) const {
  return transition * kPerTransition;
}
std::size_t Record::place_series(std::size_t place) const {
  return actors_.size() * kPerTransition + place * kPerPlace;
}

// ---- the overview -------------------------------------------------------------------------

// Bins wide enough for times up to `end`.
void Record::widen(Time end) {
  while (end > width_ * static_cast<Time>(options_.bins)) {
    for (std::size_t s = 0; s < bins_.size(); ++s) {
      auto& bins = bins_[s];
      const std::size_t places_from = actors_.size() * kPerTransition;
      const bool is_max = s >= places_from && (s - places_from) % kPerPlace == 1;
      for (std::size_t b = 0; b < bins.size(); b += 2) {
        const std::uint64_t other = b + 1 < bins.size() ? bins[b + 1] : 0;
        bins[b / 2] = is_max ? std::max(bins[b], other) : bins[b] + other;
      }
      bins.resize((bins.size() + 1) / 2);
    }
    width_ *= 2;
  }
}

void Record::add(std::size_t series, Time begin, Time end, std::uint64_t weight) {
  if (begin >= end || weight == 0) return;
  widen(end);
  auto& bins = bins_[series];
  const auto last = static_cast<std::size_t>((end - 1) / width_);
  if (bins.size() <= last) bins.resize(last + 1);
  for (Time at = begin; at < end;) {
    const Time bin = at / width_;
    const Time until = std::min(end, (bin + 1) * width_);
    bins[static_cast<std::size_t>(bin)] += static_cast<std::uint64_t>(until - at) * weight;
    at = until;
  }
}

void Record::raise(std::size_t series, Time begin, Time end, std::uint64_t level) {
  if (begin >= end || level == 0) return;
  widen(end);
  auto& bins = bins_[series];
  const auto last = static_cast<std::size_t>((end - 1) / width_);
  if (bins.size() <= last) bins.resize(last + 1);
  for (auto b = static_cast<std::size_t>(begin / width_); b <= last; ++b) {
    bins[b] = std::max(bins[b], level);
  }
}

void Record::show_level(std::size_t place, Time until) {
  Level& level = levels_[place];
  add(place_series(place), level.since, until, level.shown);
  raise(place_series(place) + 1, level.since, until, level.shown);
  level.since = until;
}

// ---- what happens -------------------------------------------------------------------------

// The instant `time` has begun.
void Record::reach(Time time) {
  if (time == now_) return;
  require_countable(time);
  settle();
  now_ = time;
  if (entries_ >= least_entries_) close(time);
}

void Record::require_countable(Time time) const {
  if (static_cast<std::uint64_t>(time) <= kMostExact) return;
  throw Error("E-viz-size",
              fmt::format("the run of net '{}' reaches cycle {}, and a page counts to 2^53: end it "
                          "earlier (--limit)",
                          net_.name, time));
}

// Writes down what the places hold after the instant that has ended.
void Record::settle() {
  for (const std::uint32_t p : noted_) {
    Level& level = levels_[p];
    level.noted = false;
    if (level.tokens == level.shown) continue;
    show_level(p, now_);
    level.shown = level.tokens;
    level.changes.emplace_back(now_, level.tokens);
    ++entries_;
  }
  noted_.clear();
}

void Record::change(PlaceId place, std::uint64_t by, bool more) {
  if (by == 0) return;
  const auto p = static_cast<std::uint32_t>(place);
  Level& level = levels_[p];
  level.tokens = more ? level.tokens + by : level.tokens - by;
  if (level.noted) return;
  level.noted = true;
  noted_.push_back(p);
}

// A run may end before the firing does, and its page says when that is, and how much it makes.
void Record::require_countable(const Started& firing) const {
  const bool many = std::any_of(firing.produced.begin(), firing.produced.end(),
                                [](std::uint64_t count) { return count > kMostExact; });
  if (!many && static_cast<std::uint64_t>(firing.due) <= kMostExact) return;
  throw Error(
      "E-viz-size",
      fmt::format(
          "transition '{}' of net '{}' starts in cycle {} what {}, and a page counts to "
          "2^53: give it less, or end the run before that cycle (--limit)",
          net_.transitions[static_cast<std::size_t>(firing.transition)].name, net_.name,
          firing.start,
          many ? "puts more than 2^53 tokens" : fmt::format("ends in cycle {}", firing.due)));
}

void Record::on_start(const Started& firing) {
  values_.on_start(firing);
  reach(firing.start);
  require_countable(firing);
  const auto k = static_cast<std::size_t>(firing.transition);
  Actor& actor = actors_[k];
  Open open{firing.firing, firing.start, firing.due, {}};
  for (const std::uint32_t a : actor.inputs) open.counts.push_back(firing.taken[a]);
  for (const std::uint32_t a : actor.outputs) open.counts.push_back(firing.produced[a]);
  actor.fresh.push_back(std::move(open));
  if (actor.in_flight++ == 0) actor.busy_since = now_;
  ++entries_;
  ++firings_;
  widen(now_ + 1);
  auto& starts = bins_[busy_series(k) + kStarts];
  const auto bin = static_cast<std::size_t>(now_ / width_);
  if (starts.size() <= bin) starts.resize(bin + 1);
  ++starts[bin];
}

void Record::on_commit(const Started& firing) {
  values_.on_commit(firing);
  reach(firing.due);
  const auto k = static_cast<std::size_t>(firing.transition);
  const Transition& t = net_.transitions[k];
  if (--actors_[k].in_flight == 0) add(busy_series(k), actors_[k].busy_since, now_, 1);
  for (std::size_t a = 0; a < t.inputs.size(); ++a) {
    change(t.inputs[a].place, firing.taken[a], false);
  }
  for (std::size_t a = 0; a < t.outputs.size(); ++a) {
    change(t.outputs[a].place, firing.produced[a], true);
  }
}

void Record::on_arrival(Time time, PlaceId place, std::span<const std::int64_t> values) {
  values_.on_arrival(time, place, values);
  reach(time);
  change(place, 1, true);
}

void Record::on_wait(Time time, const Blocked& why) {
  reach(time);
  const auto k = static_cast<std::size_t>(why.transition);
  Actor& actor = actors_[k];
  const std::uint64_t code = code_of(why);
  if (code == actor.wait) return;
  const std::uint64_t reason = actor.wait & 7;
  if (reason != 0) add(busy_series(k) + kFirstWait + reason - 1, actor.wait_since, time, 1);
  actor.wait = code;
  actor.wait_since = time;
  actor.waits.emplace_back(time, code);
  ++entries_;
}

// ---- segments -----------------------------------------------------------------------------

// Ends the segment; the next one begins with the instant `next`.
void Record::close(Time next) {
  std::string out;
  std::uint64_t firings = 0, still_open = 0;
  for (Actor& actor : actors_) {
    put(out, actor.carried.size());
    for (const Open& f : actor.carried) {
      put(out, static_cast<std::uint64_t>(begin_ - f.start));
      put(out, static_cast<std::uint64_t>(f.due - begin_));
      put(out, f.number);
      for (const std::uint64_t count : f.counts) put(out, count);
    }
    put(out, actor.fresh.empty() ? 0 : actor.fresh.front().number);
    put(out, actor.fresh.size());
    Time last = begin_, duration = 0;
    for (const Open& f : actor.fresh) {
      put(out, static_cast<std::uint64_t>(f.start - last));
      last = f.start;
    }
    for (const Open& f : actor.fresh) {
      put_signed(out, f.due - f.start - duration);
      duration = f.due - f.start;
    }
    for (std::size_t c = 0; c < actor.inputs.size() + actor.outputs.size(); ++c) {
      for (const Open& f : actor.fresh) put(out, f.counts[c]);
    }
    put_changes(out, begin_, actor.waits, actor.wait_before, false);
    firings += actor.fresh.size();

    std::vector<Open> open;
    for (auto* list : {&actor.carried, &actor.fresh}) {
      for (Open& f : *list) {
        if (f.due >= next) open.push_back(std::move(f));
      }
    }
    still_open += open.size();
    actor.carried = std::move(open);
    actor.fresh.clear();
    actor.waits.clear();
    actor.wait_before = actor.wait;
  }
  for (Level& level : levels_) {
    put_changes(out, begin_, level.changes, level.before, true);
    level.changes.clear();
    level.before = level.shown;
  }
  about_.push_back({begin_, firings});
  segments_.push_back(std::move(out));
  begin_ = next;
  entries_ = 0;
  // Firings in flight are said again in each segment: more of them make longer ones.
  least_entries_ = std::max(options_.segment, 4 * still_open);
}

void Record::finish(Time end) {
  require_countable(end);
  settle();
  end_ = end;
  for (std::size_t k = 0; k < actors_.size(); ++k) {
    const Actor& actor = actors_[k];
    if (actor.in_flight != 0) add(busy_series(k), actor.busy_since, end, 1);
    const std::uint64_t reason = actor.wait & 7;
    if (reason != 0) add(busy_series(k) + kFirstWait + reason - 1, actor.wait_since, end, 1);
  }
  for (std::size_t p = 0; p < levels_.size(); ++p) show_level(p, end);
  close(end);
  for (std::size_t p = 0; p < levels_.size(); ++p) {
    const auto& most = bins_[place_series(p) + 1];
    const std::uint64_t peak = most.empty() ? 0 : *std::max_element(most.begin(), most.end());
    // Tokens, and their sum over a bin of the overview.
    if (std::max(peak, levels_[p].tokens) <=
        std::min(kMostExact, kMostSum / static_cast<std::uint64_t>(width_)))
      continue;
    throw Error(
        "E-viz-size",
        fmt::format("place '{}' of net '{}' holds {} tokens in a run of {} cycles, more than "
                    "a page can add up: end the run earlier (--limit)",
                    net_.places[p].name, net_.name, std::max(peak, levels_[p].tokens), end));
  }
  put(overview_, static_cast<std::uint64_t>(width_));
  const auto count = static_cast<std::size_t>(end / width_) + 1;  // a start at `end` too
  put(overview_, count);
  for (auto& bins : bins_) {
    bins.resize(count);
    const bool nothing =
        std::all_of(bins.begin(), bins.end(), [](std::uint64_t b) { return b == 0; });
    put(overview_, nothing ? 0 : 1);
    if (nothing) continue;
    for (const std::uint64_t b : bins) put(overview_, b);
  }
}

std::string Record::index() const {
  Json segments = Json::array(), varying = Json::array();
  for (const Segment& each : about_) segments.push_back(Json::array({each.begin, each.firings}));
  for (const Actor& each : actors_) varying.push_back(Json::array({each.inputs, each.outputs}));
  return Json{{"format", 1},
              {"end", end_},
              {"firings", firings_},
              {"segments", std::move(segments)},
              {"varying", std::move(varying)}}
      .dump();
}

}  // namespace lpn::viz

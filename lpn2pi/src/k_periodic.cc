#include "k_periodic.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"

namespace lpn::pi {

namespace {

// What fits in memory: an arc takes 64 bytes with all that is kept of it.
constexpr std::int64_t kMostEvents = 8'000'000;
constexpr std::int64_t kMostArcs = 24'000'000;
constexpr std::int64_t kMostParts = std::int64_t{1} << 60;

[[noreturn]] void too_large(const std::string& what) {
  throw Error("E-dataflow", fmt::format("the graph is too large for an exact period: {}", what));
}

std::int64_t narrow(Wide x) {
  if (x > INT64_MAX / 2 || x < INT64_MIN / 2) too_large("a number of tokens leaves 63 bits");
  return static_cast<std::int64_t>(x);
}

Wide floor_to(Wide x, Wide step) {
  const Wide rest = x % step;
  return x - (rest < 0 ? rest + step : rest);
}

}  // namespace

bool is_serial(const Channel& channel) {
  if (channel.from != channel.to || !channel.needed.recurring.empty() ||
      !channel.times.recurring.empty())
    return false;
  const std::int64_t rate = channel.put.recurring.front();
  const auto all = [&](const std::vector<std::int64_t>& rates) {
    return std::all_of(rates.begin(), rates.end(), [&](std::int64_t r) { return r == rate; });
  };
  return rate > 0 && channel.tokens / rate == 1 && all(channel.put.once) &&
         all(channel.put.recurring) && all(channel.taken.once) && all(channel.taken.recurring);
}

KPeriodic::KPeriodic(const Dataflow& graph, const Part& part,
                     const std::vector<std::int64_t>& repetitions, bool unit_times)
    : graph_(graph),
      part_(part),
      repetitions_(repetitions),
      unit_times_(unit_times),
      k_(graph.actors.size(), 1),
      serial_(graph.actors.size(), 0),
      starts_in_order_(graph.actors.size(), 0),
      first_(graph.actors.size(), 0) {
  for (const std::size_t c : part.channels)
    if (is_serial(graph.channels[c])) serial_[graph.channels[c].from] = 1;
  // Firings of a single phase that waits in order start in order when they start as early as they
  // can, so that asking for it costs nothing.
  for (const std::size_t t : part.actors)
    starts_in_order_[t] = serial_[t] || graph.actors[t].times.recurring.size() == 1;
}

std::int64_t KPeriodic::time(const Phases& times, std::size_t event) const {
  return unit_times_ ? 1 : times.recurring[event % times.recurring.size()];
}

KPeriodic::Side KPeriodic::side(const Phases& rates, const Phases& needed,
                                std::size_t actor) const {
  Side side;
  Wide sum = 0;
  const std::size_t events =
      static_cast<std::size_t>(k_[actor]) * graph_.actors[actor].times.recurring.size();
  side.after.reserve(events);
  side.amount.reserve(events);
  for (std::size_t j = 0; j < events; ++j) {
    const std::int64_t rate = rates.recurring[j % rates.recurring.size()];
    side.needed.push_back(narrow(
        sum + (needed.recurring.empty() ? rate : needed.recurring[j % needed.recurring.size()])));
    sum += rate;
    side.after.push_back(narrow(sum));
    side.amount.push_back(rate);
  }
  side.per_block = narrow(sum);
  return side;
}

// Arcs of the events to come: with K as it is, or of whole iterations.
Wide KPeriodic::size_of(bool whole) const {
  Wide arcs = 0;
  for (const std::size_t t : part_.actors) {
    arcs += Wide{whole ? repetitions_[t] : k_[t]} *
            static_cast<Wide>(graph_.actors[t].times.recurring.size());
  }
  for (const std::size_t c : part_.channels) {
    const Channel& channel = graph_.channels[c];
    const auto events = [&](std::size_t t) {
      return Wide{whole ? repetitions_[t] : k_[t]} *
             static_cast<Wide>(graph_.actors[t].times.recurring.size());
    };
    if (!starts_in_order_[channel.from]) {
      arcs += events(channel.from) * events(channel.to);
      continue;
    }
    // Per firing that takes, the different ones that put for it.
    const Wide turns =
        whole ? 1 : blocks(channel.from) / std::gcd(blocks(channel.from), blocks(channel.to));
    arcs += events(channel.to) * std::min(events(channel.from), turns);
  }
  return arcs;
}

// In how many parts an iteration must be cut so that the blocks of every actor are whole numbers of
// them; 0: too many.
std::int64_t KPeriodic::parts() const {
  Wide parts = 1;
  for (const std::size_t t : part_.actors) {
    parts = parts / std::gcd(static_cast<std::int64_t>(parts), blocks(t)) * blocks(t);
    if (parts > kMostParts) return 0;
  }
  return static_cast<std::int64_t>(parts);
}

// Takes whole iterations; false where that is so already, or would be too large.
bool KPeriodic::unfold() {
  bool grown = false;
  for (const std::size_t t : part_.actors) grown |= k_[t] != repetitions_[t];
  if (!grown || size_of(true) > kMostArcs) return false;
  for (const std::size_t t : part_.actors) k_[t] = repetitions_[t];
  return true;
}

// Where few cycles of phases share tokens in many ways, or hardly have a common measure, whole
// iterations are smaller.
void KPeriodic::choose_size() {
  const Wide some = size_of(false);
  if ((some > 100'000 && size_of(true) <= some) || parts() == 0) unfold();
  Wide events = 0;
  for (const std::size_t t : part_.actors)
    events += Wide{k_[t]} * static_cast<Wide>(graph_.actors[t].times.recurring.size());
  const auto shown = [](Wide x) {
    return x > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(x);
  };
  if (events > kMostEvents)
    too_large(fmt::format("{} firings must be told apart, at most {} can be", shown(events),
                          kMostEvents));
  if (size_of(false) > kMostArcs)
    too_large(fmt::format("{} firings wait for each other in {} ways, at most {} can be held",
                          shown(events), shown(size_of(false)), kMostArcs));
}

void KPeriodic::add(std::size_t from, std::size_t to, std::int64_t delay, Wide tokens, Made made) {
  arcs_.push_back({from, to, delay, narrow(tokens)});
  made_.push_back(made);
}

void KPeriodic::own_order(std::size_t actor) {
  if (!starts_in_order_[actor]) return;
  const std::size_t first = first_[actor];
  const std::size_t events =
      static_cast<std::size_t>(k_[actor]) * graph_.actors[actor].times.recurring.size();
  for (std::size_t j = 0; j < events; ++j) {
    const bool last = j + 1 == events;
    add(first + j, first + (last ? 0 : j + 1),
        serial_[actor] ? time(graph_.actors[actor].times, j) : 0, last ? scale_ / blocks(actor) : 0,
        {kNoChannel, 0});
  }
}

// Firing m that takes waits for firing n that puts: with I(n) tokens put up to and with n, and N(m)
// needed by m and taken before it, I(n - 1) + tokens < N(m), and m takes some of n's tokens. Within
// blocks of K cycles that is asked for all blocks at once: n and m stand for firings whose blocks
// differ by all multiples `lead` of a common divisor, of which the largest says most.
void KPeriodic::channel(std::size_t c) {
  const Channel& channel = graph_.channels[c];
  if (is_serial(channel)) return;
  const std::size_t from = channel.from, to = channel.to;
  const Side put = side(channel.put, {}, from), taken = side(channel.taken, channel.needed, to);
  const Phases& times = channel.times.recurring.empty() ? graph_.actors[from].times : channel.times;
  Wide tokens = channel.tokens;
  for (const std::int64_t rate : channel.put.once) tokens += rate;
  for (const std::int64_t rate : channel.taken.once) tokens -= rate;
  const Wide step = std::gcd(put.per_block, taken.per_block);
  const Wide iteration = Wide{put.per_block} * blocks(from);
  const bool puts_in_order = starts_in_order_[from], takes_in_order = starts_in_order_[to];
  const auto wait = [&](std::size_t j, std::size_t i) {
    const Wide before = Wide{put.after[j]} - put.amount[j] + tokens;
    const Wide most = taken.needed[i] - before - 1;
    const Wide lead = floor_to(most, step);
    // A token of n is taken by m, or, where n ends before all that follow, the last one needed.
    if (puts_in_order ? lead < taken.needed[i] - (before + put.amount[j])
                      : lead <= taken.after[i] - taken.amount[i] - (before + put.amount[j]))
      return;
    // Firing m - 1 waits for n as well, and m for it.
    const Wide previous =
        i > 0 ? Wide{taken.needed[i - 1]} : Wide{taken.needed.back()} - taken.per_block;
    if (takes_in_order && lead < previous - before) return;
    add(first_[from] + j, first_[to] + i, time(times, j),
        -(lead / step) * (scale_ / (iteration / step)), {c, narrow(most - lead + 1)});
  };
  const std::size_t puts = put.after.size(), takes = taken.after.size();
  const Wide turns = put.per_block / step;
  for (std::size_t i = 0; i < takes; ++i) {
    if (taken.needed[i] == taken.after[i] - taken.amount[i]) continue;  // none
    if (!puts_in_order || turns >= static_cast<Wide>(puts)) {
      for (std::size_t j = 0; j < puts; ++j)
        if (put.amount[j] > 0) wait(j, i);
      continue;
    }
    std::size_t previous = puts;
    for (Wide turn = 0; turn < turns; ++turn) {
      // The last token needed, counted within a block: from 1 to its size.
      Wide wanted = (taken.needed[i] - tokens - turn * step) % put.per_block;
      if (wanted <= 0) wanted += put.per_block;
      const std::size_t j = static_cast<std::size_t>(
          std::lower_bound(put.after.begin(), put.after.end(), static_cast<std::int64_t>(wanted)) -
          put.after.begin());
      if (j == previous) continue;
      previous = j;
      wait(j, i);
    }
  }
}

void KPeriodic::build(const GoOn& go_on) {
  choose_size();
  arcs_.clear();
  made_.clear();
  owner_.clear();
  for (const std::size_t t : part_.actors) {
    first_[t] = owner_.size();
    owner_.insert(owner_.end(),
                  static_cast<std::size_t>(k_[t]) * graph_.actors[t].times.recurring.size(), t);
  }
  scale_ = parts();
  if (scale_ == 0) too_large("the firings of its actors have too few common factors");
  for (const std::size_t t : part_.actors) own_order(t);
  for (const std::size_t c : part_.channels) {
    if (!go_on()) throw Stopped{};
    channel(c);
  }
}

// Whether K grows: it is large enough along a loop when the loop is one of whole iterations of its
// actors alone.
bool KPeriodic::grow(const Cycle& cycle) {
  std::int64_t common = 0;
  for (const std::size_t a : cycle.arcs)
    common = std::gcd(common, repetitions_[owner_[arcs_[a].from]]);
  bool grown = false;
  for (const std::size_t a : cycle.arcs) {
    const std::size_t t = owner_[arcs_[a].from];
    const std::int64_t wanted = std::lcm(k_[t], repetitions_[t] / common);
    grown |= wanted != k_[t];
    k_[t] = wanted;
  }
  return grown;
}

Pace KPeriodic::pace_of(const Cycle& cycle) const {
  Pace pace;
  for (const std::size_t a : cycle.arcs) {
    pace.actors.push_back(owner_[arcs_[a].from]);
    pace.channels.push_back(made_[a].channel);
    pace.slack.push_back(made_[a].slack);
  }
  if (cycle.ratio.den == 0) {
    pace.kind = Pace::Kind::kDeadlocked;
    return pace;
  }
  pace.kind = Pace::Kind::kPeriodic;
  const std::int64_t common = std::gcd(scale_, cycle.ratio.den);
  const Wide num = Wide{cycle.ratio.num} * (scale_ / common);
  if (num > INT64_MAX) too_large("the period leaves 63 bits");
  pace.period = make_ratio(static_cast<std::int64_t>(num),
                           static_cast<std::int64_t>(cycle.ratio.den / common));
  return pace;
}

Pace KPeriodic::run(const GoOn& go_on) {
  for (;;) {
    build(go_on);
    std::optional<Cycle> cycle;
    try {
      cycle = slowest_cycle(owner_.size(), arcs_, go_on);
    } catch (const Error&) {  // parts of an iteration need larger numbers than whole ones
      if (!unfold()) throw;
      continue;
    }
    if (!cycle) return {};
    const Pace pace = pace_of(*cycle);
    if (!grow(*cycle)) return pace;
  }
}

}  // namespace lpn::pi

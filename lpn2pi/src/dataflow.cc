#include "lpn/pi/dataflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "k_periodic.h"
#include "lpn/base/error.h"
#include "lpn/base/wide.h"
#include "lpn/graph/components.h"

namespace lpn::pi {

namespace {

bool moves_tokens(const Channel& channel) {
  return std::any_of(channel.put.recurring.begin(), channel.put.recurring.end(),
                     [](std::int64_t rate) { return rate > 0; });
}

std::vector<Part> strong_parts(const Dataflow& graph) {
  std::vector<std::vector<std::uint32_t>> next(graph.actors.size());
  for (const Channel& channel : graph.channels)
    if (moves_tokens(channel)) next[channel.from].push_back(static_cast<std::uint32_t>(channel.to));
  const std::vector<std::vector<std::uint32_t>> components = strong_components(next);
  std::vector<Part> parts(components.size());
  std::vector<std::size_t> of(graph.actors.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].actors.assign(components[p].begin(), components[p].end());
    for (const std::size_t t : parts[p].actors) of[t] = p;
  }
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    const Channel& channel = graph.channels[c];
    if (moves_tokens(channel) && of[channel.from] == of[channel.to])
      parts[of[channel.from]].channels.push_back(c);
  }
  return parts;
}

// The phases that come once, fired as tokens allow and no time counted: what they wait for may
// include whole iterations of others, or themselves.
class Beginning {
 public:
  explicit Beginning(const Dataflow& graph) : graph_(graph), into_(graph.actors.size()) {
    for (std::size_t c = 0; c < graph.channels.size(); ++c) {
      into_[graph.channels[c].to].push_back(c);
      there_.push_back(graph.channels[c].tokens);
    }
    out_.resize(graph.actors.size());
    for (std::size_t c = 0; c < graph.channels.size(); ++c)
      out_[graph.channels[c].from].push_back(c);
    fired_.assign(graph.actors.size(), 0);
  }

  // Nothing if all of them come to pass; else the loop of actors that wait for each other.
  Pace run() {
    for (std::size_t t = 0; t < graph_.actors.size(); ++t) {
      const std::size_t once = graph_.actors[t].times.once.size();
      while (fired_[t] < once) {
        Pace loop;
        if (!bring(t, loop)) return loop;
      }
    }
    return {};
  }

 private:
  static std::int64_t rate(const Phases& rates, std::size_t firing) {
    if (firing < rates.once.size()) return rates.once[firing];
    return rates.recurring[(firing - rates.once.size()) % rates.recurring.size()];
  }

  // One more firing of `root`, and before it what it needs.
  bool bring(std::size_t root, Pace& loop) {
    std::vector<std::size_t> path{root};
    std::vector<char> on_path(graph_.actors.size());
    std::vector<std::size_t> through(graph_.actors.size(), kNoChannel);
    on_path[root] = 1;
    while (!path.empty()) {
      const std::size_t t = path.back();
      std::size_t lacking = kNoChannel;
      for (const std::size_t c : into_[t])
        if (there_[c] < rate(graph_.channels[c].taken, fired_[t])) lacking = c;
      if (lacking == kNoChannel) {
        fire(t);
        on_path[t] = 0;
        path.pop_back();
        continue;
      }
      const std::size_t from = graph_.channels[lacking].from;
      through[t] = lacking;
      if (on_path[from]) {
        loop.kind = Pace::Kind::kDeadlocked;
        const auto begin = std::find(path.begin(), path.end(), from);
        for (auto at = path.end(); at != begin;) {
          const std::size_t waits = *--at;
          loop.actors.push_back(graph_.channels[through[waits]].from);
          loop.channels.push_back(through[waits]);
          loop.slack.push_back(1);
        }
        std::reverse(loop.actors.begin(), loop.actors.end());
        std::reverse(loop.channels.begin(), loop.channels.end());
        return false;
      }
      on_path[from] = 1;
      path.push_back(from);
    }
    return true;
  }

  void fire(std::size_t t) {
    if (++count_ > kMostFirings) {
      throw Error("E-dataflow",
                  fmt::format("the phases that come once need more than {} firings before they are "
                              "over, of '{}' among others",
                              kMostFirings, graph_.actors[t].name));
    }
    for (const std::size_t c : into_[t]) there_[c] -= rate(graph_.channels[c].taken, fired_[t]);
    for (const std::size_t c : out_[t]) {
      if (__builtin_add_overflow(there_[c], rate(graph_.channels[c].put, fired_[t]), &there_[c]))
        throw Error("E-dataflow", fmt::format("the tokens of channel '{}' leave 64 bits",
                                              graph_.channels[c].name));
    }
    ++fired_[t];
  }

  static constexpr std::int64_t kMostFirings = 20'000'000;
  const Dataflow& graph_;
  std::vector<std::vector<std::size_t>> into_, out_;
  std::vector<std::int64_t> there_;
  std::vector<std::size_t> fired_;
  std::int64_t count_ = 0;
};

}  // namespace

Pace pace(const Dataflow& graph, const GoOn& go_on) {
  const std::vector<std::int64_t> all = repetitions(graph);
  Pace slowest = Beginning(graph).run();
  if (slowest.kind == Pace::Kind::kDeadlocked) return slowest;
  for (const Part& part : strong_parts(graph)) {
    if (part.channels.empty()) continue;
    std::vector<std::int64_t> own = all;
    std::int64_t common = 0;
    bool idle = false;
    for (const std::size_t t : part.actors) {
      common = std::gcd(common, all[t]);
      for (const std::int64_t time : graph.actors[t].times.recurring) idle |= time == 0;
    }
    for (const std::size_t t : part.actors) own[t] = all[t] / common;
    // A loop that takes no time looks as if it had not to wait for its tokens.
    if (idle) {
      Pace found = KPeriodic(graph, part, own, true).run(go_on);
      if (found.kind == Pace::Kind::kDeadlocked) return found;
    }
    Pace found = KPeriodic(graph, part, own, false).run(go_on);
    if (found.kind == Pace::Kind::kDeadlocked) return found;
    if (found.kind == Pace::Kind::kUnbounded) continue;
    const Wide num = Wide{found.period.num} * common;
    if (num > INT64_MAX)
      throw Error("E-dataflow", "the graph is too large for an exact period: it leaves 63 bits");
    found.period = make_ratio(static_cast<std::int64_t>(num), found.period.den);
    if (slowest.kind == Pace::Kind::kUnbounded || slowest.period < found.period)
      slowest = std::move(found);
  }
  return slowest;
}

}  // namespace lpn::pi

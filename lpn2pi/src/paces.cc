#include "lpn/pi/paces.h"

#include <algorithm>
#include <numeric>

#include "beginning.h"
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

class Parts {
 public:
  Parts(const Dataflow& graph, const GoOn& go_on) : graph_(graph), go_on_(go_on) {}

  Paces run() {
    paces_.repetitions = repetitions(graph_);
    paces_.paced_by.assign(graph_.actors.size(), kNoCycle);
    std::vector<std::size_t> waits = begin(graph_, paces_.loops);
    std::vector<std::vector<std::size_t>> out(graph_.actors.size());
    for (const Channel& channel : graph_.channels) out[channel.from].push_back(channel.to);
    const std::vector<Part> parts = strong_parts(graph_);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {  // those first that lead on
      std::size_t slowest = kNoCycle;
      bool stuck = false;
      for (const std::size_t t : part->actors) {
        slowest = slower(slower(slowest, waits[t]), paces_.paced_by[t]);
        stuck |= waits[t] != kNoCycle;
      }
      if (!stuck && !part->channels.empty()) slowest = slower(slowest, loop_of(*part));
      for (const std::size_t t : part->actors) {
        paces_.paced_by[t] = slowest;
        for (const std::size_t to : out[t])
          paces_.paced_by[to] = slower(paces_.paced_by[to], slowest);
      }
    }
    return std::move(paces_);
  }

 private:
  std::size_t slower(std::size_t a, std::size_t b) const {
    if (a == kNoCycle || b == kNoCycle) return a == kNoCycle ? b : a;
    const Pace &x = paces_.loops[a], &y = paces_.loops[b];
    if (x.kind != y.kind) return x.kind == Pace::Kind::kDeadlocked ? a : b;
    return x.kind == Pace::Kind::kPeriodic && x.period < y.period ? b : a;
  }

  // The loop of a part, new in `paces_`; none where no loop takes time.
  std::size_t loop_of(const Part& part) {
    std::vector<std::int64_t> own = paces_.repetitions;
    std::int64_t common = 0;
    bool idle = false;
    const auto look_at = [&](const Phases& times) {
      for (const std::int64_t time : times.recurring) idle |= time == 0;
    };
    for (const std::size_t t : part.actors) {
      common = std::gcd(common, own[t]);
      look_at(graph_.actors[t].times);
    }
    for (const std::size_t c : part.channels) look_at(graph_.channels[c].times);
    for (const std::size_t t : part.actors) own[t] /= common;
    // A loop that takes no time looks as if it had not to wait for its tokens.
    if (idle) {
      Pace found = KPeriodic(graph_, part, own, true).run(go_on_);
      if (found.kind == Pace::Kind::kDeadlocked) return keep(std::move(found));
    }
    Pace found = KPeriodic(graph_, part, own, false).run(go_on_);
    if (found.kind == Pace::Kind::kUnbounded) return kNoCycle;
    if (found.kind == Pace::Kind::kPeriodic) {
      const Wide num = Wide{found.period.num} * common;
      if (num > INT64_MAX) throw Error("E-dataflow", "the period of an iteration leaves 63 bits");
      found.period = make_ratio(static_cast<std::int64_t>(num), found.period.den);
    }
    return keep(std::move(found));
  }

  std::size_t keep(Pace found) {
    paces_.loops.push_back(std::move(found));
    return paces_.loops.size() - 1;
  }

  const Dataflow& graph_;
  const GoOn& go_on_;
  Paces paces_;
};

}  // namespace

Paces paces(const Dataflow& graph, const GoOn& go_on) { return Parts(graph, go_on).run(); }

Pace pace(const Dataflow& graph, const GoOn& go_on) {
  Paces all = paces(graph, go_on);
  Pace* slowest = nullptr;
  for (Pace& loop : all.loops) {
    if (loop.kind == Pace::Kind::kDeadlocked) return loop;
    if (slowest == nullptr || slowest->period < loop.period) slowest = &loop;
  }
  return slowest == nullptr ? Pace{} : *slowest;
}

}  // namespace lpn::pi

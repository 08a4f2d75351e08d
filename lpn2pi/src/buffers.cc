#include "lpn/pi/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <set>

#include "lpn/base/error.h"
#include "lpn/pi/paces.h"

namespace lpn::pi {

namespace {

bool is_bounded(const Channel& channel) { return channel.from != channel.to; }

// A channel alone, with its actors and what these say of themselves.
Dataflow alone(const Dataflow& graph, std::size_t c) {
  const std::size_t from = graph.channels[c].from, to = graph.channels[c].to;
  Dataflow pair;
  pair.actors = {graph.actors[from], graph.actors[to]};
  pair.channels = {graph.channels[c]};
  pair.channels[0].from = 0;
  pair.channels[0].to = 1;
  for (const Channel& other : graph.channels) {
    if (other.from != other.to || (other.from != from && other.from != to)) continue;
    pair.channels.push_back(other);
    pair.channels.back().from = pair.channels.back().to = other.from == from ? 0 : 1;
  }
  return pair;
}

// bounded() puts the channels back behind those of the graph, in their order.
std::vector<std::size_t> channels_back(const Dataflow& graph) {
  std::vector<std::size_t> of(graph.channels.size(), kNoChannel);
  for (std::size_t c = 0; c < graph.channels.size(); ++c)
    if (is_bounded(graph.channels[c])) of.push_back(c);
  return of;
}

class Search {
 public:
  Search(const Dataflow& graph, const std::function<bool(const BufferFront&)>& go_on)
      : graph_(graph),
        bounds_(channels_back(graph)),
        go_on_([this, &go_on] { return go_on(front_); }) {}

  BufferFront run() {
    try {
      front_.unbounded = pace(graph_, go_on_);
      if (front_.unbounded.kind != Pace::Kind::kDeadlocked) {
        put(least());
        while (!queue_.empty() && !try_next()) {
        }
      }
      front_.complete = true;
    } catch (const Stopped&) {
    }
    return front_;
  }

 private:
  struct Trial {
    std::int64_t total = 0;
    std::vector<std::int64_t> capacities;
    bool operator<(const Trial& other) const {  // the least is on top of a queue
      return total != other.total ? other.total < total : other.capacities < capacities;
    }
  };

  // Whether the distribution of least total is as fast as the graph can be.
  bool try_next() {
    const Trial trial = queue_.top();
    queue_.pop();
    const Pace found = pace(bounded(graph_, trial.capacities), go_on_);
    ++front_.tried;
    const bool fires = found.kind != Pace::Kind::kDeadlocked;
    std::vector<BufferFront::Point>& points = front_.points;
    if (fires && (points.empty() || found.period < points.back().period)) {
      if (!points.empty() && points.back().total == trial.total) points.pop_back();
      points.push_back({found.period, trial.total, trial.capacities});
    }
    if (fires && found.period == front_.unbounded.period) return true;
    grow(trial, found);
    return false;
  }

  // The least with which each channel lets its own two actors fire.
  std::vector<std::int64_t> least() const {
    std::vector<std::int64_t> capacities;
    for (std::size_t c = 0; c < graph_.channels.size(); ++c) {
      if (!is_bounded(graph_.channels[c])) {
        capacities.push_back(-1);
        continue;
      }
      const Dataflow pair = alone(graph_, c);
      std::vector<std::int64_t> own(pair.channels.size(), -1);
      own[0] = pair.channels[0].tokens;
      const std::size_t back = pair.channels.size();
      for (;;) {
        const Pace found = pace(bounded(pair, own), go_on_);
        if (found.kind != Pace::Kind::kDeadlocked) break;
        std::int64_t slack = 0;
        for (std::size_t k = 0; k < found.channels.size(); ++k)
          if (found.channels[k] == back && (slack == 0 || found.slack[k] < slack))
            slack = found.slack[k];
        if (slack == 0) break;  // it cannot help: others must bring tokens
        add(own[0], slack);
      }
      capacities.push_back(own[0]);
    }
    return capacities;
  }

  static void add(std::int64_t& to, std::int64_t more) {
    if (__builtin_add_overflow(to, more, &to))
      throw Error("E-dataflow", "the capacities of the channels add up to more than 63 bits");
  }

  void put(std::vector<std::int64_t> capacities) {
    std::int64_t total = 0;
    for (const std::int64_t capacity : capacities) add(total, std::max<std::int64_t>(capacity, 0));
    if (seen_.insert(capacities).second) queue_.push({total, std::move(capacities)});
  }

  void grow(const Trial& trial, const Pace& found) {
    std::vector<std::int64_t> more(graph_.channels.size(), 0);
    for (std::size_t k = 0; k < found.channels.size(); ++k) {
      if (found.channels[k] == kNoChannel || found.channels[k] < graph_.channels.size()) continue;
      std::int64_t& step = more[bounds_[found.channels[k]]];
      if (step == 0 || found.slack[k] < step) step = found.slack[k];
    }
    for (std::size_t c = 0; c < more.size(); ++c) {
      if (more[c] == 0) continue;
      std::vector<std::int64_t> capacities = trial.capacities;
      add(capacities[c], more[c]);
      put(std::move(capacities));
    }
  }

  const Dataflow& graph_;
  std::vector<std::size_t> bounds_;  // per channel of a bounded graph: the one it bounds
  const GoOn go_on_;
  std::priority_queue<Trial> queue_;
  std::set<std::vector<std::int64_t>> seen_;
  BufferFront front_;
};

}  // namespace

Dataflow bounded(const Dataflow& graph, const std::vector<std::int64_t>& capacities) {
  LPN_ASSERT(capacities.size() == graph.channels.size());
  Dataflow result = graph;
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    const Channel& channel = graph.channels[c];
    if (!is_bounded(channel)) continue;
    if (capacities[c] < channel.tokens) {
      throw Error(
          "E-dataflow",
          fmt::format("channel '{}' holds {} tokens at the start, more than its capacity {}",
                      channel.name, channel.tokens, capacities[c]));
    }
    result.channels.push_back({channel.name,
                               channel.to,
                               channel.from,
                               channel.taken,
                               channel.put,
                               capacities[c] - channel.tokens,
                               {},
                               {}});
  }
  return result;
}

BufferFront buffer_front(const Dataflow& graph,
                         const std::function<bool(const BufferFront&)>& go_on) {
  return Search(graph, go_on).run();
}

}  // namespace lpn::pi

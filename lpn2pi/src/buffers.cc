#include "lpn/pi/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

// What every distribution better than those tried has: at least so many tokens in one of these
// channels.
struct Need {
  std::size_t channel = 0;
  std::int64_t tokens = 0;
};
using Clause = std::vector<Need>;

// The least sum of capacities that fulfils clauses, by depth-first search under a bound that grows
// (IDA*): a clause that fails is fulfilled in each way in turn, later ways without the earlier.
class Cheapest {
 public:
  Cheapest(std::vector<std::int64_t> least, const GoOn& go_on)
      : least_(std::move(least)), most_(least_.size(), INT64_MAX), go_on_(go_on) {
    for (const std::int64_t capacity : least_) add(start_, std::max<std::int64_t>(capacity, 0));
    bound_ = start_;
  }

  static void add(std::int64_t& to, std::int64_t more) {
    if (__builtin_add_overflow(to, more, &to))
      throw Error("E-dataflow", "the capacities of the channels add up to more than 63 bits");
  }

  void require(Clause clause) {
    const auto follows = [&](const Clause& old) {
      return std::all_of(clause.begin(), clause.end(), [&](const Need& need) {
        return std::any_of(old.begin(), old.end(), [&](const Need& other) {
          return other.channel == need.channel && other.tokens <= need.tokens;
        });
      });
    };
    clauses_.erase(std::remove_if(clauses_.begin(), clauses_.end(), follows), clauses_.end());
    clauses_.push_back(std::move(clause));
  }

  // (total, capacities). REQUIRES that some capacities fulfil all clauses.
  std::pair<std::int64_t, std::vector<std::int64_t>> find() {
    for (;;) {
      chosen_ = least_;
      next_ = INT64_MAX;
      if (descend(start_)) return {bound_, chosen_};
      LPN_ASSERT(next_ > bound_ && next_ < INT64_MAX);
      bound_ = next_;
    }
  }

 private:
  // Tokens that a clause lacks at the least; INT64_MAX where no way is open.
  std::int64_t lack(const Clause& clause) const {
    std::int64_t least = INT64_MAX;
    for (const Need& need : clause) {
      if (need.tokens <= chosen_[need.channel]) return 0;
      if (need.tokens <= most_[need.channel])
        least = std::min(least, need.tokens - chosen_[need.channel]);
    }
    return least;
  }

  bool descend(std::int64_t total) {
    if (++steps_ % 1024 == 0 && !go_on_()) throw Stopped{};
    // Clauses that share no channel each cost their own.
    std::vector<char> used(chosen_.size());
    const Clause* worst = nullptr;
    std::int64_t expected = total, greatest = 0;
    for (const Clause& clause : clauses_) {
      const std::int64_t tokens = lack(clause);
      if (tokens == 0) continue;
      if (tokens == INT64_MAX) return false;
      if (tokens > greatest) {
        greatest = tokens;
        worst = &clause;
      }
      if (std::any_of(clause.begin(), clause.end(),
                      [&](const Need& need) { return used[need.channel] != 0; }))
        continue;
      for (const Need& need : clause) used[need.channel] = 1;
      add(expected, tokens);
    }
    if (expected > bound_) {
      next_ = std::min(next_, expected);
      return false;
    }
    if (worst == nullptr) return true;
    Clause ways = *worst;
    std::sort(ways.begin(), ways.end(), [&](const Need& a, const Need& b) {
      return a.tokens - chosen_[a.channel] < b.tokens - chosen_[b.channel];
    });
    const std::vector<std::int64_t> most = most_;
    bool found = false;
    for (const Need& way : ways) {
      if (way.tokens > most_[way.channel]) continue;
      const std::int64_t before = chosen_[way.channel];
      std::int64_t with = total;
      add(with, way.tokens - before);
      chosen_[way.channel] = way.tokens;
      found = descend(with);
      if (found) break;
      chosen_[way.channel] = before;
      most_[way.channel] = way.tokens - 1;
    }
    most_ = most;
    return found;
  }

  const std::vector<std::int64_t> least_;
  std::vector<std::int64_t> chosen_, most_;  // most_: where a way was tried before
  std::vector<Clause> clauses_;
  std::int64_t start_ = 0, bound_ = 0, next_ = 0, steps_ = 0;
  const GoOn& go_on_;
};

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
        Cheapest cheapest(least(), go_on_);
        while (!try_next(cheapest)) {
        }
      }
      front_.complete = true;
    } catch (const Stopped&) {
    }
    return front_;
  }

 private:
  // Whether the cheapest distribution that may be better is as fast as the graph can be.
  bool try_next(Cheapest& cheapest) {
    const auto [total, capacities] = cheapest.find();
    const Pace found = pace(bounded(graph_, capacities), go_on_);
    ++front_.tried;
    const bool fires = found.kind != Pace::Kind::kDeadlocked;
    std::vector<BufferFront::Point>& points = front_.points;
    if (fires && (points.empty() || found.period < points.back().period)) {
      if (!points.empty() && points.back().total == total) points.pop_back();
      points.push_back({found.period, total, capacities});
    }
    if (fires && found.period == front_.unbounded.period) return true;
    cheapest.require(way_out(found, capacities));
    return false;
  }

  // The loop stays as slow until one of its channels grows, whatever the others are.
  Clause way_out(const Pace& found, const std::vector<std::int64_t>& capacities) const {
    std::vector<std::int64_t> more(graph_.channels.size(), 0);
    for (std::size_t k = 0; k < found.channels.size(); ++k) {
      if (found.channels[k] == kNoChannel || found.channels[k] < graph_.channels.size()) continue;
      std::int64_t& step = more[bounds_[found.channels[k]]];
      if (step == 0 || found.slack[k] < step) step = found.slack[k];
    }
    Clause clause;
    for (std::size_t c = 0; c < more.size(); ++c) {
      if (more[c] == 0) continue;
      Need need{c, capacities[c]};
      Cheapest::add(need.tokens, more[c]);
      clause.push_back(need);
    }
    LPN_ASSERT(!clause.empty());
    return clause;
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
        Cheapest::add(own[0], slack);
      }
      capacities.push_back(own[0]);
    }
    return capacities;
  }

  const Dataflow& graph_;
  std::vector<std::size_t> bounds_;  // per channel of a bounded graph: the one it bounds
  const GoOn go_on_;
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

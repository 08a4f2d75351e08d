#include "beginning.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/base/error.h"

namespace lpn::pi {

namespace {

constexpr std::int64_t kMostFirings = 20'000'000;

class Beginning {
 public:
  Beginning(const Dataflow& graph, std::vector<Pace>& loops)
      : graph_(graph),
        loops_(loops),
        into_(graph.actors.size()),
        out_(graph.actors.size()),
        fired_(graph.actors.size(), 0),
        waits_(graph.actors.size(), kNoCycle) {
    for (std::size_t c = 0; c < graph.channels.size(); ++c) {
      into_[graph.channels[c].to].push_back(c);
      out_[graph.channels[c].from].push_back(c);
      there_.push_back(graph.channels[c].tokens);
    }
  }

  std::vector<std::size_t> run() {
    for (std::size_t t = 0; t < graph_.actors.size(); ++t) {
      while (fired_[t] < graph_.actors[t].times.once.size() && waits_[t] == kNoCycle) bring(t);
    }
    return waits_;
  }

 private:
  static std::int64_t rate(const Phases& rates, std::size_t firing) {
    if (firing < rates.once.size()) return rates.once[firing];
    return rates.recurring[(firing - rates.once.size()) % rates.recurring.size()];
  }

  std::int64_t needed(std::size_t c) const {
    const Channel& channel = graph_.channels[c];
    return rate(channel.needed.recurring.empty() ? channel.taken : channel.needed,
                fired_[channel.to]);
  }

  // One more firing of `root`, and before it what it needs; or all on the way there wait for ever.
  void bring(std::size_t root) {
    std::vector<std::size_t> path{root}, through;  // the channel that each but the last lacks
    std::vector<char> on_path(graph_.actors.size());
    on_path[root] = 1;
    while (!path.empty()) {
      const std::size_t t = path.back();
      const auto lacking = std::find_if(into_[t].begin(), into_[t].end(),
                                        [&](std::size_t c) { return there_[c] < needed(c); });
      if (lacking == into_[t].end()) {
        fire(t);
        on_path[t] = 0;
        path.pop_back();
        if (!through.empty()) through.pop_back();
        continue;
      }
      through.push_back(*lacking);
      const std::size_t from = graph_.channels[*lacking].from;
      if (on_path[from] || waits_[from] != kNoCycle) {
        const std::size_t loop = on_path[from] ? close(path, through, from) : waits_[from];
        for (const std::size_t waiting : path) waits_[waiting] = loop;
        return;
      }
      on_path[from] = 1;
      path.push_back(from);
    }
  }

  // Each on the path waits for the next, and the last for `from` among them.
  std::size_t close(const std::vector<std::size_t>& path, const std::vector<std::size_t>& through,
                    std::size_t from) {
    Pace loop;
    loop.kind = Pace::Kind::kDeadlocked;
    for (std::size_t k = path.size(); k-- > 0;) {
      loop.actors.push_back(graph_.channels[through[k]].from);
      loop.channels.push_back(through[k]);
      loop.slack.push_back(1);
      if (path[k] == from) break;
    }
    loops_.push_back(std::move(loop));
    return loops_.size() - 1;
  }

  void fire(std::size_t t) {
    if (++count_ > kMostFirings) {
      throw Error("E-dataflow", fmt::format("more than {} firings come before the phases that "
                                            "come once are over, of '{}' among others",
                                            kMostFirings, graph_.actors[t].name));
    }
    for (const std::size_t c : into_[t]) there_[c] -= rate(graph_.channels[c].taken, fired_[t]);
    for (const std::size_t c : out_[t]) {
      if (__builtin_add_overflow(there_[c], rate(graph_.channels[c].put, fired_[t]), &there_[c]))
        throw Error("E-dataflow", fmt::format("the tokens of {} '{}' leave 64 bits",
                                              graph_.channels_are, graph_.channels[c].name));
    }
    ++fired_[t];
  }

  const Dataflow& graph_;
  std::vector<Pace>& loops_;
  std::vector<std::vector<std::size_t>> into_, out_;
  std::vector<std::int64_t> there_;
  std::vector<std::size_t> fired_, waits_;
  std::int64_t count_ = 0;
};

}  // namespace

std::vector<std::size_t> begin(const Dataflow& graph, std::vector<Pace>& loops) {
  return Beginning(graph, loops).run();
}

}  // namespace lpn::pi

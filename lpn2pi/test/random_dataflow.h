// Random dataflow graphs, and graphs as nets: an actor with several phases has a counter.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "lpn/pi/dataflow.h"

namespace lpn::pi {

class Dice {
 public:
  explicit Dice(int seed) : random_(static_cast<std::uint64_t>(seed)) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 random_;
};

struct Made {
  int actors = 4;
  int phases = 3;       // at most
  bool back = true;     // every channel has one back, with tokens
  bool idle = false;    // phases may take no time
  bool begins = false;  // some phases come once
};

// Consistent: an actor puts and takes in proportion to what it does per iteration. One firing at a
// time of actors with several phases.
inline Dataflow random_dataflow(Dice& dice, const Made& made) {
  Dataflow graph;
  const auto n = static_cast<std::size_t>(2 + dice.below(made.actors - 1));
  std::vector<std::int64_t> often;
  std::vector<std::size_t> once, phases;
  for (std::size_t t = 0; t < n; ++t) {
    often.push_back(1 + dice.below(4));
    phases.push_back(static_cast<std::size_t>(1 + dice.below(made.phases)));
    once.push_back(made.begins && dice.one_in(2) ? static_cast<std::size_t>(1 + dice.below(2)) : 0);
    const auto time = [&] { return made.idle ? dice.below(4) : 1 + dice.below(12); };
    Actor actor{fmt::format("a{}", t), {}};
    for (std::size_t k = 0; k < once[t]; ++k) actor.times.once.push_back(time());
    for (std::size_t k = 0; k < phases[t]; ++k) actor.times.recurring.push_back(time());
    graph.actors.push_back(actor);
    const Phases one{std::vector<std::int64_t>(once[t], 1),
                     std::vector<std::int64_t>(phases[t], 1)};
    if (phases[t] + once[t] > 1 || dice.one_in(2))
      graph.channels.push_back({fmt::format("s{}", t),
                                t,
                                t,
                                one,
                                one,
                                phases[t] + once[t] > 1 ? 1 : 1 + dice.below(2),
                                {},
                                {}});
  }
  const auto split = [&](std::size_t t, std::int64_t sum) {
    Phases rates{{}, std::vector<std::int64_t>(phases[t], 0)};
    for (std::size_t k = 0; k < once[t]; ++k) rates.once.push_back(dice.below(3));
    for (; sum > 0; --sum)
      ++rates.recurring[static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(phases[t])))];
    return rates;
  };
  const auto connect = [&](std::size_t a, std::size_t b, bool back) {
    const std::int64_t unit = 1 + dice.below(2);
    const Phases put = split(a, unit * often[b]), taken = split(b, unit * often[a]);
    const std::string name = fmt::format("c{}", graph.channels.size());
    const std::int64_t tokens = dice.below(4);
    graph.channels.push_back({name, a, b, put, taken, tokens, {}, {}});
    if (back)
      graph.channels.push_back(
          {name + "_back", b, a, taken, put, unit * (often[a] + often[b]) + dice.below(8), {}, {}});
  };
  for (std::size_t t = 0; t + 1 < n; ++t) connect(t, t + 1, made.back);
  if (n > 2 && dice.one_in(2)) connect(0, n - 1, made.back);
  return graph;
}

// `capacities` as of buffers.h, or none.
inline std::string text_of(const Dataflow& graph,
                           const std::vector<std::int64_t>& capacities = {}) {
  std::string text = "lpn 1\nnet random\ntype Token ()\ntype Phase (n: 0..1000)\n";
  const auto total = [](const Phases& p) { return p.once.size() + p.recurring.size(); };
  const auto list = [&](const Phases& p) {
    if (total(p) == 1) return fmt::format("{}", p.recurring[0]);
    std::vector<std::int64_t> all = p.once;
    all.insert(all.end(), p.recurring.begin(), p.recurring.end());
    return fmt::format("lookup([{}], phase.n)", fmt::join(all, ", "));
  };
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    const Channel& channel = graph.channels[c];
    text += fmt::format("place {} : Token", channel.name);
    if (!capacities.empty() && capacities[c] >= 0)
      text += fmt::format(" capacity {}", capacities[c]);
    if (channel.tokens > 0) text += fmt::format(" initial {}", channel.tokens);
    text += "\n";
  }
  for (const Actor& actor : graph.actors)
    if (total(actor.times) > 1)
      text += fmt::format("place of_{} : Phase initial (0) times 1\n", actor.name);
  for (std::size_t t = 0; t < graph.actors.size(); ++t) {
    const Actor& actor = graph.actors[t];
    const std::size_t count = total(actor.times);
    text += fmt::format("transition {} {{\n", actor.name);
    if (count > 1) text += fmt::format("  take phase from of_{}\n", actor.name);
    for (const Channel& channel : graph.channels)
      if (channel.to == t)
        text += fmt::format("  take {} from {} weight {}\n", channel.name, channel.name,
                            list(channel.taken));
    text += fmt::format("  delay {}\n", list(actor.times));
    for (const Channel& channel : graph.channels)
      if (channel.from == t) text += fmt::format("  put {} {}\n", channel.name, list(channel.put));
    if (count > 1)
      text += fmt::format("  put of_{} (select(phase.n == {}, {}, phase.n + 1))\n", actor.name,
                          count - 1, actor.times.once.size());
    text += "}\n";
  }
  return text + "end\n";
}

}  // namespace lpn::pi

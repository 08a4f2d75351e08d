#include "lpn/pi/dataflow.h"

#include <fmt/format.h>

#include <numeric>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"

namespace lpn::pi {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;

std::int64_t narrow(Wide x, const Dataflow& graph, const Channel& channel) {
  if (x > kMost) {
    throw Error("E-dataflow",
                fmt::format("{} '{}' from '{}' to '{}': an iteration has more firings or tokens "
                            "than 62 bits count; rates must have larger common factors",
                            graph.channels_are, channel.name, graph.actors[channel.from].name,
                            graph.actors[channel.to].name));
  }
  return static_cast<std::int64_t>(x);
}

std::int64_t per_cycle(const Phases& rates, const Dataflow& graph, const Channel& channel) {
  Wide sum = 0;
  for (const std::int64_t rate : rates.recurring) sum += rate;
  return narrow(sum, graph, channel);
}

Wide gcd(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace

std::vector<std::int64_t> repetitions(const Dataflow& graph) {
  const std::size_t n = graph.actors.size();
  std::vector<std::vector<std::size_t>> near(n);
  std::vector<std::int64_t> put(graph.channels.size()), taken(graph.channels.size());
  for (std::size_t c = 0; c < graph.channels.size(); ++c) {
    const Channel& channel = graph.channels[c];
    put[c] = per_cycle(channel.put, graph, channel);
    taken[c] = per_cycle(channel.taken, graph, channel);
    if ((put[c] == 0) != (taken[c] == 0) || (channel.from == channel.to && put[c] != taken[c])) {
      throw Error("E-dataflow",
                  fmt::format("{} '{}' has inconsistent rates: per cycle of its phases '{}' puts "
                              "{} and '{}' takes {}, so that tokens pile up or run out",
                              graph.channels_are, channel.name, graph.actors[channel.from].name,
                              put[c], graph.actors[channel.to].name, taken[c]));
    }
    if (put[c] == 0) continue;
    near[channel.from].push_back(c);
    near[channel.to].push_back(c);
  }
  std::vector<Ratio> rate(n, Ratio{0, 1});
  std::vector<std::int64_t> result(n, 1);
  for (std::size_t root = 0; root < n; ++root) {
    if (rate[root].num != 0) continue;
    rate[root] = {1, 1};
    std::vector<std::size_t> part{root};
    Wide common = 1;
    for (std::size_t k = 0; k < part.size(); ++k) {
      const std::size_t t = part[k];
      for (const std::size_t c : near[t]) {
        const Channel& channel = graph.channels[c];
        const bool forward = channel.from == t;
        const std::size_t other = forward ? channel.to : channel.from;
        const Wide num = Wide{rate[t].num} * (forward ? put : taken)[c];
        const Wide den = Wide{rate[t].den} * (forward ? taken : put)[c];
        const Wide divisor = gcd(num, den);
        const Ratio wanted{narrow(num / divisor, graph, channel),
                           narrow(den / divisor, graph, channel)};
        if (rate[other].num == 0) {
          rate[other] = wanted;
          part.push_back(other);
          common = common / gcd(common, wanted.den) * wanted.den;
          narrow(common, graph, channel);
        } else if (!(rate[other] == wanted)) {
          throw Error(
              "E-dataflow",
              fmt::format("{} '{}' has inconsistent rates: per cycle of their phases '{}' puts {} "
                          "and '{}' takes {}, which the rates of the other ones contradict, so "
                          "that tokens pile up or run out",
                          graph.channels_are, channel.name, graph.actors[channel.from].name, put[c],
                          graph.actors[channel.to].name, taken[c]));
        }
      }
    }
    Wide divisor = 0;
    for (const std::size_t t : part) divisor = gcd(divisor, rate[t].num * (common / rate[t].den));
    for (const std::size_t t : part) {
      const Wide count = rate[t].num * (common / rate[t].den) / divisor;
      if (near[t].empty()) continue;
      result[t] = narrow(count, graph, graph.channels[near[t].front()]);
    }
  }
  return result;
}

}  // namespace lpn::pi

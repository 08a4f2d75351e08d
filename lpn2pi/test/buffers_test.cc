#include "lpn/pi/buffers.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "lpn/pi/paces.h"
#include "lpn/pi/steady.h"
#include "lpn/text/text.h"
#include "random_dataflow.h"

using namespace lpn;
using namespace lpn::pi;

namespace {

bool forever() { return true; }
bool keep_on(const BufferFront&) { return true; }

// The best period of each total, by trying all capacities up to `most` tokens together.
std::map<std::int64_t, Ratio> all_fronts(const Dataflow& graph, std::int64_t most) {
  std::map<std::int64_t, Ratio> best;
  std::vector<std::int64_t> capacities(graph.channels.size(), -1);
  const std::function<void(std::size_t, std::int64_t)> choose = [&](std::size_t c,
                                                                    std::int64_t total) {
    if (c == capacities.size()) {
      const Pace found = pace(bounded(graph, capacities), forever);
      if (found.kind != Pace::Kind::kPeriodic) return;
      const auto [known, is_new] = best.emplace(total, found.period);
      if (!is_new && found.period < known->second) known->second = found.period;
      return;
    }
    const Channel& channel = graph.channels[c];
    if (channel.from == channel.to) return choose(c + 1, total);
    for (std::int64_t size = channel.tokens; total + size <= most; ++size) {
      capacities[c] = size;
      choose(c + 1, total + size);
    }
  };
  choose(0, 0);
  return best;
}

}  // namespace

TEST_CASE("buffers: the front is that of all capacities") {
  int fronts = 0;
  for (int seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    Made made;
    made.actors = 3;
    made.back = false;
    Dataflow graph = random_dataflow(dice, made);
    for (std::size_t t = 0; t < graph.actors.size(); ++t) {  // so that some period is the last
      const Phases one{{}, std::vector<std::int64_t>(graph.actors[t].times.recurring.size(), 1)};
      graph.channels.push_back({fmt::format("one{}", t), t, t, one, one, 1, {}, {}});
    }
    const BufferFront front = buffer_front(graph, keep_on);
    REQUIRE(front.complete);
    REQUIRE(!front.points.empty());
    CHECK(front.points.back().period == front.unbounded.period);
    if (front.points.back().total > 24) continue;
    ++fronts;
    std::vector<std::pair<std::int64_t, Ratio>> expected, found;
    for (const auto& [total, period] : all_fronts(graph, front.points.back().total))
      if (expected.empty() || period < expected.back().second) expected.emplace_back(total, period);
    for (const auto& point : front.points) {
      found.emplace_back(point.total, point.period);
      CHECK(pace(bounded(graph, point.capacities), forever).period == point.period);
    }
    CHECK(found == expected);
  }
  CHECK(fronts > 60);
}

TEST_CASE("buffers: a capacity is that of a place") {
  for (int seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    Made made;
    made.back = false;
    const Dataflow graph = random_dataflow(dice, made);
    std::vector<std::int64_t> capacities;
    for (const Channel& channel : graph.channels)
      capacities.push_back(channel.from == channel.to ? -1 : channel.tokens + 2 + dice.below(9));
    const Net net = parse_net(text_of(graph, capacities));
    const SteadyState state = steady_state(net, {}, Marking(net), forever);
    const Pace found = pace(bounded(graph, capacities), forever);
    Ratio slowest{0, 1};
    for (const Loop& loop : state.loops)
      if (slowest.den != 0 && (loop.delay.den == 0 || slowest < loop.delay)) slowest = loop.delay;
    CHECK(slowest == (found.kind == Pace::Kind::kDeadlocked ? Ratio{1, 0} : found.period));
  }
}

TEST_CASE("buffers: no capacities help a deadlock; a search can be stopped") {
  Dataflow graph;
  const Phases one{{}, {1}};
  graph.actors = {{"a", {{}, {2}}}, {"b", {{}, {3}}}};
  graph.channels = {{"ab", 0, 1, one, one, 0, {}, {}}, {"ba", 1, 0, one, one, 0, {}, {}}};
  const BufferFront dead = buffer_front(graph, keep_on);
  CHECK(dead.unbounded.kind == Pace::Kind::kDeadlocked);
  CHECK(dead.complete);
  CHECK(dead.points.empty());
  graph.channels.pop_back();  // without end: the more tokens, the faster
  const BufferFront some =
      buffer_front(graph, [](const BufferFront& so_far) { return so_far.tried < 10; });
  CHECK(!some.complete);
  REQUIRE(some.points.size() == 10);
  CHECK(some.points[0].period == Ratio{5, 1});
  CHECK(some.points[9].period == Ratio{1, 2});
}

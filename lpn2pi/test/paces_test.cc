#include "lpn/pi/paces.h"

#include <doctest/doctest.h>

#include "lpn/base/error.h"
#include "lpn/pi/steady.h"
#include "lpn/text/text.h"
#include "random_dataflow.h"
#include "settled.h"

using namespace lpn;
using namespace lpn::pi;

namespace {

bool forever() { return true; }

Phases rates(std::vector<std::int64_t> recurring) { return {{}, std::move(recurring)}; }

Actor actor(const char* name, std::vector<std::int64_t> times) {
  return {name, rates(std::move(times))};
}

Channel channel(const char* name, std::size_t from, std::size_t to, std::vector<std::int64_t> put,
                std::vector<std::int64_t> taken, std::int64_t tokens = 0) {
  return {name, from, to, rates(std::move(put)), rates(std::move(taken)), tokens, {}, {}};
}

// What the analysis says of a net, and what the interpreter does: round for round.
void check_against_simulation(const Dataflow& graph, int seed) {
  CAPTURE(seed);
  const Net net = parse_net(text_of(graph));
  const Pace analysed = pace(graph, forever);
  const SteadyState state = steady_state(net, {}, Marking(net), forever);
  std::vector<std::int64_t> repetitions;
  for (const auto& of : state.paces) repetitions.push_back(of.repetitions);
  if (analysed.kind == Pace::Kind::kUnbounded) {  // for ever at one instant
    CHECK_THROWS_AS(simulated_round(net, repetitions), RunError);
    return;
  }
  const std::optional<Ratio> simulated = simulated_round(net, repetitions);
  CHECK((analysed.kind == Pace::Kind::kDeadlocked) == !simulated.has_value());
  bool stuck = false;
  for (const Loop& loop : state.loops) stuck |= loop.delay.den == 0;
  CHECK(stuck == !simulated.has_value());
  if (!simulated) return;
  CHECK(analysed.period == *simulated);
  for (std::size_t t = 0; t < repetitions.size(); ++t)
    CHECK(state.paces[t].gap == divided(*simulated, repetitions[t]));
}

}  // namespace

TEST_CASE("dataflow: an iteration is the fewest firings that return all channels") {
  Dataflow graph;
  graph.actors = {actor("a", {1}), actor("b", {1, 1}), actor("c", {1}), actor("alone", {1})};
  graph.channels = {channel("ab", 0, 1, {2}, {1, 2}), channel("bc", 1, 2, {1, 1}, {4})};
  CHECK(repetitions(graph) == std::vector<std::int64_t>{3, 2, 1, 1});
}

TEST_CASE("dataflow: inconsistent rates are refused with their channel") {
  Dataflow graph;
  graph.actors = {actor("a", {1}), actor("b", {1})};
  graph.channels = {channel("go", 0, 1, {2}, {1}), channel("back", 1, 0, {1}, {1}, 1)};
  CHECK_THROWS_WITH_AS(repetitions(graph),
                       "channel 'back' has inconsistent rates: per cycle of their phases 'b' puts "
                       "1 and 'a' takes 1, which the rates of the other ones contradict, so that "
                       "tokens pile up or run out",
                       Error);
  graph.channels = {channel("go", 0, 1, {2}, {0}, 5)};
  CHECK_THROWS_WITH_AS(repetitions(graph),
                       "channel 'go' has inconsistent rates: per cycle of its phases 'a' puts 2 "
                       "and 'b' takes 0, so that tokens pile up or run out",
                       Error);
  graph.channels = {channel("own", 0, 0, {2}, {1}, 5)};
  CHECK_THROWS_AS(repetitions(graph), Error);
}

TEST_CASE("dataflow: repetitions beyond 62 bits are refused, never wrong") {
  Dataflow graph;
  for (int k = 0; k <= 70; ++k) graph.actors.push_back(actor("a", {1}));
  for (std::size_t k = 0; k < 70; ++k)
    graph.channels.push_back(channel("c", k, k + 1, {2}, {1}, 0));
  CHECK_THROWS_WITH_AS(repetitions(graph),
                       "channel 'c' from 'a' to 'a': an iteration has more firings or tokens than "
                       "62 bits count; rates must have larger common factors",
                       Error);
}

TEST_CASE("dataflow: what bounds nothing, what waits for ever, and parts") {
  Dataflow graph;
  CHECK(pace(graph, forever).kind == Pace::Kind::kUnbounded);
  graph.actors = {actor("a", {3}), actor("b", {5})};
  graph.channels = {channel("ab", 0, 1, {1}, {1})};
  CHECK(pace(graph, forever).kind == Pace::Kind::kUnbounded);
  graph.channels.push_back(channel("ba", 1, 0, {1}, {1}));
  const Pace dead = pace(graph, forever);
  CHECK(dead.kind == Pace::Kind::kDeadlocked);
  CHECK(dead.actors.size() == 2);
  graph.channels.back().tokens = 1;
  CHECK(pace(graph, forever).period == Ratio{8, 1});
  // A slower part that these lead to, and one beside them.
  graph.actors.push_back(actor("c", {20}));
  graph.actors.push_back(actor("d", {40}));
  graph.channels.push_back(channel("bc", 1, 2, {1}, {1}));
  graph.channels.push_back(channel("cc", 2, 2, {1}, {1}, 1));
  CHECK(pace(graph, forever).period == Ratio{20, 1});
  graph.channels.push_back(channel("dd", 3, 3, {2}, {2}, 6));
  const Paces all = paces(graph, forever);
  CHECK(all.loops.size() == 3);
  CHECK(all.loops[all.paced_by[0]].period == Ratio{8, 1});
  CHECK(all.loops[all.paced_by[2]].period == Ratio{20, 1});
  CHECK(all.loops[all.paced_by[3]].period == Ratio{40, 3});
}

TEST_CASE("dataflow: a loop without time waits for its tokens all the same") {
  Dataflow graph;
  graph.actors = {actor("a", {0}), actor("b", {0})};
  graph.channels = {channel("ab", 0, 1, {2}, {3}), channel("ba", 1, 0, {3}, {2}, 3)};
  CHECK(pace(graph, forever).kind == Pace::Kind::kDeadlocked);
  graph.channels[1].tokens = 4;
  CHECK(pace(graph, forever).kind == Pace::Kind::kUnbounded);
}

TEST_CASE("dataflow: a firing waits for the very firings whose tokens it takes") {
  // The second phase of a ends first; nothing keeps the phases of a apart.
  Dataflow graph;
  graph.actors = {actor("a", {9, 1}), actor("b", {1})};
  graph.channels = {channel("ab", 0, 1, {1, 1}, {1}), channel("ba", 1, 0, {1}, {1, 1}, 2)};
  const Pace found = pace(graph, forever);
  CHECK(found.period == Ratio{10, 1});  // a's first phase and b, one pair of them at a time
}

TEST_CASE("dataflow: large repetitions need not be unfolded") {
  // 10^9 firings of b beside one of a, which decides.
  Dataflow graph;
  graph.actors = {actor("a", {2'000'000'000}), actor("b", {1})};
  graph.channels = {channel("ab", 0, 1, {1'000'000'000}, {1}),
                    channel("ba", 1, 0, {1}, {1'000'000'000}, 3'000'000'000),
                    channel("aa", 0, 0, {1}, {1}, 1), channel("bb", 1, 1, {1}, {1}, 1)};
  CHECK(pace(graph, forever).period == Ratio{2'000'000'000, 1});
  // Nor where 10^9 firings of one have no common factor with those of the other.
  graph.actors = {actor("a", {3}), actor("b", {2})};
  graph.channels = {channel("ab", 0, 1, {1'000'000'007}, {999'999'937}),
                    channel("ba", 1, 0, {999'999'937}, {1'000'000'007}, 9'000'000'000),
                    channel("aa", 0, 0, {1}, {1}, 1), channel("bb", 1, 1, {1}, {1}, 1)};
  CHECK(pace(graph, forever).period == Ratio{3 * 999'999'937LL, 1});
}

TEST_CASE("dataflow: firings without common factors") {
  // Rings of two through all primes below 100: an iteration has 10^36 parts, but 1,060 firings.
  Dataflow graph;
  std::vector<std::int64_t> primes;
  for (std::int64_t p = 2; p < 100; ++p) {
    bool prime = true;
    for (const std::int64_t q : primes) prime &= p % q != 0;
    if (prime) primes.push_back(p);
  }
  for (std::size_t k = 0; k < primes.size(); ++k) {
    graph.actors.push_back(actor("a", {1'000 / primes[k]}));
    graph.channels.push_back(channel("own", k, k, {1}, {1}, 1));
    if (k == 0) continue;
    const std::int64_t p = primes[k - 1], q = primes[k];
    graph.channels.push_back(channel("go", k - 1, k, {q}, {p}));
    graph.channels.push_back(channel("back", k, k - 1, {p}, {q}, p * q));
  }
  const Pace found = pace(graph, forever);
  CHECK(found.kind == Pace::Kind::kPeriodic);
  CHECK(found.period.num / found.period.den >= 1'000);
}

TEST_CASE("dataflow: it can be stopped") {
  Dataflow graph;
  graph.actors = {actor("a", {3})};
  graph.channels = {channel("aa", 0, 0, {1}, {1}, 1)};
  CHECK_THROWS_AS(pace(graph, [] { return false; }), Stopped);
}

TEST_CASE("random graphs go as fast as the interpreter runs them") {
  for (int seed = 0; seed < 600; ++seed) {
    Dice dice(seed);
    check_against_simulation(random_dataflow(dice, {}), seed);
  }
}

TEST_CASE("random graphs with phases that come once") {
  for (int seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    Made made;
    made.begins = true;
    check_against_simulation(random_dataflow(dice, made), seed);
  }
}

TEST_CASE("random graphs with phases that take no time") {
  for (int seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    Made made;
    made.idle = true;
    check_against_simulation(random_dataflow(dice, made), seed);
  }
}

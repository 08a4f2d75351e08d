#include "lpn/pi/steady.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "lpn/base/error.h"
#include "settled.h"

using namespace lpn;
using namespace lpn::pi;

namespace {

bool forever() { return true; }

ExprId number(Net& net, std::int64_t value) { return net.exprs.constant(value); }

TransitionId add_transition(Net& net, std::int64_t delay) {
  Transition t;
  t.name = fmt::format("t{}", net.transitions.size());
  t.delay = {number(net, delay), {}};
  net.transitions.push_back(t);
  return static_cast<TransitionId>(net.transitions.size() - 1);
}

Transition& at(Net& net, TransitionId t) { return net.transitions[static_cast<std::size_t>(t)]; }

void connect(Net& net, TransitionId from, TransitionId to, std::int64_t tokens,
             std::int64_t put = 1, std::int64_t take = 1) {
  Place place;
  place.name = fmt::format("p{}", net.places.size());
  if (tokens > 0) place.initial.push_back({{number(net, tokens), {}}, {}});
  net.places.push_back(place);
  const auto id = static_cast<PlaceId>(net.places.size() - 1);
  at(net, from).outputs.push_back({id, {{{number(net, put), {}}, {}}}, {}});
  InputArc arc;
  arc.name = place.name;
  arc.place = id;
  arc.weight = {number(net, take), {}};
  at(net, to).inputs.push_back(arc);
}

Net empty() {
  Net net;
  net.name = "random";
  net.types.push_back({"Plain", {}, {}});
  return net;
}

// Strongly connected: a ring through all transitions, and chords. Chords that go on along the ring
// may be empty, since every loop then passes the ring's marked place.
Net random_graph(std::mt19937_64& random) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  Net net = empty();
  const std::int64_t n = 2 + below(9);
  for (std::int64_t k = 0; k < n; ++k) {
    const TransitionId t = add_transition(net, below(20));
    if (below(3) == 0) at(net, t).servers = Formula{number(net, 1 + below(3)), {}};
    if (below(4) == 0) at(net, t).interval = Formula{number(net, 1 + below(9)), {}};
  }
  // A ring without any delay would go round endlessly at one instant.
  at(net, TransitionId{0}).delay = {number(net, 1 + below(20)), {}};
  for (std::int64_t k = 0; k < n; ++k) {
    const bool closes = k == n - 1;
    connect(net, static_cast<TransitionId>(k), static_cast<TransitionId>((k + 1) % n),
            closes ? 1 + below(4) : below(3));
  }
  const std::int64_t chords = below(2 * n);
  for (std::int64_t c = 0; c < chords; ++c) {
    const std::int64_t a = below(n), b = below(n);
    // A chord to an earlier transition closes loops of its own: marked, and not without delay.
    if (a >= b) at(net, static_cast<TransitionId>(b)).delay = {number(net, 1 + below(20)), {}};
    connect(net, static_cast<TransitionId>(a), static_cast<TransitionId>(b),
            a < b ? below(3) : 1 + below(4));
  }
  return net;
}

void check_against_simulation(const Net& net, int seed) {
  CAPTURE(seed);
  const ParamValues params;
  const Marking marking(net);
  const SteadyState state = steady_state(net, params, marking, forever);
  std::vector<std::int64_t> repetitions;
  for (const auto& pace : state.paces) repetitions.push_back(pace.repetitions);
  const std::optional<Ratio> round = simulated_round(net, repetitions);
  REQUIRE(round);
  for (std::size_t t = 0; t < net.transitions.size(); ++t) {
    const Ratio simulated = make_ratio(round->num, round->den * repetitions[t]);
    CHECK(state.paces[t].gap == simulated);  // exact, hence within 1e-9
  }
}

int graphs() {
  const char* given = std::getenv("LPN_PI_GRAPHS");
  return given == nullptr ? 2'000 : std::atoi(given);
}

}  // namespace

TEST_CASE("random strongly connected marked graphs settle at the gap of their slowest loop") {
  for (int seed = 0; seed < graphs(); ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    check_against_simulation(random_graph(random), seed);
  }
}

TEST_CASE("weights: a round has several firings of some transitions") {
  for (int seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    Net net = empty();
    const std::int64_t n = 2 + below(4);
    std::vector<std::int64_t> often;
    for (std::int64_t k = 0; k < n; ++k) {
      often.push_back(1 + below(4));
      const TransitionId t = add_transition(net, 1 + below(12));
      if (below(2) == 0) at(net, t).servers = Formula{number(net, 1 + below(2)), {}};
    }
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t next = (k + 1) % n;
      const std::int64_t put = often[static_cast<std::size_t>(next)];
      const std::int64_t take = often[static_cast<std::size_t>(k)];
      const bool closes = next == 0;
      connect(net, static_cast<TransitionId>(k), static_cast<TransitionId>(next),
              closes ? put * take + below(10) : below(5), put, take);
    }
    check_against_simulation(net, seed);
  }
}

TEST_CASE("the loop that sets the pace is named") {
  Net net = empty();
  const TransitionId a = add_transition(net, 3), b = add_transition(net, 4);
  connect(net, a, b, 0);
  connect(net, b, a, 2);
  at(net, b).servers = Formula{number(net, 1), {}};
  const SteadyState state = steady_state(net, {}, Marking(net), forever);
  REQUIRE(state.loops.size() == 1);
  CHECK(state.loops[0].delay == Ratio{4, 1});  // the server, not (3 + 4) / 2
  CHECK(state.loops[0].transitions == std::vector<TransitionId>{b});
  CHECK(state.paces[0].gap == Ratio{4, 1});
}

TEST_CASE("a capacity is a loop") {
  Net net = empty();
  const TransitionId make = add_transition(net, 5), use = add_transition(net, 8);
  connect(net, make, use, 0);
  net.places[0].capacity = Formula{number(net, 2), {}};
  const SteadyState state = steady_state(net, {}, Marking(net), forever);
  CHECK(state.paces[0].gap == Ratio{13, 2});
}

TEST_CASE("what has no steady state is refused") {
  const auto refused = [](const Net& net, const char* words) {
    try {
      steady_state(net, {}, Marking(net), forever);
    } catch (const Error& error) {
      CHECK(std::string(error.code()) == "E-pi");
      CHECK(std::string(error.what()).find(words) != std::string::npos);
      return;
    }
    FAIL("not refused");
  };
  Net dead = empty();
  const TransitionId a = add_transition(dead, 1), b = add_transition(dead, 1);
  connect(dead, a, b, 0);
  connect(dead, b, a, 0);
  const SteadyState stuck = steady_state(dead, {}, Marking(dead), forever);
  REQUIRE(stuck.loops.size() == 1);
  CHECK(stuck.loops[0].delay == Ratio{1, 0});
  CHECK(stuck.loops[0].transitions.size() == 2);
  CHECK(stuck.paces[0].gap == Ratio{1, 0});
  Net piles = empty();
  const TransitionId c = add_transition(piles, 1), d = add_transition(piles, 1);
  connect(piles, c, d, 0, 2, 1);
  connect(piles, d, c, 1);
  refused(piles, "pile up");
  Net shared = empty();
  const TransitionId e = add_transition(shared, 1), f = add_transition(shared, 1);
  connect(shared, e, e, 1);
  at(shared, f).inputs = at(shared, e).inputs;
  refused(shared, "shares place");
}

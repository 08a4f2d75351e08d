// Single steps over sets of inputs: where they part, what is forgotten, and which states are one.
#include "reach/stepper.h"

#include <doctest/doctest.h>

#include <set>

#include "lpn/text/text.h"

namespace lpn::reach {
namespace {

struct Steps {
  Net net;
  InputSpace space;
  ReachQuestion question;
  ReachOptions options;
  std::unique_ptr<Stepper> stepper;

  explicit Steps(const std::string& lines)
      : net(parse_net("lpn 1\nnet n\ntype unit ()\ntype job (n: 0..99)\n" + lines + "end\n")) {}

  // Tokens of place 0, each of a variable.
  Steps& jobs(const std::vector<Range>& ranges) {
    InputSpace::Tokens tokens{.place = PlaceId{0}, .rows = {}, .count = {}};
    for (const Range range : ranges) {
      const auto k = static_cast<std::uint32_t>(space.variables.params.size());
      space.variables.params.push_back(
          {.name = "n" + std::to_string(k), .value = range.lo, .range = range, .source = {}});
      tokens.rows.push_back({space.variables.exprs.param(k)});
    }
    space.tokens.push_back(tokens);
    return *this;
  }
  std::vector<State> begin() {
    stepper = std::make_unique<Stepper>(net, space, question, options);
    std::vector<State> first, settled;
    stepper->begin(first);
    for (const State& state : first) stepper->settle(state, settled);
    return settled;
  }
  std::vector<State> next(const State& state) {
    std::vector<State> found;
    stepper->next(state, found);
    return found;
  }
};

const char* kDelays =
    "place p : job start\nplace out : unit done\n"
    "transition t {\n  take j from p\n  delay j.n\n  servers 1\n  put out\n}\n";

Range due(const State& state, std::size_t flight = 0) {
  const std::size_t event = state.flights.at(flight).due;
  return {state.zone.least(event, Zone::kNow), state.zone.most(event, Zone::kNow)};
}

}  // namespace

TEST_CASE("Stepper: a delay of many values is an interval, and its variable is forgotten") {
  Steps s(kDelays);
  s.jobs({{3, 8}, {1, 2}});
  const auto states = s.begin();
  REQUIRE(states.size() == 1);
  CHECK(due(states[0]) == Range{3, 8});
  CHECK(states[0].domains[0] == kForgotten);
  CHECK(states[0].domains[1] != kForgotten);
  CHECK(states[0].queues[0].free == 1);
  CHECK(states[0].queues[0].locked == 1);
}

TEST_CASE("Stepper: a delay of few values is decided, one state each") {
  Steps s(kDelays);
  s.jobs({{3, 5}});
  s.options.values = 3;
  std::vector<Range> dues;
  for (const State& state : s.begin()) dues.push_back(due(state));
  std::sort(dues.begin(), dues.end(), [](Range a, Range b) { return a.lo < b.lo; });
  CHECK(dues == std::vector<Range>{{3, 3}, {4, 4}, {5, 5}});
}

TEST_CASE("Stepper: a guard parts the inputs, and a state keeps those that it is true of") {
  Steps s(
      "place p : job start\nplace out : unit done\n"
      "transition t {\n  take j from p when j.n % 3 == 1\n  delay j.n\n  put out\n}\n"
      "transition u {\n  take j from p when j.n % 3 != 1\n  delay 50\n  put out\n}\n");
  s.jobs({{0, 8}});
  const auto states = s.begin();
  REQUIRE(states.size() == 2);
  for (const State& state : states) {
    CHECK(due(state) == (state.flights[0].transition == 0 ? Range{1, 7} : Range{50, 50}));
  }
  CHECK_FALSE(s.stepper->may_fail);
  CHECK(s.stepper->key(states[0]) != s.stepper->key(states[1]));
}

TEST_CASE("Stepper: events that may come in any order come in each, and together") {
  Steps s(
      "place p : job start\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay j.n\n  put out\n}\n");
  s.jobs({{3, 8}, {5, 6}});
  s.options.values = 1;
  const auto states = s.begin();
  REQUIRE(states.size() == 1);
  REQUIRE(states[0].flights.size() == 2);
  const auto after = s.next(states[0]);
  REQUIRE(after.size() == 3);
  std::size_t together = 0, first_left = 0, second_left = 0;
  for (const State& state : after) {
    const Range now{state.zone.least(Zone::kNow, Zone::kStart),
                    state.zone.most(Zone::kNow, Zone::kStart)};
    if (state.flights.empty()) {
      ++together;
      CHECK(now.hi == 6);
    } else if (now.hi == 5) {  // the one of 3..8, before that of 5..6
      ++first_left;
      CHECK(due(state) == Range{1, 3});
    } else {
      ++second_left;
      CHECK(now.hi == 6);
      CHECK(due(state) == Range{1, 3});
    }
  }
  CHECK(together == 1);
  CHECK(first_left == 1);
  CHECK(second_left == 1);
}

TEST_CASE("Stepper: a firing kept in order is not due before the one started before it") {
  Steps s(
      "place p : job start\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay j.n\n  ordered\n  put out\n}\n");
  s.jobs({{10, 20}, {1, 12}});
  const auto states = s.begin();
  REQUIRE(states.size() == 2);  // the second is due with the first, or by its own delay
  for (const State& state : states) {
    REQUIRE(state.flights.size() == 2);
    const std::size_t a = state.flights[0].due, b = state.flights[1].due;
    CHECK(state.zone.least(b, a) >= 0);
    CHECK(state.zone.least(a, Zone::kNow) >= 10);
  }
  const auto is = [&](Range first, Range second) {
    return std::any_of(states.begin(), states.end(), [&](const State& state) {
      return due(state, 0) == first && due(state, 1) == second;
    });
  };
  CHECK(is({10, 12}, {10, 12}));
  CHECK(is({13, 20}, {13, 20}));
}

TEST_CASE("Stepper: an interval holds the next start back") {
  Steps s(
      "place p : job start\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay 2\n  interval 5\n  put out\n}\n");
  s.jobs({{0, 0}, {0, 0}});
  const auto states = s.begin();
  REQUIRE(states.size() == 1);
  CHECK(states[0].flights.size() == 1);
  REQUIRE(states[0].gates.size() == 1);
  CHECK(states[0].zone.least(states[0].gates[0].due, Zone::kNow) == 5);
  const auto committed = s.next(states[0]);
  REQUIRE(committed.size() == 1);
  CHECK(committed[0].flights.empty());
  const auto again = s.next(committed[0]);
  REQUIRE(again.size() == 1);
  CHECK(again[0].flights.size() == 1);
  CHECK(again[0].zone.most(Zone::kNow, Zone::kStart) == 5);
}

TEST_CASE("Stepper: a start waits for the edge of its clock") {
  Steps s(
      "place p : job start\nplace q : unit\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay j.n\n  put q\n}\n"
      "transition u {\n  take j from q\n  delay 1\n  clock 10 phase 3\n  put out\n}\n");
  s.jobs({{4, 4}});
  const auto first = s.begin();
  REQUIRE(first.size() == 1);
  const auto waits = s.next(first[0]);
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].flights.empty());
  REQUIRE(waits[0].wakes.size() == 1);
  CHECK(waits[0].zone.least(waits[0].wakes[0].due, Zone::kStart) == 13);
  const auto starts = s.next(waits[0]);
  REQUIRE(starts.size() == 1);
  CHECK(due(starts[0]) == Range{10, 10});
}

TEST_CASE("Stepper: an inhibitor looks at locked tokens, too") {
  Steps s(
      "place p : job start\nplace q : unit initial 1\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay 7\n  put out\n}\n"
      "transition u {\n  take j from q\n  empty a1 in p\n  delay 1\n  put out\n}\n");
  s.jobs({{0, 0}});
  const auto states = s.begin();
  REQUIRE(states.size() == 1);
  REQUIRE(states[0].flights.size() == 1);
  CHECK(states[0].flights[0].transition == 0);
  const auto after = s.next(states[0]);
  REQUIRE(after.size() == 1);
  REQUIRE(after[0].flights.size() == 1);
  CHECK(after[0].flights[0].transition == 1);
}

TEST_CASE("Stepper: states are one when the same is left to do, whatever was taken before") {
  const auto keys = [](const std::string& put, std::size_t expected) {
    Steps s(
        "place p : job start\nplace q : job\nplace out : unit done\n"
        "transition t {\n  take j from p\n  delay j.n // 20\n  servers 1\n  " +
        put + "\n}\ntransition u {\n  take j from q when j.n > 98\n  delay 1\n  put out\n}\n");
    s.jobs({{0, 59}, {0, 59}});
    s.options.values = 3;
    std::vector<State> states = s.begin();
    for (State& state : states) {
      if (state.zone.most(state.flights.at(0).due, Zone::kNow) != 1) continue;
      states.push_back(state);  // it differs from itself in nothing
      states.back().zone.advance(state.flights[0].due);
      break;
    }
    std::set<std::string> different;
    for (const State& state : states) different.insert(s.stepper->key(state));
    CHECK(states.size() == expected);
    return different.size();
  };
  // A delay of 0, 1 or 2 and nothing else: times are no part of what tells states apart.
  CHECK(keys("put out", 4) == 1);
  // What is put on is told apart, as a set of values or as a number.
  CHECK(keys("put q (j.n)", 4) == 3);
  CHECK(keys("put q (j.n // 20)", 4) == 3);
}

TEST_CASE("Stepper: a variable that two tokens share is decided before a delay forgets it") {
  Net net = parse_net(
      "lpn 1\nnet n\ntype job (n: 0..99)\ntype unit ()\nplace p : job start\nplace q : job start\n"
      "place out : unit done\ntransition t {\n  take a from p\n  delay a.n\n  put out\n}\n"
      "transition u {\n  take b from q\n  empty a1 in p\n  delay b.n\n  put out\n}\nend\n");
  InputSpace space;
  space.variables.params.push_back({.name = "x", .value = 0, .range = Range{0, 9}, .source = {}});
  const ExprId x = space.variables.exprs.param(0);
  space.tokens.push_back({.place = PlaceId{0}, .rows = {{x}}, .count = {}});
  space.tokens.push_back({.place = PlaceId{1}, .rows = {{x}}, .count = {}});
  Stepper stepper(net, space, {}, {});
  std::vector<State> first, settled;
  stepper.begin(first);
  for (const State& state : first) stepper.settle(state, settled);
  CHECK(settled.size() == 10);
  for (const State& state : settled) CHECK(due(state).lo == due(state).hi);
}

TEST_CASE("Stepper: what may fail is noted, and goes on for the inputs that do not") {
  Steps s(
      "place p : job start\nplace out : unit done\n"
      "transition t {\n  take j from p when 10 // (j.n - 2) > 7\n  delay 1\n  put out\n}\n");
  s.jobs({{2, 4}});
  const auto states = s.begin();
  CHECK(s.stepper->may_fail);
  std::size_t started = 0;
  for (const State& state : states) started += state.flights.size();
  CHECK(started == 1);
  CHECK(states.size() == 2);  // 4 waits for ever, 3 starts
}

TEST_CASE("Stepper: numbers of tokens part the inputs; a space without inputs has no state") {
  Steps s(kDelays);
  s.jobs({{3, 3}, {3, 3}});
  s.space.variables.params.push_back(
      {.name = "count", .value = 0, .range = Range{0, 2}, .source = {}});
  s.space.tokens[0].count = s.space.variables.exprs.param(2);
  std::vector<std::uint64_t> counts;
  for (const State& state : s.begin())
    counts.push_back(state.queues[0].free + state.queues[0].locked);
  std::sort(counts.begin(), counts.end());
  CHECK(counts == std::vector<std::uint64_t>{0, 1, 2});
  ExprPool& pool = s.space.variables.exprs;
  s.space.constraints.push_back(pool.binary(Op::kLt, pool.param(2), pool.constant(0)));
  CHECK(s.begin().empty());
}

}  // namespace lpn::reach

#include "lpn/classes/partition.h"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/net/marking.h"
#include "lpn/run/interp.h"
#include "lpn/text/text.h"

using namespace lpn;

namespace {

// Short jobs take another way than long ones.
struct Router {
  Net net = parse_net(R"(lpn 1
net router
type job (size: 0..9)
type unit ()
place in : job start
place out : unit done
transition short {
  take j from in when j.size < 4
  delay 2
  servers 1
  put out
}
transition long {
  take j from in when j.size >= 4
  delay 3 * j.size
  servers 1
  put out
}
end
)");
  InputSpace space;

  explicit Router(std::size_t jobs = 2) {
    InputSpace::Tokens tokens{.place = PlaceId{0}, .rows = {}, .count = {}};
    for (std::size_t k = 0; k < jobs; ++k) {
      space.variables.params.push_back(
          {.name = "s" + std::to_string(k), .value = 0, .range = Range{0, 9}, .source = {}});
      tokens.rows.push_back({space.variables.exprs.param(static_cast<std::uint32_t>(k))});
    }
    space.tokens.push_back(tokens);
  }
};

}  // namespace

TEST_CASE("one class per number of firings; every input is in one path, with its latency") {
  const Router r;
  const Partition p = partition(r.net, r.space);
  CHECK(p.complete);
  CHECK_FALSE(p.exact);
  std::set<std::vector<std::uint64_t>> commits;
  for (const InputClass& one : p.classes) commits.insert(one.commits);
  CHECK(commits == std::set<std::vector<std::uint64_t>>{{0, 2}, {1, 1}, {2, 0}});
  each_input(p.space, [&](const Assignment& input) {
    int paths = 0;
    for (const InputClass& one : p.classes) {
      for (const Path& path : one.paths) {
        if (!follows(path, p.space, input)) continue;
        ++paths;
        const auto times = evaluate(path.timing, p.space, input);
        Interp interp(r.net, {}, marking_of(r.net, p.space, input));
        CHECK(times[static_cast<std::size_t>(path.latency)] == interp.run().latency);
      }
    }
    CHECK(paths == 1);
    return true;
  });
}

TEST_CASE("the choices of an open branch lead on, here or elsewhere") {
  const Router r;
  PartitionOptions options;
  options.max_paths = 1;
  const Partition first = partition(r.net, r.space, options);
  CHECK_FALSE(first.complete);
  CHECK(first.why == "the limit of 1 paths");
  REQUIRE_FALSE(first.open.empty());
  options.max_paths = 100;
  options.branches = first.open;
  std::size_t paths = 0;
  for (const InputClass& one : partition(r.net, r.space, options).classes) {
    paths += one.paths.size();
  }
  CHECK(paths == 3);
}

TEST_CASE("an input that stalls has a class of its own, and says why") {
  Router r(1);
  r.net.transitions.pop_back();
  const Partition p = partition(r.net, r.space);
  REQUIRE(p.classes.size() == 2);
  const bool second = p.classes[1].outcome == Outcome::kStalled;
  CHECK(p.classes[second].outcome == Outcome::kStalled);
  CHECK(p.classes[!second].outcome == Outcome::kLatency);
  CHECK(p.classes[second].paths[0].trouble == "1 left in in; short: the guard on j is false");
}

TEST_CASE("what is not covered is refused with what to write instead") {
  Router r;
  r.net.done_count = Formula{r.net.exprs.constant(1), {}};
  CHECK_THROWS_WITH(partition(r.net, r.space),
                    "router: runs that end after a number of done tokens are not covered; leave "
                    "`done_count` out and give the net a workload that ends");
  Router counts;
  ExprPool& pool = counts.net.exprs;
  const ExprId fails = pool.binary(Op::kFloorDiv, pool.constant(9), pool.occupancy(0));
  counts.net.transitions[0].inputs[0].guard->id = pool.binary(Op::kLt, fails, pool.constant(4));
  CHECK_THROWS_WITH(
      partition(counts.net, counts.space),
      "router: transition short: its guard counts tokens and may fail; keep to counts "
      "and properties with declared ranges");
}

TEST_CASE("a start that a rival makes earlier, by taking a head that needs more") {
  // `batch` waits for three tokens behind the first, until `thief` takes it: the next needs one.
  // What it puts at 16 is seen by `watcher` at 18, which may not be fired before that is known.
  const Net net = parse_net(R"(lpn 1
net thief
type job (need: 1..3)
type unit ()
place q : job initial (3 - 2 * index) times 2
place one : unit initial 1
place two : unit initial 1
place three : unit initial 1
place go : unit
place look : unit
place x : unit
place out : unit done
transition watcher {
  take a from look
  take b from x weight 0
  delay 1 + occupancy(b)
  put out
}
transition thief {
  take g from go
  take j from q
  delay 1
}
transition batch {
  take j from q need j.need
  delay 6
  put x
}
transition late {
  take a from one
  delay 20
  put q (1)
}
transition goes {
  take a from two
  delay 10
  put go
}
transition looks {
  take a from three
  delay 18
  put look
}
end
)");
  const InputSpace space;
  const Partition p = partition(net, space);
  REQUIRE(p.complete);
  REQUIRE(p.classes.size() == 1);
  const Path& path = p.classes[0].paths.at(0);
  const auto times = evaluate(path.timing, p.space, {});
  Interp interp(net, {}, marking_of(net, p.space, {}));
  CHECK(interp.run().latency == 20);
  CHECK(times[static_cast<std::size_t>(path.latency)] == 20);
}

TEST_CASE("a formula behind a guard that counts tokens fails only where the guard holds") {
  const auto outcome = [](const std::string& guard) {
    const Net net = parse_net(R"(lpn 1
net behind
type job (n: 0..9)
type unit ()
place p : unit initial 1
place q : job initial (0)
place out : unit done
transition t {
  take a from p when )" + guard +
                              R"(
  take b from q weight 4 // b.n
  delay 1
  put out
}
end
)");
    const Partition p = partition(net, InputSpace{});
    REQUIRE(p.complete);
    return p.classes.at(0).paths.at(0).outcome;
  };
  CHECK(outcome("occupancy(a) > 1") == Outcome::kNone);
  CHECK(outcome("occupancy(a) > 0") == Outcome::kError);
}

TEST_CASE("of each input the paths say what the interpreter says, errors too") {
  struct Case {
    const char* lines;
    Range n;
    int errors;  // inputs
  };
  const Case cases[] = {
      {"take m from more weight j.n need 2\n  delay 1", {-1, 2}, 1},
      {"take m from more need j.n\n  delay 1", {-1, 2}, 1},
      {"delay j.n - 2", {0, 4}, 2},
      {"delay 1\n  interval j.n", {-1, 1}, 1},
      {"take m from more weight j.n\n  delay 1 + 2 * taken(m)", {0, 3}, 0},
      {"delay 1\n  put side j.n", {-1, 2}, 1},
      {"delay j.n\n  servers 1\n  clock 1 phase 0", {0, 2}, 0},
      {"delay j.n\n  servers 1\n  clock 3 phase 2", {0, 2}, 0},
  };
  for (const auto& [lines, range, errors] : cases) {
    CAPTURE(lines);
    const Net net = parse_net(
        "lpn 1\nnet n\ntype job (n: " + std::to_string(range.lo) + ".." + std::to_string(range.hi) +
        ")\ntype unit ()\nplace p : job start\nplace more : unit initial 3\n"
        "place side : unit\nplace out : unit done\ntransition t {\n  take j from p\n  " +
        lines + "\n  put out\n}\nend\n");
    InputSpace space;
    space.variables.params.push_back({.name = "n", .value = 0, .range = range, .source = {}});
    space.tokens.push_back(
        {.place = PlaceId{0}, .rows = {{space.variables.exprs.param(0)}}, .count = {}});
    const Partition p = partition(net, space);
    REQUIRE(p.complete);
    int failed = 0;
    each_input(p.space, [&](const Assignment& input) {
      CAPTURE(input[0]);
      std::optional<Time> latency;
      try {
        latency = Interp(net, {}, marking_of(net, p.space, input)).run().latency;
      } catch (const RunError&) {
        ++failed;
      }
      int paths = 0;
      for (const InputClass& one : p.classes) {
        for (const Path& path : one.paths) {
          if (!follows(path, p.space, input)) continue;
          ++paths;
          CHECK((path.outcome == Outcome::kError) == !latency.has_value());
          if (!latency) continue;
          const auto times = evaluate(path.timing, p.space, input);
          CHECK(times[static_cast<std::size_t>(path.latency)] == *latency);
        }
      }
      CHECK(paths == 1);
      return true;
    });
    CHECK(failed == errors);
  }
}

TEST_CASE("a firing that takes nothing is an error of the inputs for which it does") {
  const Net net = parse_net(R"(lpn 1
net n
type unit ()
param w = 1 in 0..1
place p : unit initial 2
place out : unit done
transition t {
  take j from p weight w need 2
  delay 1
  put out
}
end
)");
  InputSpace space;
  space.variables.params.push_back({.name = "w", .value = 0, .range = Range{0, 1}, .source = {}});
  space.params = {space.variables.exprs.param(0)};
  std::set<Outcome> outcomes;
  for (const InputClass& one : partition(net, space).classes) outcomes.insert(one.outcome);
  CHECK(outcomes == std::set<Outcome>{Outcome::kError, Outcome::kLatency});
}

// Each was made: minutes and all memory, whatever the limit of time.
TEST_CASE("more slots or initial tokens than can be kept one by one are refused") {
  const auto refused = [](const std::string& place) -> std::string {
    InputSpace space;
    const Net net = parse_net(
        "lpn 1\nnet wide\ntype unit ()\nplace p : unit initial 1\nplace q : unit " + place +
        "\nplace out : unit done\ntransition t {\n  take j from p\n"
        "  delay 1\n  put q\n}\ntransition u {\n  take j from q\n  delay 1\n"
        "  put out\n}\nend\n");
    try {
      (void)partition(net, space);
    } catch (const Error& error) {
      CHECK(error.code() == "E-partition");
      return error.what();
    }
    return "";
  };
  CHECK(refused("capacity 262144").empty());
  CHECK(refused("capacity 8796093022208") ==
        "wide: place q: its capacity is 8796093022208, and classes keep each by itself, at most "
        "262144; write a smaller one, or no capacity where it is never reached");
  CHECK(
      refused("initial 262145") ==
      "wide: place q: its number of initial tokens is 262145, and classes keep each by itself, at "
      "most 262144; write a smaller one, or no capacity where it is never reached");
}

// It was no instant of the path, since no third start waits for it: the input was said to stall.
TEST_CASE("an interval that may end behind the last instant is refused, waited for or not") {
  const auto net_of = [](const std::string& interval) {
    return parse_net(
        "lpn 1\nnet late\ntype unit ()\ntype job (n: 0..9)\nplace p : job\n"
        "place out : unit done\ntransition t {\n  take j from p\n  delay 1\n  servers 1\n"
        "  interval " +
        interval + "\n  put out\n}\nend\n");
  };
  const auto refused = [](const Net& net, std::size_t jobs, Range range) {
    InputSpace space;
    InputSpace::Tokens tokens{.place = PlaceId{0}, .rows = {}, .count = {}};
    for (std::size_t k = 0; k < jobs; ++k) {
      space.variables.params.push_back(
          {.name = "n" + std::to_string(k), .value = 0, .range = range, .source = {}});
      tokens.rows.push_back({space.variables.exprs.param(static_cast<std::uint32_t>(k))});
    }
    space.tokens.push_back(tokens);
    try {
      const Partition p = partition(net, space);
      REQUIRE(p.complete);
      return false;
    } catch (const Error& error) {
      CHECK(error.code() == "E-partition");
      CHECK(std::string(error.what()) ==
            "late: a time may not fit in 64 bits; narrow the ranges of what delays are made of");
      return true;
    }
  };
  // The last instant is 2^63 - 2 = 9223372036854775806.
  CHECK_FALSE(refused(net_of("9223372036854775806"), 1, {0, 9}));
  CHECK(refused(net_of("9223372036854775807"), 1, {0, 9}));
  CHECK_FALSE(refused(net_of("4611686018427387903"), 2, {0, 9}));
  CHECK(refused(net_of("4611686018427387904"), 2, {0, 9}));
  CHECK_FALSE(refused(net_of("4611686018427387894 + j.n"), 2, {0, 9}));
  CHECK(refused(net_of("4611686018427387895 + j.n"), 2, {0, 9}));
}

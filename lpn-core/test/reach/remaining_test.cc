// How long runs can still go on: never less than they do.
#include "reach/remaining.h"

#include <doctest/doctest.h>

#include "lpn/text/text.h"
#include "reach/stepper.h"

namespace lpn::reach {
namespace {

using What = Remaining::What;

// Of the first state of a net without variables.
std::optional<std::int64_t> left(const std::string& lines, What what, TransitionId counted = {}) {
  const Net net = parse_net("lpn 1\nnet n\ntype unit ()\n" + lines + "end\n");
  InputSpace space;
  Stepper stepper(net, space, {}, {});
  std::vector<State> first;
  stepper.begin(first);
  REQUIRE(first.size() == 1);
  return Remaining(stepper.net(), stepper.params(first[0]), stepper.sets(), first[0], what, counted)
      .of(first[0]);
}

std::string pipeline(int jobs, const std::string& more = "") {
  return "place p : unit initial " + std::to_string(jobs) +
         "\nplace q : unit\nplace out : unit done\ntransition a {\n  take j from p\n  delay 3\n" +
         more + "  put q\n}\ntransition b {\n  take j from q\n  delay 4\n  put out\n}\n";
}

}  // namespace

TEST_CASE("Remaining: all firings one after the other") {
  CHECK(left(pipeline(5), What::kTime) == 35);
  CHECK(left(pipeline(5), What::kCommits, TransitionId{1}) == 5);
  CHECK(left(pipeline(5), What::kDone) == 5);
  CHECK(left(pipeline(0), What::kTime) == 0);
}

TEST_CASE("Remaining: an interval longer than the delay, and the wait for an edge, count") {
  CHECK(left(pipeline(5, "  interval 8\n"), What::kTime) == 5 * (8 + 4));
  CHECK(left(pipeline(5, "  interval 2\n"), What::kTime) == 5 * (3 + 4));
  // Up to 9 ticks to the edge of a period of 10, then 3 periods.
  CHECK(left(pipeline(5, "  clock 10 phase 0\n"), What::kTime) == 5 * (30 + 9 + 4));
}

TEST_CASE("Remaining: a delay that is always an error takes no time") {
  CHECK(left("place p : unit initial 3\nplace out : unit done\n"
             "transition a {\n  take j from p\n  delay 0 - 1\n  put out\n}\n",
             What::kTime) == 0);
}

TEST_CASE("Remaining: counts and weights, at their worst") {
  const std::string fork =
      "place p : unit initial 4\nplace q : unit\nplace out : unit done\n"
      "transition a {\n  take j from p weight 2\n  delay 1\n  put q 3\n  put out 2\n}\n"
      "transition b {\n  take j from q\n  delay 5\n  put out\n}\n";
  CHECK(left(fork, What::kTime) == 2 * (1 + 3 * 5));
  CHECK(left(fork, What::kDone) == 2 * (2 + 3));
  CHECK(left(fork, What::kCommits, TransitionId{0}) == 2);
}

TEST_CASE("Remaining: weights may be fractions; their sum is rounded up") {
  // Each token weighs 3/2: three of them 9/2.
  CHECK(left("place p : unit initial 3\nplace out : unit done\n"
             "transition a {\n  take j from p weight 2\n  delay 3\n  put out\n}\n",
             What::kTime) == 5);
}

TEST_CASE("Remaining: nothing is known of a net that may go on for ever") {
  const std::string loop =
      "place p : unit initial 1\nplace out : unit done\n"
      "transition a {\n  take j from p\n  delay 3\n  put p\n  put out\n}\n";
  CHECK_FALSE(left(loop, What::kTime).has_value());
  CHECK_FALSE(left(loop, What::kDone).has_value());
  CHECK_FALSE(left(loop, What::kCommits, TransitionId{0}).has_value());
  // What never gets a token does not matter.
  std::string idle = loop;
  idle.replace(idle.find("initial 1"), 9, "initial 0");
  CHECK(left(idle, What::kTime) == 0);
}

TEST_CASE("Remaining: what is in flight has its own end, and what it will put counts") {
  const Net net =
      parse_net("lpn 1\nnet n\ntype unit ()\n" + pipeline(2, "  servers 1\n") + "end\n");
  InputSpace space;
  Stepper stepper(net, space, {}, {});
  std::vector<State> first, settled, next;
  stepper.begin(first);
  const Remaining remaining(stepper.net(), stepper.params(first[0]), stepper.sets(), first[0],
                            What::kTime);
  CHECK(remaining.of(first[0]) == 14);
  stepper.settle(first[0], settled);
  REQUIRE(settled.size() == 1);
  REQUIRE(settled[0].flights.size() == 1);
  CHECK(remaining.of(settled[0]) == 3 + 7 + 4);  // the one in flight, the other, the first's b
  stepper.next(settled[0], next);
  REQUIRE(next.size() == 1);
  CHECK(next[0].flights.size() == 2);
  CHECK(remaining.of(next[0]) == 4 + 4);  // both in flight at the same time, then the second's b
}

TEST_CASE("Remaining: so has an interval that has not passed") {
  const Net net =
      parse_net("lpn 1\nnet n\ntype unit ()\n" + pipeline(2, "  interval 8\n") + "end\n");
  InputSpace space;
  Stepper stepper(net, space, {}, {});
  std::vector<State> first, settled;
  stepper.begin(first);
  const Remaining remaining(stepper.net(), stepper.params(first[0]), stepper.sets(), first[0],
                            What::kTime);
  stepper.settle(first[0], settled);
  REQUIRE(settled.size() == 1);
  CHECK(remaining.of(settled[0]) == 8 + 4 + (8 + 4));  // beside the firing, which is over before
}

}  // namespace lpn::reach

#include "plan/plan.h"

#include <doctest/doctest.h>

#include "lpn/net/lower.h"
#include "nets.h"

namespace lpn::sim {
namespace {

TEST_CASE("a pipeline needs no clock: an actor per transition, tokens in queues between them") {
  const Net net = lower(line());
  const Plan plan = make_plan(net);
  REQUIRE(plan.whole());
  CHECK(plan.actors.size() == 2);
  CHECK(plan.actors[plan.actor_of[0]].in_order);
  CHECK(plan.passage[0] == Passage::kSource);
  CHECK(plan.passage[1] == Passage::kFifo);
  CHECK(plan.passage[2] == Passage::kSink);
  CHECK_FALSE(plan.packed);  // no delay is 0
}

TEST_CASE("whoever looks whether a place is empty needs the clock, and is told why") {
  const Plan plan = make_plan(lower(inhibited()));
  CHECK_FALSE(plan.whole());
  CHECK(plan.why_not[0] == "starts only while place 'lock' is empty (inhibit)");
  CHECK(plan.actor_of[0] == Plan::kNone);
}

}  // namespace
}  // namespace lpn::sim

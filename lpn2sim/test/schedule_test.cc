#include "plan/schedule.h"

#include <doctest/doctest.h>

#include "lpn/net/lower.h"
#include "nets.h"

namespace lpn::sim {
namespace {

TEST_CASE("one iteration fires each transition as often as the rates of its arcs say") {
  const StaticParts parts = static_parts(lower(rates()));
  REQUIRE(parts.parts.size() == 1);
  const StaticPart& part = parts.parts[0];
  CHECK(part.repetition(0) == 3);  // three times two tokens
  CHECK(part.repetition(1) == 2);  // are twice three
  CHECK(part.order.size() == 5);
  CHECK(part.order[0].transition == 0);
  CHECK(part.sources[0].place == 0);
  CHECK(part.sinks[0].place == 2);
}

TEST_CASE("what does not repeat says why") {
  const StaticParts parts = static_parts(lower(inhibited()));
  CHECK(parts.parts.empty());
  CHECK(parts.why_not[0] != "");
}

}  // namespace
}  // namespace lpn::sim

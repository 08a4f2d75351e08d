#include "lpn/sim/ways.h"

#include <doctest/doctest.h>

#include "nets.h"

namespace lpn::sim {
namespace {

TEST_CASE("a pipeline runs order-free, and its firings repeat") {
  const std::vector<Way> all = ways(line());
  REQUIRE(all.size() == 2);
  CHECK(all[1].order_free);
  CHECK(all[1].lock_step);
  CHECK(runs(line()) == Runs::kFree);
}

TEST_CASE("what waits for the clock is event-driven") {
  const std::vector<Way> all = ways(inhibited());
  CHECK_FALSE(all[0].order_free);
  CHECK(all[0].why_not == "starts only while place 'lock' is empty (inhibit)");
  CHECK_FALSE(all[0].lock_step);
}

}  // namespace
}  // namespace lpn::sim

#include "lpn/sim/ways.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

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

TEST_CASE("who take turns at a place merge in order when their delays are one constant") {
  const auto all = [](const char* other) {
    return ways(parse_net(fmt::format(R"(lpn 1
net routes
type item (v: 0..1)
place src : item start initial (index % 2) times 6
place mid : item
place out : item done
transition left {{
  take x from src when x.v == 0
  delay 3
  put mid (x.v)
}}
transition right {{
  take x from src when x.v == 1
  delay {}
  put mid (x.v)
}}
transition drain {{
  take x from mid
  delay 1
  put out (x.v)
}}
end
)",
                                      other)));
  };
  for (const Way& way : all("3")) CHECK(way.why_not == "");
  CHECK(all("4")[2].why_not ==
        "takes from place 'mid', where 'left', 'right' append: whose token comes first needs the "
        "clock");
}

}  // namespace
}  // namespace lpn::sim

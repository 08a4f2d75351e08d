#include "plan/schedule.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <stdexcept>

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

TEST_CASE("an emitted property that reads an occupancy does not repeat") {
  const StaticParts parts = static_parts(lower(parse_net(R"(lpn 1
net counts
type unit ()
type item (v: 0..9)
place src : unit start initial 3
place out : item done
transition work {
  take x from src
  delay 2
  servers 1
  put out (occupancy(x))
}
end
)")));
  CHECK(parts.parts.empty());
  CHECK(parts.why_not[0] == "reads an occupancy");
}

// The queue over place `name`; its credit with `credit`.
const StaticQueue& queue_of(const Net& net, const StaticPart& part, const char* name,
                            bool credit = false) {
  for (const StaticQueue& q : part.queues) {
    if (q.place == StaticQueue::kNone) continue;
    const Place& place = net.places[q.place];
    if (credit ? place.credit_of && net[*place.credit_of].name == name
               : !place.credit_of && place.name == name) {
      return q;
    }
  }
  throw std::runtime_error(name);
}

TEST_CASE("tokens and free slots at the start are fixed where no parameter decides them") {
  const auto text = [](const char* capacity, const char* initial) {
    return fmt::format(R"(lpn 1
net line
param n = 2 in 0..9
type unit ()
place src : unit start initial 9
place mid : unit capacity {} initial {}
place out : unit done
transition work {{
  take x from src
  delay 2
  servers 1
  put mid
}}
transition pack {{
  take x from mid
  delay 5
  servers 1
  put out
}}
end
)",
                       capacity, initial);
  };
  {
    const Net net = lower(parse_net(text("5", "2")));
    const StaticParts parts = static_parts(net);
    REQUIRE(parts.parts.size() == 1);
    CHECK(queue_of(net, parts.parts[0], "mid").fixed);
    CHECK(queue_of(net, parts.parts[0], "mid").initial == 2);
    CHECK(queue_of(net, parts.parts[0], "mid", true).fixed);
    CHECK(queue_of(net, parts.parts[0], "mid", true).initial == 3);
  }
  for (const auto& [capacity, initial] : {std::pair{"n + 3", "2"}, std::pair{"5", "n"}}) {
    const Net net = lower(parse_net(text(capacity, initial)));
    const StaticParts parts = static_parts(net);
    REQUIRE(parts.parts.size() == 1);
    CHECK_FALSE(queue_of(net, parts.parts[0], "mid", true).fixed);
  }
}

TEST_CASE("the defaults of parameters are enough to look for a sequence with") {
  // Nothing moves before the permits are there, of which a parameter tells the number.
  const StaticParts parts = static_parts(lower(permits()));
  CHECK(parts.why_not[0] == "");
  REQUIRE(parts.parts.size() == 1);
  CHECK(parts.parts[0].order.size() == 2);
}

}  // namespace
}  // namespace lpn::sim

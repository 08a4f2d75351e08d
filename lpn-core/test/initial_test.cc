#include "lpn/net/initial.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "lpn/text/text.h"

using namespace lpn;

namespace {

Net net_of(const std::string& places) {
  return parse_net("lpn 1\nnet n\nparam k = 2\ntype unit ()\ntype job (size: 1..8)\n" + places +
                   "end\n");
}
std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    return e.code() + ": " + e.what();
  }
  return "";
}
std::string check(const std::string& places, std::int64_t k) {
  const Net net = net_of(places);
  return error_of([&] { check_initial(net, {k}, Marking(net)); });
}

}  // namespace

TEST_CASE("a formula over parameters") {
  const Net net = net_of("place p : unit initial 7 // k\n");
  const Formula& count = net.places[0].initial[0].count;
  CHECK(param_value(net, {2}, count, "the count", 0) == 3);
  CHECK(error_of([&] { param_value(net, {0}, count, "the count", 0); }) ==
        "E-param-value: net 'n': the count cannot be computed with these parameters (E-divisor)");
  CHECK(error_of([&] { param_value(net, {2}, count, "the count", 4); }) ==
        "E-param-value: net 'n': the count is 3 with these parameters; it must be >= 4");
}

TEST_CASE("what is wrong before time 0") {
  CHECK(check("place p : unit initial k\n", 2) == "");
  CHECK(check("place p : unit initial k\n", -1) ==
        "E-param-value: net 'n': place 'p': initial tokens is -1 with these parameters; it must be "
        ">= 0");
  CHECK(check("place p : unit capacity 1 initial k\n", 2) ==
        "E-capacity: place 'p' starts with 2 tokens, more than its capacity 1");
  CHECK(check("place p : job initial (k)\n", 9) ==
        "E-range: place 'p': initial value 9 for 'size' is outside its range 1..8");
}

TEST_CASE("a token from outside") {
  const Net net = net_of("place p : job start\nplace q : job capacity 2\n");
  const auto push = [&](std::uint32_t p, std::vector<std::int64_t> values) {
    return error_of([&] { check_push(net, static_cast<PlaceId>(p), values); });
  };
  CHECK(push(0, {3}) == "");
  CHECK(push(0, {}) == "E-push: place 'p': 0 values for a token with 1 properties");
  CHECK(push(0, {0}) == "E-range: place 'p': pushed value 0 for 'size' is outside its range 1..8");
  CHECK(push(1, {3}).starts_with("E-push: place 'q' has a capacity"));
  CHECK(std::string(late_push(net, PlaceId{0}, 3, 5).what()) ==
        "place 'p': a token for time 3 comes too late; the simulation is at 5");
}

TEST_CASE("tokens that are fed in") {
  const Net net = net_of("place p : job start\n");
  const auto feed = [&](std::vector<std::int64_t> values, std::vector<Time> times) {
    return error_of([&] { check_feed(net, PlaceId{0}, values, times); });
  };
  CHECK(feed({3, 4}, {0, kLastInstant}) == "");
  CHECK(feed({3}, {0, 1}) == "E-push: place 'p': 1 values for 2 tokens with 1 properties each");
  CHECK(feed({9, 4}, {0, 1}) ==
        "E-range: place 'p': pushed value 9 for 'size' is outside its range 1..8");
  CHECK(feed({3, 4}, {5, 2}) == "E-push: place 'p': a token for time 2 comes after one for time 5");
  CHECK(feed({3, 4}, {-7, 2}) ==
        "E-push: place 'p': there is no time -7; times are 0..9223372036854775806");
  CHECK(feed({3, 4}, {1, kForever}) ==
        "E-push: place 'p': there is no time 9223372036854775807; times are "
        "0..9223372036854775806");
}

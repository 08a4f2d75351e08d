#include "lpn/net/compose.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "lpn/base/error.h"
#include "lpn/net/verify.h"
#include "lpn/text/text.h"

using namespace lpn;

namespace {

const char* kPart = R"(lpn 1
net part
param time = 2 in 1..9
type job (size)
place in : job capacity 3 initial (7)
place out : job drain
transition work {
  take x from in
  delay time * x.size
  clock time phase 1
  put out (x.size)
}
end
)";

Net whole() {
  return parse_net("lpn 1\nnet whole\nparam n = 4\ntype job (size)\nplace feed : job start\nend\n");
}

std::string code_of(Net& net, const InstanceSpec& spec) {
  try {
    add_instance(net, parse_net(kPart), spec);
  } catch (const Error& e) {
    return e.code();
  }
  return "";
}

}  // namespace

TEST_CASE("an instance joined at a place, with a parameter of the net") {
  Net net = whole();
  const PlaceId feed = *net.find_place("feed");
  const Instance made =
      add_instance(net, parse_net(kPart),
                   {.prefix = "a", .connect = {feed, {}}, .params = {net.exprs.param(0)}});
  CHECK(verify(net).empty());
  CHECK(made.places == std::vector{feed, *net.find_place("a.out")});
  CHECK(made.params == std::vector<std::optional<std::uint32_t>>{std::nullopt});
  CHECK(print_net(net) == R"(lpn 1
net whole

param n = 4

type job (size)

place feed : job start capacity 3 initial (7)
place a.out : job drain

transition a.work {
  take x from feed
  delay n * x.size
  clock n phase 1
  put a.out (x.size)
}

end
)");
}

TEST_CASE("an instance with parameters and places of its own") {
  Net net = whole();
  const Instance made =
      add_instance(net, parse_net(kPart), {.prefix = "a", .connect = {{}, {}}, .params = {{}}});
  CHECK(verify(net).empty());
  CHECK(made.params[0] == net.find_param("a.time"));
  CHECK(net.params[1].range == Range{1, 9});
  CHECK(net[made.transitions[0]].name == "a.work");
}

TEST_CASE("each part of an instance keeps its line") {
  Net part = parse_net(kPart);
  part.files = {"part.py"};
  Transition& work = part.transitions[0];
  work.source = {0, 4};
  work.delay.source = {0, 5};
  work.inputs[0].source = {0, 6};
  work.outputs[0].source = {0, 7};
  Net net = whole();
  net.files = {"whole.py"};
  const Instance made =
      add_instance(net, part, {.prefix = "a", .connect = {{}, {}}, .params = {{}}});
  const Transition& copy = net[made.transitions[0]];
  CHECK(where(net, copy.source) == "part.py:4");
  CHECK(where(net, copy.delay.source) == "part.py:5");
  CHECK(where(net, copy.inputs[0].source) == "part.py:6");
  CHECK(where(net, copy.outputs[0].source) == "part.py:7");
}

TEST_CASE("an instance with a clock counts its periods, also those of its own clocks") {
  Net net = whole();
  Net part = parse_net(kPart);
  Transition plain = part.transitions[0];
  plain.name = "plain";
  plain.clock.reset();
  part.transitions.push_back(plain);
  const auto constant = [&](std::int64_t value) { return Formula{net.exprs.constant(value), {}}; };
  const Instance made = add_instance(net, part,
                                     {.prefix = "a",
                                      .connect = {*net.find_place("feed"), {}},
                                      .params = {net.exprs.constant(3)},
                                      .clock = Clock{constant(5), constant(2)}});
  CHECK(verify(net).empty());
  const auto value = [&](const Formula& f) {
    std::int64_t x = -1;
    CHECK(net.exprs.is_const(f.id, x));
    return x;
  };
  const Clock& both =
      *net[made.transitions[0]].clock;  // clock 3 phase 1, in periods of 5 from 2 on
  CHECK(value(both.period) == 15);
  CHECK(value(both.phase) == 7);
  CHECK(value(net[made.transitions[1]].clock->period) == 5);
  CHECK(value(net[made.transitions[1]].clock->phase) == 2);
}

TEST_CASE("what cannot be joined leaves the net as it was") {
  Net net = whole();
  net.types.push_back({.name = "unit", .fields = {}, .source = {}});
  Place other;
  other.name = "other";
  other.type = static_cast<TypeId>(1);
  net.places.push_back(other);
  const std::string before = print_net(net);
  const PlaceId feed{0}, plain{1};
  CHECK(code_of(net, {"a", {plain, {}}, {{}}}) == "E-connect");
  CHECK_THROWS_WITH(add_instance(net, parse_net(kPart), {"a", {plain, {}}, {{}}}),
                    "place 'in' of net 'part' cannot be 'other': its tokens are job (size), there "
                    "unit (no properties); connected places have the same properties and ranges");
  CHECK(code_of(net, {"a", {feed, {}}, {net.exprs.constant(10)}}) == "E-param");
  CHECK(code_of(net, {"no name", {feed, {}}, {{}}}) == "E-name");
  CHECK(print_net(net) == before);
  CHECK(code_of(net, {"a", {{}, {}}, {{}}}) == "");
  CHECK(code_of(net, {"a", {{}, {}}, {{}}}) == "E-duplicate");
}

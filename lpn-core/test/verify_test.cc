#include "lpn/net/verify.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "lpn/base/error.h"
#include "lpn/text/text.h"

using namespace lpn;

namespace {

Net good() {
  return parse_net(R"(lpn 1
net n
type job (size: 1..8)
place in : job start
place out : job done
transition t {
  take x from in weight 1 need 2
  delay x.size
  put out (x.size)
}
end
)");
}

// empty y in out
InputArc& add_inhibitor(Net& net) {
  InputArc arc;
  arc.name = "y";
  arc.place = static_cast<PlaceId>(1);
  arc.inhibit = true;
  arc.weight.id = net.exprs.constant(0);
  net.transitions[0].inputs.push_back(arc);
  return net.transitions[0].inputs.back();
}

std::string first_code(const std::function<void(Net&)>& spoil) {
  Net net = good();
  spoil(net);
  const auto found = verify(net);
  return found.empty() ? "" : found.front().code;
}

}  // namespace

TEST_CASE("a net that obeys all rules") {
  CHECK(verify(good()).empty());
  CHECK_NOTHROW(require_valid(good()));
}

TEST_CASE("each spoiled part has its code") {
  const std::pair<const char*, std::function<void(Net&)>> cases[] = {
      {"E-name", [](Net& n) { n.name = "two words"; }},
      {"E-duplicate", [](Net& n) { n.places[1].name = "in"; }},
      {"E-type",
       [](Net& n) {
         n.types[0].fields[0].range = Range{2, 1};
       }},
      {"E-place", [](Net& n) { n.places[0].done = true; }},
      {"E-capacity",
       [](Net& n) {
         n.places[1].capacity = Formula{n.exprs.constant(-1), {}};
       }},
      {"E-arc",
       [](Net& n) {
         n.transitions[0].inputs.push_back(n.transitions[0].inputs[0]);
         n.transitions[0].inputs[1].name = "y";
       }},
      // An inhibitor arc only asks for emptiness.
      {"E-arc", [](Net& n) { add_inhibitor(n).weight.id = n.exprs.constant(1); }},
      {"E-arc", [](Net& n) { add_inhibitor(n).weight.id = n.exprs.taken(0); }},
      {"E-arc",
       [](Net& n) {
         add_inhibitor(n).guard = Formula{n.exprs.boolean(true), {}};
       }},
      {"E-arc",
       [](Net& n) {
         add_inhibitor(n).threshold = Formula{n.exprs.constant(0), {}};
       }},
      {"", [](Net& n) { add_inhibitor(n); }},
      {"E-negative-count",
       [](Net& n) { n.transitions[0].outputs[0].emissions[0].count.id = n.exprs.constant(-1); }},
      {"E-negative-weight",
       [](Net& n) { n.transitions[0].inputs[0].weight.id = n.exprs.constant(-1); }},
      {"E-negative-delay", [](Net& n) { n.transitions[0].delay.id = n.exprs.constant(-3); }},
      {"E-servers",
       [](Net& n) {
         n.transitions[0].servers = Formula{n.exprs.constant(0), {}};
       }},
      {"E-emission", [](Net& n) { n.transitions[0].outputs[0].emissions[0].fields.clear(); }},
      {"E-range",
       [](Net& n) { n.transitions[0].outputs[0].emissions[0].fields[0].id = n.exprs.constant(9); }},
      {"E-takes-nothing",
       [](Net& n) { n.transitions[0].inputs[0].weight.id = n.exprs.constant(0); }},
      {"E-done",
       [](Net& n) {
         n.places[1].done = false;
         n.done_count = Formula{n.exprs.constant(1), {}};
       }},
  };
  for (const auto& [code, spoil] : cases) CHECK(first_code(spoil) == std::string(code));
}

TEST_CASE("what a formula may read") {
  Net net = good();
  ExprPool& pool = net.exprs;
  Transition& t = net.transitions[0];
  const auto message = [&] {
    const auto found = verify(net);
    return found.empty() ? std::string() : found.front().message;
  };
  t.delay.id = pool.token(0, 0, pool.constant(1));  // the arc needs two tokens
  CHECK(message() == "");
  t.delay.id = pool.token(0, 0, pool.constant(2));
  CHECK(message() ==
        "transition 't'.delay: reads token 2 of 'x', which needs only 2; raise its weight or "
        "threshold");
  t.delay.id = pool.token(0, 1, pool.constant(0));
  CHECK(message() == "transition 't'.delay: reads a property that type 'job' of 'x' does not have");
  t.delay.id = pool.token(1, 0, pool.constant(0));
  CHECK(message() == "transition 't'.delay: reads tokens where only parameters may be read");
  t.delay.id = pool.index();
  CHECK(message() ==
        "transition 't'.delay: reads the index, which only the properties of an emission have");
  t.delay.id = static_cast<ExprId>(pool.size());
  CHECK(message() == "transition 't'.delay: has no expression");
  // A weight reads the heads of earlier arcs and of its own one, no later one.
  t.delay.id = pool.constant(1);
  t.inputs.push_back(t.inputs[0]);
  t.inputs[1].name = "y";
  t.inputs[1].place = PlaceId{1};
  net.places[1].done = false;
  for (const std::uint32_t arc : {0u, 1u}) {
    t.inputs[1].weight.id = pool.token(arc, 0, pool.constant(0));
    CHECK(message() == "");
  }
  t.inputs[1].weight.id = pool.constant(1);
  t.inputs[0].weight.id = pool.token(1, 0, pool.constant(0));
  CHECK(message() ==
        "transition 't'.x.weight: reads 'y', which is declared after it; move that arc to the "
        "front");
}

TEST_CASE("a transition that takes nothing and is bounded by nothing") {
  Net net = good();
  Transition& t = net.transitions[0];
  t.inputs.clear();
  t.delay.id = net.exprs.constant(1);
  t.outputs.clear();
  REQUIRE(verify(net).size() == 1);
  CHECK(verify(net)[0].message ==
        "transition 't': takes no token and has neither servers nor an interval >= 1, so it would "
        "start for ever; write servers=1 or interval=...");
  t.interval = Formula{net.exprs.constant(0), {}};
  CHECK(verify(net).size() == 1);
  t.interval = Formula{net.exprs.constant(1), {}};
  CHECK(verify(net).empty());
}

TEST_CASE("require_valid names all, with the first code") {
  Net net = good();
  net.transitions[0].delay.id = net.exprs.constant(-3);
  net.places[0].done = true;
  try {
    require_valid(net);
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.code() == "E-place");
    CHECK(std::string(e.what()) ==
          "place 'in': is declared both start and done; use two places\n"
          "transition 't': delay is -3; it must be >= 0");
  }
}

TEST_CASE("a violation names the line of the model") {
  Net net = good();
  net.files = {"model.py"};
  net.transitions[0].delay = {net.exprs.constant(-3), {0, 12}};
  const auto found = verify(net);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "transition 't': delay is -3; it must be >= 0\n  at model.py:12");
}

TEST_CASE("the part that a violation is about") {
  Net net = good();
  net.types[0].fields[0].range = Range{2, 1};
  net.places[1].name = "in";
  net.transitions[0].inputs[0].name = "";
  const auto found = verify(net);
  REQUIRE(found.size() == 3);
  CHECK(found[0].place == PlaceId{1});
  CHECK_FALSE(found[1].place);  // a type
  CHECK_FALSE(found[1].transition);
  CHECK(found[2].transition == TransitionId{0});
}

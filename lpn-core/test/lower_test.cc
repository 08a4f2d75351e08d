#include "lpn/net/lower.h"

#include <doctest/doctest.h>

#include <string>

#include "lpn/text/text.h"

using namespace lpn;

namespace {

Net lowered(const std::string& lines) {
  return lower(
      parse_net("lpn 1\nnet n\ntype unit ()\nplace p : unit start\n"
                "place q : unit capacity 5\ntransition t {\n" +
                lines + "}\nend\n"));
}
std::string weight(const Net& net, std::size_t arc) {
  const Transition& t = net.transitions[0];
  return print_expr(net, &t, t.inputs.at(arc).weight.id);
}

}  // namespace

TEST_CASE("a net without capacities stays as it is") {
  const Net net = parse_net("lpn 1\nnet n\ntype unit ()\nplace p : unit start\nend\n");
  CHECK(print_net(lower(net)) == print_net(net));
}

TEST_CASE("what is put costs credits, what is taken gives them back") {
  const Net puts = lowered("  take x from p\n  delay 1\n  put q 2\n");
  REQUIRE(puts.places.size() == 3);
  CHECK(puts.places[2].credit_of == PlaceId{1});
  REQUIRE(puts.transitions[0].inputs.size() == 2);
  CHECK(puts.transitions[0].inputs[1].place == PlaceId{2});
  CHECK(weight(puts, 1) == "2");
  CHECK(puts.transitions[0].outputs.size() == 1);

  const Net takes = lowered("  take x from q weight 3\n  delay 1\n  put p\n");
  CHECK(takes.transitions[0].inputs.size() == 1);
  REQUIRE(takes.transitions[0].outputs.size() == 2);
  CHECK(takes.transitions[0].outputs[1].place == PlaceId{2});
}

TEST_CASE("only the difference of both counts") {
  const Net same = lowered("  take x from q\n  delay 1\n  put q\n");
  CHECK(same.transitions[0].inputs.size() == 1);
  CHECK(same.transitions[0].outputs.size() == 1);
  const Net more = lowered("  take x from q\n  delay 1\n  put q 4\n");
  REQUIRE(more.transitions[0].inputs.size() == 2);
  CHECK(weight(more, 1) == "3");
}

#include "lpn/viz/export.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "lpn/text/text.h"

using namespace lpn;
using namespace lpn::viz;

TEST_CASE("text in JSON: quotes and control characters, and nothing that ends a script element") {
  CHECK(escaped("a \"b\" \\ c") == "a \\\"b\\\" \\\\ c");
  CHECK(escaped("</script>\n") == "\\u003c/script>\\u000a");
  CHECK(in_script(R"({"a":"</script>"})") == R"({"a":"\u003c/script>"})");
}

TEST_CASE("tokens at time 0: the net's own and the marking's") {
  const Net net = parse_net(
      "lpn 1\nnet n\nparam slots = 3 in 0..8\ntype unit ()\n"
      "place pool : unit start initial slots\nplace other : unit\nend\n");
  Marking marking(net);
  marking.add(PlaceId{0}, {}, 2);
  CHECK(viz::initial_tokens(net, {4}, marking) == std::vector<std::uint64_t>{6, 0});
}

TEST_CASE("tokens that arrive later are none at time 0, and are told in the order of time") {
  const Net net =
      parse_net("lpn 1\nnet n\ntype unit ()\nplace a : unit start\nplace b : unit start\nend\n");
  Marking marking(net);
  marking.add(PlaceId{0}, {}, 2);
  marking.add(PlaceId{0}, {}, 1, 7);
  marking.add(PlaceId{1}, {}, 2, 5);
  CHECK(viz::initial_tokens(net, {}, marking) == std::vector<std::uint64_t>{2, 0});
  CHECK(viz::initial_tokens(net, {}, marking, true) == std::vector<std::uint64_t>{3, 2});
  Arrivals arrivals(marking);
  std::vector<std::pair<Time, PlaceId>> told;
  const auto keep = [&](Time time, PlaceId place) { told.emplace_back(time, place); };
  arrivals.tell(4, keep);
  CHECK(told.empty());
  arrivals.tell(5, keep);
  CHECK(told.size() == 2);
  arrivals.tell(100, keep);
  CHECK(told ==
        std::vector<std::pair<Time, PlaceId>>{{5, PlaceId{1}}, {5, PlaceId{1}}, {7, PlaceId{0}}});
}

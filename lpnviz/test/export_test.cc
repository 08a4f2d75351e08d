#include "lpn/viz/export.h"

#include <doctest/doctest.h>

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

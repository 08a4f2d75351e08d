#include "lpn/structure/exclusion.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lpn/text/text.h"

using namespace lpn;

namespace {

// Two transitions that take from `in`: the first with `more` arcs, the second with `others`.
std::vector<Exclusion> of(const std::string& more, const std::string& others) {
  const Net net = parse_net(
      "lpn 1\nnet n\ntype unit ()\ntype job (kind: 0..3)\nplace in : job start\n"
      "place left : unit initial 1\nplace right : unit\nplace out : unit done\n"
      "transition a {\n  take j from in" +
      more +
      "  delay 1\n  put out\n  put right\n}\n"
      "transition b {\n  take j from in" +
      others + "  delay 1\n  put out\n  put left\n}\nend\n");
  return exclusions(net, conflicts(net));
}

}  // namespace

TEST_CASE("exclusion: by guards, by tokens, or not at all") {
  const std::string turn_a = "\n  take l from left\n", turn_b = "\n  take r from right\n";
  CHECK(of(" when j.kind < 2\n", " when j.kind >= 2\n") == std::vector{Exclusion::kGuards});
  CHECK(of(turn_a, turn_b) == std::vector{Exclusion::kTokens});  // they take turns
  CHECK(of("\n", turn_b) == std::vector{Exclusion::kNone});
}

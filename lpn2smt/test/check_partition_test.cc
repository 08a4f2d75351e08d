#include "lpn/classes/check_partition.h"

#include <doctest/doctest.h>

#include <memory>

#include "lpn/classes/partition.h"
#include "lpn/smt/z3_feasibility.h"
#include "lpn/text/text.h"

using namespace lpn;

TEST_CASE("paths that leave inputs out, or share some: one such input is named") {
  const Net net = parse_net(R"(lpn 1
net router
type job (size: 0..9)
type unit ()
place in : job start
place out : unit done
transition short {
  take j from in when j.size < 4
  delay 2
  put out
}
transition long {
  take j from in when j.size >= 4
  delay 3 * j.size
  put out
}
end
)");
  InputSpace space;
  space.variables.params.push_back(
      {.name = "size", .value = 0, .range = Range{0, 9}, .source = {}});
  space.tokens.push_back(
      {.place = PlaceId{0}, .rows = {{space.variables.exprs.param(0)}}, .count = {}});
  PartitionOptions options;
  options.solver = [] { return std::make_unique<smt::Z3Feasibility>(); };
  const Partition whole = partition(net, space, options);
  REQUIRE(whole.classes.size() == 2);
  const PartitionCheck good = check_partition(whole, options);
  CHECK(good.overlap == Answer::kUnsat);
  CHECK(good.gap == Answer::kUnsat);
  CHECK(check_partition(whole, {}).gap == Answer::kUnknown);  // no solver

  for (const std::size_t left : {std::size_t{0}, std::size_t{1}}) {
    Partition part = whole;
    part.classes = {whole.classes[left]};
    const PartitionCheck check = check_partition(part, options);
    CHECK(check.overlap == Answer::kUnsat);
    CHECK(check.gap == Answer::kSat);
    REQUIRE(check.witness.size() == 1);
    CHECK_FALSE(follows(part.classes[0].paths.at(0), part.space, check.witness));
    CHECK(follows(whole.classes[1 - left].paths.at(0), part.space, check.witness));
  }
  Partition twice = whole;
  twice.classes = {whole.classes[0], whole.classes[1], whole.classes[0]};
  const PartitionCheck check = check_partition(twice, options);
  CHECK(check.overlap == Answer::kSat);
  REQUIRE(check.witness.size() == 1);
  CHECK(follows(whole.classes[0].paths.at(0), whole.space, check.witness));
}

// Every input of a space, run by either engine: counted by hand here.
#include "lpn/sim/every_input.h"

#include <doctest/doctest.h>

#include "folder.h"
#include "lpn/base/error.h"
#include "lpn/text/text.h"

namespace lpn::sim {
namespace {

// Each item works for v ticks, one after the other; a 9 never leaves.
Net machine() {
  return parse_net(R"(lpn 1
net machine
type item (v: 0..9)
place src : item start
place out : item done
transition work {
  take x from src when x.v != 9
  delay x.v * x.v
  servers 1
  put out (x.v)
}
end
)");
}

// Two items with values a in 1..3 and b in 1..`most`, where a < b.
InputSpace two_items(std::int64_t most) {
  InputSpace space;
  space.variables.name = "space";
  space.variables.params = {{"a", 0, Range{1, 3}, {}}, {"b", 0, Range{1, most}, {}}};
  ExprPool& pool = space.variables.exprs;
  const ExprId a = pool.param(0), b = pool.param(1);
  space.tokens = {{PlaceId{0}, {{a}, {b}}, std::nullopt}};
  space.constraints = {pool.binary(Op::kLt, a, b)};
  return space;
}

const Form kLatency = {{{Quantity::Kind::kLatency}, 1}};
const Form kFirst = {{{Quantity::Kind::kCompletion, 1}, -1}, {{Quantity::Kind::kOne}, 100}};

TEST_CASE("every input: extremes with the first input that has them") {
  const Net net = machine();
  const InputSpace space = two_items(4);
  check_space(net, space);
  for (const unsigned threads : {1u, 3u}) {
    const EveryInput found =
        run_every_input(net, space, {kLatency, kFirst, {{{Quantity::Kind::kCommits, 0}, 1}}},
                        {.threads = threads, .go_on = {}});
    CHECK(found.complete);
    CHECK(found.assignments == 12);
    CHECK(found.inputs == 6);  // (1, 2..4), (2, 3..4), (3, 4)
    REQUIRE(found.largest[0]);
    CHECK(found.largest[0]->value == 9 + 16);
    CHECK(found.largest[0]->input == Assignment{3, 4});
    CHECK(found.largest[1]->value == 100 - 1);  // the least completion of the first
    CHECK(found.largest[1]->input == Assignment{1, 2});
    CHECK(found.largest[2]->value == 2);
    CHECK_FALSE((found.stalled || found.failed || found.endless));
  }
}

TEST_CASE("every input: those that stall have no value and are named") {
  const Net net = machine();
  const EveryInput found = run_every_input(net, two_items(9), {kLatency});
  CHECK(found.largest[0]->value == 9 + 64);
  REQUIRE(found.stalled);
  CHECK(*found.stalled == Assignment{1, 9});
  CHECK(found.silent == 0);
}

TEST_CASE("every input: compiled, the same") {
  const Folder folder;
  const Net net = machine();
  CompileOptions options;
  options.flags = "-O0";
  options.cache = folder / "cache";
  const Library library = Library::build(net, {}, options);
  const InputSpace space = two_items(9);
  const EveryInput defined = run_every_input(net, space, {kLatency});
  const EveryInput compiled =
      run_every_input(net, space, {kLatency}, {.library = &library, .go_on = {}});
  CHECK(compiled.largest[0]->value == defined.largest[0]->value);
  CHECK(compiled.largest[0]->input == defined.largest[0]->input);
  CHECK(compiled.stalled == defined.stalled);
  CHECK(compiled.inputs == defined.inputs);
}

TEST_CASE("every input: a part at a time, and stopped") {
  const Net net = machine();
  const InputSpace space = two_items(4);
  const EveryInput tail = run_every_input(net, space, {kLatency}, {.first = 10, .go_on = {}});
  CHECK((tail.complete && tail.assignments == 2 && tail.inputs == 1));
  const EveryInput head = run_every_input(net, space, {kLatency}, {.most = 10, .go_on = {}});
  CHECK((head.assignments == 10 && head.inputs == 5));
  const InputSpace large = two_items(8'000'000);
  const EveryInput stopped = run_every_input(
      net, large, {kLatency}, {.threads = 1, .go_on = [](std::uint64_t) { return false; }});
  CHECK_FALSE(stopped.complete);
}

TEST_CASE("every input: one that never ends is named, after so many commits") {
  const Net net = parse_net(R"(lpn 1
net ticking
type unit ()
type item (v: 0..1)
place src : item start
place tick : unit initial 1
place out : unit done
transition again {
  take y from src weight 0 need 1 when y.v == 1
  take x from tick
  delay 1
  put tick
}
transition once {
  take x from src when x.v == 0
  delay 1
  servers 1
  put out
}
end
)");
  InputSpace space;
  space.variables.name = "space";
  space.variables.params = {{"v", 0, Range{0, 1}, {}}};
  space.tokens = {{PlaceId{0}, {{space.variables.exprs.param(0)}}, std::nullopt}};
  const EveryInput found =
      run_every_input(net, space, {kLatency}, {.most_commits = 1000, .go_on = {}});
  CHECK(found.largest[0]->value == 1);
  CHECK(found.endless == Assignment{1});
  CHECK_FALSE(found.stalled);
}

TEST_CASE(
    "every input: one that grows without end within an instant is stopped, by either engine") {
  const Net net = parse_net(R"(lpn 1
net growing
type item (v: 0..1)
type unit ()
place src : item start
place seed : unit
place out : item done
transition plant {
  take x from src
  delay 1
  put seed x.v
  put out (x.v)
}
transition grow {
  take s from seed
  delay 0
  put seed 2
}
end
)");
  InputSpace space;
  space.variables.name = "space";
  space.variables.params = {{"v", 0, Range{0, 1}, {}}};
  space.tokens = {{PlaceId{0}, {{space.variables.exprs.param(0)}}, std::nullopt}};
  const Folder folder;
  CompileOptions options;
  options.flags = "-O0";
  options.cache = folder / "cache";
  const Library library = Library::build(net, {}, options);
  for (const Library* one : {static_cast<const Library*>(nullptr), &library}) {
    const EveryInput found = run_every_input(net, space, {kLatency}, {.library = one, .go_on = {}});
    CHECK(found.largest[0]->input == Assignment{0});
    CHECK(found.endless == Assignment{1});
  }
}

}  // namespace
}  // namespace lpn::sim

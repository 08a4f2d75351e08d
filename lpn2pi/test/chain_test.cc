#include "lpn/pi/chain.h"

#include <doctest/doctest.h>

#include <vector>

#include "lpn/classes/timing.h"

using namespace lpn;
using namespace lpn::pi;

namespace {

// One variable x; a job that is ready after x waits for the later of 5 and that, works 2 x, and is
// taken at a clock's edge.
struct Sample {
  InputSpace space;
  Timing timing;
  InstantId ready{}, start{}, end{}, edge{};
  ExprId x{}, twice{}, five{}, zero{};

  Sample() {
    space.variables.params.push_back({.name = "x", .value = 0, .range = Range{0, 9}, .source = {}});
    ExprPool& pool = space.variables.exprs;
    x = pool.param(0);
    twice = pool.binary(Op::kMul, pool.constant(2), x);
    five = pool.constant(5);
    zero = pool.constant(0);
    ready = timing.add({.kind = Timing::Kind::kMax, .after = {{kTimeZero, x}}});
    start = timing.add({.kind = Timing::Kind::kMax, .after = {{ready, zero}, {kTimeZero, five}}});
    end = timing.add({.kind = Timing::Kind::kMax, .after = {{start, twice}}});
    edge = timing.add({.kind = Timing::Kind::kEdge, .after = {{end, zero}}, .period = 10});
  }
  std::vector<Link> chain(std::int64_t value, InstantId target) const {
    return critical_chain(timing, space, {value}, target);
  }
};

}  // namespace

TEST_CASE("chain: from time 0, by whatever is waited for") {
  const Sample s;
  const std::vector<Link> late = s.chain(7, s.end);
  REQUIRE(late.size() == 3);
  CHECK(late[0].from == kTimeZero);
  CHECK(late[0].to == s.ready);
  CHECK(late[0].delay == s.x);
  CHECK(late[1].to == s.start);
  CHECK(late[2].to == s.end);
  CHECK(late[2].delay == s.twice);
  // A small job is ready before 5.
  const std::vector<Link> early = s.chain(1, s.end);
  REQUIRE(early.size() == 2);
  CHECK(early[0].from == kTimeZero);
  CHECK(early[0].to == s.start);
  CHECK(early[0].delay == s.five);
}

TEST_CASE("chain: waiting for an edge is extra") {
  const Sample s;
  const std::vector<Link> chain = s.chain(7, s.edge);  // 21, taken at 30
  REQUIRE(chain.size() == 4);
  CHECK(chain[3].to == s.edge);
  CHECK(chain[3].extra == 9);
  CHECK(chain[2].extra == 0);
  CHECK(s.chain(0, kTimeZero).empty());
}

TEST_CASE("chain: a gate lets pass, or opens later") {
  Sample s;
  // Closed from 3 to 8 for what starts at x.
  const InstantId closes = s.timing.add(
      {.kind = Timing::Kind::kMax, .after = {{kTimeZero, s.space.variables.exprs.constant(3)}}});
  const InstantId opens = s.timing.add(
      {.kind = Timing::Kind::kMax, .after = {{kTimeZero, s.space.variables.exprs.constant(8)}}});
  const InstantId gate =
      s.timing.add({.kind = Timing::Kind::kGate,
                    .after = {{s.ready, s.zero}, {closes, s.zero}, {opens, s.zero}}});
  CHECK(s.chain(2, gate).back().from == s.ready);
  CHECK(s.chain(4, gate).back().from == opens);
  CHECK(s.chain(9, gate).back().from == s.ready);
}

TEST_CASE("chain: whether all that is waited for is delays") {
  Sample s;
  CHECK(!only_waits(s.timing));  // a clock
  Timing plain;
  plain.add({.kind = Timing::Kind::kMax, .after = {{kTimeZero, s.x}}});
  CHECK(only_waits(plain));
}

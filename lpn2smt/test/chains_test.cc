#include "chains.h"

#include <doctest/doctest.h>

#include <vector>

#include "by_hand.h"

using namespace lpn;
using namespace lpn::smt;

TEST_CASE("chains: the longest, and what is known of one by its arcs") {
  ByHand s;
  const std::vector<ExprId> x = s.variables(2, 0, 9);
  const InstantId first = s.latest({{kTimeZero, x[0]}, {kTimeZero, s.number(4)}});
  s.path.latency = s.latest({{first, x[1]}, {first, s.number(2)}});
  PathUnits p(s.space, s.path, measure_of(s.target(), false));
  Chains chains(p);
  CHECK(chains.read().size() == 2);
  const Chains::Chain longest = chains.longest(s.path.latency, Choice{9, 1});
  CHECK(longest.arcs == std::vector<std::uint32_t>{1, 0});  // from the instant back: 2, then x0
  CHECK(longest.constant == 2);
  CHECK(longest.functions.size() == 1);
  CHECK(chains.of(s.path.latency, {0, 1}).constant == 4);
  const std::size_t number = chains.keep(longest);
  CHECK(chains.keep(longest) == number);
  CHECK(chains.number({1, 0}) == number);
  CHECK(chains.kept(number).constant == 2);
}

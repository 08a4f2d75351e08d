#include "lpn/smt/measured_path.h"

#include <doctest/doctest.h>

#include <vector>

#include "lpn/classes/partition.h"
#include "small_net.h"

using namespace lpn;
using namespace lpn::smt;

TEST_CASE("measured paths: instants after others, longer times, fewer inputs") {
  SmallNet small;
  Partition parts = small.parts();
  const Path& only = parts.classes.at(0).paths.at(0);
  ExprPool& pool = parts.space.variables.exprs;
  MeasuredPath path(small.net, parts.space, only);
  const InstantId at = path.at(pool.constant(20));
  CHECK(evaluate(path.path().timing, parts.space, {2, 4})[static_cast<std::size_t>(at)] == 20);

  Path longer = scaled(parts.space, only, 10);
  const InstantId after = later(longer, longer.latency, pool.constant(1));
  const std::vector<Time> times = evaluate(longer.timing, parts.space, {2, 4});
  CHECK(times[static_cast<std::size_t>(longer.latency)] == 100);
  CHECK(times[static_cast<std::size_t>(after)] == 101);

  const Path fewer = restricted(only, {pool.binary(Op::kLt, pool.param(0), pool.constant(2))});
  CHECK(follows(only, parts.space, {2, 4}));
  CHECK(!follows(fewer, parts.space, {2, 4}));
  CHECK(follows(fewer, parts.space, {1, 4}));
}

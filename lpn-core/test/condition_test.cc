#include "lpn/run/condition.h"

#include <doctest/doctest.h>

#include <string>

#include "lpn/base/error.h"
#include "lpn/run/interp.h"
#include "lpn/text/text.h"

using namespace lpn;

namespace {

// A worker that takes 3 ticks a job.
Net worker() {
  return parse_net(
      "lpn 1\nnet n\nparam most = 2\ntype unit ()\n"
      "place in : unit start initial 4\nplace out : unit done\n"
      "transition work {\n  take x from in\n  delay 3\n  servers 1\n  put out\n}\nend\n");
}

// out.count >= `n`
Condition at_least(Net& net, std::int64_t n) {
  ExprPool& pool = net.exprs;
  return {{PlaceId{1}}, pool.binary(Op::kLe, pool.constant(n), pool.occupancy(0))};
}

RunResult run(const Net& net, const Condition& until, Time limit = kForever) {
  InterpOptions options;
  options.until = until;
  return Interp(net, {2}, Marking(net), options).run(limit);
}

std::string refused(const Net& net, const Condition& condition) {
  try {
    require_condition(net, condition);
  } catch (const Error& e) {
    CHECK(e.code() == "E-condition");
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a run ends with the first instant after which a condition holds") {
  Net net = worker();
  for (std::int64_t n = 1; n <= 4; ++n) {
    const RunResult result = run(net, at_least(net, n));
    CHECK(result.ending == Ending::kCondition);
    CHECK(result.last_commit == 3 * n);
    CHECK(result.commits == static_cast<std::uint64_t>(n));
    CHECK_FALSE(result.stalled);
  }
  CHECK(run(net, at_least(net, 5)).ending == Ending::kQuiet);
  CHECK(run(net, at_least(net, 2), 5).ending == Ending::kLimit);
  CHECK(run(net, at_least(net, 0)).commits == 0);  // instant 0 counts
}

TEST_CASE("such a run only repeats its answer") {
  Net net = worker();
  InterpOptions options;
  options.until = at_least(net, 2);
  Interp interp(net, {2}, Marking(net), options);
  CHECK(interp.run(4).ending == Ending::kLimit);
  const RunResult result = interp.run();
  CHECK(result.ending == Ending::kCondition);
  CHECK(interp.now() == 6);
  CHECK(interp.run() == result);
}

TEST_CASE("conditions read parameters and free tokens, and may have no value") {
  Net net = worker();
  ExprPool& pool = net.exprs;
  // in.free == most: one is in the worker's hands
  const Condition free{{PlaceId{0}}, pool.binary(Op::kEq, pool.free(0), pool.param(0))};
  CHECK(run(net, free).last_commit == 3);
  const ExprId inverse = pool.binary(Op::kFloorDiv, pool.constant(4), pool.occupancy(0));
  const Condition faulty{{PlaceId{0}}, pool.binary(Op::kLt, pool.constant(4), inverse)};
  CHECK_THROWS_WITH(run(net, faulty),
                    "net 'n': the condition cannot be computed: divides by 0; a divisor must be "
                    "positive: guard it with select or max(x, 1)");
}

TEST_CASE("what is no condition is refused") {
  Net net = worker();
  ExprPool& pool = net.exprs;
  const std::string n = "net 'n': this is no condition over its places: ";
  CHECK(refused(net, at_least(net, 1)).empty());
  CHECK(refused(net, {{}, static_cast<ExprId>(pool.size())}) == n + "it has no formula");
  CHECK(refused(net, {{PlaceId{0}}, pool.occupancy(0)}) == n + "its formula is a number");
  CHECK(refused(net, {{PlaceId{7}}, at_least(net, 1).holds}) == n + "there is no such place");
  CHECK(refused(net, {{}, at_least(net, 1).holds}) == n + "it reads a place that it does not name");
  const ExprId index = pool.binary(Op::kLt, pool.index(), pool.constant(3));
  CHECK(refused(net, {{}, index}) == n + "it reads tokens");
  const ExprId param = pool.binary(Op::kLt, pool.param(9), pool.constant(3));
  CHECK(refused(net, {{}, param}) == n + "it reads a parameter that does not exist");
}

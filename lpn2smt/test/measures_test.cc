#include "lpn/smt/measures.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/classes/partition.h"
#include "lpn/expr/eval.h"
#include "lpn/smt/measured_path.h"
#include "small_net.h"

using namespace lpn;
using namespace lpn::smt;

namespace {

// Ticks of a measure for an input: the first job's size, then the second's.
std::int64_t ticks(const MeasuredPath& path, const Measure& measure, const Assignment& input) {
  return value(measure, evaluate(path.path().timing, path.space(), input));
}

}  // namespace

TEST_CASE("measures: what can be asked of a path beside its latency") {
  SmallNet small;
  Partition parts = small.parts();
  const Path& only = parts.classes.at(0).paths.at(0);
  MeasuredPath path(small.net, parts.space, only);
  Measures& of = path.measures();
  const TransitionId fetch = *small.net.find_transition("fetch");
  const TransitionId work = *small.net.find_transition("work");
  // Fetched after 3 and 6; each is worked on for its size.
  const Measure latency = of.latency(), busy = of.busy(work);
  CHECK(ticks(path, latency, {2, 4}) == 6 + 4);
  CHECK(ticks(path, latency, {5, 4}) == 3 + 5 + 4);
  CHECK(ticks(path, busy, {2, 4}) == 6);
  CHECK(ticks(path, of.busy(fetch), {2, 4}) == 6);
  const Measure waits = of.stall(work, *small.net.find_place("ready"));
  CHECK(ticks(path, waits, {2, 4}) == 3 + 1);
  CHECK(ticks(path, waits, {5, 4}) == 3);
  CHECK(ticks(path, of.completion(1), {5, 4}) == 8);
  CHECK(ticks(path, of.completion(2), {5, 4}) == 12);
  CHECK(of.commits(work).constant == 2);
  CHECK_THROWS_WITH_AS(of.completion(3), "small: there is no done token 3: 2 are produced", Error);
  CHECK_THROWS_WITH_AS(of.stall(work, *small.net.find_place("in")),
                       doctest::Contains("work never waits for in"), Error);
}

namespace {

// A token of `a` and one of `b`, each held up for as long as it is large.
struct TwoArms {
  Net net;
  InputSpace space;  // from 1 to 6 each

  explicit TwoArms(const std::string& end)
      : net(parse_net(R"(lpn 1
net arms
type unit ()
type job (size: 0..9)
place a : job start
place b : job start
place left : unit
place right : unit
place out : unit done
transition hold_a {
  take x from a
  delay x.size
  servers 1
  put left
}
)" + end)) {
    for (const char* name : {"a", "b"}) {
      const auto k = static_cast<std::uint32_t>(space.variables.params.size());
      space.variables.params.push_back(
          {.name = name, .value = 1, .range = Range{1, 6}, .source = {}});
      space.tokens.push_back({.place = *net.find_place(name),
                              .rows = {{space.variables.exprs.param(k)}},
                              .count = {}});
    }
  }
  // What `use` waits for tokens of `place`.
  std::int64_t stall(const char* place, const Assignment& input) const {
    PartitionOptions options;
    options.solver = [] { return std::make_unique<Z3Feasibility>(); };
    Partition parts = partition(net, space, options);
    for (const auto& each : parts.classes) {
      for (const Path& one : each.paths) {
        const auto at = evaluate(one.timing, parts.space, input);
        const auto when = [&](InstantId id) { return at[static_cast<std::size_t>(id)]; };
        const bool taken =
            std::all_of(one.conditions.begin(), one.conditions.end(),
                        [&](ExprId condition) {
                          return eval_params(parts.space.variables.exprs, condition, input) != 0;
                        }) &&
            std::all_of(one.orders.begin(), one.orders.end(), [&](const Order& order) {
              return when(order.before) + (order.strict ? 1 : 0) <= when(order.after);
            });
        if (!taken) continue;
        MeasuredPath path(net, parts.space, one);
        return ticks(path,
                     path.measures().stall(*net.find_transition("use"), *net.find_place(place)),
                     input);
      }
    }
    throw std::runtime_error("no path has the input");
  }
};

}  // namespace

TEST_CASE("measures: who waits for two places waits for one of them beyond the other") {
  const TwoArms arms(R"(transition hold_b {
  take x from b
  delay x.size
  servers 1
  put right
}
transition use {
  take l from left
  take r from right
  delay 2
  put out
}
end
)");
  CHECK(arms.stall("left", {5, 2}) == 3);
  CHECK(arms.stall("left", {2, 5}) == 0);
  CHECK(arms.stall("right", {2, 5}) == 3);
}

TEST_CASE("measures: of tokens whose order no input shares, whichever comes first") {
  const TwoArms arms(R"(transition hold_b {
  take x from b
  delay x.size
  servers 1
  put left
}
transition use {
  take l from left
  delay 2
  servers 1
  put out
}
end
)");
  CHECK(arms.stall("left", {5, 1}) == 1 + 2);  // busy from 1 to 3
  CHECK(arms.stall("left", {2, 3}) == 2);
  CHECK(arms.stall("left", {6, 6}) == 6);
}

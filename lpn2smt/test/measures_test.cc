#include "lpn/smt/measures.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/classes/partition.h"
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

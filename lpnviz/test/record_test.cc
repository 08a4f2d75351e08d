#include "lpn/viz/record.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lpn/base/error.h"
#include "queue_net.h"

using namespace lpn;
using namespace lpn::viz;

namespace {

// The numbers of a segment or an overview: LEB128 (lpnviz/README.md).
std::vector<std::uint64_t> numbers(const std::string& bytes) {
  std::vector<std::uint64_t> all;
  std::uint64_t value = 0;
  int shift = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    all.push_back(value);
    value = 0, shift = 0;
  }
  return all;
}

}  // namespace

TEST_CASE("record: a run in one segment, and its overview") {
  const QueueNet queue;
  Record record(queue.net, {}, queue.marking);
  const Time end = queue.run(&record);
  CHECK(end == 5);
  record.finish(end);
  CHECK(record.index() ==
        R"({"format":1,"end":5,"firings":4,"segments":[[0,4]],"varying":[[[],[]],[[],[]]]})");
  REQUIRE(record.segments().size() == 1);
  // No firing reaches into it; of `work`, from number 0 on, 2 start: at 0 and 3 later, of 3 cycles
  // and (zigzag) 1 less.
  const std::vector<std::uint64_t> segment = numbers(record.segments()[0]);
  CHECK(std::vector(segment.begin(), segment.begin() + 7) ==
        std::vector<std::uint64_t>{0, 0, 2, 0, 3, 6, 1});
  // One cycle a bin: `work` is busy in each, and starts at 0 and 3.
  const std::vector<std::uint64_t> overview = numbers(record.overview());
  CHECK(std::vector(overview.begin(), overview.begin() + 2) == std::vector<std::uint64_t>{1, 6});
  CHECK(std::vector(overview.begin() + 2, overview.begin() + 9) ==
        std::vector<std::uint64_t>{1, 1, 1, 1, 1, 1, 0});
  CHECK(std::vector(overview.begin() + 9, overview.begin() + 16) ==
        std::vector<std::uint64_t>{1, 1, 0, 0, 1, 0, 0});
}

TEST_CASE("record: segments of few entries begin with what is so") {
  const QueueNet queue;
  Record record(queue.net, {}, queue.marking, {.segment = 1});
  record.finish(queue.run(&record));
  CHECK(record.segments().size() == 3);  // the instants 0, 3 and 5
  CHECK(record.index().find(R"("segments":[[0,1],[3,2],[5,1]])") != std::string::npos);
}

TEST_CASE("record: what a page cannot count is refused") {
  const QueueNet queue;
  Record record(queue.net, {}, queue.marking, {.bins = 1024});
  queue.run(&record);
  CHECK_THROWS_WITH_AS(record.finish((Time{1} << 53) + 1), doctest::Contains("counts to 2^53"),
                       Error);
}

TEST_CASE("record: instants near the last one are refused as they come") {
  const QueueNet queue;
  const std::vector<std::int64_t> job{3};
  Record record(queue.net, {}, queue.marking);
  CHECK_THROWS_WITH_AS(record.on_arrival(kLastInstant, PlaceId{0}, job),
                       doctest::Contains("counts to 2^53"), Error);
  CHECK_THROWS_WITH_AS(Record(queue.net, {}, queue.marking).finish(kLastInstant),
                       doctest::Contains("counts to 2^53"), Error);
}

TEST_CASE("record: a firing that the run's end cuts is refused where a page cannot say it") {
  const QueueNet queue;
  const Time last = Time{1} << 53;
  const std::vector<std::uint64_t> one{1}, many{(std::uint64_t{1} << 53) + 1};
  Record record(queue.net, {}, queue.marking, {.values = 0});
  record.on_start(
      {.transition = TransitionId{0}, .start = 1, .due = last, .taken = one, .produced = one});
  CHECK_THROWS_WITH_AS(
      record.on_start({.transition = TransitionId{0},
                       .start = 2,
                       .due = last + 1,
                       .taken = one,
                       .produced = one}),
      "transition 'work' of net 'queue' starts in cycle 2 what ends in cycle 9007199254740993, and "
      "a "
      "page counts to 2^53: give it less, or end the run before that cycle (--limit)",
      Error);
  CHECK_THROWS_WITH_AS(
      record.on_start(
          {.transition = TransitionId{0}, .start = 3, .due = 4, .taken = one, .produced = many}),
      doctest::Contains("in cycle 3 what puts more than 2^53 tokens"), Error);
}

TEST_CASE("record: sums of tokens over time beyond 64 bits are refused") {
  const QueueNet queue;
  const std::vector<std::int64_t> job{3};
  Record record(queue.net, {}, queue.marking, {.bins = 1024, .values = 0});
  for (int k = 0; k < (1 << 20) + 1; ++k) record.on_arrival(0, PlaceId{0}, job);
  CHECK_THROWS_WITH_AS(record.finish(Time{1} << 53), doctest::Contains("place 'in'"), Error);
}

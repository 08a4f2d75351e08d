#include "lpn/viz/ticks.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace lpn;
using namespace lpn::viz;

namespace {

Net net_of(std::int64_t frequency) {
  Net net;
  net.frequency = frequency;
  return net;
}

std::string dump_clock(std::int64_t frequency) {
  const DumpClock clock(net_of(frequency), 1000);
  return clock.timescale() + "; " + clock.tick() + "; " + std::to_string(clock(1000));
}

}  // namespace

TEST_CASE("dump clock: the coarsest unit of which a tick is a whole number") {
  CHECK(dump_clock(1) == "1 s; 1 s; 1000");
  CHECK(dump_clock(20) == "10 ms; 50 ms; 5000");
  CHECK(dump_clock(100'000'000) == "10 ns; 10 ns; 1000");
  CHECK(dump_clock(250'000'000) == "1 ns; 4 ns; 4000");
  CHECK(dump_clock(1'600'000'000) == "1 ps; 625 ps; 625000");
  CHECK(dump_clock(1'000'000'000'000'000) == "1 fs; 1 fs; 1000");
}

TEST_CASE("dump clock: a tick that is no whole number of femtoseconds") {
  CHECK(dump_clock(300'000'000) == "1 fs; 1/300000000 s, times rounded down to 1 fs; 3333333333");
  const DumpClock clock(net_of(300'000'000), 3);
  CHECK(clock(1) == 3333333);
  CHECK(clock(2) == 6666666);
  CHECK(clock(3) == 10000000);  // no error adds up
}

TEST_CASE("dump clock: without a frequency, or with times beyond 63 bits, 1 ns a tick") {
  const DumpClock plain(Net{}, 7);
  CHECK(plain.timescale() == "1 ns");
  CHECK(plain(7) == 7);
  const Time most = INT64_MAX / 625;
  CHECK(DumpClock(net_of(1'600'000'000), most).tick() == "625 ps");
  const DumpClock far(net_of(1'600'000'000), most + 1);
  CHECK(far.tick() == "1 ns");
  CHECK(far.timescale() == "1 ns");
  CHECK(far(most + 1) == most + 1);
  CHECK(DumpClock(net_of(1), INT64_MAX)(INT64_MAX) == INT64_MAX);
  CHECK(DumpClock(net_of(3), INT64_MAX).tick() == "1 ns");
}

TEST_CASE("timeline clock: microseconds of a net up to 1 GHz, else 1 us a tick") {
  const TimelineClock slow(net_of(250'000'000));
  CHECK(slow.tick() == "0.004 us");
  CHECK(slow.text(0) == "0");
  CHECK(slow.text(1) == "0.004");
  CHECK(slow.text(25) == "0.1");
  CHECK(slow.text(250) == "1");
  CHECK(slow.text(262) == "1.048");
  CHECK(slow.text(262, 525) == "1.052");
  CHECK(TimelineClock(net_of(1)).text(3) == "3000000");
  CHECK(TimelineClock(net_of(1)).text(INT64_MAX) == "9223372036854775807000000");
  const TimelineClock thirds(net_of(300'000'000));
  CHECK(thirds.tick() == "1/300000000 s, rounded down to 1 ns");
  CHECK(thirds.text(2) == "0.006");
  CHECK(thirds.text(3) == "0.01");
  CHECK(thirds.text(2, 3) == "0.004");  // begin and duration end where the next begins
  CHECK(TimelineClock(net_of(1'000'000'000)).text(1) == "0.001");
  for (const Net& net : {Net{}, net_of(1'000'000'001)}) {
    CHECK(TimelineClock(net).tick() == "1 us");
    CHECK(TimelineClock(net).text(17) == "17");
  }
}

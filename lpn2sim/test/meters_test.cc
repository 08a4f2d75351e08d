// Statistics that are added up while a run goes on.

#include "lpnrt/meters.h"

#include <doctest/doctest.h>

namespace lpnrt {
namespace {

TEST_CASE(
    "a transition is busy from its first start to its last commit, and waits for one reason") {
  TransitionMeter meter;
  meter.observe(kToken, 0);
  meter.start(10);
  meter.start(12);
  meter.observe(kServer, 12);
  meter.commit(15);
  meter.commit(20);
  meter.observe(kToken, 20);
  CHECK(meter.commits == 2);
  CHECK(meter.busy == 10);
  CHECK(meter.waited[kToken] == 12);
  CHECK(meter.waited[kServer] == 8);
}

TEST_CASE("a place adds up its tokens over time") {
  PlaceMeter meter;
  meter.before(2, 10);  // two tokens until 10
  meter.before(5, 12);  // then five until 12
  CHECK(static_cast<i64>(meter.weighted) == 30);
}

}  // namespace
}  // namespace lpnrt

// Statistics that are added up while a run goes on.

#include "lpnrt/meters.h"

#include <doctest/doctest.h>

namespace lpnrt {
namespace {

TEST_CASE(
    "a transition is busy from its first start to its last commit, and waits for one reason") {
  TransitionMeter meter;
  meter.observe(kToken, 0, 0);
  meter.start(10);
  meter.start(12);
  meter.observe(kServer, 12, 0);
  meter.commit(15);
  meter.commit(20);
  meter.observe(kToken, 20, 20);
  CHECK(meter.commits == 2);
  CHECK(meter.busy == 10);
  CHECK(meter.waited[kToken] == 12);
  CHECK(meter.waited[kServer] == 8);
}

TEST_CASE("a place adds up its tokens over time") {
  PlaceMeter meter;
  meter.before(2, 10, 10);  // two tokens until 10
  meter.before(5, 12, 10);  // then five until 12
  CHECK(static_cast<i64>(meter.weighted) == 30);
}

TEST_CASE("what arrives after the last commit changes nothing before it") {
  TransitionMeter transition;
  PlaceMeter place;
  transition.observe(kToken, 0, 0);
  place.before(1, 4, 4);  // one token until the commit at 4
  place.before(2, 9, 4);  // two until the arrivals at 9 and 20
  place.before(3, 20, 4);
  transition.observe(kGuard, 9, 4);
  transition.observe(kCredit, 20, 4);
  i64 waited[8];
  transition.waited_until(4, waited);
  CHECK(waited[kToken] == 4);
  CHECK(waited[kGuard] == 0);
  CHECK(static_cast<i64>(place.weighted_until(4, 4)) == 4);
  CHECK(static_cast<i64>(place.weighted_until(30, 4)) == 4 + 2 * 5 + 3 * 11 + 4 * 10);
  transition.waited_until(30, waited);
  CHECK(waited[kToken] == 9);
  CHECK(waited[kGuard] == 11);
  CHECK(waited[kCredit] == 10);
}

}  // namespace
}  // namespace lpnrt

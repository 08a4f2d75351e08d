// Statistics that are added up while a run goes on.

#include "lpnrt/meters.h"

#include <doctest/doctest.h>

namespace lpnrt {
namespace {

TEST_CASE(
    "a transition is busy from its first start to its last commit, and waits for one reason") {
  TransitionMeter meter;
  meter.turn(kToken, 0);
  meter.start(10);
  meter.start(12);
  meter.turn(kServer, 12);
  CHECK(meter.busy_until(14) == 4);
  meter.commit(15);
  meter.commit(20);
  meter.turn(kToken, 20);
  CHECK(meter.commits == 2);
  CHECK(meter.busy_until(25) == 10);
  CHECK(static_cast<i64>(meter.instants) == 35);
  i64 waited[8];
  meter.waited_until(25, waited);
  CHECK(waited[kToken] == 12 + 5);
  CHECK(waited[kServer] == 8);
}

TEST_CASE("with one server a transition is busy while its firing is in flight") {
  TransitionMeter meter;
  meter.start_alone(10, 14);
  CHECK(meter.busy_until(13) == 3);
  meter.commit_at_once(14);
  CHECK(meter.busy_until(20) == 4);
  meter.start_alone(20, 30);
  CHECK(meter.busy_until(21) == 5);
}

TEST_CASE("what kept a start waiting is known from when each came") {
  // It started at 10; its tokens came at 15, its slot at 12: what is left is waited for a server.
  TransitionMeter meter;
  meter.begun = 10;
  meter.waited[kServer] = 3;
  i64 waited[8];
  const auto left = [&](bool token, bool slot, i64 end) {
    WaitsLeft of;
    of.begin(meter, end, waited);
    if (of.there(kToken, token, 15) && of.there(kCredit, slot, 12)) of.rest(kServer);
    of.first_is(kToken);
  };
  left(true, true, 20);
  CHECK(waited[kToken] == 12);
  CHECK(waited[kCredit] == 0);
  CHECK(waited[kServer] == 3 + 5);
  left(true, false, 20);
  CHECK(waited[kCredit] == 5);
  CHECK(waited[kServer] == 3);
  left(false, true, 20);
  CHECK(waited[kToken] == 17);
  left(true, true, 14);  // what came after the end did not come
  CHECK(waited[kToken] == 11);
  CHECK(waited[kServer] == 3);
}

TEST_CASE("a place adds up its tokens over time") {
  PlaceMeter meter;
  meter.change(2, 0);   // two tokens until 10
  meter.change(3, 10);  // then five until 12
  CHECK(static_cast<i64>(meter.weighted_until(12, 5)) == 30);
}

TEST_CASE("what arrives after the last commit changes nothing before it") {
  TransitionMeter transition;
  PlaceMeter place;
  transition.turn(kToken, 0);
  place.change(1, 0);  // one token until the commit at 4
  place.change(1, 4);
  place.change_outside(1, 2, 9, 4);  // two until the arrivals at 9 and 20
  place.change_outside(1, 3, 20, 4);
  transition.turn_late(kGuard, 9, 4);
  transition.turn_late(kCredit, 20, 4);
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

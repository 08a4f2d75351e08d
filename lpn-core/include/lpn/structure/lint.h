// What is legal but probably not meant: the warnings of `lpn check`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lpn/net/net.h"

namespace lpn {

// Same shape as a Violation. Codes, each with an entry in docs/errors.md:
//   W-unbounded     a delay that nothing bounds: any number of firings at once
//   W-overtake      unbounded servers, a delay that varies, not ordered
//   W-occupancy     a guard on an occupancy that its own starts do not change
//   W-never-filled  no producer, no initial token, not `start`
//   W-never-drained no consumer, neither `sink` nor `done`
//   W-dead          a transition that can never start
//   W-divisor       a divisor that is not provably positive
//   W-half-rate     capacity 1 between two delays: one token per sum of both
//   W-unused        a place without arcs, a parameter that nothing reads
struct Warning {
  std::string code;
  std::string where;  // "transition 'huffman'", "place 'ready'"
  Source source;
  std::string message;  // complete, with the line
  std::optional<PlaceId> place;
  std::optional<TransitionId> transition;
};

// In order of the net's own parts, transitions first. REQUIRES verify(net).empty().
std::vector<Warning> lint(const Net& net);

}  // namespace lpn

// Synchronous and cyclo-static dataflow graphs (SDF, CSDF).
//
// An actor fires in phases that take turns; a firing takes its tokens at its start and puts others
// when its time is over. Its phases may begin with some that come once. Any number of firings of an
// actor overlap unless a channel from the actor to itself says otherwise. Tokens of a channel are
// numbered by the firings that put them, and taken in that order: a firing waits for the very ones
// whose tokens it takes, also where a later one ends earlier.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lpn/pi/cycles.h"

namespace lpn::pi {

// Per phase: those that come once, then those that recur (at least one).
struct Phases {
  std::vector<std::int64_t> once, recurring;
};

struct Actor {
  std::string name;
  Phases times;  // >= 0
};

struct Channel {
  std::string name;
  std::size_t from = 0, to = 0;  // actors
  Phases put, taken;             // tokens, >= 0; as many phases as the actors have times
  std::int64_t tokens = 0;       // at the start
  Phases needed;  // tokens that must be there, >= taken; none: those taken. Where firings of `to`
                  // start in order, one phase or one at a time.
  Phases times;   // from the start of a firing that puts to its tokens; none: the actor's times
};

struct Dataflow {
  std::vector<Actor> actors;
  std::vector<Channel> channels;
  const char* channels_are = "channel";  // in messages
};

// Per actor, the cycles of its phases in one iteration: the fewest, more than none, that return all
// channels of its connected part to their tokens. Throws Error "E-dataflow", naming the channel,
// when the rates are inconsistent, and for numbers that leave 62 bits.
std::vector<std::int64_t> repetitions(const Dataflow& graph);

// How an iteration can recur in the long run.
struct Pace {
  enum class Kind { kPeriodic, kDeadlocked, kUnbounded };
  Kind kind = Kind::kUnbounded;
  Ratio period{0, 1};  // time per iteration of the fastest schedule; kUnbounded: nothing bounds it
  // A loop of firings that waits so long for itself, or for ever: whose, and the channel from each
  // to the next; kNoChannel where an actor's firings follow each other.
  std::vector<std::size_t> actors, channels;
  // Per step of the loop: by how many tokens the channel must grow to change it.
  std::vector<std::int64_t> slack;
};
inline constexpr std::size_t kNoChannel = static_cast<std::size_t>(-1);

}  // namespace lpn::pi

// The Latency Petri Net as plain data: places, transitions, arcs and their expressions.
//
// A Net has no clock, no marking and no solver. interp.h gives it its meaning (docs/semantics.md);
// every other engine must agree with the interpreter commit for commit. Whoever builds or changes
// a Net calls verify() (verify.h) before handing it on.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/expr/expr.h"

namespace lpn {

using Time = std::int64_t;                                          // ticks, never negative
inline constexpr Time kForever = std::numeric_limits<Time>::max();  // no instant: never
inline constexpr Time kLastInstant = kForever - 1;

enum class PlaceId : std::uint32_t {};
enum class TransitionId : std::uint32_t {};
enum class TypeId : std::uint32_t {};

// Where the author wrote something: an index into Net::files and a line; line 0 = unknown.
struct Source {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  bool operator==(const Source&) const = default;
};

struct Formula {
  ExprId id{};
  Source source;
};

struct Field {
  std::string name;
  std::optional<Range> range;
};

struct TokenType {
  std::string name;
  std::vector<Field> fields;  // empty: tokens only count
  Source source;
};

// A named integer, constant during a run; `value` is used when the user gives none.
struct Param {
  std::string name;
  std::int64_t value = 0;
  std::optional<Range> range;
  Source source;
};

// `count` tokens present at time 0. Fields may read parameters and the index in 0..count-1.
struct Initial {
  Formula count;
  std::vector<Formula> fields;
};

// A FIFO. At most `capacity` tokens, slots being held from the producer's start to the consumer's
// commit (lower.h turns this into a credit place).
struct Place {
  std::string name;  // unique among places; dotted words, see is_name()
  TypeId type{};
  std::optional<Formula> capacity;  // over parameters
  std::vector<Initial> initial;
  bool start = false;  // the workload's tokens; must drain
  bool done = false;   // its production is what latency measures
  bool drain = false;  // must be empty at the end, else the run is stalled
  bool sink = false;   // declared never to be drained
  Source source;
  std::optional<PlaceId> credit_of;  // set by lower() only
};

// What a firing needs of a place. Takes `weight` tokens of those needed; needs max(weight,
// threshold) of them, and the head too if weight or threshold reads it.
struct InputArc {
  std::string name;  // unique among the transition's inputs; how expressions call its tokens
  PlaceId place{};
  bool inhibit = false;              // the place must be empty; no weight, threshold or guard
  Formula weight;                    // may read earlier arcs and the head of its own place
  std::optional<Formula> threshold;  // default: the weight; likewise
  std::optional<Formula> guard;      // bool; may read this arc and the earlier ones
  Source source;
};

// `count` tokens, one expression per field of the place's type; fields may read the index.
struct Emission {
  Formula count;
  std::vector<Formula> fields;
};

struct OutputArc {
  PlaceId place{};
  std::vector<Emission> emissions;
  Source source;
};

// Starts only when (now - phase) mod period = 0; delay and interval then count periods.
struct Clock {
  Formula period;
  Formula phase;
};

struct Transition {
  std::string name;
  std::vector<InputArc> inputs;
  std::vector<OutputArc> outputs;
  Formula delay;                   // ticks (periods with a clock), >= 0
  std::optional<Formula> servers;  // most firings in flight, >= 1, over parameters; none: unbounded
  std::optional<Formula> interval;  // least time between two starts, >= 0
  bool ordered = false;             // commits never overtake
  std::optional<Clock> clock;
  Source source;
};

struct Net {
  std::string name;
  ExprPool exprs;
  std::vector<std::string> files;  // what Source::file points into
  std::vector<Param> params;
  std::vector<TokenType> types;
  std::vector<Place> places;
  std::vector<Transition> transitions;  // declaration order is priority
  std::optional<Formula> done_count;    // the run ends when so many done tokens were produced
  // Ticks a second, for people to read times by; no run depends on it.
  std::optional<std::int64_t> frequency;

  const Place& operator[](PlaceId id) const { return places[static_cast<std::size_t>(id)]; }
  Place& operator[](PlaceId id) { return places[static_cast<std::size_t>(id)]; }
  const Transition& operator[](TransitionId id) const {
    return transitions[static_cast<std::size_t>(id)];
  }
  const TokenType& operator[](TypeId id) const { return types[static_cast<std::size_t>(id)]; }
  const TokenType& type_of(PlaceId id) const { return (*this)[(*this)[id].type]; }

  std::optional<PlaceId> find_place(std::string_view name) const;
  std::optional<TransitionId> find_transition(std::string_view name) const;
  std::optional<std::uint32_t> find_param(std::string_view name) const;
};

// [A-Za-z_][A-Za-z0-9_]* words joined by dots (dots come from instances), at most 200 characters.
bool is_name(std::string_view text);

// "model.py:37", or "" when unknown.
std::string where(const Net& net, Source source);

// The defaults overridden by `given`. Throws Error "E-param" on an unknown name (with the known
// ones) or a value outside the parameter's range.
ParamValues bind_params(const Net& net,
                        const std::vector<std::pair<std::string, std::int64_t>>& given = {});

// Limits for nets from strangers; verify() rejects larger ones.
inline constexpr std::size_t kMaxPlaces = 100'000;
inline constexpr std::size_t kMaxTransitions = 100'000;
inline constexpr std::size_t kMaxFields = 64;
inline constexpr std::int64_t kMaxFrequency = 1'000'000'000'000'000;  // Hz: a tick of a femtosecond
inline constexpr std::size_t kMaxArcs = 1'024;  // inputs, and outputs, of one transition
// Most tokens one emission may append, and one marking may put into one place.
inline constexpr std::int64_t kMaxTokens = std::int64_t{1} << 31;

}  // namespace lpn

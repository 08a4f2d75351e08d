// When everything happens, as a function of the input: one path of symbolic execution.
//
// A path is a set of inputs for which the same firings happen with the same tokens. Instants are
// nodes of an acyclic graph; delays are terms over the variables of an input space (the expression
// pool of InputSpace::variables). Times are ticks; groups within a tick do not appear.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lpn/classes/input_space.h"
#include "lpn/expr/expr.h"
#include "lpn/net/net.h"

namespace lpn {

enum class InstantId : std::uint32_t {};
inline constexpr InstantId kTimeZero{0};

class Timing {
 public:
  enum class Kind : std::uint8_t {
    kMax,   // the largest of (from + delay) over `after`; time 0 when there is none
    kGate,  // s = after[0], closes = after[1], opens = after[2] (each from + delay):
            // s < closes ? s : max(s, opens). An inhibited start; opens >= closes.
    kEdge,  // the first edge of a clock at or after after[0]: multiples of `period` past `phase`
  };
  struct Arc {
    InstantId from{};
    ExprId delay{};  // >= 0 for every input of the path
    bool operator==(const Arc&) const = default;
  };
  struct Node {
    Kind kind = Kind::kMax;
    std::vector<Arc> after;  // nodes with smaller ids
    std::int64_t period = 1, phase = 0;
    bool operator==(const Node&) const = default;
  };

  Timing() : nodes_(1) {}  // time 0
  InstantId add(Node node);
  // The largest of `after`: an instant that is there already when one arc without delay is all that
  // counts (`zero`: the constant 0 of the delays' pool), else a new one.
  InstantId latest(std::vector<Arc> after, ExprId zero);
  const Node& operator[](InstantId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return nodes_.size(); }

 private:
  std::vector<Node> nodes_;
};

// One firing of a path. `ready`: per input arc of the lowered net (lower.h) the instant at which
// its tokens are there, kTimeZero when it needs none; not of places that Path::unordered names.
struct TimedFiring {
  TransitionId transition{};
  std::uint64_t number = 0;
  InstantId start{}, commit{};
  std::vector<InstantId> ready;
  std::vector<Timing::Arc> other;       // server, interval, turn: what else it waits for
  std::vector<std::uint64_t> need;      // tokens, per input arc of the lowered net
  std::vector<std::uint64_t> taken;     // tokens, per input arc of the lowered net
  std::vector<std::uint64_t> produced;  // tokens, per output arc of the lowered net
};

// before <= after, or before < after when strict.
struct Order {
  InstantId before{}, after{};
  bool strict = false;
};

enum class Outcome : std::uint8_t {
  kLatency,  // it ends, with a latency
  kNone,     // it ends without one: nothing was produced into a `done` place
  kStalled,  // see docs/semantics.md "Stalled"
  kError,    // a firing fails
};

// What was chosen where execution split, in order: it leads to the same path again.
using Choices = std::vector<std::int64_t>;

struct Path {
  Outcome outcome = Outcome::kLatency;
  Timing timing;
  InstantId latency{};               // kLatency
  std::vector<TimedFiring> firings;  // a start comes after what it waits for
  std::vector<std::uint64_t> given;  // per place of the lowered net: tokens at time 0
  std::vector<bool> unordered;       // per place: its tokens come in an order that differs by input
  std::vector<ExprId> conditions;    // bool terms: with `orders` and the space, exactly this path
  std::optional<ExprId> fault;       // and evaluating this term fails
  std::vector<Order> orders;
  std::vector<Assignment> samples;  // inputs of the path, checked; empty: none was found
  Choices choices;
  std::string trouble;  // kStalled, kError: which transition, arc, line; for people
};

// The time of one instant, given those of smaller ids. Throws Error "E-overflow".
Time instant(const Timing& timing, InstantId id, const std::vector<Time>& times,
             const std::function<Time(ExprId)>& delay);

// The same as a term: what a node's instant equals, given its arcs as terms (from + delay) of
// `pool`.
ExprId instant_term(const Timing::Node& node, ExprPool& pool,
                    const std::function<ExprId(const Timing::Arc&)>& of);

// The times of all instants for an input. Throws Error "E-overflow" when one leaves 64 bits.
std::vector<Time> evaluate(const Timing& timing, const InputSpace& space, const Assignment& input);

// Whether the input meets the conditions and orders of a path (not: the space's constraints).
bool follows(const Path& path, const InputSpace& space, const Assignment& input);

}  // namespace lpn

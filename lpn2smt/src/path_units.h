// A path of an input space, taken apart: what the bounds and their checker both start from.
//
// Variables that a relation or a delay ties together form a unit, whose possible values are listed.
// A delay is then a constant and a table per unit that it reads; a condition over several units is
// a limit on such a sum, or is left out. Everything else of lpn2smt's bounds is built twice, once
// to search and once to check; this is built once.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lpn/base/wide.h"
#include "lpn/classes/timing.h"
#include "lpn/smt/numbering.h"

namespace lpn::smt {

inline std::size_t at(InstantId v) { return static_cast<std::size_t>(v); }

// Variables and the values they can have together, in lexicographic order.
struct Unit {
  std::vector<std::uint32_t> variables;
  std::vector<std::int64_t> tuples;  // row by row
  std::uint32_t size = 0;            // rows
};

// A number per tuple of a unit.
struct Function {
  std::uint32_t unit = 0;
  std::vector<std::int64_t> values;
  std::int64_t lo = 0, hi = 0;
};

// A term: between `constant` plus the functions, each of another unit, and `slack` more.
struct Sum {
  std::int64_t constant = 0;
  std::vector<std::uint32_t> functions;  // by unit
  std::int64_t slack = 0;
};

struct TimedArc {
  std::uint32_t from = 0;
  Sum delay;
};

// The functions, each of another unit, add up to `cap` at most.
struct Limit {
  std::vector<std::uint32_t> functions;
  std::int64_t cap = 0;
  LimitSource source;
};

// For each unit one of its tuples.
using Choice = std::vector<std::uint32_t>;

class PathUnits {
 public:
  // Borrows space and path. Delays matter for what the measure depends on.
  PathUnits(const InputSpace& space, const Path& path, Measure measure);

  const InputSpace& space() const { return *space_; }
  const Path& path() const { return *path_; }
  const Timing& timing() const { return path_->timing; }
  // Every instant once, none with weight 0.
  const Measure& measure() const { return measure_; }
  // The instant that is all of the measure.
  std::optional<InstantId> instant() const;

  const std::vector<Unit>& units() const { return units_; }
  const Function& function(std::uint32_t id) const { return functions_[id]; }
  const std::vector<Limit>& limits() const { return limits_; }
  // Of the instants that the measure depends on, or that an order of the path puts before one of
  // these; empty for others and for time zero.
  const std::vector<TimedArc>& arcs(std::size_t node) const { return arcs_[node]; }
  bool needed(std::size_t node) const { return needed_[node]; }

  // A unit has no tuple: the path has no input.
  bool empty() const { return empty_; }
  // An upper bound of all instants and of the measure, weights without signs; none: numbers too
  // large to work with.
  std::optional<std::int64_t> magnitude() const { return magnitude_; }
  // Every variable belongs to a unit.
  bool complete() const { return complete_; }
  // Delays and conditions are those of the path, none replaced by a bound or left out.
  bool exact() const { return relaxed_.empty(); }
  const std::vector<std::string>& relaxed() const { return relaxed_; }

  Assignment assignment(const Choice& choice) const;
  // The choice nearest to the values: nullopt when a unit has no tuple with them.
  std::optional<Choice> choice(const Assignment& values) const;
  // The measure when the values are an input of the path: evaluated by the path's own terms.
  std::optional<Time> value(const Assignment& values) const;
  // The same by the tables, as if the choice were one; exact when no delay has a slack.
  Time estimate(const Choice& choice) const;
  bool within_limits(const Choice& choice) const;

  // What a delay is at least and at most, whatever the tuples.
  Time least(const Sum& sum) const;
  Time most(const Sum& sum) const;

  // The sum of two functions of a unit.
  std::uint32_t plus(std::uint32_t f, std::uint32_t g);

 private:
  class Builder;
  std::uint32_t intern(std::uint32_t unit, std::vector<std::int64_t> values);

  const InputSpace* space_;
  const Path* path_;
  Measure measure_;
  std::vector<Unit> units_;
  std::deque<Function> functions_;  // stay where they are when sums are added
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::unordered_map<std::uint64_t, std::uint32_t> sums_;
  std::vector<Limit> limits_;
  std::vector<std::vector<TimedArc>> arcs_;
  std::vector<bool> needed_;
  Assignment rest_;  // values of variables that no unit has
  bool empty_ = false, complete_ = true;
  std::optional<std::int64_t> magnitude_;
  std::vector<std::string> relaxed_;
  mutable std::vector<Time> times_;
};

// Whether a target is more than one instant.
bool is_sum(const Target& target);
// The measure of a target, or its negative.
Measure measure_of(const Target& target, bool negated);

// Of a pass that has a state per set of open units (upper_bound.h): how often a state follows
// another before units are charged once and for all.
std::size_t most_arrivals(const PathUnits& path);

}  // namespace lpn::smt

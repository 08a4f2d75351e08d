// A class of inputs: markings and parameters of a net as terms over integer variables.
//
// `variables` is a net with parameters and expressions only: parameter k is variable k, with its
// range; terms are its expressions and read nothing but parameters. An input of the space is an
// assignment of the variables within their ranges under which every constraint holds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lpn/expr/expr.h"
#include "lpn/net/marking.h"
#include "lpn/net/net.h"

namespace lpn {

struct InputSpace {
  // Tokens that the workload puts into a place, in FIFO order; one term per property.
  struct Tokens {
    PlaceId place{};
    std::vector<std::vector<ExprId>> rows;
    std::optional<ExprId> count;  // how many of `rows`, from the first on; none: all
    std::vector<ExprId> at = {};  // when each row arrives, never falling; empty: all at 0
  };

  Net variables;                            // every parameter has a range
  std::vector<ExprId> params;               // the value of each parameter of the net
  std::vector<Tokens> tokens;               // each place at most once
  std::vector<ExprId> constraints;          // bool; evaluate without error and hold for every input
  std::optional<std::uint64_t> done_count;  // of every input's marking
};

// What the variables are given, in the order of InputSpace::variables.params.
using Assignment = std::vector<std::int64_t>;

// Whether the assignment is an input of the space: ranges and constraints.
bool contains(const InputSpace& space, const Assignment& values);

// The parameters and the marking of an input. Throws Error "E-space" when a term cannot be
// evaluated, a count leaves 0..rows, and what Marking::add throws.
ParamValues params_of(const Net& net, const InputSpace& space, const Assignment& values);
Marking marking_of(const Net& net, const InputSpace& space, const Assignment& values);

// Throws Error "E-space", with what to write instead, when the space does not fit the net: a place
// twice or not of the net, rows of another width, terms of the wrong type, a variable without a
// range, an initial count or property of the net that the tools cannot have as a term.
void check_space(const Net& net, const InputSpace& space);

// How many assignments the ranges alone allow; nullopt: more than `limit`.
std::optional<std::uint64_t> assignments(const InputSpace& space, std::uint64_t limit);

// Calls `visit` for every input of the space, in lexicographic order, until it returns false.
// REQUIRES few assignments.
void each_input(const InputSpace& space, const std::function<bool(const Assignment&)>& visit);

}  // namespace lpn

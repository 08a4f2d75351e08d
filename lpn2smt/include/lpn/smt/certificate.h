// What proves a bound, and its check.
//
// A certificate says how the bound of one path's inputs is derived, box by box; check() derives it
// again with nothing of the search, in exact integers. Its text is in certificate_json.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lpn/classes/input_space.h"
#include "lpn/classes/timing.h"
#include "lpn/expr/feasibility.h"
#include "lpn/smt/measures.h"

namespace lpn::smt {

// Why no input in a box of a path's inputs is beyond the bound. Limits are the sums that conditions
// over several units bound from above, in the order of the space's constraints and the path's
// conditions; a multiplier belongs to each.
struct Step {
  enum class Kind : std::uint8_t {
    kSplit,       // two boxes: the tuples of `unit` before number `tuple`, then the others
    kNoInput,     // the multipliers times the limits cannot be kept by any input
    kPoint,       // one choice is left: it is no input of the path, or evaluated
    kRelaxation,  // maximum: longest path with a budget and multipliers; minimum: mix of paths
    kSolver,      // a solver found no input beyond `threshold`: `smtlib` is unsatisfiable
  };
  // Steps from the instant back to time zero: at each instant the number of an arc, where one whose
  // delay is the largest of several sums counts as several. At a gate 0,
  // or 2 where the path is surely blocked there.
  struct Chain {
    std::int64_t weight = 0;
    std::vector<std::uint32_t> arcs;
    bool operator==(const Chain&) const = default;
  };

  // Of a measure (to be maximised; else its negative is): a longest path to an instant with a
  // positive weight, less chains to instants with negative weights, all of the same input. The
  // weights of an instant's parts add up to its own at least, those of chains to an instant, over
  // the denominator, to its own at most.
  struct Toll {
    InstantId instant{};
    Chain chain;
    bool operator==(const Toll&) const = default;
  };
  struct Part {
    InstantId instant{};  // kTimeZero: only chains
    std::int64_t weight = 0;
    std::vector<std::int64_t> multipliers;
    std::optional<std::uint32_t> budget;
    std::int64_t quantum = 1;
    std::vector<Toll> tolls;
    // Instead of all that: how far the instant can be behind this one (differences.h).
    std::optional<InstantId> behind;
    bool operator==(const Part&) const = default;
  };

  Kind kind = Kind::kRelaxation;
  std::uint32_t unit = 0, tuple = 0;
  std::int64_t denominator = 1;  // of weights and multipliers
  std::vector<std::int64_t> multipliers;
  std::optional<std::uint32_t> budget;  // maximum: this limit is kept exactly, in multiples of
  std::int64_t quantum = 1;             // quantum
  std::vector<Part> parts;              // of a measure, instead of what stands above and below
  std::vector<Chain> chains;            // minimum: weights add up to the denominator at most
  Time threshold = 0;
  std::string smtlib;
  bool operator==(const Step&) const = default;
};

// No input of the path has its instant beyond `bound`. A split is followed by its first box's
// steps, then by those of the second. Of a path without inputs the bound may be anything.
struct PathCertificate {
  std::size_t path = 0;  // position among the targets
  bool maximum = true;
  Time bound = 0;
  std::vector<Step> steps;
  bool operator==(const PathCertificate&) const = default;
};

// Who vouches for the steps that a solver decided.
struct Trusted {
  // Makes a solver of the kind that the search had: its smtlib() says again what the step asks.
  std::function<std::unique_ptr<Feasibility>()> solver = {};
  // Whether a formula in SMT-LIB 2 is unsatisfiable.
  std::function<bool(const std::string& smtlib)> unsatisfiable = {};
};

// Why a certificate proves nothing; nullopt: it proves its bound. What a solver decided counts as
// wrong unless both of `trusted` are given and say that it is so. Throws Error "E-space".
std::optional<std::string> check(const InputSpace& space, const Target& target,
                                 const PathCertificate& certificate, const Trusted& trusted = {});

}  // namespace lpn::smt

// What weighted counts of tokens prove: bounds of places, and transitions that exclude each other.
//
// The proofs are place invariants of the net: positive weights of places such that no firing adds
// to the weighted sum of their tokens, locked ones included, whatever its tokens are. The sum at
// time 0 then bounds it for ever. Weights are found by linear programming in exact rationals, and
// checked again in integers. Everything is sound and not complete.
//
// All nets here are lowered (lower.h), so that capacities are places. What is claimed holds for all
// parameters in their ranges and for every marking and push that adds tokens to `start` places
// only. An engine that takes other tokens, or lets somebody outside hold the slots of a place, has
// to check at run time that no place of `PlaceInvariant::relies_on` is concerned, and do without
// the claim otherwise. Taking tokens away breaks no claim.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lpn/expr/feasibility.h"
#include "lpn/net/net.h"

namespace lpn {

// The sum of weight * tokens over some places never grows. For a place with a capacity and its
// credits with equal weights it is constant whatever was loaded.
struct PlaceInvariant {
  std::vector<std::pair<PlaceId, std::int64_t>> weights;  // positive; by place
  // Places whose initial tokens count in the proof, ascending: the net's own and no others. Never a
  // credit place; the place it belongs to instead.
  std::vector<PlaceId> relies_on;
};

// At no moment are there more than `tokens` tokens, locked ones included.
struct TokenBound {
  std::int64_t tokens = 0;
  std::shared_ptr<const PlaceInvariant> because;
};

// Answers about one net, prepared once. Borrows the net, which must not change, and the solver,
// which may be null: it finds counts that guards fix. The search is limited per question and in all
// questions together (some seconds); beyond that nothing is claimed. Not for several threads at
// once.
class Invariants {
 public:
  explicit Invariants(const Net& lowered, Feasibility* solver = nullptr);
  ~Invariants();
  Invariants(Invariants&&) noexcept;
  Invariants& operator=(Invariants&&) noexcept;

  // The best bound that an invariant proves, but 1 is not improved to 0; none: none, or the search
  // was given up.
  std::optional<TokenBound> bound(PlaceId place) const;

  // At no moment do two of `transitions` both have the free tokens they need: which of them starts
  // is never decided by their order of declaration. Guards are not looked at, except for what they
  // say about counts; see exclude_each_other for those. `relies_on`, when given, gets the places
  // whose initial tokens count, as above.
  bool mutually_exclusive(std::span<const TransitionId> transitions,
                          std::vector<PlaceId>* relies_on = nullptr) const;

  // While a firing of `a` is in flight, `b` does not have the tokens it needs, and the other way
  // round. With a == b: at most one firing is in flight.
  bool never_overlap(TransitionId a, TransitionId b,
                     std::vector<PlaceId>* relies_on = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The same for a single question.
std::optional<std::int64_t> token_bound(const Net& lowered, PlaceId place);
bool at_most_one_token(const Net& lowered, PlaceId place);
bool mutually_exclusive(const Net& lowered, std::span<const TransitionId> transitions);

}  // namespace lpn

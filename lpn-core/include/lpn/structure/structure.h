// What the graph of a net tells before any token moves: who competes for tokens, who takes turns by
// its guards, what bounds the work in flight, and which parts are simple.
//
// Everything here is sound and not complete: what is claimed holds in every run, for all parameters
// and markings; what is not claimed may still hold. Arcs and places count as the net has them:
// capacities appear as loops of their own, or as places after lower().
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lpn/expr/feasibility.h"
#include "lpn/net/facts.h"
#include "lpn/net/net.h"

namespace lpn {

// A place from which several transitions take or read: the least id wins (docs/semantics.md).
struct Conflict {
  PlaceId place{};
  std::vector<TransitionId> consumers;  // takers and readers, by id
  // At every moment at most one of them has guards that hold on the tokens at the heads of the
  // places it shares with the others, this one or more, so the order of declaration never decides.
  bool router = false;
  bool by_solver = false;  // and comparing conditions was not enough to see it
};
std::vector<Conflict> conflicts(const Net& net, Feasibility* solver = nullptr);

// True when the guards of `a` and `b` can never hold at once on the same tokens of `place`, from
// which both take or read. Compares constants, ranges and complements of conditions that read no
// other tokens, occupancy or counts; where that does not suffice, asks the solver, within limits of
// our own, and leaves it as it was.
bool exclude_each_other(const Net& net, PlaceId place, TransitionId a, TransitionId b,
                        Feasibility* solver = nullptr);

// Places whose tokens, locked ones included, are constant in number: every firing that touches
// `places` takes as many tokens from them as it puts there. So the loop bounds how many firings of
// `transitions`, each of which holds at least one, are in flight. A place that the workload fills
// (`start`) is in no loop: its tokens are no bound.
struct CreditLoop {
  std::vector<PlaceId> places;            // ascending
  std::vector<TransitionId> transitions;  // ascending
  bool capacity = false;  // the slots of one place: `places` is that place, its credits are implied
};
std::vector<CreditLoop> credit_loops(const Net& net);

// The tokens of a loop: the capacity, or its initial ones; a marking may add to the latter. Throws
// Error "E-param-value" when a formula cannot be computed.
std::int64_t loop_tokens(const Net& net, const ParamValues& params, const CreditLoop& loop);

// Transitions with a delay that may exceed 0 of which nothing found here bounds how many firings
// are in flight: no servers, no interval >= 1, and in no credit loop. The one list that is complete
// and not sound: another reason may bound them.
std::vector<TransitionId> unbounded_concurrency(const Net& net);

// Transitions that can never start, because an arc needs a token of a place that none can reach:
// no initial tokens, not `start`, no producer that can itself start.
std::vector<TransitionId> dead_transitions(const Net& net);

// Strongly connected components of the graph "appends to a place that the other takes from, reads
// or watches"; every transition is in one. A component comes after all those it feeds.
std::vector<std::vector<TransitionId>> components(const Net& net);

// A largest set of transitions connected by simple places: one producer that always appends one
// token per firing, one taker of weight and threshold 1, no other arc. In it, the k-th firing
// depends on the (k - tokens)-th: a marked graph.
struct MarkedGraph {
  std::vector<TransitionId> transitions;  // two or more; ascending
  std::vector<PlaceId> places;
};
std::vector<MarkedGraph> marked_graphs(const Net& net);

}  // namespace lpn

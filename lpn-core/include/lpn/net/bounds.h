// Bounds of a net's formulas, from declared ranges alone: what authoring and the lints know before
// any token exists.
#pragma once

#include "lpn/expr/range.h"
#include "lpn/net/net.h"

namespace lpn {

// Of the formulas of one transition. Borrows the net, which must not change meanwhile, but for more
// nodes. `transition` gives the arcs their types; null: parameters only.
class NetBounds final : public Bounds {
 public:
  NetBounds(const Net& net, const Transition* transition)
      : Bounds(net.exprs), net_(&net), transition_(transition) {}

 private:
  Range variable(std::uint32_t k) override;
  Range read(const Node& leaf) override;
  Range needed(std::uint32_t arc) override;

  const Net* net_;
  const Transition* transition_;
};

// Of a single formula.
Range bounds(const Net& net, const Transition* transition, ExprId id);

// How many tokens an arc of the transition puts, and are in a place at the start; each count at
// most kMaxTokens.
Range emitted(NetBounds& of, const OutputArc& arc);
Range initial_tokens(const Net& net, const Place& place);

}  // namespace lpn

#include "lpn/net/bounds.h"

#include <algorithm>
#include <limits>

#include "lpn/base/error.h"

namespace lpn {

Range NetBounds::variable(std::uint32_t k) { return net_->params.at(k).range.value_or(Range{}); }

Range NetBounds::needed(std::uint32_t arc) {
  if (transition_ == nullptr || arc >= transition_->inputs.size()) return {0, kMaxTokens};
  const InputArc& input = transition_->inputs[arc];
  Range range = of(input.weight.id);
  if (input.threshold) {
    const Range threshold = of(input.threshold->id);
    range = {std::max(range.lo, threshold.lo), std::max(range.hi, threshold.hi)};
  }
  return {std::max<std::int64_t>(range.lo, 0), std::max<std::int64_t>(range.hi, 0)};
}

Range NetBounds::read(const Node& n) {
  if (n.op == Op::kIndex || n.op == Op::kBound) return {0, kMaxTokens};
  if (n.op == Op::kOccupancy || n.op == Op::kFree)
    return {0, std::numeric_limits<std::int64_t>::max()};
  const bool known = transition_ != nullptr && n.a < transition_->inputs.size();
  if (n.op == Op::kToken) {
    if (!known) return {};
    const auto& fields = net_->type_of(transition_->inputs[n.a].place).fields;
    return n.b < fields.size() ? fields[n.b].range.value_or(Range{}) : Range{};
  }
  LPN_ASSERT(n.op == Op::kTaken);
  if (!known) return {0, kMaxTokens};
  const Range weight = of(transition_->inputs[n.a].weight.id);
  return {std::max<std::int64_t>(weight.lo, 0), std::max<std::int64_t>(weight.hi, 0)};
}

Range bounds(const Net& net, const Transition* transition, ExprId id) {
  return NetBounds(net, transition).of(id);
}

namespace {

void add(Range& sum, const Range& count) {
  sum.lo += std::clamp<std::int64_t>(count.lo, 0, kMaxTokens);
  sum.hi += std::clamp<std::int64_t>(count.hi, 0, kMaxTokens);
}

}  // namespace

Range emitted(NetBounds& of, const OutputArc& arc) {
  Range sum{0, 0};
  for (const Emission& e : arc.emissions) add(sum, of.of(e.count.id));
  return sum;
}

Range initial_tokens(const Net& net, const Place& place) {
  NetBounds of(net, nullptr);
  Range sum{0, 0};
  for (const Initial& group : place.initial) add(sum, of.of(group.count.id));
  return sum;
}

}  // namespace lpn

#include "structure/leaf_use.h"

#include <algorithm>

#include "lpn/base/wide.h"

namespace lpn {

bool LeafUse::look(ExprId id) {
  const Node& n = net_->exprs[id];
  switch (kind_of(n.op)) {
    case Kind::kVariable: return leaf(n, nullptr);
    case Kind::kRun: return n.op == Op::kToken && leaf(n, nullptr);
    case Kind::kAggregate: return false;
    case Kind::kComparison:
      for (int k = 0; k < 2; ++k) {
        const Node& x = net_->exprs[n.kids[static_cast<std::size_t>(k)]];
        std::int64_t value = 0;
        if (!net_->exprs.is_const(n.kids[static_cast<std::size_t>(1 - k)], value)) continue;
        if (x.op == Op::kParam || x.op == Op::kToken) return leaf(x, &value);
      }
      break;
    case Kind::kConstant:
    case Kind::kArithmetic:
    case Kind::kLogic:
    case Kind::kChoice:
    case Kind::kTable:
    case Kind::kAssumption: break;
  }
  for (int k = 0; k < op_info(n.op).arity; ++k) {
    if (!look(n.kids[static_cast<std::size_t>(k)])) return false;
  }
  return true;
}

std::optional<std::map<Leaf, std::vector<std::int64_t>>> LeafUse::values() const {
  std::map<Leaf, std::vector<std::int64_t>> all;
  std::size_t product = 1;
  for (const auto& [leaf, use] : uses_) {
    std::set<std::int64_t> values;
    const Range r = use.range;
    if (Wide{r.hi} - r.lo < static_cast<Wide>(kMostModes)) {
      for (std::int64_t v = r.lo; v <= r.hi; ++v) values.insert(v);
    } else if (use.bare) {
      return std::nullopt;
    } else {
      values = {r.lo, r.hi};
      for (const std::int64_t c : use.constants) {
        for (const Wide v : {Wide{c} - 1, Wide{c}, Wide{c} + 1}) {
          if (v >= r.lo && v <= r.hi) values.insert(static_cast<std::int64_t>(v));
        }
      }
    }
    product *= values.size();
    if (product > kMostModes) return std::nullopt;
    all.emplace(leaf, std::vector<std::int64_t>(values.begin(), values.end()));
  }
  return all;
}

bool LeafUse::reads_only(const LeafUse& other) const {
  return std::all_of(other.uses_.begin(), other.uses_.end(),
                     [&](const auto& use) { return uses_.contains(use.first); });
}

void LeafUse::merge(const LeafUse& other) {
  for (const auto& [leaf, use] : other.uses_) {
    Use& mine = uses_.try_emplace(leaf, Use{use.range, false, {}}).first->second;
    mine.bare |= use.bare;
    mine.constants.insert(use.constants.begin(), use.constants.end());
  }
}

bool LeafUse::leaf(const Node& n, const std::int64_t* compared_with) {
  Leaf leaf{Leaf::kParam, n.a, 0};
  std::optional<Range> range;
  if (n.op == Op::kParam) {
    range = net_->params[n.a].range;
  } else {
    if (!net_->exprs.is_const(n.kids[0], leaf.position)) return false;
    leaf.arc = n.a;
    leaf.index = n.b;
    range = net_->type_of(transition_->inputs[n.a].place).fields[n.b].range;
  }
  Use& use = uses_.try_emplace(leaf, Use{range.value_or(Range{}), false, {}}).first->second;
  if (compared_with != nullptr)
    use.constants.insert(*compared_with);
  else
    use.bare = true;
  return true;
}

}  // namespace lpn

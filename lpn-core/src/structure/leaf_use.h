// What the formulas of a transition read, and few values of it that stand for all.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"
#include "lpn/net/net.h"

namespace lpn {

// A property of a token, or a parameter, that formulas read: (arc, property, position) or
// (kParam, parameter, 0).
struct Leaf {
  static constexpr std::uint32_t kParam = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t arc = 0, index = 0;
  std::int64_t position = 0;
  auto operator<=>(const Leaf&) const = default;
};

// How formulas read leaves, to find few values that stand for all.
class LeafUse {
 public:
  LeafUse(const Net& net, const Transition& t) : net_(&net), transition_(&t) {}

  // False when something else is read.
  bool look(ExprId id);

  // Every value of a leaf, or, when it is only compared, one for each outcome of all comparisons;
  // none when there are too many.
  std::optional<std::map<Leaf, std::vector<std::int64_t>>> values() const;

  bool reads_only(const LeafUse& other) const;
  void merge(const LeafUse& other);

 private:
  static constexpr std::size_t kMostModes = 512;

  struct Use {
    Range range;
    bool bare = false;  // other than compared with a constant
    std::set<std::int64_t> constants;
  };

  bool leaf(const Node& n, const std::int64_t* compared_with);

  const Net* net_;
  const Transition* transition_;
  std::map<Leaf, Use> uses_;
};

// One way to fill the leaves, for eval().
struct LeafValues : EvalScope {
  std::map<Leaf, std::int64_t> values;

  std::int64_t param(std::uint32_t k) const { return values.at({Leaf::kParam, k, 0}); }
  std::int64_t token(std::uint32_t arc, std::uint32_t field, std::int64_t which) const {
    return values.at({arc, field, which});
  }
  // LeafUse lets none of these through.
  std::int64_t occupancy(std::uint32_t) const { return impossible(); }
  std::int64_t free(std::uint32_t) const { return impossible(); }
  std::int64_t taken(std::uint32_t) const { return impossible(); }
  std::int64_t needed(std::uint32_t) const { return impossible(); }

 private:
  static std::int64_t impossible() {
    LPN_ASSERT(!"only leaves are read");
    return 0;
  }
};

}  // namespace lpn

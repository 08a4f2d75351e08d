#include "refused_value.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "lpn/base/fault.h"
#include "lpn/expr/eval.h"

namespace lpn {
namespace {

constexpr std::int64_t kAll = 4096;  // values of a range that is looked at as a whole
using Leaf = std::pair<std::uint32_t, std::uint32_t>;  // input arc, property

// What a formula reads of a run; `leaf` when that is one property of the first token of one arc.
struct Look {
  std::optional<Leaf> leaf;
  bool one = true;
  std::set<std::int64_t> constants;
};

void look(const ExprPool& pool, ExprId id, std::set<ExprId>& seen, Look& into) {
  if (!seen.insert(id).second) return;
  const Node& n = pool[id];
  if (n.op == Op::kConst) into.constants.insert(n.value);
  if (n.op == Op::kToken) {
    std::int64_t which = -1;
    const Leaf leaf{n.a, n.b};
    into.one = into.one && pool.is_const(n.kids[0], which) && which == 0 &&
               (!into.leaf || *into.leaf == leaf);
    into.leaf = leaf;
    return;
  }
  if (kind_of(n.op) == Kind::kRun || kind_of(n.op) == Kind::kAggregate) into.one = false;
  for (int k = 0; k < op_info(n.op).arity; ++k) {
    look(pool, n.kids[static_cast<std::size_t>(k)], seen, into);
  }
}

Look look(const ExprPool& pool, ExprId id) {
  Look found;
  std::set<ExprId> seen;
  look(pool, id, seen, found);
  return found;
}

// What must all be positive for a condition to hold, or a count to be.
void split(const ExprPool& pool, ExprId id, std::vector<ExprId>& into) {
  const Node& n = pool[id];
  std::int64_t otherwise = 1;
  if (n.op == Op::kAnd ||
      (n.op == Op::kSelect && pool.is_const(n.kids[2], otherwise) && otherwise == 0)) {
    split(pool, n.kids[0], into);
    split(pool, n.kids[1], into);
  } else {
    into.push_back(id);
  }
}

struct Env : EvalScope {
  const Net& net;
  std::int64_t value = 0;
  explicit Env(const Net& n) : net(n) {}
  std::int64_t param(std::uint32_t k) const { return net.params[k].value; }
  std::int64_t token(std::uint32_t, std::uint32_t, std::int64_t) const { return value; }
  std::int64_t occupancy(std::uint32_t) const { return 1; }
  std::int64_t free(std::uint32_t) const { return 1; }
  std::int64_t taken(std::uint32_t) const { return 1; }
  std::int64_t needed(std::uint32_t) const { return 1; }
};

// None: an error, which is another finding.
std::optional<std::int64_t> value_of(ExprId id, Env& env) {
  try {
    return eval(env.net.exprs, id, env);
  } catch (const EvalFault&) {
    return std::nullopt;
  }
}

std::set<std::int64_t> candidates(Range range, const std::set<std::int64_t>& constants) {
  std::set<std::int64_t> all;
  const auto add = [&](std::int64_t value) {
    if (value >= range.lo && value <= range.hi) all.insert(value);
  };
  if (range.hi - range.lo < kAll) {
    for (std::int64_t value = range.lo; value <= range.hi; ++value) all.insert(value);
    return all;
  }
  for (const std::int64_t end : {range.lo, range.hi}) {
    for (int by = -2; by <= 2; ++by) add(end + by);
  }
  for (const std::int64_t c : constants) {
    if (c < range.lo - 1 || c > range.hi) continue;
    for (int by = -1; by <= 1; ++by) add(c + by);
  }
  for (int bit = 0; bit < 62; ++bit) add(std::int64_t{1} << bit);
  return all;
}

}  // namespace

std::optional<RefusedValue> refused_value(const Net& net, const Transition& t,
                                          const Formula& formula, const Formula* emitted,
                                          Range allowed, const std::optional<Kept>& kept) {
  Look found = look(net.exprs, formula.id);
  if (!found.leaf || !found.one) return std::nullopt;
  const InputArc& arc = t.inputs[found.leaf->first];
  if (kept && net[arc.place].type == kept->type && found.leaf->second == kept->field) {
    return std::nullopt;
  }
  const Field& field = net.type_of(arc.place).fields[found.leaf->second];
  constexpr std::int64_t kUndeclared = std::int64_t{1} << 62;
  if (!field.range || field.range->lo < -kUndeclared || field.range->hi > kUndeclared) {
    return std::nullopt;
  }
  std::vector<ExprId> conditions;
  const auto condition = [&](const Formula& f) {
    std::vector<ExprId> parts;
    split(net.exprs, f.id, parts);
    for (const ExprId part : parts) {
      const Look read = look(net.exprs, part);
      if (!read.one || read.leaf != found.leaf) continue;
      conditions.push_back(part);
      found.constants.insert(read.constants.begin(), read.constants.end());
    }
  };
  for (const InputArc& other : t.inputs) {
    if (other.guard && !other.inhibit) condition(*other.guard);
  }
  if (emitted != nullptr) condition(*emitted);
  Env env(net);
  for (const std::int64_t value : candidates(*field.range, found.constants)) {
    env.value = value;
    bool possible = true;
    for (const ExprId each : conditions) possible = possible && value_of(each, env) > 0;
    if (!possible) continue;
    const std::optional<std::int64_t> is = value_of(formula.id, env);
    if (!is || (*is >= allowed.lo && *is <= allowed.hi)) continue;
    return RefusedValue{fmt::format("{}.{}={}", arc.name, field.name, value), *is};
  }
  return std::nullopt;
}

}  // namespace lpn

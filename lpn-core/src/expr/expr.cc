#include "lpn/expr/expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "lpn/base/error.h"

namespace lpn {
namespace {

std::size_t hash_node(const Node& n) {
  std::uint64_t h = 0x9e3779b97f4a7c15ull;
  auto mix = [&h](std::uint64_t x) {
    h ^= x + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  };
  mix(static_cast<std::uint64_t>(n.op) << 8 | static_cast<std::uint64_t>(n.type));
  mix(static_cast<std::uint64_t>(n.a) << 32 | n.b);
  mix(static_cast<std::uint64_t>(n.value));
  for (ExprId kid : n.kids) mix(static_cast<std::uint64_t>(kid));
  return static_cast<std::size_t>(h);
}

const char* type_name(Type type) { return type == Type::kInt ? "int" : "bool"; }

// Int or bool, like what it chooses from.
bool typed_by_operand(Op op) {
  return kind_of(op) == Kind::kChoice || kind_of(op) == Kind::kAssumption;
}

// The type an operator wants of its child `k`.
Type operand_type(const Node& node, int k) {
  if (typed_by_operand(node.op)) return k == 0 ? Type::kBool : node.type;
  return op_info(node.op).operands;
}

}  // namespace

ExprId ExprPool::make(const Node& given) {
  Node node = given;
  const OpInfo& info = op_info(node.op);
  if (!typed_by_operand(node.op)) node.type = info.result;
  std::uint64_t tree = 1;
  std::uint32_t depth = 1;
  for (int k = 0; k < 3; ++k) {
    if (k >= info.arity) {
      node.kids[static_cast<std::size_t>(k)] = ExprId{};
      continue;
    }
    const auto kid = static_cast<std::size_t>(node.kids[static_cast<std::size_t>(k)]);
    LPN_ASSERT(kid < nodes_.size());
    const Type want = operand_type(node, k);
    if (nodes_[kid].type != want) {
      throw Error("E-expr", fmt::format("'{}' needs {} as operand {}, got {}", info.text,
                                        type_name(want), k + 1, type_name(nodes_[kid].type)));
    }
    tree += measures_[kid].size;
    depth = std::max(depth, measures_[kid].depth + 1);
  }
  if (tree > kMaxTreeSize || depth > kMaxDepth) {
    throw Error("E-expr", fmt::format("expression too large: {} nodes (at most {}), {} levels (at "
                                      "most {}); use lookup or split the transition",
                                      tree, kMaxTreeSize, depth, kMaxDepth));
  }
  const std::size_t hash = hash_node(node);
  auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (nodes_[static_cast<std::size_t>(it->second)] == node) return it->second;
  }
  const auto id = static_cast<ExprId>(nodes_.size());
  nodes_.push_back(node);
  measures_.push_back({tree, depth});
  by_hash_.emplace(hash, id);
  return id;
}

ExprId ExprPool::constant(std::int64_t value) { return make({.op = Op::kConst, .value = value}); }
ExprId ExprPool::boolean(bool value) { return make({.op = value ? Op::kTrue : Op::kFalse}); }
ExprId ExprPool::param(std::uint32_t index) { return make({.op = Op::kParam, .a = index}); }
ExprId ExprPool::token(std::uint32_t arc, std::uint32_t field, ExprId which) {
  return make({.op = Op::kToken, .a = arc, .b = field, .kids = {which}});
}
ExprId ExprPool::index() { return make({.op = Op::kIndex}); }
ExprId ExprPool::bound(std::uint32_t depth) { return make({.op = Op::kBound, .a = depth}); }
ExprId ExprPool::occupancy(std::uint32_t arc) { return make({.op = Op::kOccupancy, .a = arc}); }
ExprId ExprPool::free(std::uint32_t arc) { return make({.op = Op::kFree, .a = arc}); }
ExprId ExprPool::taken(std::uint32_t arc) { return make({.op = Op::kTaken, .a = arc}); }
ExprId ExprPool::unary(Op op, ExprId x) { return make({.op = op, .kids = {x}}); }
ExprId ExprPool::binary(Op op, ExprId x, ExprId y) { return make({.op = op, .kids = {x, y}}); }
ExprId ExprPool::select(ExprId condition, ExprId then, ExprId otherwise) {
  return make(
      {.op = Op::kSelect, .type = (*this)[then].type, .kids = {condition, then, otherwise}});
}

ExprId ExprPool::lookup(std::vector<std::int64_t> table, ExprId x) {
  if (table.empty()) throw Error("E-expr", "lookup needs a table with at least one entry");
  auto it = std::find(tables_.begin(), tables_.end(), table);
  const auto index = static_cast<std::uint32_t>(it - tables_.begin());
  if (it == tables_.end()) tables_.push_back(std::move(table));
  return make({.op = Op::kLookup, .a = index, .kids = {x}});
}

ExprId ExprPool::assume(ExprId condition, ExprId value, std::string text) {
  auto it = std::find(texts_.begin(), texts_.end(), text);
  const auto index = static_cast<std::uint32_t>(it - texts_.begin());
  if (it == texts_.end()) texts_.push_back(std::move(text));
  return make(
      {.op = Op::kAssume, .type = (*this)[value].type, .a = index, .kids = {condition, value}});
}

ExprId ExprPool::aggregate(Op op, std::uint32_t arc, std::uint32_t depth, ExprId body) {
  LPN_ASSERT(kind_of(op) == Kind::kAggregate);
  return make({.op = op, .a = arc, .b = depth, .kids = {body}});
}

bool ExprPool::is_const(ExprId id, std::int64_t& value) const {
  const Node& n = (*this)[id];
  if (n.op != Op::kConst) return false;
  value = n.value;
  return true;
}

Reads ExprPool::reads(ExprId root) const {
  std::set<std::uint32_t> tokens, occupancy, free, taken, params;
  Reads reads;
  std::vector<ExprId> todo{root};
  std::set<ExprId> seen;
  while (!todo.empty()) {
    const ExprId id = todo.back();
    todo.pop_back();
    if (!seen.insert(id).second) continue;
    const Node& n = (*this)[id];
    for (int k = 0; k < op_info(n.op).arity; ++k)
      todo.push_back(n.kids[static_cast<std::size_t>(k)]);
    if (n.op == Op::kToken || kind_of(n.op) == Kind::kAggregate) tokens.insert(n.a);
    if (n.op == Op::kOccupancy) occupancy.insert(n.a);
    if (n.op == Op::kFree) free.insert(n.a);
    if (n.op == Op::kTaken) taken.insert(n.a);
    if (n.op == Op::kParam) params.insert(n.a);
    if (n.op == Op::kIndex) reads.index = true;
  }
  reads.tokens.assign(tokens.begin(), tokens.end());
  reads.occupancy.assign(occupancy.begin(), occupancy.end());
  reads.free.assign(free.begin(), free.end());
  reads.taken.assign(taken.begin(), taken.end());
  reads.params.assign(params.begin(), params.end());
  return reads;
}

}  // namespace lpn

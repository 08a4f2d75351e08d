// Expressions: pure, typed (64-bit integer or boolean), hash-consed in one pool per net.
//
// An expression belongs to one transition (arcs are named by their position among its inputs) or
// to the net (then it may read parameters only). What each operator means is in expr/ops.def and
// docs/semantics.md; expr/eval.h computes, expr/build.h builds with simplification.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lpn {

enum class Op : std::uint8_t {
#define LPN_OP(enumerator, text, arity, result, operands, cpp, smt, sympy) enumerator,
#include "lpn/expr/ops.def"
#undef LPN_OP
};

enum class Type : std::uint8_t { kInt, kBool };

enum class ExprId : std::uint32_t {};

struct OpInfo {
  const char* text;
  int arity;
  Type result;
  Type operands;
  const char* cpp;
  const char* smt;
  const char* sympy;
};
const OpInfo& op_info(Op op);
inline constexpr int kOpCount = 0
#define LPN_OP(enumerator, text, arity, result, operands, cpp, smt, sympy) +1
#include "lpn/expr/ops.def"
#undef LPN_OP
    ;

// One node. `a`, `b`, `value` hold the immediates:
//   kConst: value · kParam: a = parameter · kToken: a = input arc, b = property, child = which
//   token kBound: a = nesting depth of its aggregate (outermost 0) · kOccupancy, kFree, kTaken: a =
//   arc kSum, kMinOf, kMaxOf: a = arc, b = nesting depth · kLookup: a = table · kAssume: a = text
struct Node {
  Op op{};
  Type type = Type::kInt;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::int64_t value = 0;
  std::array<ExprId, 3> kids{};

  bool operator==(const Node&) const = default;
};

// What an expression reads; sets of input arcs are lists without repetition, in ascending order.
struct Reads {
  std::vector<std::uint32_t> tokens;     // arcs whose tokens are read
  std::vector<std::uint32_t> occupancy;  // arcs whose place's occupancy is read
  std::vector<std::uint32_t> free;       // arcs whose place's free count is read
  std::vector<std::uint32_t> taken;      // arcs whose taken count is read
  std::vector<std::uint32_t> params;
  bool index = false;

  // Whatever tokens there are, it has one value.
  bool only_params() const {
    return tokens.empty() && occupancy.empty() && free.empty() && taken.empty() && !index;
  }
};

// Owns the nodes. Ids are dense, children precede parents, equal nodes have equal ids.
class ExprPool {
 public:
  // Limits that keep every consumer's work bounded; larger expressions are an Error.
  static constexpr std::uint64_t kMaxTreeSize = 1 << 16;  // nodes, shared ones counted each time
  static constexpr std::uint32_t kMaxDepth = 500;

  // Adds a node as it is (no simplification). Throws Error "E-expr" when a child has the wrong
  // type or the limits are exceeded. Immediates are not checked here but by verify().
  ExprId make(const Node& node);

  ExprId constant(std::int64_t value);
  ExprId boolean(bool value);
  ExprId param(std::uint32_t index);
  ExprId token(std::uint32_t arc, std::uint32_t field, ExprId which);
  ExprId index();
  ExprId bound(std::uint32_t depth);
  ExprId occupancy(std::uint32_t arc);
  ExprId free(std::uint32_t arc);
  ExprId taken(std::uint32_t arc);
  ExprId unary(Op op, ExprId x);
  ExprId binary(Op op, ExprId x, ExprId y);
  ExprId select(ExprId condition, ExprId then, ExprId otherwise);
  ExprId lookup(std::vector<std::int64_t> table, ExprId x);
  ExprId assume(ExprId condition, ExprId value, std::string text);
  ExprId aggregate(Op op, std::uint32_t arc, std::uint32_t depth, ExprId body);

  const Node& operator[](ExprId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return nodes_.size(); }
  const std::vector<std::int64_t>& table(std::uint32_t index) const { return tables_[index]; }
  std::size_t tables() const { return tables_.size(); }
  const std::string& text(std::uint32_t index) const { return texts_[index]; }
  std::size_t texts() const { return texts_.size(); }

  // Nodes of `id` as a tree (shared ones counted each time; saturating), and its height.
  std::uint64_t tree_size(ExprId id) const { return measures_[static_cast<std::size_t>(id)].size; }
  std::uint32_t depth(ExprId id) const { return measures_[static_cast<std::size_t>(id)].depth; }

  // The constant's value when `id` is one.
  bool is_const(ExprId id, std::int64_t& value) const;
  bool is_const(ExprId id) const { return (*this)[id].op == Op::kConst; }

  Reads reads(ExprId id) const;

 private:
  struct Measure {
    std::uint64_t size;
    std::uint32_t depth;
  };
  std::vector<Node> nodes_;
  std::vector<Measure> measures_;
  std::vector<std::vector<std::int64_t>> tables_;
  std::vector<std::string> texts_;
  std::unordered_multimap<std::size_t, ExprId> by_hash_;
};

}  // namespace lpn

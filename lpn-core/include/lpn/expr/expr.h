// Expressions: pure, typed (64-bit integer or boolean), hash-consed in one pool per net.
//
// An expression belongs to one transition (arcs are named by their position among its inputs) or
// to the net (then it may read parameters only). What each operator means is in expr/ops.def and
// docs/semantics.md; expr/eval.h computes, expr/build.h builds with simplification.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lpn/base/fault.h"
#include "lpn/base/integers.h"

namespace lpn {

enum class Op : std::uint8_t {
#define LPN_OP(enumerator, ...) enumerator,
#include "lpn/expr/ops.def"
#undef LPN_OP
};

inline constexpr int kOpCount = 0
#define LPN_OP(...) +1
#include "lpn/expr/ops.def"
#undef LPN_OP
    ;

enum class Type : std::uint8_t { kInt, kBool };

// What an operator needs and does. Where a switch asks for the kind, a new operator of a known kind
// needs no case of its own.
enum class Kind : std::uint8_t {
  kConstant,    // its value is in the node, or in its name
  kVariable,    // a parameter of the net, a variable of an input space
  kRun,         // read from the tokens and places of a run
  kArithmetic,  // int of ints; all operands are evaluated, from the left
  kComparison,  // bool of two ints; both are evaluated, from the left
  kLogic,       // bool of bools
  kChoice,      // evaluates a condition and one of two others
  kTable,       // an entry of a constant table
  kAssumption,  // evaluates a condition, and a value where it holds
  kAggregate,   // evaluates its child for each token that an arc needs
};

enum class Notation : std::uint8_t { kNamed, kWord, kCall, kPrefix, kInfix };

// How tightly an expression holds together, as in Python, from `or` to a number.
enum class Level : std::uint8_t {
  kLoose,
  kDisjunction,
  kConjunction,
  kNegation,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kSign,
  kTight,
};
constexpr Level tighter(Level level) { return static_cast<Level>(static_cast<int>(level) + 1); }

// What the right operand of an operator must be.
enum class Domain : std::uint8_t {
#define LPN_DOMAIN(enumerator, ...) enumerator,
#include "lpn/expr/ops.def"
#undef LPN_DOMAIN
};

struct DomainInfo {
  Range range;
  Fault fault;            // of an operand outside
  std::string_view text;  // of a constant outside, a format string
};

// The columns of expr/ops.def.
struct OpInfo {
  std::string_view text;
  Notation notation;
  Level level;
  Kind kind;
  int arity;
  Type result;
  Type operands;
  Domain domain;
  std::string_view python;
  std::string_view smt;
  std::string_view cpp;
  std::string_view checked;
};

inline constexpr std::array kDomains{
#define LPN_DOMAIN(enumerator, least, greatest, fault, text) \
  DomainInfo{{least, greatest}, fault, text},
#include "lpn/expr/ops.def"
#undef LPN_DOMAIN
};

inline constexpr std::array<OpInfo, kOpCount> kOps{{
#define LPN_OP(enumerator, text, notation, level, kind, arity, result, operands, domain, python, \
               smt, cpp, checked)                                                                \
  {text,           Notation::notation, Level::level, Kind::kind, arity, Type::result,            \
   Type::operands, Domain::domain,     python,       smt,        cpp,   checked},
#include "lpn/expr/ops.def"
#undef LPN_OP
}};

constexpr const OpInfo& op_info(Op op) { return kOps[static_cast<std::size_t>(op)]; }
constexpr Kind kind_of(Op op) { return op_info(op).kind; }
constexpr const DomainInfo& domain_of(Op op) {
  return kDomains[static_cast<std::size_t>(op_info(op).domain)];
}

// Whether `a` of its nodes is an input arc.
constexpr bool names_arc(Op op) {
  return kind_of(op) == Kind::kAggregate ||
         (kind_of(op) == Kind::kRun && op != Op::kIndex && op != Op::kBound);
}

// Whether an operator's line says all that its readers rely on.
constexpr bool complete(const OpInfo& info) {
  const bool pattern = !info.smt.empty() && !info.cpp.empty();
  if (info.text.empty() || info.python.empty() || info.arity < 0 || info.arity > 3) return false;
  if (info.domain != Domain::kAny && (info.arity != 2 || info.checked.empty())) return false;
  if ((info.notation == Notation::kInfix) !=
      (info.level > Level::kLoose && info.level < Level::kSign && info.level != Level::kNegation)) {
    return false;
  }
  switch (info.notation) {
    case Notation::kNamed:
    case Notation::kWord:
    case Notation::kCall:
      if (info.level != Level::kTight) return false;
      break;
    case Notation::kPrefix:
      if (info.arity != 1) return false;
      break;
    case Notation::kInfix:
      if (info.arity != 2) return false;
      break;
  }
  switch (info.kind) {
    case Kind::kConstant: return info.arity == 0;
    case Kind::kVariable: return info.arity == 0 && info.result == Type::kInt;
    case Kind::kRun: return info.arity <= 1 && info.result == Type::kInt;
    case Kind::kArithmetic:
      return pattern && (info.arity == 1 || info.arity == 2) && info.result == Type::kInt &&
             info.operands == Type::kInt;
    case Kind::kComparison:
      return pattern && info.arity == 2 && info.result == Type::kBool &&
             info.operands == Type::kInt && info.level == Level::kCompare;
    case Kind::kLogic:
      return pattern && (info.arity == 1 || info.arity == 2) && info.result == Type::kBool &&
             info.operands == Type::kBool;
    case Kind::kChoice: return pattern && info.arity == 3;
    case Kind::kTable: return info.arity == 1;
    case Kind::kAssumption: return !info.smt.empty() && info.arity == 2;
    case Kind::kAggregate: return info.arity == 1 && info.notation == Notation::kCall;
  }
  return false;
}
static_assert(
    [] {
      for (const OpInfo& info : kOps) {
        if (!complete(info)) return false;
      }
      return true;
    }(),
    "each operator of expr/ops.def is complete");

enum class ExprId : std::uint32_t {};

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

inline constexpr std::uint32_t kMaxNesting = 8;  // aggregates inside aggregates

// Values of the parameters, in their order.
using ParamValues = std::vector<std::int64_t>;

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

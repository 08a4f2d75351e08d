// Terms over the variables of an input space, and the sets of values that variables may still have.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "lpn/base/fault.h"
#include "lpn/expr/build.h"
#include "lpn/expr/range.h"
#include "lpn/net/net.h"

namespace lpn::reach {

// What is asked cannot be answered this way; nothing is claimed.
struct NotCovered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A set of values, kept once; its number is what states remember. 0 is the empty one, which also
// stands for a variable that nobody reads any more.
using DomainId = std::uint32_t;
inline constexpr DomainId kForgotten = 0;

struct Domain {
  std::vector<Range> ranges;  // apart from each other, ascending
  std::uint64_t count = 0;    // of values; 2^64 - 1: more

  Range hull() const { return {ranges.front().lo, ranges.back().hi}; }
};

// A value of a state: a number, or a term over variables that are not decided yet.
struct Value {
  static constexpr std::uint32_t kNumber = ~std::uint32_t{0};
  std::int64_t number = 0;
  std::uint32_t term = kNumber;

  bool decided() const { return term == kNumber; }
  ExprId id() const { return static_cast<ExprId>(term); }
  bool operator==(const Value&) const = default;
};

// Which values a term of one variable has, where; values of the variable for which it has none are
// left out.
struct Cases {
  std::vector<std::pair<std::int64_t, DomainId>> values;  // ascending; each where it is had
  bool fails = false;                                     // for some value of the variable
};

// What is known about a term without deciding anything.
struct Span {
  Range range;
  std::uint64_t different = 0;  // values; 0: not counted
  bool may_fail = false;
};

// Borrows the pool, whose parameters are the variables.
class TermSets {
 public:
  explicit TermSets(ExprPool& pool, std::size_t variables);

  ExprPool& pool() { return pool_; }
  DomainId domain(std::vector<Range> ranges);
  const Domain& operator[](DomainId id) const { return domains_[id]; }

  const std::vector<std::uint32_t>& variables(ExprId term);
  // A number, or the term.
  Value value(ExprId term) const;
  // With a variable decided.
  Value decided(const Value& value, std::uint32_t variable, std::int64_t number);

  // REQUIRES that the term reads the variable alone. Nullopt: the domain has too many values.
  static constexpr std::uint64_t kMostValues = 1 << 16;
  const Cases* cases(ExprId term, std::uint32_t variable, DomainId domain);
  // `domains`: per variable.
  Span span(ExprId term, const std::vector<DomainId>& domains);

  // About how much memory all that was ever asked takes.
  std::size_t bytes() const { return bytes_ + pool_.size() * sizeof(Node); }

 private:
  ExprPool& pool_;
  std::vector<std::int64_t> scratch_;  // an assignment
  std::vector<ExprId> same_;           // each variable for itself
  std::vector<Domain> domains_;
  std::map<std::vector<std::pair<std::int64_t, std::int64_t>>, DomainId> numbers_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> variables_;
  std::unordered_map<std::uint64_t, Cases> cases_;
  std::size_t bytes_ = 0;
};

}  // namespace lpn::reach

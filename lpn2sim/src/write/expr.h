// Expressions as C++. What an expression refers to (tokens, counts) is spelled by an Operands,
// since the engines keep tokens in different ways.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "lpn/expr/partial.h"
#include "lpn/net/bounds.h"
#include "lpn/net/net.h"
#include "lpn/run/run.h"

namespace lpn::sim {

// A term that has been computed, by its C++ name; `kept`: or is when it is first asked for, by a
// function of the site.
struct Term {
  std::string name;
  bool kept = false;
};
using TermNames = std::map<ExprId, Term>;

// A value of type i64.
std::string literal(std::int64_t value);
// The narrowest type of lpnrt/codes.h whose values include these.
const char* number_type(const Range& range);
// The lpnrt::site(...) of an expression, for failures; with a mark (link.h).
std::string site(std::size_t transition, SiteKind kind, std::size_t arc = 0,
                 std::size_t emission = 0, std::size_t field = 0);

// An operator applied to operands that are C++ already: with checks where it may fail or leave 64
// bits. Of kinds kArithmetic, kComparison, kLogic and kChoice.
std::string operator_text(Op op, const std::array<std::string, 3>& operands, const Partial& may,
                          const std::array<Range, 3>& ranges, const std::string& site);
std::string assume_text(const Node& n, const std::string& condition, const std::string& value,
                        const std::string& site);

// C++ expressions for what transition `k` sees over its input arc `arc`.
class Operands {
 public:
  virtual ~Operands() = default;
  virtual std::string param(std::uint32_t n) const;
  virtual std::string head(std::size_t k, std::uint32_t arc) const = 0;  // row of the first token
  virtual std::string row(std::size_t k, std::uint32_t arc, const std::string& index) const = 0;
  // Where in a row the property `field` stands.
  virtual std::uint32_t column(std::size_t, std::uint32_t, std::uint32_t field) const {
    return field;
  }
  virtual std::string needed(std::size_t k, std::uint32_t arc) const = 0;  // u64: tokens needed
  virtual std::int64_t least_need(std::size_t k, std::uint32_t arc) const = 0;
  virtual std::string taken(std::size_t k, std::uint32_t arc) const = 0;      // i64
  virtual std::string occupancy(std::size_t k, std::uint32_t arc) const = 0;  // i64
  virtual std::string free(std::size_t k, std::uint32_t arc) const = 0;       // i64
  // Whether both sides of a choice are worked out where that is quick: of events nobody foretells
  // which it will be.
  virtual bool without_branches() const { return false; }
};

class ExprPrinter {
 public:
  // Both must outlive the printer, and not change: what it found out it keeps.
  ExprPrinter(const Net& net, const Operands& operands) : net_(&net), operands_(&operands) {}

  // A formula of transition `k`. It throws lpnrt::Failure naming `site` where the interpreter has
  // an error; checks that the declared ranges make needless are left out.
  // Terms in `names` are read by them.
  std::string of(std::size_t k, const Formula& f, const std::string& site,
                 const TermNames* names = nullptr) const;
  // A formula over parameters.
  std::string of_params(const Formula& f) const;
  // Whether evaluating a formula of transition `k` can be an error.
  bool may_fail(std::size_t k, const Formula& f) const;
  // Bounds of a formula of transition `k`.
  Range range(std::size_t k, const Formula& f) const;

 private:
  struct Context {
    std::size_t transition = 0;
    std::string site;
    NetBounds bounds;
    std::map<ExprId, bool> may_fail{};
    const TermNames* names = nullptr;

    Range range(ExprId id) { return bounds.of(id); }
  };
  Context context(std::size_t k, const std::string& site) const;
  Context& asked(std::size_t k) const;
  std::string expr(ExprId id, Context& c) const;
  std::string strict(const Node& n, Context& c) const;
  std::string read(const Node& n, Context& c) const;
  std::string token(const Node& n, Context& c) const;
  std::string aggregate(const Node& n, Context& c) const;
  bool may_fail(ExprId id, Context& c) const;
  // Nodes of a formula that cannot fail and needs no more than a few of the quickest instructions;
  // else more than kQuick.
  int quick(ExprId id, Context& c) const;

  const Net* net_;
  const Operands* operands_;
  mutable std::optional<Context> asked_;  // what was found out about the last transition asked for
};

}  // namespace lpn::sim

// What several formulas of a transition compute, or one of them more than once: generated code
// computes it once, ahead. Formulas are graphs but are written as trees, and what picks a bank,
// say, decides a dozen properties. A fold over tokens, which can fail, is computed where it is
// first asked for and kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "write/expr.h"

namespace lpn::sim {

class SharedTerms {
 public:
  // Writes one definition; gives the C++ name. `kept`: of a function that keeps what it computed,
  // of the site kSite.
  using Define = std::function<std::string(ExprId term, const std::string& cpp, bool kept)>;
  static constexpr const char* kSite = "at_";

  SharedTerms(const Net& net, const ExprPrinter& printer) : net_(&net), printer_(&printer) {}

  // Turns to transition `k`: nothing is defined yet.
  void turn_to(std::size_t k);
  // Defines those of the shared terms of formula `f` that are not defined yet, operands first.
  // Other terms that can fail, or differ per emitted token, stay where they are.
  void define(const Formula& f, const Define& define);
  const TermNames& names() const { return names_; }

 private:
  void count();
  void count(const Formula& f, bool repeated);
  // Whether it has not the same value throughout: it reads the number of the emitted token, or of
  // one that a fold around it goes through.
  bool varies(ExprId id) { return open(id) != 0; }
  std::uint64_t open(ExprId id);  // a bit for each of these numbers
  void define(ExprId id, const Define& define);

  const Net* net_;
  const ExprPrinter* printer_;
  std::size_t transition_ = static_cast<std::size_t>(-1);
  std::map<ExprId, unsigned> uses_;
  std::map<ExprId, std::uint64_t> open_;
  std::set<ExprId> seen_;  // of those looked at by define()
  TermNames names_;
};

}  // namespace lpn::sim

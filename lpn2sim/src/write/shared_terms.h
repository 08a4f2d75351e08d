// What several formulas of a transition compute, or one of them more than once: generated code
// computes it once, ahead. Formulas are graphs but are written as trees, and what picks a bank,
// say, decides a dozen properties.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "write/expr.h"

namespace lpn::sim {

class SharedTerms {
 public:
  // Writes one definition; gives the C++ name.
  using Define = std::function<std::string(ExprId term, const std::string& cpp)>;

  SharedTerms(const Net& net, const ExprPrinter& printer) : net_(&net), printer_(&printer) {}

  // Turns to transition `k`: nothing is defined yet.
  void turn_to(std::size_t k);
  // Defines those of the shared terms of formula `f` that are not defined yet, operands first.
  // Terms that can fail, or differ per emitted token, stay where they are.
  void define(const Formula& f, const Define& define);
  const TermNames& names() const { return names_; }

 private:
  void count();
  void count(const Formula& f, bool repeated);
  bool varies(ExprId id);
  void define(ExprId id, const Define& define);

  const Net* net_;
  const ExprPrinter* printer_;
  std::size_t transition_ = static_cast<std::size_t>(-1);
  std::map<ExprId, unsigned> uses_;
  std::map<ExprId, bool> varies_;
  std::set<ExprId> seen_;  // of those looked at by define()
  TermNames names_;
};

}  // namespace lpn::sim

// Conditions of an input space as sums that must not be too large, for states in which only some of
// their variables are known.
#pragma once

#include <map>
#include <vector>

#include "lpn/classes/input_space.h"
#include "terms.h"

namespace lpn::reach {

// What cannot be written as a sum of terms of one variable each is taken to hold: more inputs, not
// fewer.
class Sums {
 public:
  // Conditions on a single variable narrow its domain instead.
  Sums(TermSets& sets, const std::vector<ExprId>& constraints, std::vector<DomainId>& domains);

  std::size_t count() const { return sums_.size(); }
  // Whether some values of the variables, of the forgotten ones those counted in `spent`, fit.
  bool fit(const std::vector<DomainId>& domains, const std::vector<std::int64_t>& spent);
  // A variable is forgotten: what it has in each sum at least is spent.
  void forget(std::uint32_t variable, DomainId domain, std::vector<std::int64_t>& spent);
  // Equal for variables that have the same part in every sum; 0: in none.
  std::uint32_t role(std::uint32_t variable) const { return roles_[variable]; }
  bool reads(std::size_t sum, std::uint32_t variable) const {
    return sums_[sum].parts.contains(variable);
  }

 private:
  struct Sum {
    std::map<std::uint32_t, ExprId> parts;  // per variable
    std::int64_t most = 0;
  };
  void add(ExprId constraint, std::vector<DomainId>& domains);
  void add_least(ExprId less, ExprId more, std::int64_t apart,
                 const std::vector<DomainId>& domains);
  bool collect(ExprId term, std::int64_t factor, const std::vector<DomainId>& domains, Sum& sum);
  std::int64_t least(const Sum& sum, std::uint32_t variable, DomainId domain);

  TermSets& sets_;
  std::vector<Sum> sums_;
  std::vector<std::uint32_t> roles_;
};

}  // namespace lpn::reach

#include "lpn/expr/total.h"

#include "lpn/expr/partial.h"

namespace lpn {

bool Totality::operator()(ExprId id) {
  const auto key = static_cast<std::uint32_t>(id);
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  const bool result = compute(bounds_.pool()[id]);
  known_[key] = result;
  return result;
}

bool Totality::compute(const Node& n) {
  std::array<Range, 3> kids;
  for (int k = 0; k < op_info(n.op).arity; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (!(*this)(n.kids[at])) return false;
    kids[at] = bounds_.of(n.kids[at]);
  }
  return !partial(bounds_.pool(), n, kids).any();
}

}  // namespace lpn

#include "lpn/expr/terms.h"

#include <limits>

namespace lpn {

Range TermBounds::variable(std::uint32_t k) { return terms_->variables.at(k).range; }

// There is no run whose tokens could be read: whoever checks the terms says so, not this.
Range TermBounds::read(const Node&) { return {}; }
Range TermBounds::needed(std::uint32_t) { return {0, std::numeric_limits<std::int64_t>::max()}; }

}  // namespace lpn

// Smaller cases that still show what a failing one shows.
#pragma once

#include <functional>
#include <vector>

#include "case.h"

namespace lpn::bench {

// Cases one step smaller than `c`, the boldest first; all of them pass verify().
std::vector<Case> smaller_cases(const Case& c);

// Goes to smaller cases as long as one of them fails. `fails` is asked about many at once, since
// compiling many costs little more than compiling one; it returns one answer per case.
Case shrink(Case c, const std::function<std::vector<bool>(const std::vector<Case>&)>& fails);

}  // namespace lpn::bench

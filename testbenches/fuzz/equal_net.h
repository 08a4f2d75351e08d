// Random nets of equal parts: code that is compiled once for all of them.
#pragma once

#include "random_net.h"

namespace lpn::bench {

// Copies of a small random net: apart, or joined at places; sometimes the last differs in a
// constant. Always passes verify().
Net equal_net(Random& random);

}  // namespace lpn::bench

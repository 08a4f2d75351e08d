// Random nets whose firings repeat in a sequence known beforehand: straight-line code, lock step.
#pragma once

#include "random_net.h"

namespace lpn::bench {

// Always passes verify(). `wild`: some values may leave their ranges, some delays be negative.
Net static_net(Random& random, bool wild);

}  // namespace lpn::bench

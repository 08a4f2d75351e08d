// Random nets as a system has them: parts with clocks of their own, mostly of single servers and of
// delays of nothing or one, that ask and are answered by what is outside the net.
#pragma once

#include <vector>

#include "random_net.h"

namespace lpn::bench {

// Requests that nothing in the net takes, answers that nothing in it puts; both of the net's only
// type of tokens with properties, (id 0..63, n 0..7).
struct Port {
  PlaceId requests{}, answers{};
};

struct SystemNet {
  Net net;
  std::vector<Port> ports;  // at least one
};

// Always passes verify(). `bounded`: some places of requests have a capacity.
SystemNet system_net(Random& random, bool bounded = false);

}  // namespace lpn::bench

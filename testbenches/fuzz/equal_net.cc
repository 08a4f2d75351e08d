#include "equal_net.h"

#include <fmt/format.h>

#include "lpn/net/compose.h"
#include "lpn/net/verify.h"

namespace lpn::bench {

namespace {

Net copies_of_a_part(Random& r) {
  static constexpr Profile kOf[] = {Profile::kTies, Profile::kTies,   Profile::kClocks,
                                    Profile::kBits, Profile::kErrors, Profile::kCounts};
  Net part = random_net(r, kOf[r.below(std::size(kOf))]);
  Net net;
  net.name = "fuzz";
  const bool one_setting = r.chance(60);  // all have the parameters of the first
  std::vector<bool> joined;
  for (const Place& p : part.places) joined.push_back(!p.capacity && r.chance(25));
  const std::int64_t copies = r.between(2, 4);
  Instance first;
  for (std::int64_t c = 0; c < copies; ++c) {
    if (c > 0 && c == copies - 1 && !part.transitions.empty() && r.chance(40)) {
      const auto odd = r.below(static_cast<std::int64_t>(part.transitions.size()));
      part.transitions[static_cast<std::size_t>(odd)].delay =
          Formula{part.exprs.constant(r.between(0, 7)), {}};
    }
    InstanceSpec spec;
    spec.prefix = fmt::format("c{}", c);
    spec.connect.resize(part.places.size());
    spec.params.resize(part.params.size());
    for (std::size_t p = 0; c > 0 && p < joined.size(); ++p) {
      if (joined[p]) spec.connect[p] = first.places[p];
    }
    for (std::size_t p = 0; c > 0 && one_setting && p < part.params.size(); ++p) {
      spec.params[p] = net.exprs.param(*first.params[p]);
    }
    const Instance made = add_instance(net, part, spec);
    if (c == 0) first = made;
  }
  return net;
}

}  // namespace

Net equal_net(Random& random) {
  // A copy's formulas are simplified, and then may be constants out of range.
  for (;;) {
    Net net = copies_of_a_part(random);
    if (verify(net).empty()) return net;
  }
}

}  // namespace lpn::bench

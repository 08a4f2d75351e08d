#include "lpn/export.h"

#include "lpn/initial.h"

namespace lpn::viz {

std::vector<std::uint64_t> initial_tokens(const Net& net, const ParamValues& params,
                                          const Marking& marking) {
  std::vector<std::uint64_t> tokens;
  for (std::uint32_t p = 0; p < net.places.size(); ++p) {
    std::uint64_t count = marking[static_cast<PlaceId>(p)].count;
    for (const Initial& initial : net.places[p].initial) {
      count +=
          static_cast<std::uint64_t>(param_value(net, params, initial.count, "initial tokens", 0));
    }
    tokens.push_back(count);
  }
  return tokens;
}

}  // namespace lpn::viz

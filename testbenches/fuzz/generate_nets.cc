// Only generates: what unreached.py measures the generators with. generate_nets NETS SEED: so many
// nets of each profile, as lpn_fuzz has them compiled.

#include <fmt/format.h>

#include <cstdlib>

#include "lpn/sim/generate.h"
#include "random_net.h"

int main(int argc, char** argv) {
  using namespace lpn;
  if (argc != 3) {
    fmt::print(stderr, "usage: generate_nets NETS SEED\n");
    return 2;
  }
  const std::uint64_t nets = std::strtoull(argv[1], nullptr, 10);
  bench::Random random(std::strtoull(argv[2], nullptr, 10));
  std::uint64_t order_free[3] = {}, bytes = 0;
  for (std::uint64_t k = 0; k < nets * bench::kProfiles; ++k) {
    const auto profile = static_cast<bench::Profile>(k % bench::kProfiles);
    const Net net = bench::random_net(random, profile);
    ++order_free[static_cast<int>(sim::runs(net))];
    sim::GenerateOptions options;
    options.suffix = fmt::format("_{}", k);
    if (k / bench::kProfiles % 2 == 0) options.contested = 2, options.routed = 1;
    if (k / bench::kProfiles / 2 % 2 == 0) options.inlined = 0;
    if (k / bench::kProfiles / 4 % 2 == 0) options.assume = sim::Assume::kAnything;
    bytes += sim::generate(net, options).size();
  }
  fmt::print("{} nets of {} profiles: {} by events, {} mixed, {} order-free; {} MB of source\n",
             nets * bench::kProfiles, bench::kProfiles, order_free[0], order_free[1], order_free[2],
             bytes >> 20);
  return 0;
}

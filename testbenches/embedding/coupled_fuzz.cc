// Random nets coupled by channels against the one net that they are together, on the interpreter:
// every commit with its instant and tokens, the end, what is left, errors.
//
// Then nets in a host's loop against the net in which the host's parts are transitions.
//
//     coupled_fuzz [--seed S] [--pairs N] [--hosts N] [--batch B]

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "engines.h"
#include "lpn/net/verify.h"
#include "lpn/text/text.h"
#include "pair.h"

namespace lpn::bench {
namespace {

constexpr std::uint64_t kGroups = 40;   // a small limit, so that it is met
constexpr std::uint64_t kTraffics = 8;  // inputs per net: compiling is what takes the time

struct Options {
  std::uint64_t seed = 1, pairs = 40, hosts = 40, batch = 40;
};

// Compiled for one use.
void forget(const Engines& engines) {
  for (const auto& file : engines.artefacts) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    std::filesystem::remove(std::filesystem::path(file).replace_extension(".cc"), ignored);
  }
}

int couple(const Options& options) {
  const bool often = options.pairs > options.batch;
  Tally tally;
  std::uint64_t made = 0, invalid = 0, different = 0, nets = 0, rings = 0, unbounded = 0;
  for (std::uint64_t first = 0; first < options.pairs; first += options.batch) {
    std::vector<Parts> all;
    std::vector<std::uint64_t> seeds;
    std::vector<Net> code;
    for (std::uint64_t k = first; k < std::min(options.pairs, first + options.batch); ++k) {
      Random random(options.seed * 1'000'003 + k);
      Parts parts = random_parts(random);
      bool valid = verify(parts.joined.net).empty();
      for (const Net& net : parts.nets) valid = valid && verify(net).empty();
      if (!valid) {
        ++invalid;  // simplifying showed a mistake in constants
        continue;
      }
      parts.joined.group_limit = kGroups;
      rings += parts.links.size() == parts.nets.size();
      for (const Link& link : parts.links) {
        unbounded += !parts.nets[link.from][link.out].capacity.has_value();
      }
      for (const Net& net : parts.nets) code.push_back(net);
      all.push_back(std::move(parts));
      seeds.push_back(k);
    }
    if (all.empty()) continue;
    const Engines engines =
        build_engines(code, quick_options(kGroups), {.free = false, .metered = false}, often);
    nets += code.size();
    std::size_t next = 0;
    for (std::size_t p = 0; p < all.size(); ++p) {
      const auto libraries = [&](const std::vector<sim::Library>& from) {
        return std::vector<sim::Library>(
            from.begin() + static_cast<std::ptrdiff_t>(next),
            from.begin() + static_cast<std::ptrdiff_t>(next + all[p].nets.size()));
      };
      std::string what;
      for (std::uint64_t t = 0; t < kTraffics && what.empty(); ++t) {
        Random random(options.seed * 3'000'017 + seeds[p] * kTraffics + t);
        random_traffic(all[p], random);
        ++made;
        Tally again;
        what = coupled_difference(all[p], libraries(engines.traced), true, tally);
        if (!what.empty()) break;
        what = coupled_difference(all[p], libraries(engines.plain), false, again);
        if (!what.empty()) what = "without identities: " + what;
      }
      next += all[p].nets.size();
      if (what.empty()) continue;
      ++different;
      fmt::print("pair {} of seed {}: {}\n", seeds[p], options.seed, what);
      for (std::size_t n = 0; n < all[p].nets.size(); ++n) {
        std::ofstream(fmt::format("coupled_{}_{}.lpn", seeds[p], n)) << print_net(all[p].nets[n]);
      }
      save_case(all[p].joined, fmt::format("coupled_{}_joined.lpn", seeds[p]),
                what.substr(0, what.find('\n')));
    }
    forget(engines);
  }
  fmt::print(
      "{} runs of couplings of {} nets, {} of them rings, {} channels without capacity; {} not "
      "valid, {} "
      "refused at the start, {} too long, {} errors\n"
      "{} commits, {} of them in later groups, {} tokens through channels; {} different\n",
      made, nets, rings, unbounded, invalid, tally.refused, tally.too_long, tally.faults,
      tally.commits, tally.zero_delay, tally.crossed, different);
  return different == 0 && tally.crossed >= made ? 0 : 1;
}

int host(const Options& options) {
  const bool often = options.hosts > options.batch;
  Tally tally;
  std::uint64_t made = 0, invalid = 0, different = 0;
  for (std::uint64_t first = 0; first < options.hosts; first += options.batch) {
    std::vector<Hosted> all;
    std::vector<std::uint64_t> seeds;
    std::vector<Net> code;
    for (std::uint64_t k = first; k < std::min(options.hosts, first + options.batch); ++k) {
      Random random(options.seed * 2'000'003 + k);
      Hosted hosted = random_hosted(random);
      if (!verify(hosted.joined.net).empty() || !verify(hosted.part).empty()) {
        ++invalid;
        continue;
      }
      hosted.joined.group_limit = kGroups;
      code.push_back(hosted.part);
      all.push_back(std::move(hosted));
      seeds.push_back(k);
    }
    if (all.empty()) continue;
    const Engines engines =
        build_engines(code, quick_options(kGroups), {.free = false, .metered = false}, often);
    for (std::size_t p = 0; p < all.size(); ++p) {
      std::string what;
      for (std::uint64_t t = 0; t < kTraffics && what.empty(); ++t) {
        Random random(options.seed * 3'000'017 + seeds[p] * kTraffics + t);
        random_traffic(all[p], random);
        ++made;
        Tally again;
        what = hosted_difference(all[p], engines.traced[p], true, tally);
        if (what.empty()) what = hosted_difference(all[p], engines.plain[p], false, again);
      }
      if (what.empty()) continue;
      ++different;
      fmt::print("host {} of seed {}: {}\n", seeds[p], options.seed, what);
      save_case(all[p].joined, fmt::format("host_{}_joined.lpn", seeds[p]),
                what.substr(0, what.find('\n')));
    }
    forget(engines);
  }
  fmt::print(
      "{} runs in a host's loop; {} not valid, {} refused at the start, {} too long, {} errors\n"
      "{} commits, {} of them in later groups, {} tokens taken; {} different\n",
      made, invalid, tally.refused, tally.too_long, tally.faults, tally.commits, tally.zero_delay,
      tally.crossed, different);
  return different == 0 && tally.crossed >= made ? 0 : 1;
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) {
  lpn::bench::Options options;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::uint64_t value = std::strtoull(argv[k + 1], nullptr, 10);
    if (std::strcmp(argv[k], "--seed") == 0)
      options.seed = value;
    else if (std::strcmp(argv[k], "--pairs") == 0)
      options.pairs = value;
    else if (std::strcmp(argv[k], "--hosts") == 0)
      options.hosts = value;
    else if (std::strcmp(argv[k], "--batch") == 0 && value > 0)
      options.batch = value;
    else {
      fmt::print(stderr, "unknown option {}; there are --seed, --pairs, --hosts and --batch\n",
                 argv[k]);
      return 2;
    }
  }
  const int coupled = options.pairs == 0 ? 0 : lpn::bench::couple(options);
  const int hosted = options.hosts == 0 ? 0 : lpn::bench::host(options);
  return coupled != 0 || hosted != 0 ? 1 : 0;
}

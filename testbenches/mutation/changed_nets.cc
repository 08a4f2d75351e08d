// Does a mutant of the code generator matter? Generates many nets twice, without the mutant of
// $LPN_MUTANT and with it, compiles some of those whose text differs, and runs them.
//
// changed_nets NETS_FOLDER FOUND_FOLDER [--random N] [--most N] [--pretend N] [--groups N]: golden
// nets, the fuzzer's finds, and N random nets of each profile; at most so many are compiled, the
// others stay unasked. --pretend: so many texts count as changed. --groups: the limit of groups in
// compiled code, which is to be noticed.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "case.h"
#include "engines.h"
#include "lpn/base/error.h"
#include "lpn/sim/generate.h"
#include "many.h"
#include "outcome.h"
#include "random_net.h"

namespace lpn::bench {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kGroups = 40;
constexpr std::size_t kMostCommits = 1500;
constexpr std::size_t kRounds[] = {6, ~std::size_t{0}};  // nets that are compiled at once
constexpr std::size_t kTogether = 9;                     // inputs of a batch

struct Asked {
  std::string name;
  std::vector<Case> cases;  // of one net
};

bool short_enough(const Case& c) {
  try {
    play(c, {.observe = true, .most_commits = kMostCommits});
    return true;
  } catch (const TooLong&) {
    return false;
  }
}

std::vector<Asked> all_nets(const std::vector<fs::path>& folders, int random_nets) {
  std::vector<Asked> all;
  for (const fs::path& folder : folders) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".lpn") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) all.push_back({file.stem().string(), {load_case(file)}});
  }
  Random random(1);
  for (int k = 0; k < random_nets * kProfiles; ++k) {
    const auto profile = static_cast<Profile>(k % kProfiles);
    Asked asked{fmt::format("random net {} ({})", k, profile_name(profile)), {}};
    const Net net = random_net(random, profile);
    for (int input = 0; input < 3; ++input) asked.cases.push_back(random_inputs(net, random));
    asked.cases.push_back(asked.cases.back());
    asked.cases.back().steps = random_steps(asked.cases.back(), 60, random, profile);
    all.push_back(std::move(asked));
  }
  for (Asked& asked : all) {
    for (Case& c : asked.cases) c.group_limit = kGroups;
  }
  return all;
}

// As many of them as build_many has them.
sim::GenerateOptions ways_of(std::size_t k) {
  sim::GenerateOptions options;
  if (k % 2 == 0) options.contested = 2, options.routed = 1;
  if (k / 2 % 2 == 0) options.inlined = 0;
  if (k / 4 % 2 == 0) options.assume = sim::Assume::kAnything;
  return options;
}

struct Text {
  std::size_t hash = 0, size = 0;
};

std::vector<Text> texts_of(const std::vector<Asked>& all) {
  std::vector<Text> texts;
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::string text;
    try {
      for (std::size_t way = 0; way < 4; ++way) {
        text += sim::generate(all[k].cases[0].net, ways_of(way));
      }
    } catch (const Error& error) {
      text = error.what();
    }
    texts.push_back({std::hash<std::string>{}(text), text.size()});
  }
  return texts;
}

// Of a process in which no mutant is on.
std::vector<Text> texts_without_mutant(const std::vector<fs::path>& folders, int random_nets) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("LPN_MUTANT", "0", 1);
    for (const Text& text : texts_of(all_nets(folders, random_nets))) {
      if (::write(ends[1], &text, sizeof text) != sizeof text) ::_exit(2);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::vector<Text> texts;
  for (Text text; ::read(ends[0], &text, sizeof text) == sizeof text;) texts.push_back(text);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) std::abort();
  return texts;
}

// What is wrong with some of the nets, compiled; "" when nothing is.
std::string wrong(const std::vector<Asked>& all, const std::vector<std::size_t>& chosen,
                  std::uint64_t groups) {
  sim::CompileOptions options = quick_options(groups);
  if (const char* const given = std::getenv("LPN_MUTATION_CXX")) options.compiler = given;
  options.flags += " -DLPNRT_STREAM_BLOCK=3";
  std::vector<Net> nets;
  for (const std::size_t k : chosen) nets.push_back(all[k].cases[0].net);
  const Variants stages[] = {{false, false, true, false},
                             {true, false, false, false},
                             {false, false, false, true},
                             {false, true, false, false}};
  for (const Variants& stage : stages) {
    const Engines engines = build_engines(nets, options, stage, true);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const Asked& asked = all[chosen[k]];
      for (const Case& c : asked.cases) {
        if (!short_enough(c)) continue;
        std::string what = disagreement(c, compiled(engines, k));
        const bool whole = c.steps.size() == 1 && c.steps[0].time == kForever;
        if (what.empty() && stage.plain && whole) {
          what = batch_disagreement(std::vector<Case>(kTogether, c), engines.plain[k], 1);
        }
        if (!what.empty()) return fmt::format("{}: {}", asked.name, what);
      }
    }
  }
  return "";
}

int run(const std::vector<fs::path>& folders, int random_nets, std::size_t most,
        std::size_t pretend, std::uint64_t groups) {
  const std::vector<Text> before = texts_without_mutant(folders, random_nets);
  const std::vector<Asked> all = all_nets(folders, random_nets);
  const std::vector<Text> now = texts_of(all);
  if (before.size() != now.size()) return 2;
  std::vector<std::size_t> changed;
  for (std::size_t k = 0; k < now.size(); ++k) {
    if (k < pretend || now[k].hash != before[k].hash) changed.push_back(k);
  }
  fmt::print("{} of {} nets have another text:", changed.size(), now.size());
  for (std::size_t k = 0; k < std::min<std::size_t>(changed.size(), 8); ++k) {
    fmt::print(" {}", all[changed[k]].name);
  }
  fmt::print("\n");
  std::fflush(stdout);
  std::sort(changed.begin(), changed.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(now[a].size, a) < std::pair(now[b].size, b);
  });
  std::size_t compiled = 0;
  for (const std::size_t round : kRounds) {
    const std::size_t wanted = std::min({round, most - compiled, changed.size()});
    if (wanted == 0) break;
    // Spread over all sizes.
    std::vector<std::size_t> chosen, left;
    for (std::size_t k = 0; k < changed.size(); ++k) {
      const bool take = k * wanted / changed.size() != (k + 1) * wanted / changed.size();
      (take ? chosen : left).push_back(changed[k]);
    }
    changed = left;
    compiled += chosen.size();
    if (const std::string what = wrong(all, chosen, groups); !what.empty()) {
      fmt::print("{}\n", what);
      return 1;
    }
  }
  fmt::print("{} of them compiled: none differs\n", compiled);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3 || argc % 2 == 0) {
    fmt::print(stderr,
               "usage: changed_nets NETS FOUND [--random N] [--most N] [--pretend N]"
               " [--groups N]\n");
    return 2;
  }
  std::uint64_t random = 8, most = 40, pretend = 0, groups = kGroups;
  for (int k = 3; k + 1 < argc; k += 2) {
    const std::uint64_t value = std::strtoull(argv[k + 1], nullptr, 10);
    if (std::strcmp(argv[k], "--random") == 0) random = value;
    if (std::strcmp(argv[k], "--most") == 0) most = value;
    if (std::strcmp(argv[k], "--pretend") == 0) pretend = value;
    if (std::strcmp(argv[k], "--groups") == 0) groups = value;
  }
  return run({argv[1], argv[2]}, static_cast<int>(random), most, pretend, groups);
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) {
  try {
    return lpn::bench::main(argc, argv);
  } catch (const lpn::Error& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
}

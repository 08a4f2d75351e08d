// Golden nets: one idea each, with a trace derived by hand from the semantics, on every engine.
//
// golden_test NETS_FOLDER [FOUND_FOLDER]: nets/NAME.lpn against nets/NAME.trace; and the cases that
// the fuzzer once found (no trace: the interpreter is the definition), on which all must agree.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "case.h"
#include "engines.h"
#include "lpn/net/verify.h"
#include "lpn/text/text.h"
#include "many.h"
#include "outcome.h"

namespace lpn::bench {
namespace {

namespace fs = std::filesystem;

fs::path nets_folder, found_folder;
// Small enough to write a trace by hand up to the limit.
constexpr std::uint64_t kGoldenGroups = 8;

std::vector<fs::path> nets_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".lpn") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string without_comments(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    while (line.back() == ' ') line.pop_back();
    kept += line + "\n";
  }
  return kept;
}

std::vector<Net> nets_of(const std::vector<Case>& cases) {
  std::vector<Net> nets;
  for (const Case& c : cases) nets.push_back(c.net);
  return nets;
}

TEST_CASE("golden nets: every engine does what the trace says") {
  const std::vector<fs::path> files = nets_in(nets_folder);
  REQUIRE(files.size() > 50);
  std::vector<Case> cases;
  for (const fs::path& file : files) {
    INFO(file.string());
    cases.push_back(load_case(file));
    cases.back().group_limit = kGoldenGroups;
    CHECK(cases.back().net.name == file.stem().string());
    CHECK(print_net(parse_net(print_net(cases.back().net))) == print_net(cases.back().net));
  }
  const std::vector<Net> nets = nets_of(cases);
  const sim::CompileOptions quick = quick_options(kGoldenGroups);
  const auto plain = build_many(nets, {}, quick);
  const auto traced = build_many(nets, {.trace = true}, quick);
  const auto metered = build_many(nets, {.stats = true}, quick);
  for (std::size_t k = 0; k < files.size(); ++k) {
    INFO(files[k].stem().string());
    const Case& c = cases[k];
    const std::string expected =
        without_comments(read_text(fs::path(files[k]).replace_extension(".trace")));
    const auto text = [&](const Outcome& o) { return without_comments(print_outcome(c, o)); };
    const Outcome defined = play(c, {.observe = true, .stats = true});
    CHECK(text(defined) == expected);
    CHECK(text(play(c, {.observe = true, .full_scan = true})) == expected);
    CHECK(text(play(c, traced[k], {.observe = true})) == expected);
    CHECK(difference(c, defined, play(c, plain[k], {})) == "");
    const Outcome counted = play(c, metered[k], {.stats = true});
    CHECK(difference(c, defined, counted) == "");
    const fs::path stats = fs::path(files[k]).replace_extension(".stats");
    if (!fs::exists(stats)) continue;
    const std::string figures = without_comments(read_text(stats));
    for (const Outcome* o : {&defined, &counted}) {
      REQUIRE(o->steps.back().stats.has_value());
      CHECK(print_stats(c.net, *o->steps.back().stats) == figures);
    }
  }
}

TEST_CASE("the default limit of groups is 2^20 in both engines") {
  const Case c = load_case(nets_folder / "fault_zero_delay.lpn");
  const Outcome defined = play(c, {});
  REQUIRE(defined.steps.size() == 1);
  REQUIRE(defined.steps[0].fault.has_value());
  CHECK(defined.steps[0].fault->value == 1 << 20);
  sim::CompileOptions quick = quick_options();
  const auto libraries = build_many({c.net}, {}, quick);
  CHECK(difference(c, defined, play(c, libraries[0], {})) == "");
}

TEST_CASE("cases that once differed agree") {
  if (found_folder.empty()) return;
  std::vector<Case> cases;
  std::vector<std::string> names;
  for (const fs::path& file : nets_in(found_folder)) {
    cases.push_back(load_case(file));
    names.push_back(file.stem().string());
  }
  std::uint64_t groups = kDefaultGroupLimit;
  for (const Case& c : cases) groups = std::min(groups, c.group_limit);
  const Engines engines = build_engines(nets_of(cases), quick_options(groups));
  for (std::size_t k = 0; k < cases.size(); ++k) {
    INFO(names[k]);
    cases[k].group_limit = groups;
    CHECK(disagreement(cases[k], compiled(engines, k)) == "");
  }
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: golden_test NETS_FOLDER [FOUND_FOLDER] [doctest options]\n");
    return 2;
  }
  lpn::bench::nets_folder = argv[1];
  if (argc > 2 && argv[2][0] != '-') lpn::bench::found_folder = argv[2];
  doctest::Context context(argc, argv);
  return context.run();
}

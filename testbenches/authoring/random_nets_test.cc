// Random nets through what authoring adds to the core: an instance does what its part does, a
// transition that is said to be dead never commits, and text and lints take every net.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <set>

#include "lpn/base/error.h"
#include "lpn/net/compose.h"
#include "lpn/net/verify.h"
#include "lpn/structure/lint.h"
#include "lpn/text/text.h"
#include "outcome.h"
#include "random_net.h"

using namespace lpn;
using namespace lpn::bench;

namespace {

constexpr std::uint64_t kSeed = 20261121;
constexpr int kNets = 500;

InstanceSpec free_standing(const Net& part) {
  return {"inner", std::vector<std::optional<PlaceId>>(part.places.size()),
          std::vector<std::optional<ExprId>>(part.params.size())};
}

PlayOptions observed() {
  PlayOptions options;
  options.observe = true;
  options.most_commits = 4'000;
  return options;
}

// Same commits and end; messages name other nets, so only the fault's kind is compared.
void check_same(const Outcome& a, const Outcome& b) {
  CHECK(a.error.empty() == b.error.empty());
  CHECK(a.commits == b.commits);
  REQUIRE(a.steps.size() == b.steps.size());
  for (std::size_t k = 0; k < a.steps.size(); ++k) {
    CHECK(a.steps[k].result == b.steps[k].result);
    CHECK(a.steps[k].tokens == b.steps[k].tokens);
    CHECK(a.steps[k].fault.has_value() == b.steps[k].fault.has_value());
  }
}

}  // namespace

TEST_CASE("compose: an instance alone in a net does what its part does, commit for commit") {
  int ran = 0, with_params = 0, refused = 0;
  for (int k = 0; k < kNets; ++k) {
    CAPTURE(k);
    Random random(kSeed + static_cast<std::uint64_t>(k));
    Net part = random_net(random);
    Case inner = random_inputs(part, random);
    Case outer = inner;
    outer.net = Net{};
    outer.net.name = "outer";
    add_instance(outer.net, part, free_standing(part));
    if (part.done_count) continue;  // an instance does not bring it
    if (!verify(outer.net).empty()) {
      ++refused;  // simplifying showed a mistake in constants: a divisor, a range, a weight of 0
      continue;
    }
    REQUIRE(print_net(parse_net(print_net(outer.net))) == print_net(outer.net));
    try {
      check_same(play(inner, observed()), play(outer, observed()));
      ++ran;
    } catch (const TooLong&) {
    }
    if (part.params.empty()) continue;
    // The parameters bound to constants: the same again.
    Case bound = inner;
    bound.net = Net{};
    bound.net.name = "outer";
    InstanceSpec spec = free_standing(part);
    for (std::size_t p = 0; p < part.params.size(); ++p) {
      spec.params[p] = bound.net.exprs.constant(inner.params[p]);
    }
    bound.params.clear();
    try {
      add_instance(bound.net, part, spec);
    } catch (const Error& error) {
      CHECK(error.code() == "E-param");
      continue;
    }
    if (!verify(bound.net).empty()) continue;  // a divisor became 0, servers 0, ...
    try {
      check_same(play(inner, observed()), play(bound, observed()));
      ++with_params;
    } catch (const TooLong&) {
    }
  }
  CHECK(refused < kNets / 20);
  CHECK(ran > kNets / 3);
  CHECK(with_params > kNets / 10);
}

TEST_CASE("lint: a dead transition never commits, when the workload fills what is declared to be") {
  int dead = 0, commits = 0;
  for (int k = 0; k < kNets; ++k) {
    CAPTURE(k);
    Random random(kSeed * 3 + static_cast<std::uint64_t>(k));
    const Net net = random_net(random);
    std::set<std::string> told;
    for (const Warning& w : lint(net)) {
      if (w.code == "W-dead") told.insert(w.where);
    }
    dead += static_cast<int>(told.size());
    Case c = random_inputs(net, random);
    std::erase_if(c.loads, [&net](const Load& load) { return !net[load.place].start; });
    c.steps.clear();
    c.steps.push_back({});
    try {
      const Outcome outcome = play(c, observed());
      for (const Commit& commit : outcome.commits) {
        CHECK(told.count("transition '" + net[commit.transition].name + "'") == 0);
        ++commits;
      }
    } catch (const TooLong&) {
    }
  }
  CHECK(dead > kNets / 10);
  CHECK(commits > kNets / 2);
}

// Random static nets: straight-line code (lpn2sim/src/write/straight_line.h) against the
// interpreter, one input at a time, with and without statistics, and several in lock step.
//
// static_test [NETS [SEED [GROUPS]]]: so many nets, each with several inputs; as a test 24. GROUPS:
// the limit of groups in an instant. LPN_TEST_FLAGS: the compiler's, else -O0.

#define DOCTEST_CONFIG_IMPLEMENT
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>

#include "case.h"
#include "engines.h"
#include "lpn/net/verify.h"
#include "lpn/text/text.h"
#include "many.h"
#include "outcome.h"
#include "static_net.h"

namespace lpn::bench {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

int nets = 24;
uint64_t seed = 20261121;
uint64_t groups = kDefaultGroupLimit;

using Dice = Random;

int64_t some_value(Dice& d, const std::optional<Range>& range) {
  if (!range) return d.chance(3) ? int64_t{1} << d.between(30, 62) : d.between(-3, 1000);
  return d.chance(20) ? range->hi : range->lo + d.below(range->hi - range->lo + 1);
}

Case some_inputs(const Net& net, Dice& d, int64_t lat, int64_t cap, int64_t srv, bool plain) {
  Case c = make_case(net);
  c.group_limit = groups;
  c.params = {cap, lat, srv};
  for (size_t p = 0; p < net.places.size(); ++p) {
    int64_t count = 0;
    if (net.places[p].start) {
      // Lock step is as long as the shortest input.
      count = plain          ? d.between(d.chance(1) ? 0 : 90, 160)
              : d.chance(10) ? d.below(4)
                             : d.between(5, 60);
    }
    if (!plain && !net.places[p].start && !net.places[p].capacity && d.chance(4)) count = 1;
    if (count == 0) continue;
    Load load{static_cast<PlaceId>(p), static_cast<uint64_t>(count), {}};
    for (int64_t i = 0; i < count; ++i) {
      for (const Field& f : net.type_of(load.place).fields) {
        load.values.push_back(plain && !f.range ? d.between(0, 1000) : some_value(d, f.range));
      }
    }
    c.loads.push_back(std::move(load));
  }
  return c;
}

struct Made {
  std::vector<Net> nets;
  std::vector<sim::Library> libraries;
  void* handle = nullptr;
  uint64_t *iterations = nullptr, *lane_iterations = nullptr, *lane_rebases = nullptr;
};

sim::CompileOptions flags() {
  sim::CompileOptions options;
  const char* const given = std::getenv("LPN_TEST_FLAGS");
  options.flags = given != nullptr ? given : "-O0";
  if (groups != kDefaultGroupLimit) options.flags += fmt::format(" -DLPNRT_GROUP_LIMIT={}", groups);
  options.flags += " -DLPNRT_TEST_STATIC";
  return options;
}

const Made& made() {
  static const Made all = [] {
    Made m;
    Dice d(seed);
    while (m.nets.size() < static_cast<size_t>(nets)) {
      Net net = static_net(d, m.nets.size() % 8 == 7);
      const auto wrong = verify(net);
      INFO(print_net(net));
      REQUIRE(wrong.empty());
      m.nets.push_back(std::move(net));
    }
    m.libraries = build_many(m.nets, {}, flags());
    m.handle = ::dlopen(m.libraries[0].provenance().artefact.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(m.handle != nullptr);
    const auto counter = [&m](const char* name) {
      void* at = ::dlsym(m.handle, name);
      REQUIRE(at != nullptr);
      return static_cast<uint64_t*>(at);
    };
    m.iterations = counter("_ZN5lpnrt17static_iterationsE");
    m.lane_iterations = counter("_ZN5lpnrt15lane_iterationsE");
    m.lane_rebases = counter("_ZN5lpnrt12lane_rebasesE");
    return m;
  }();
  return all;
}

TEST_CASE("straight-line code does what the interpreter does") {
  const Made& m = made();
  Dice d(seed + 1);
  int with_iterations = 0;
  uint64_t firings = 0;
  for (size_t i = 0; i < m.nets.size(); ++i) {
    bool some = false;
    for (int n = 0; n < 6; ++n) {
      const Case c =
          some_inputs(m.nets[i], d, d.between(0, 9), d.between(1, 8), d.between(1, 8), false);
      const uint64_t before = *m.iterations;
      const Outcome defined = play(c, {});
      const Outcome compiled = play(c, m.libraries[i], {});
      const std::string what = difference(c, defined, compiled);
      if (!what.empty()) {
        FAIL_CHECK(fmt::format("net {}, input {}: {}\n{}{}", i, n, what, print_net(m.nets[i]),
                               print_inputs(c)));
      }
      some |= *m.iterations != before;
      if (defined.steps.size() == 1 && defined.steps[0].result) {
        firings += defined.steps[0].result->commits;
      }
    }
    with_iterations += some;
  }
  MESSAGE(fmt::format("{} nets, {} of them with straight-line iterations, {} firings",
                      m.nets.size(), with_iterations, firings));
  CHECK(with_iterations * 2 > static_cast<int>(m.nets.size()));
}

TEST_CASE("statistics of straight-line code are the interpreter's") {
  const Made& m = made();
  sim::CompileOptions options = flags();
  // Several blocks of few iterations, each of which may read the one before it.
  options.flags += " -DLPNRT_STREAM_BLOCK=5 -DLPNRT_READ_BACK=1";
  const std::vector<sim::Library> metered = build_many(m.nets, {.stats = true}, options);
  void* const handle = ::dlopen(metered[0].provenance().artefact.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  const auto* const iterations =
      static_cast<const uint64_t*>(::dlsym(handle, "_ZN5lpnrt17static_iterationsE"));
  const auto* const back = static_cast<const uint64_t*>(::dlsym(handle, "_ZN5lpnrt9read_backE"));
  REQUIRE(iterations != nullptr);
  REQUIRE(back != nullptr);
  Dice d(seed + 3);
  int with_iterations = 0, read_back = 0;
  for (size_t i = 0; i < m.nets.size(); ++i) {
    bool some = false;
    const uint64_t read_before = *back;
    for (int n = 0; n < 6; ++n) {
      const Case c =
          some_inputs(m.nets[i], d, d.between(0, 9), d.between(1, 8), d.between(1, 8), n > 3);
      const uint64_t before = *iterations;
      const Outcome defined = play(c, {.stats = true});
      const std::string what = difference(c, defined, play(c, metered[i], {.stats = true}));
      if (!what.empty()) {
        FAIL_CHECK(fmt::format("net {}, input {}: {}\n{}{}", i, n, what, print_net(m.nets[i]),
                               print_inputs(c)));
      }
      some |= *iterations != before;
    }
    with_iterations += some;
    read_back += *back != read_before;
  }
  MESSAGE(fmt::format("{} of {} nets with straight-line iterations, {} that read them back",
                      with_iterations, m.nets.size(), read_back));
  CHECK(read_back > 0);
  CHECK(with_iterations * 2 > static_cast<int>(m.nets.size()));
}

TEST_CASE("inputs in lock step do what each does alone") {
  using Together = uint32_t (*)(lpn_sim* const*, uint32_t);
  const Made& m = made();
  Dice d(seed + 2);
  int together = 0, asked = 0;
  for (size_t i = 0; i < m.nets.size(); ++i) {
    const std::string space = fmt::format("lpn_net_{}", i);
    const auto run = reinterpret_cast<Together>(::dlsym(
        m.handle, fmt::format("_ZN{}{}10test_lanesEPKP7lpn_simj", space.size(), space).c_str()));
    if (run == nullptr) continue;  // no part of it can go in lock step
    const uint32_t most = run(nullptr, 0);
    if (most == 0) {
      MESSAGE("this machine's vectors are not used");
      return;
    }
    for (int n = 0; n < 3; ++n) {
      ++asked;
      const auto count = static_cast<uint32_t>(n == 0 ? most : d.between(1, most));
      const int64_t cap = d.between(1, 8), srv = d.between(1, 8);
      std::vector<Case> cases;
      std::vector<lpn_sim*> sims;
      const lpn_sim_api& api = m.libraries[i].api();
      for (uint32_t lane = 0; lane < count; ++lane) {
        cases.push_back(some_inputs(m.nets[i], d, d.between(0, 9), cap, srv, d.chance(98)));
        int32_t status = 0;
        lpn_sim* sim = api.create(cases.back().params.data(), &status);
        REQUIRE(sim != nullptr);
        for (const Load& l : cases.back().loads) {
          REQUIRE(api.load(sim, static_cast<uint32_t>(l.place), l.count, l.values.data()) ==
                  LPN_OK);
        }
        sims.push_back(sim);
      }
      const uint64_t before = *m.lane_iterations;
      const uint32_t how = run(sims.data(), count);
      together += *m.lane_iterations != before;
      for (uint32_t lane = 0; lane < count; ++lane) {
        const Outcome defined = play(cases[lane], {});
        REQUIRE(defined.steps.size() == 1);
        lpn_result result;
        const int32_t status = api.run(sims[lane], kForever, &result);
        INFO(fmt::format("net {}, {} inputs, lane {}, together {}\n{}{}", i, count, lane, how >> 31,
                         print_net(m.nets[i]), print_inputs(cases[lane])));
        const auto& expected = defined.steps[0].result;
        REQUIRE((status == LPN_OK) == expected.has_value());
        if (expected) {
          CHECK(result.commits == expected->commits);
          CHECK(result.last_commit == expected->last_commit);
          CHECK(result.done_tokens == expected->done_tokens);
          CHECK((result.stalled != 0) == expected->stalled);
          CHECK((result.has_latency != 0) == expected->latency.has_value());
          if (expected->latency) CHECK(result.latency == *expected->latency);
          for (uint32_t p = 0; p < m.nets[i].places.size(); ++p) {
            CHECK(api.tokens(sims[lane], p, nullptr) == defined.steps[0].counts[p]);
          }
        }
        api.destroy(sims[lane]);
      }
    }
  }
  MESSAGE(fmt::format("{} of {} batches in lock step, {} iterations, {} times lanes were rebased",
                      together, asked, *m.lane_iterations, *m.lane_rebases));
  CHECK(*m.lane_rebases > 0);
  CHECK(together * 3 > asked);
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') lpn::bench::nets = std::atoi(argv[1]);
  if (argc > 2 && argv[2][0] != '-') lpn::bench::seed = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3 && argv[3][0] != '-') lpn::bench::groups = std::strtoull(argv[3], nullptr, 10);
  return doctest::Context(argc, argv).run();
}

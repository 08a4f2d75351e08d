// The critical path of a compiled run: causes of one instant, and its memory.

#include "lpnrt/path.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "folder.h"
#include "lpn/base/error.h"
#include "lpn/sim/simulator.h"
#include "lpn/text/text.h"

namespace lpn::sim {
namespace {

Simulator traced(const Folder& folder, const Net& net, const char* more = "") {
  CompileOptions options;
  options.flags = fmt::format("-O0 {}", more);
  options.cache = folder / "cache";
  return {Library::build(net, {.path = true}, options), {}, Marking(net)};
}

std::vector<std::string> chain(const Net& net, const CriticalPath& path) {
  std::vector<std::string> names;
  for (const CriticalPath::Step& step : path.steps) {
    names.push_back(net.transitions[step.index].name);
  }
  return names;
}

TEST_CASE("of two causes at one time the one in the later group decided") {
  // `relay` commits at 3, too, but in the group after `slow` and `other`.
  const char* const text = R"(lpn 1
net groups
type unit ()
place a : unit start initial 1
place b : unit start initial 1
place first : unit
place mid : unit
place second : unit
place out : unit done
transition other {{
  take x from a
  delay 3
  put first
}}
transition slow {{
  take x from b
  delay 3
  put mid
}}
transition relay {{
  take x from mid
  delay 0
  put second
}}
transition join {{
  take x from {}
  take y from {}
  delay 2
  put out
}}
end
)";
  const Folder folder;
  for (const auto& [one, two] : {std::pair{"first", "second"}, std::pair{"second", "first"}}) {
    const Net net = parse_net(fmt::format(fmt::runtime(text), one, two));
    for (const Mode mode : {Mode::kAuto, Mode::kEvents}) {
      Simulator simulator = traced(folder, net);
      simulator.set_mode(mode);
      CHECK(simulator.run().latency == 5);
      const CriticalPath path = simulator.path();
      CHECK(chain(net, path) == std::vector<std::string>{"join", "relay", "slow"});
      Time cycles = 0;
      for (const CriticalPath::Row& row : path.rows) cycles += row.cycles;
      CHECK(cycles == 5);
    }
  }
}

TEST_CASE("of two causes at one time and group the first one decided") {
  using lpnrt::Cause;
  lpnrt::Causes causes(3);
  const auto firing = [&](std::uint32_t by, std::int64_t start, std::int64_t commit) {
    return causes.add(start, 0, commit, lpnrt::Causes::kNone, by, Cause::kInitial);
  };
  const std::uint32_t a = firing(0, 0, 4), b = firing(1, 1, 4), later = firing(2, 0, 5);
  lpnrt::Causes::Choice why;
  causes.commit_of(why, a, Cause::kToken);
  causes.commit_of(why, b, Cause::kServer);
  CHECK(why.node == a);
  CHECK(why.cause == Cause::kToken);
  // A start at the time and in the group of the commit comes behind it.
  causes.start_of(why, b, 3, Cause::kInterval);
  CHECK(why.node == a);
  causes.commit_of(why, later, Cause::kToken);
  CHECK(why.node == later);
  causes.start_of(why, b, 5, Cause::kInterval);
  CHECK(why.node == b);
  CHECK(why.time == 6);
}

TEST_CASE("a path that outgrew its memory is no path, however long the run goes on") {
  // Firings in flight keep their nodes; then a lone token goes on, which needs few.
  const Net net = parse_net(R"(lpn 1
net many
type unit ()
type rounds (n)
place src : unit start initial 300
place wait : unit sink
place loop : rounds sink
transition go {
  take x from src
  delay 300
  interval 1
  put wait
}
transition end {
  take x from wait weight 1 need 300
  delay 1
  put loop (200)
}
transition tail {
  take x from loop when x.n > 0
  delay 1
  put loop (x.n - 1)
}
end
)");
  const Folder folder;
  for (const Mode mode : {Mode::kAuto, Mode::kEvents}) {
    const auto run = [&](std::uint64_t budget) {
      Simulator simulator = traced(folder, net, "-DLPNRT_PATH_NODES=8");
      simulator.set_mode(mode);
      if (budget != 0) simulator.set_path_budget(budget);
      CHECK(simulator.run().last_commit == 800);
      return simulator.path();
    };
    CHECK(run(0).rows.size() == 4);  // three delays, and the interval
    std::string code;
    try {
      run(2000);
    } catch (const Error& error) {
      code = error.code();
    }
    CHECK(code == "E-path-memory");
  }
}

}  // namespace
}  // namespace lpn::sim

#include "lpn/run/interp.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lpn/text/text.h"

using namespace lpn;

namespace {

Net net_of(const std::string& body) {
  return parse_net("lpn 1\nnet n\ntype unit ()\ntype job (size: 0..99)\n" + body + "end\n");
}

// "time:transition" of each commit.
struct Log final : Observer {
  explicit Log(const Net& n) : net(n) {}
  void on_commit(const Commit& c) override {
    text += (text.empty() ? "" : " ") + std::to_string(c.time) + ":" + net[c.transition].name;
  }
  const Net& net;
  std::string text;
};

std::string commits(const Net& net, const Marking& marking) {
  Interp interp(net, bind_params(net), marking, {.trace = true});
  Log log(net);
  interp.run(kForever, &log);
  return log.text;
}

Marking jobs(const Net& net, const std::vector<std::int64_t>& sizes) {
  Marking marking(net);
  marking.add(*net.find_place("p"), sizes, sizes.size());
  return marking;
}

const std::string kIn = "place p : job start\nplace q : job done\n";

std::string worker(const std::string& lines, const std::string& name = "t") {
  return "transition " + name + " {\n  take x from p\n" + lines + "  put q (x.size)\n}\n";
}

}  // namespace

TEST_CASE("servers, interval, order and clock decide when a transition commits") {
  const std::pair<const char*, const char*> cases[] = {
      {"  delay x.size\n  servers 1\n", "5:t 6:t 9:t"},
      {"  delay x.size\n", "1:t 3:t 5:t"},
      {"  delay x.size\n  ordered\n", "5:t 5:t 5:t"},
      {"  delay x.size\n  interval 2\n", "3:t 5:t 7:t"},
      {"  delay 1\n  clock 4 phase 2\n  servers 1\n", "6:t 10:t 14:t"},
  };
  for (const auto& [lines, expected] : cases) {
    CAPTURE(lines);
    const Net net = net_of(kIn + worker(lines));
    CHECK(commits(net, jobs(net, {5, 1, 3})) == expected);
  }
}

TEST_CASE("the first transition declared wins, unless its guard is false") {
  const Net net = net_of(kIn +
                         "transition large {\n  take x from p when x.size > 2\n  delay 1\n"
                         "  interval 1\n  put q (x.size)\n}\n" +
                         worker("  delay 1\n  interval 1\n", "any"));
  CHECK(commits(net, jobs(net, {3, 2, 4})) == "1:large 1:any 2:large");
}

TEST_CASE("a stalled run says what is left and why") {
  const Net net = net_of(
      "place p : job start\nplace r : unit capacity 1\nplace q : unit done\n"
      "transition t {\n  take x from p\n  delay 1\n  put r\n}\n"
      "transition u {\n  take y from r weight 2\n  delay 1\n  put q\n}\n");
  Interp interp(net, {}, jobs(net, {1, 1}));
  const RunResult result = interp.run();
  CHECK(result.ending == Ending::kQuiet);
  CHECK(result.stalled);
  CHECK(result.undrained == std::vector{PlaceId{0}, PlaceId{1}});
  REQUIRE(result.blocked.size() == 2);
  CHECK(result.blocked[0] == Blocked{TransitionId{0}, Wait::kCredit, 1});
  CHECK(result.blocked[1] == Blocked{TransitionId{1}, Wait::kToken, 0});
  CHECK_FALSE(result.latency);
}

TEST_CASE("a run in parts, with tokens from outside") {
  const Net net = net_of(kIn + worker("  delay 4\n  servers 1\n"));
  Interp interp(net, {}, Marking(net), {.stats = true});
  const std::vector<std::int64_t> one{7};
  interp.push(PlaceId{0}, one, 10);
  CHECK(interp.run(12).ending == Ending::kLimit);
  CHECK(interp.occupancy(PlaceId{0}) == 1);  // locked
  CHECK(interp.free_tokens(PlaceId{0}) == 0);
  CHECK_THROWS_WITH(interp.push(PlaceId{0}, one, 3),
                    "place 'p': a token for time 3 comes too late; the simulation is at 10");
  const RunResult result = interp.run();
  CHECK(result.ending == Ending::kQuiet);
  CHECK(result.latency == 14);
  CHECK(interp.tokens(PlaceId{1}) == one);
  CHECK(interp.stats().transitions[0].busy == 4);
}

TEST_CASE("of interval and clock the one that holds back now is named") {
  const Net net = net_of(kIn + worker("  delay 0\n  interval 2\n  clock 5 phase 3\n"));
  Interp interp(net, {}, jobs(net, {1, 1}), {.stats = true});
  CHECK(interp.run().last_commit == 13);
  const auto waited = interp.stats().transitions[0].waited;
  CHECK(waited[static_cast<std::size_t>(Wait::kClock)] == 3);
  CHECK(waited[static_cast<std::size_t>(Wait::kInterval)] == 10);
}

TEST_CASE("a clock whose next edge is behind the last instant") {
  const Net net = net_of(kIn + worker("  delay 0\n  clock 9223372036854775807\n"));
  Interp interp(net, {}, Marking(net));
  const std::vector<std::int64_t> one{7};
  interp.push(PlaceId{0}, one, 1);
  CHECK_THROWS_WITH_AS(interp.run(),
                       "net 'n', transition 't' at time 1: the next edge of its clock lies "
                       "after the last instant, 9223372036854775806\n  tokens: x(size=7)",
                       RunError);
  CHECK_THROWS_WITH(Interp(net, {}, Marking(net)).push(PlaceId{0}, one, kForever),
                    "place 'p': there is no time 9223372036854775807; times are "
                    "0..9223372036854775806");
}

TEST_CASE("an error names the expression, and stays") {
  const Net net = net_of(kIn + worker("  delay 8 // x.size\n  servers 1\n"));
  Interp interp(net, {}, jobs(net, {2, 0}));
  try {
    interp.run();
    FAIL("no error");
  } catch (const RunError& e) {
    CHECK(e.code() == "E-divisor");
    CHECK(e.fault().site == Site{SiteKind::kDelay});
    CHECK(e.fault().time == 4);
  }
  CHECK_THROWS_AS(interp.run(), RunError);
}

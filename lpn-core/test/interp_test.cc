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
    const std::string named = lines;  // clang 14 cannot capture a structured binding
    CAPTURE(named);
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

TEST_CASE("between runs: what comes next, and why a transition does not start") {
  const Net net = net_of(kIn + worker("  delay 4\n  servers 1\n"));
  Interp interp(net, {}, jobs(net, {1, 2}));
  CHECK(interp.next() == 0);
  interp.run(0);
  CHECK(interp.next() == 4);
  CHECK(interp.why(TransitionId{0}) == Blocked{TransitionId{0}, Wait::kServer, 0});
  interp.run(4);
  CHECK(interp.why(TransitionId{0}) == Blocked{TransitionId{0}, Wait::kToken, 0});
  CHECK(interp.run(*interp.next()).latency == 8);
  CHECK_FALSE(interp.next());
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

TEST_CASE("an instant at which something only starts is one") {
  const Net net = net_of(kIn + worker("  delay 9\n  clock 5 phase 3\n"));
  Interp interp(net, {}, jobs(net, {1}));
  CHECK(interp.run(0).ending == Ending::kLimit);
  CHECK(interp.now() == 0);
  CHECK(interp.occupancy(PlaceId{0}) == 1);
  CHECK(interp.free_tokens(PlaceId{0}) == 1);
  interp.run(3);
  CHECK(interp.now() == 3);
  CHECK(interp.free_tokens(PlaceId{0}) == 0);
  CHECK(interp.run().latency == 48);
}

TEST_CASE("a limit of 0 is instant 0") {
  const Net net = net_of(kIn + worker("  delay 0\n"));
  Interp interp(net, {}, jobs(net, {1}));
  CHECK(interp.run(0).last_commit == 0);
  CHECK(interp.occupancy(PlaceId{1}) == 1);
}

TEST_CASE("a loop without delay is named") {
  const Net net = net_of(
      "place p : unit initial 1\nplace q : unit\nplace r : unit\n"
      "transition go {\n  take x from p\n  delay 0\n  put q\n}\n"
      "transition turn {\n  take x from q\n  delay 0\n  put p\n  put r\n}\n"
      "transition count {\n  take x from r\n  delay 0\n}\n"
      "transition late {\n  take x from r\n  delay 1\n  put p\n}\n");
  Interp interp(net, {}, Marking(net), {.group_limit = 4});
  CHECK_THROWS_WITH(interp.run(),
                    "net 'n', transition 'go' at time 0: more than 4 groups of zero-delay firings "
                    "at one instant; these fire without delay in a loop: go, turn; give one of "
                    "them a delay >= 1");
}

TEST_CASE("of a loop whose delays are parameters it is not said that all of them are 0") {
  const Net net = net_of(
      "param slow = 7\nparam quick = 0\nplace p : unit initial 1\n"
      "transition go {\n  take x from p\n  delay quick\n  put p\n}\n"
      "transition rest {\n  take x from p\n  delay slow\n  put p\n}\n");
  Interp interp(net, bind_params(net), Marking(net), {.group_limit = 4});
  CHECK_THROWS_WITH(
      interp.run(),
      "net 'n', transition 'go' at time 0: more than 4 groups of zero-delay firings "
      "at one instant; some of these fire without delay in a loop: go, rest; give one "
      "of them a delay >= 1");
}

TEST_CASE("a watcher sees what starts, what commits and who waits") {
  struct Seen final : Watcher {
    void on_start(const Started&) override { text += "s"; }
    void on_commit(const Started&) override { text += "c"; }
    void on_arrival(Time time, PlaceId, std::span<const std::int64_t>) override {
      text += "a" + std::to_string(time);
    }
    void on_wait(Time time, const Blocked&) override { text += "w" + std::to_string(time); }
    std::string text;
  };
  const Net net = net_of(kIn + worker("  delay 4\n  servers 1\n"));
  Interp interp(net, {}, jobs(net, {1}), {.stats = true});
  Seen seen;
  interp.watch(&seen);
  const std::vector<std::int64_t> one{7};
  interp.push(PlaceId{0}, one, 2);
  interp.run();
  CHECK(seen.text == "sw0a2w2csw4cw8");
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

namespace {

const char* const kDoubling =
    "place q : unit initial 1\ntransition t {\n  take x from q\n  delay 0\n  put q 2\n}\n";

RunResult within(const Net& net, const Budget& budget) {
  InterpOptions options;
  options.budget = budget;
  return Interp(net, {}, Marking(net), options).run();
}

}  // namespace

TEST_CASE("a run that needs more than it may use is an answer") {
  const Net doubling = net_of(kDoubling);
  RunResult result = within(doubling, {.memory = 1 << 20});
  CHECK(result.ending == Ending::kStopped);
  CHECK(result.stop == Stop::kMemory);
  CHECK(result.commits > 1000);
  CHECK(stop_text(result.stop, {.memory = 1 << 20}) == "memory limit of 1048576 bytes reached");
  CHECK(within(doubling, {.seconds = 0.01}).stop == Stop::kSeconds);
  result = within(doubling, {.groups = 5});
  CHECK(result.stop == Stop::kGroups);
  CHECK(result.commits == 31);  // 1 + 2 + 4 + 8 + 16
  CHECK(within(doubling, {.firings = 100}).stop == Stop::kFirings);

  const Net crowd = net_of("place p : job initial (index % 7) times 1000000\n");
  CHECK(within(crowd, {.tokens = 999999}).stop == Stop::kTokens);
  CHECK(within(crowd, {.tokens = 1000000}).ending == Ending::kQuiet);
  CHECK(within(crowd, {.memory = 1 << 20}).stop == Stop::kMemory);

  // A firing of many tokens, before any of them is there.
  const Net bomb = net_of(
      "place p : unit initial 1\nplace q : job\ntransition t {\n"
      "  take x from p\n  delay 1\n  put q (index % 7) times 2000000000\n}\n");
  CHECK(within(bomb, {.memory = 1 << 20}).stop == Stop::kMemory);
}

TEST_CASE("who stops a run is asked within an instant and while tokens are placed") {
  const Net doubling = net_of(kDoubling);
  Interp interp(doubling, {}, Marking(doubling));
  int asked = 0;
  interp.set_poll([&asked](Time time, std::uint64_t) { return time == 0 && ++asked == 3; });
  CHECK(interp.run().stop == Stop::kAsked);
  CHECK(interp.run().stop == Stop::kAsked);  // only the answer is left
  CHECK(asked == 3);

  const Net crowd = net_of("place p : job initial (index % 7) times 2000000000\n");
  InterpOptions options;
  options.poll = [](Time, std::uint64_t) { return true; };
  CHECK(Interp(crowd, {}, Marking(crowd), options).run().stop == Stop::kAsked);
}

TEST_CASE("fed tokens arrive with their values, what is fed later behind them") {
  const Net net = net_of(kIn + worker("  delay x.size\n  servers 1\n"));
  Interp interp(net, {}, Marking(net), {.trace = true});
  Log log(net);
  const auto feed = [&](std::vector<std::int64_t> sizes, std::vector<Time> times) {
    interp.feed(PlaceId{0}, sizes, times);
  };
  feed({5, 2}, {10, 20});
  feed({3}, {30});
  interp.run(25, &log);
  CHECK(log.text == "15:t 22:t");
  interp.run(100, &log);
  feed({7, 1}, {200, 200});  // all that was fed before has arrived
  interp.run(kForever, &log);
  CHECK(log.text == "15:t 22:t 33:t 207:t 208:t");
  CHECK(interp.tokens(PlaceId{1}) == std::vector<std::int64_t>{5, 2, 3, 7, 1});
}

TEST_CASE("an error names the tokens that the transition would take, and the line that fails") {
  const auto said = [](Net net, std::uint32_t of_transition, std::uint32_t of_delay) {
    net.files = {"model.py"};
    net.transitions[0].source = {0, of_transition};
    net.transitions[0].delay.source = {0, of_delay};
    try {
      Interp(net, {}, jobs(net, {1, 4, 9})).run();
    } catch (const RunError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Net one = net_of(kIn + worker("  delay x.size - 2\n"));
  const std::string what =
      "net 'n', transition 't.delay' at time 0: the delay is -1; a delay must be >= 0: use max(0, "
      "...)\n"
      "  in x.size - 2\n  tokens: x(size=1)";
  CHECK(said(one, 0, 0) == what);
  CHECK(said(one, 7, 0) == what + "\n  at model.py:7");
  CHECK(said(one, 7, 1) == what + "\n  at model.py:1");
  CHECK(said(one, 7, 8) == what + "\n  at model.py:8");
  const Net two =
      net_of(kIn + "transition t {\n  take x from p weight 2\n  delay x.size - x[1].size\n}\n");
  CHECK(
      said(two, 0, 0) ==
      "net 'n', transition 't.delay' at time 0: the delay is -3; a delay must be >= 0: use max(0, "
      "...)\n"
      "  in x.size - x[1].size\n  tokens: x(size=1), x[1](size=4)");
}

TEST_CASE("which tokens a firing took: by their origin, also where one origin gave several") {
  const Net net = net_of(
      "place p : unit initial 5\nplace q : unit\n"
      "transition two {\n  take x from p weight 2\n  delay 1\n  servers 1\n  put q 3\n}\n"
      "transition one {\n  take y from q\n  delay 1\n  servers 1\n}\n");
  struct Taken final : Observer {
    void on_commit(const Commit& c) override {
      if (c.transition != which) return;
      for (const TokenId& id : c.taken.at(0)) {
        text += (text.empty() ? "" : " ") + std::to_string(id.firing) + "[" +
                std::to_string(id.index) + "]";
      }
    }
    TransitionId which{};
    std::string text;
  };
  for (const bool full_scan : {false, true}) {
    InterpOptions options;
    options.trace = true;
    options.full_scan = full_scan;
    Taken initial, made;
    made.which = TransitionId{1};
    Interp(net, {}, Marking(net), options).run(kForever, &initial);
    Interp(net, {}, Marking(net), options).run(kForever, &made);
    CHECK(initial.text == "0[0] 0[1] 0[2] 0[3]");
    CHECK(made.text == "0[0] 0[1] 0[2] 1[0] 1[1] 1[2]");
  }
}

TEST_CASE("a watcher is told what each arc needs") {
  const Net net = net_of(
      "place p : job start\nplace key : unit initial 4\nplace box : unit capacity 9\n"
      "transition t {\n  take x from p\n  take k from key weight 0 need x.size\n  delay 1\n"
      "  put box 2\n}\n");
  struct Needs final : Watcher {
    void on_start(const Started& firing) override {
      needed.assign(firing.needed.begin(), firing.needed.end());
    }
    void on_commit(const Started&) override {}
    void on_arrival(Time, PlaceId, std::span<const std::int64_t>) override {}
    void on_wait(Time, const Blocked&) override {}
    std::vector<std::uint64_t> needed;
  } needs;
  Interp interp(net, {}, jobs(net, {3}));
  interp.watch(&needs);
  interp.run();
  CHECK(needs.needed == std::vector<std::uint64_t>{1, 3, 2});  // two slots of the box
}

TEST_CASE("probes are evaluated at each start, with parameters of their own") {
  const Net net = parse_net(
      "lpn 1\nnet n\nparam k = 2\ntype job (size: 0..99)\nplace p : job start\nplace q : job done\n"
      "transition t {\n  take x from p\n  delay x.size * k\n  servers 1\n  put q "
      "(x.size)\n}\nend\n");
  InterpOptions options;
  options.guide.transitions.resize(1);
  options.guide.transitions[0].probes = {{net.transitions[0].delay.id, 0}};
  options.guide.values = {{10}};
  Interp interp(net, {2}, jobs(net, {3, 5}), options);
  CHECK(interp.run().last_commit == 16);
  CHECK(interp.probed(TransitionId{0}) == std::vector<std::int64_t>{30, 50});
}

TEST_CASE("who takes nothing starts again when its server is free") {
  const Net net = net_of(
      "place on : unit initial 1\nplace q : unit sink\n"
      "transition tick {\n  take x from on weight 0 need 1\n  delay 3\n  servers 1\n  put q\n}\n");
  Interp interp(net, {}, Marking(net));
  CHECK(interp.run(10).commits == 3);
  CHECK(interp.occupancy(PlaceId{1}) == 3);
}

TEST_CASE("a run ends with the done token that is the last one asked for") {
  Net net = net_of(kIn + worker("  delay x.size\n  servers 1\n"));
  net.done_count = Formula{net.exprs.constant(2), {}};
  const RunResult result = Interp(net, {}, jobs(net, {3, 4, 5})).run();
  CHECK(result.ending == Ending::kDone);
  CHECK(result.latency == 7);
  CHECK(result.commits == 2);
}

TEST_CASE("of a stalled run those wait that have a token") {
  const Net net = net_of(
      "place p : job start\nplace never : unit\nplace other : unit\nplace q : unit done\n"
      "transition stuck {\n  take x from p\n  take n from never\n  delay 1\n  put q\n}\n"
      "transition idle {\n  take n from never\n  take o from other\n  delay 1\n  put q\n}\n");
  const RunResult result = Interp(net, {}, jobs(net, {1})).run();
  CHECK(result.stalled);
  CHECK(result.blocked == std::vector<Blocked>{{TransitionId{0}, Wait::kToken, 1}});
}

TEST_CASE("a wake-up for nothing is no instant, whoever waits for a clock beside it") {
  // `late` waits for 10, but `grab` takes its token at 7; `ticks` started at 5 and waits for 25.
  const Net net = net_of(
      "place src : unit start initial 1\nplace key : unit\nplace a : unit start initial 1\n"
      "place b : unit start initial 2\nplace out : unit done\n"
      "transition grab {\n  take k from key\n  take x from src\n  delay 1\n  put out\n}\n"
      "transition late {\n  take x from src\n  delay 1\n  clock 100 phase 10\n  put out\n}\n"
      "transition bring {\n  take x from a\n  delay 7\n  put key\n}\n"
      "transition ticks {\n  take x from b\n  delay 0\n  interval 1\n  clock 20 phase 5\n  put "
      "out\n}\n");
  Interp interp(net, {}, Marking(net));
  CHECK(interp.run(12).ending == Ending::kLimit);
  CHECK(interp.now() == 8);
  CHECK(interp.run().last_commit == 25);
}

TEST_CASE("what a start evaluates more than once is right each time") {
  // Over (3), (5): by the number of the token that is put, of the one that is looked at, by how
  // many are taken, and by the tokens that a transition has this time.
  const Net net = parse_net(
      "lpn 1\nnet n\nparam k = 2\ntype job (size: 0..99)\ntype two (a, b)\n"
      "place p : job start\nplace pairs : job start\nplace q : two sink\nplace r : two sink\n"
      "place s : two sink\n"
      "transition each {\n  take x from p when (x.size * k + 1) * 2 > 0\n"
      "  delay (x.size * k + 1) * 2\n  servers 1\n"
      "  put q ((x.size * k + 1) * 2 + index, ((x.size * k + 1) * 2 + index) * 10) times 2\n}\n"
      "transition sums {\n  take x from pairs weight 2\n  delay 1\n  put r "
      "(sum(j in x: x[j].size * 7 + j * 100), max_of(j in x: x[j].size * 7 + j * 100))\n"
      "  put s (taken(x) * 5 + 3, (taken(x) * 5 + 3) * 2)\n}\nend\n");
  for (const bool full_scan : {false, true}) {
    for (const bool probes : {false, true}) {
      CAPTURE(full_scan);
      CAPTURE(probes);
      InterpOptions options{.full_scan = full_scan};
      if (probes) {
        options.guide.transitions.resize(1);
        options.guide.transitions[0].probes = {{net.transitions[0].delay.id, 0}};
        options.guide.values = {{10}};
      }
      Marking marking = jobs(net, {3, 5});
      const std::vector<std::int64_t> sizes{3, 5};
      marking.add(*net.find_place("pairs"), sizes, sizes.size());
      Interp interp(net, {2}, marking, options);
      CHECK(interp.run().last_commit == 14 + 22);
      if (probes) CHECK(interp.probed(TransitionId{0}) == std::vector<std::int64_t>{62, 102});
      using Values = std::vector<std::int64_t>;
      CHECK(interp.tokens(*net.find_place("q")) == Values{14, 140, 15, 150, 22, 220, 23, 230});
      CHECK(interp.tokens(*net.find_place("r")) == Values{156, 135});
      CHECK(interp.tokens(*net.find_place("s")) == Values{13, 26});
    }
  }
}

// Library and Simulator: a net compiled once, and runs of it.
#include "lpn/sim/simulator.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "folder.h"
#include "lpn/base/error.h"
#include "lpn/run/interp.h"
#include "lpn/sim/sliced.h"
#include "lpn/sim/ways.h"
#include "lpn/text/text.h"
#include "nets.h"

namespace lpn::sim {
namespace {

const Folder& folder() {
  static const Folder one;
  return one;
}

CompileOptions quick() {
  CompileOptions options;
  options.flags = "-O0";
  options.cache = folder() / "cache";
  return options;
}

TEST_CASE("straight-line code leaves out what nobody keeps and cannot fail") {
  // The lone token of `loop` has a value that only values nobody reads are made of.
  const Net net = parse_net(R"(lpn 1
net dead
type item (v: 0..199)
type unit ()
place src : unit start initial 9
place loop : item drain initial (7)
place mid : item drain
place out : unit done
transition spread {
  take u from src
  take x from loop
  delay 2
  servers 1
  put mid ((x.v + index) % 200) times 3
  put loop (x.v)
}
transition end {
  take x from mid
  delay 1
  servers 1
  put out
}
end
)");
  const Library library = Library::build(net, {}, quick());
  Simulator simulator(library, {}, Marking(net));
  const RunResult defined = Interp(net, {}, Marking(net)).run();
  CHECK(defined.stalled);
  CHECK(simulator.run() == defined);
}

TEST_CASE("a compiled net does what the interpreter does") {
  const Net net = line();
  const Library library = Library::build(net, {}, quick());
  CHECK_FALSE(library.provenance().cached);
  CHECK(Library::build(net, {}, quick()).provenance().cached);

  const Marking marking(net);
  Simulator simulator(library, {}, marking);
  CHECK(simulator.will_run_order_free());
  const RunResult result = simulator.run();
  CHECK(simulator.was_order_free());
  const RunResult defined = Interp(net, {}, marking).run();
  CHECK(result.latency == defined.latency);
  CHECK(result.latency == 17);  // 2, then three times 5
  CHECK(result.commits == 6);
  CHECK(simulator.tokens(static_cast<PlaceId>(2)) == std::vector<std::int64_t>{3, 6, 9});

  // In steps, by events.
  Simulator steps(library, {}, marking);
  CHECK(steps.run(7).ending == Ending::kLimit);
  CHECK(steps.free_tokens(static_cast<PlaceId>(2)) == 1);
  CHECK(steps.run().latency == 17);

  // Many at once.
  std::vector<Simulator> many;
  for (int k = 0; k < 3; ++k) many.emplace_back(library, ParamValues{}, marking);
  int answered = 0;
  Simulator::run_batch(many, 1, [&](std::size_t, const RunResult* each, const RunError*) {
    answered += each != nullptr && each->latency == 17;
  });
  CHECK(answered == 3);

  // An artefact belongs to its net.
  const auto& artefact = library.provenance().artefact;
  CHECK(Library::open(net, artefact).api().transitions == 2);
  try {
    Library::open(parse_net("lpn 1\nnet other\nend\n"), artefact);
    FAIL("loaded");
  } catch (const Error& error) {
    CHECK(error.code() == std::string("E-load"));
  }
  // A run is asked whether it is to go on.
  Simulator asked(library, {}, marking);
  asked.set_mode(Mode::kEvents);
  Time seen = -1;
  const SlicedRun part = run_sliced(asked, {.limit = 1000, .keep_on = [&](Time at, std::uint64_t) {
                                              seen = at;
                                              return false;
                                            }});
  CHECK(part.stopped);
  CHECK(part.until == seen);
  CHECK(part.result.has_value());
}

const char* const kDoubling =
    "lpn 1\nnet doubling\ntype unit ()\nplace q : unit initial 1\n"
    "transition t {\n  take x from q\n  delay 0\n  put q 2\n}\nend\n";
// A firing whose tokens are many, and one that the next thousand firings take one by one.
const char* const kBomb =
    "lpn 1\nnet bomb\ntype job (v)\nplace p : job initial (7)\nplace q : job\nplace r : job done\n"
    "transition t {\n  take x from p\n  delay 1\n  servers 1\n  put q (index) times x.v * "
    "100000000\n}\n"
    "transition u {\n  take x from q\n  delay 1\n  put r (x.v)\n}\nend\n";
const char* const kCrowd =
    "lpn 1\nnet crowd\nparam n = 5 in 0..2000000000\ntype job (v)\n"
    "place p : job initial (index) times n\nplace q : job done\n"
    "transition t {\n  take x from p\n  delay 1\n  servers 1\n  put q (x.v)\n}\nend\n";

TEST_CASE("a compiled run that needs more than it may use is an answer") {
  const Net net = parse_net(kDoubling);
  const Library library = Library::build(net, {}, quick());
  const Marking marking(net);
  for (const Mode mode : {Mode::kAuto, Mode::kEvents}) {
    const auto within = [&](const Budget& budget) {
      Simulator simulator(library, {}, marking, budget);
      simulator.set_mode(mode);
      const RunResult result = simulator.run();
      CHECK(simulator.run() == result);  // only the answer is left
      return result;
    };
    CHECK(within({.memory = 1 << 10, .seconds = 0.05}).ending == Ending::kStopped);
    CHECK(within({.seconds = 0.01}).stop == Stop::kSeconds);
    const RunResult groups = within({.groups = 5});
    CHECK(groups.stop == Stop::kGroups);
    CHECK(groups.commits == 31);
    CHECK(within({.firings = 100}).stop == Stop::kFirings);
    // Within the first instant, which has no end.
    Simulator asked(library, {}, marking);
    asked.set_mode(mode);
    asked.set_poll([](Time, std::uint64_t) { return true; });
    CHECK(asked.run().stop == Stop::kAsked);
  }

  const Net bomb = parse_net(kBomb);
  const Library bombs = Library::build(bomb, {}, quick());
  for (const Mode mode : {Mode::kAuto, Mode::kEvents}) {
    Simulator simulator(bombs, {}, Marking(bomb), {.memory = 1 << 24});
    simulator.set_mode(mode);
    CHECK(simulator.run().stop == Stop::kMemory);
    CHECK(simulator.now() <= 1);
    Simulator slow(bombs, {}, Marking(bomb), {.seconds = 0.01});
    slow.set_mode(mode);
    CHECK(slow.run().stop == Stop::kSeconds);
  }
}

TEST_CASE("a stopped run of everything at once tells what was committed by then") {
  const Net net = parse_net(R"(lpn 1
net stopped
param n = 1 in 1..9
type unit ()
place src : unit start initial 2500000
place mid : unit
place out : unit done
transition a {
  take x from src
  delay 5
  servers 300
  put mid
}
transition b {
  take x from mid
  delay 7
  servers 500
  put out n
}
end
)");
  const Library library = Library::build(net, {}, quick());
  Simulator simulator(library, {1}, Marking(net));
  simulator.set_poll([](Time, std::uint64_t) { return true; });
  const RunResult result = simulator.run();
  CHECK(simulator.was_order_free());
  CHECK(result.stop == Stop::kAsked);
  const RunResult then = Interp(net, {1}, Marking(net)).run(simulator.now());
  CHECK(result.commits == then.commits);
  CHECK(then.done_tokens > 1000);
  CHECK(result.done_tokens >= then.done_tokens);  // and of what ends later
  CHECK(result.done_tokens <= then.done_tokens + 500);
}

TEST_CASE("done tokens of a stopped run: of loops, of straight-line code, beside events") {
  for (const std::string& tail : {std::string(), std::string(R"(transition beat {
  take x from b
  empty y in never
  delay 3
  servers 1
  put b
  put out
}
)")}) {
    const Net net = parse_net(R"(lpn 1
net endless
type unit ()
place a : unit start initial 1
place b : unit start initial 1
place never : unit
place mid : unit
place out : unit done sink
transition tick {
  take x from a
  delay 1
  servers 1
  put a
  put mid
}
transition work {
  take x from mid
  delay 10
  servers 1
  put out
}
)" + tail + "end\n");
    Simulator simulator(Library::build(net, {}, quick()), {}, Marking(net), {.seconds = 0.05});
    const RunResult result = simulator.run();
    CHECK(simulator.was_order_free());
    CHECK(result.stop == Stop::kSeconds);
    const auto at = static_cast<std::uint64_t>(result.last_commit);
    const std::uint64_t done = at / 10 + (tail.empty() ? 0 : at / 3);
    CHECK(done > 100);
    CHECK(result.done_tokens >= done - 2);
    CHECK(result.done_tokens <= done + 1100);  // as far ahead as it runs
  }
}

TEST_CASE("tokens of the start within a budget, and a poll while they are placed") {
  const Net net = parse_net(kCrowd);
  const Library library = Library::build(net, {}, quick());
  const Marking marking(net);
  const auto at_start = [&](std::int64_t n, const Budget& budget, Poll poll = {}) {
    return Simulator(library, {n}, marking, budget, std::move(poll)).run();
  };
  CHECK(at_start(1000, {.tokens = 999}).stop == Stop::kTokens);
  CHECK(at_start(1000, {.tokens = 1000}).commits == 1000);
  CHECK(at_start(1000000, {.memory = 1 << 20}).stop == Stop::kMemory);
  CHECK(at_start(2000000000, {.seconds = 0.01}).stop == Stop::kSeconds);
  CHECK(at_start(2000000000, {}, [](Time, std::uint64_t) { return true; }).stop == Stop::kAsked);

  // Stopped on its way, of everything at once too, it only repeats the answer.
  for (const Mode mode : {Mode::kAuto, Mode::kEvents}) {
    Simulator simulator(library, {1000000}, marking, Budget{},
                        [](Time, std::uint64_t commits) { return commits > 0; });
    simulator.set_mode(mode);
    const RunResult stopped = simulator.run();
    CHECK(simulator.was_order_free() == (mode == Mode::kAuto));
    CHECK(stopped.stop == Stop::kAsked);
    CHECK(simulator.run() == stopped);
  }

  // The instance of the C interface counts by itself.
  const lpn_sim_api& api = library.api();
  const std::int64_t many = 1000000;
  lpn_budget budget{};
  budget.tokens = 1000;
  std::int32_t status = LPN_OK, stop = LPN_STOP_NONE;
  CHECK(api.create_within(&many, &budget, &status, &stop) == nullptr);
  CHECK(status == LPN_OVER);
  CHECK(stop == LPN_STOP_TOKENS);
  // A batch is stopped like a single run.
  std::vector<Simulator> batch;
  for (int k = 0; k < 3; ++k) {
    batch.emplace_back(library, ParamValues{1000000}, marking, Budget{},
                       [](Time, std::uint64_t commits) { return commits > 0; });
  }
  int answers = 0;
  Simulator::run_batch(batch, 1, [&](std::size_t, const RunResult* each, const RunError*) {
    answers += each != nullptr;
  });
  CHECK(answers == 3);
}

// Throws at the second commit.
class Thrower : public Observer {
 public:
  void on_commit(const Commit&) override {
    if (++commits == 2) throw std::runtime_error("enough");
  }
  int commits = 0;
};

TEST_CASE("slices of the interpreter: to the end, to a limit, or to what an observer throws") {
  const Net net = line();
  const Marking marking(net);
  Interp whole(net, {}, marking);
  const SlicedRun all = run_sliced(whole, {});
  CHECK_FALSE(all.stopped);
  CHECK(all.result->latency == 17);

  Interp half(net, {}, marking);
  const SlicedRun part = run_sliced(half, {.limit = 8});
  CHECK(part.result->ending == Ending::kLimit);
  CHECK(part.until == 8);

  Interp watched(net, {}, marking, {.trace = true});
  Thrower thrower;
  CHECK_THROWS_AS(run_sliced(watched, {.observer = &thrower}), std::runtime_error);
  CHECK(thrower.commits == 2);  // later ones are not handed on
}

TEST_CASE("inputs in lock step that stall with tokens that nothing takes") {
  // Their values are not kept in lock step; 0 would be outside the range.
  const Net net = parse_net(R"(lpn 1
net stalled
type item (v: 1..3)
type unit ()
place src : unit start initial 64
place left : item start
place out : unit done
transition go {
  take x from src
  delay 3
  servers 1
  put left (2)
  put out
}
end
)");
  const Library library = Library::build(net, {}, quick());
  std::vector<Simulator> many;
  for (int k = 0; k < 20; ++k) many.emplace_back(library, ParamValues{}, Marking(net));
  const RunResult defined = Interp(net, {}, Marking(net)).run();
  int answered = 0;
  Simulator::run_batch(many, 1, [&](std::size_t, const RunResult* each, const RunError*) {
    REQUIRE(each != nullptr);
    CHECK(*each == defined);
    CHECK(each->stalled);
    ++answered;
  });
  CHECK(answered == 20);
}

TEST_CASE("inputs in lock step with too few permits for a firing") {
  const Net net = permits();
  const Library library = Library::build(net, {}, quick());
  for (const std::int64_t n : {2, 0}) {
    std::vector<Simulator> many;
    for (int k = 0; k < 20; ++k) many.emplace_back(library, ParamValues{n}, Marking(net));
    const RunResult defined = Interp(net, {n}, Marking(net)).run();
    CHECK(defined.commits == (n == 0 ? 0 : 128));
    int same = 0;
    Simulator::run_batch(many, 1, [&](std::size_t, const RunResult* each, const RunError*) {
      same += each != nullptr && *each == defined;
    });
    CHECK(same == 20);
  }
}

TEST_CASE("whom a token is for is looked up, wherever the values begin") {
  for (const int least : {0, 3, -2}) {
    std::string text =
        "lpn 1\nnet kinds\ntype job (kind: -9..9)\nplace src : job start\nplace q : job\n"
        "place out : job done\ntransition feed {\n  take x from src\n  delay 2\n  servers 1\n"
        "  put q (x.kind)\n}\n";
    for (int k = 0; k < 4; ++k) {
      text += fmt::format(
          "transition t{} {{\n  take x from q when x.kind == {}\n  delay {}\n  servers 1\n"
          "  put out (x.kind)\n}}\n",
          k, least + k, 3 + k);
    }
    const Net net = parse_net(text + "end\n");
    const Library library = Library::build(net, {}, quick());
    Marking marking(net);
    for (int v = 0; v < 12; ++v) marking.add(*net.find_place("src"), {{least + v * 7 % 4}});
    Simulator simulator(library, {}, marking);
    simulator.set_mode(Mode::kEvents);
    Interp interp(net, {}, marking);
    CHECK(simulator.run() == interp.run());
    CHECK(simulator.free_tokens(*net.find_place("out")) == 12);
  }
}

TEST_CASE("a wake-up for nothing is no instant") {
  // `late` waits for its clock at 10, but `grab` takes its token at 7; `next` comes at 40.
  const Net net = parse_net(R"(lpn 1
net stale
type unit ()
place src : unit start initial 1
place key : unit
place a : unit start initial 1
place b : unit start initial 1
place out : unit done
transition grab {
  take k from key
  take x from src
  delay 1
  put out
}
transition late {
  take x from src
  delay 1
  clock 100 phase 10
  put out
}
transition bring {
  take x from a
  delay 7
  put key
}
transition next {
  take x from b
  delay 40
  put out
}
end
)");
  const Library library = Library::build(net, {}, quick());
  for (const Time limit : {9, 10, 12, 39}) {
    CAPTURE(limit);
    Interp defined(net, {}, Marking(net));
    Simulator simulator(library, {}, Marking(net));
    const RunResult result = simulator.run(limit);
    CHECK(result == defined.run(limit));
    CHECK(result.ending == Ending::kLimit);
    CHECK(defined.now() == 8);
    CHECK(simulator.now() == 8);
  }
}

// What a run leaves in the places `o1`, `o2`, ...
template <typename Engine>
std::vector<std::vector<std::int64_t>> left_in(const Net& net, const Engine& engine) {
  std::vector<std::vector<std::int64_t>> all;
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    if (net.places[p].name[0] == 'o') all.push_back(engine.tokens(static_cast<PlaceId>(p)));
  }
  return all;
}

TEST_CASE("rows that are passed on as they stand, and rows that only look so") {
  const Net net = parse_net(R"(lpn 1
net passes
param n = 2 in 0..9
type row (a: 0..99, b: 0..99)
place src : row start
place beside : row start
place m1 : row
place m2 : row
place m3 : row
place m4 : row
place o1 : row done
place o2 : row done
place o3 : row done
place o4 : row done
transition pick {
  take x from src weight 2 when x.a >= 0
  take y from beside
  delay x.a
  servers 1
  put m1 (x[index].a, x[index].b) times n
  put m2 (x[1].a, x[1].b)
  put m3 (x.b, x.a)
  put m4 (x.a, y.b)
}
transition p1 {
  take z from m1
  delay z.a
  servers 1
  put o1 (z.b, z.a)
}
transition p2 {
  take z from m2
  delay z.b
  servers 1
  put o2 (z.b, z.a)
}
transition p3 {
  take z from m3
  delay z.a
  servers 1
  put o3 (z.b, z.a)
}
transition p4 {
  take z from m4
  delay z.b
  servers 1
  put o4 (z.b, z.a)
}
end
)");
  const Library library = Library::build(net, {}, quick());
  Marking marking(net);
  std::vector<std::int64_t> rows;
  for (std::int64_t v = 0; v < 32; ++v) rows.push_back(v * 37 % 100);
  marking.add(*net.find_place("src"), rows, 16);
  marking.add(*net.find_place("beside"), {rows.data() + 3, 16}, 8);
  Simulator simulator(library, {2}, marking);
  Interp interp(net, {2}, marking);
  CHECK(simulator.run() == interp.run());
  CHECK(simulator.was_order_free());
  CHECK(left_in(net, simulator) == left_in(net, interp));
  CHECK(left_in(net, interp)[0].size() == 32);
  // There is no third token.
  Simulator more(library, {3}, marking);
  CHECK_THROWS_AS(more.run(), RunError);
}

TEST_CASE("a part by events beside one without goes on for longer than its wheel is round") {
  // `go` and `clear` need the clock, `pace` does not; each token holds the lock for 700 ticks.
  const Net net = parse_net(R"(lpn 1
net long
type unit ()
place src : unit start initial 9
place mid : unit
place lock : unit
place out : unit done
transition pace {
  take a from src
  delay 600
  servers 1
  put mid
}
transition go {
  take a from mid
  empty l in lock
  delay 300
  servers 1
  put out
  put lock
}
transition clear {
  take l from lock
  delay 400
  servers 1
}
end
)");
  const Library library = Library::build(net, {}, quick());
  Simulator simulator(library, {}, Marking(net));
  CHECK(runs(net) == Runs::kMixed);
  simulator.set_mode(Mode::kOrderFree);
  const RunResult result = simulator.run();
  CHECK(simulator.was_order_free());
  const RunResult defined = Interp(net, {}, Marking(net)).run();
  CHECK(result == defined);
  CHECK(defined.last_commit == 600 + 9 * 700);
}

TEST_CASE("slots that a host holds are taken in a run of everything at once") {
  const Net net = parse_net(R"(lpn 1
net held
type unit ()
place src : unit start initial 3
place box : unit capacity 3
transition go {
  take x from src
  delay 2
  servers 1
  put box
}
end
)");
  const Library library = Library::build(net, {}, quick());
  const lpn_sim_api& api = library.api();
  std::int32_t status = LPN_OK;
  lpn_sim* const sim = api.create(nullptr, &status);
  REQUIRE(status == LPN_OK);
  CHECK(api.load(sim, 0, 3, nullptr) == LPN_OK);
  CHECK(api.hold(sim, 1, 2) == LPN_OK);
  CHECK(api.hold(sim, 1, 2) == LPN_NO_ROOM);
  lpn_result result{};
  CHECK(api.run(sim, INT64_MAX, &result) == LPN_OK);
  CHECK(result.ending == LPN_QUIET);
  CHECK(result.stalled == 1);
  CHECK(result.commits == 1);
  CHECK(result.order_free == 0);
  CHECK(api.tokens(sim, 1, nullptr) == 1);
  api.destroy(sim);
}

// Statistics of the interpreter, of a run from the initial tokens.
void same_statistics(const Net& net, const CompileOptions& options, bool order_free) {
  const Library library = Library::build(net, {.stats = true}, options);
  Simulator simulator(library, {}, Marking(net));
  InterpOptions observed;
  observed.stats = true;
  Interp defined(net, {}, Marking(net), observed);
  CHECK(simulator.run().latency == defined.run().latency);
  CHECK(simulator.was_order_free() == order_free);
  const Stats stats = simulator.stats(), expected = defined.stats();
  for (std::size_t k = 0; k < net.transitions.size(); ++k) {
    CAPTURE(k);
    CHECK(stats.transitions[k].commits == expected.transitions[k].commits);
    CHECK(stats.transitions[k].busy == expected.transitions[k].busy);
    CHECK(stats.transitions[k].waited == expected.transitions[k].waited);
  }
  for (std::size_t place = 0; place < net.places.size(); ++place) {
    CHECK(stats.places[place].peak == expected.places[place].peak);
    CHECK(stats.places[place].mean == expected.places[place].mean);
  }
}

TEST_CASE("statistics of iterations that read the one before them, and commit in order") {
  const Net net = parse_net(R"(lpn 1
net in_order
type item (v: 0..9)
place src : item start initial ((index * 7) % 10) times 200
place mid : item capacity 3
place back : item capacity 2
place out : item done
transition work {
  take x from src
  delay 2 + x.v
  servers 2
  ordered
  put mid (x.v)
}
transition pack {
  take x from mid
  delay 3 + x.v % 3
  servers 1
  put back (x.v)
}
transition send {
  take x from back
  delay 4
  servers 1
  put out (x.v)
}
end
)");
  CompileOptions options = quick();
  options.flags += " -DLPNRT_READ_BACK=1 -DLPNRT_STREAM_BLOCK=7";
  same_statistics(net, options, true);
}

TEST_CASE("what kept a start waiting where a transition reads how many tokens wait") {
  // Each token comes in the instant in which the server is free again: no token is the reason.
  const Net net = parse_net(R"(lpn 1
net paced
type unit ()
place src : unit initial 20
place mid : unit
place out : unit done
transition work {
  take x from src
  delay 1
  servers 1
  put mid
}
transition pack {
  take x from mid
  delay occupancy(x)
  servers 1
  put out
}
end
)");
  same_statistics(net, quick(), false);
}

TEST_CASE("what a host may do before the run: choose how it runs, push, feed, and see what fits") {
  const Net net = parse_net(R"(lpn 1
net hosted
type unit ()
type item (v: 0..9)
place src : unit start
place jobs : item start
place box : item capacity 2
place out : item done
transition go {
  take x from src
  take j from jobs
  delay 2
  put out (j.v)
}
end
)");
  const Library library = Library::build(net, {}, quick());
  const lpn_sim_api& api = library.api();
  std::int32_t status = LPN_OK;
  lpn_sim* const sim = api.create(nullptr, &status);
  REQUIRE(status == LPN_OK);
  CHECK(api.set_mode(sim, LPN_ORDER_FREE) == LPN_OK);
  CHECK(api.set_mode(sim, LPN_ORDER_FREE + 1) == LPN_BAD_CALL);
  CHECK(api.set_mode(sim, LPN_AUTO) == LPN_OK);
  CHECK(api.room(sim, 2) == 2);
  CHECK(api.room(sim, 99) == 0);
  const std::int64_t seven = 7, ten = 10;
  CHECK(api.push(sim, 2, &seven, 0) == LPN_OK);
  CHECK(api.push(sim, 2, &ten, 0) == LPN_BAD_VALUE);
  CHECK(api.push(sim, 2, &seven, 0) == LPN_OK);
  CHECK(api.push(sim, 2, &seven, 0) == LPN_NO_ROOM);
  CHECK(api.room(sim, 2) == 0);
  const std::int64_t times[] = {3, 8}, values[] = {4, 5}, wrong[] = {4, 10};
  CHECK(api.feed(sim, 0, 2, nullptr, times) == LPN_OK);
  CHECK(api.feed(sim, 1, 2, wrong, times) == LPN_BAD_VALUE);
  CHECK(api.feed(sim, 1, 2, values, times) == LPN_OK);
  CHECK(api.feed(sim, 2, 2, values, times) == LPN_BAD_CALL);  // its room is the net's
  lpn_result result{};
  CHECK(api.run(sim, INT64_MAX, &result) == LPN_OK);
  CHECK(result.latency == 10);
  CHECK(result.commits == 2);
  CHECK(api.tokens(sim, 2, nullptr) == 2);
  api.destroy(sim);
}

TEST_CASE("defaults of parameters and a frequency do not reach the artefact") {
  Net net = parse_net("lpn 1\nnet p\nfrequency 1000\nparam n = 5 in 2..9\nend\n");
  CHECK(!to_share(net).frequency);
  CHECK(to_share(net).params[0].value == 2);
  net.params[0].range.reset();
  CHECK(to_share(net).params[0].value == 0);
}

}  // namespace
}  // namespace lpn::sim

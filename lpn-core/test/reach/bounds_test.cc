// Bounds by reachable states of nets whose bounds are known, and what is said where there is none.
#include <doctest/doctest.h>

#include "lpn/base/error.h"
#include "lpn/reach/reach.h"
#include "lpn/text/text.h"

namespace lpn {
namespace {

using What = ReachQuestion::What;

struct Asked {
  Net net;
  InputSpace space;

  explicit Asked(const std::string& lines)
      : net(parse_net("lpn 1\nnet n\ntype unit ()\ntype job (n: 0..99)\n" + lines + "end\n")) {}
  ExprId variable(Range range) {
    const auto k = static_cast<std::uint32_t>(space.variables.params.size());
    space.variables.params.push_back(
        {.name = "n" + std::to_string(k), .value = range.lo, .range = range, .source = {}});
    return space.variables.exprs.param(k);
  }
  Asked& jobs(std::size_t count, Range range) {
    InputSpace::Tokens tokens{.place = PlaceId{0}, .rows = {}, .count = {}};
    for (std::size_t k = 0; k < count; ++k) tokens.rows.push_back({variable(range)});
    space.tokens.push_back(tokens);
    return *this;
  }
  Reached operator()(ReachQuestion question, ReachOptions options = {}) const {
    return bound_by_states(net, space, question, options);
  }
  // Of a question that is answered.
  std::int64_t of(ReachQuestion question, ReachOptions options = {}) const {
    const Reached r = (*this)(question, options);
    CHECK(r.complete);
    CHECK(r.why.empty());
    REQUIRE(r.bound.has_value());
    return *r.bound;
  }
};

const char* kServer =
    "place p : job start\nplace out : unit done\n"
    "transition t {\n  take j from p\n  delay j.n\n  servers 1\n  put out\n}\n";

}  // namespace

TEST_CASE("bound_by_states: a server's jobs one after the other, both sides") {
  const Asked a = Asked(kServer).jobs(3, {2, 7});
  CHECK(a.of({.what = What::kLatency}) == 21);
  CHECK(a.of({.what = What::kLatency, .maximum = false}) == 6);
  CHECK(a.of({.what = What::kCompletion, .k = 2}) == 14);
  CHECK(a.of({.what = What::kCompletion, .k = 2, .maximum = false}) == 4);
  CHECK(a.of({.what = What::kCommits, .transition = TransitionId{0}}) == 3);
  const Reached none = a({.what = What::kCompletion, .k = 4});
  CHECK(none.complete);
  CHECK_FALSE(none.bound.has_value());
}

TEST_CASE("bound_by_states: every way of joining states gives a bound; more zones no worse one") {
  // Two lines with different times meet in one place.
  const Asked a =
      Asked(
          "place p : job start\nplace q : unit initial 2\nplace m : unit\nplace out : unit done\n"
          "transition t {\n  take j from p\n  delay j.n\n  servers 1\n  put m\n}\n"
          "transition u {\n  take j from q\n  delay 5\n  servers 1\n  put m\n}\n"
          "transition v {\n  take j from m\n  delay 4\n  servers 1\n  put out\n}\n")
          .jobs(2, {1, 9});
  for (const std::size_t zones : {0, 1, 3}) {
    for (const std::uint64_t values : {1, 2, 9}) {
      const ReachOptions options{.zones = zones,
                                 .values = values,
                                 .states = 0,
                                 .memory = 1 << 30,
                                 .enough = {},
                                 .go_on = {}};
      const std::int64_t most = a.of({.what = What::kLatency}, options);
      CHECK(most >= 22);  // 9 + 9 + 4: the last comes when all before it are through
      CHECK(most <= 25);
      if (zones == 0) CHECK(most == 22);
      const std::int64_t least = a.of({.what = What::kLatency, .maximum = false}, options);
      CHECK(least <= 17);
      if (zones == 0) CHECK(least == 17);  // 1, then four of 4
    }
  }
}

TEST_CASE("bound_by_states: conditions of the space hold for jobs that are not there any more") {
  Asked a = Asked(kServer).jobs(4, {0, 9});
  ExprPool& pool = a.space.variables.exprs;
  ExprId sum = pool.param(0);
  for (std::uint32_t k = 1; k < 4; ++k) sum = pool.binary(Op::kAdd, sum, pool.param(k));
  a.space.constraints.push_back(pool.binary(Op::kLe, sum, pool.constant(12)));
  // As intervals the delays forget it; decided they do not.
  CHECK(
      a.of({.what = What::kLatency},
           {.zones = 1, .values = 1, .states = 0, .memory = 1 << 30, .enough = {}, .go_on = {}}) >=
      12);
  CHECK(
      a.of({.what = What::kLatency},
           {.zones = 0, .values = 16, .states = 0, .memory = 1 << 30, .enough = {}, .go_on = {}}) ==
      12);
}

TEST_CASE("bound_by_states: runs end with a done token where the net or the space says so") {
  Asked a = Asked(kServer).jobs(4, {2, 7});
  a.space.done_count = 3;
  CHECK(a.of({.what = What::kLatency}) == 21);
  CHECK(a.of({.what = What::kLatency, .maximum = false}) == 6);
  CHECK(a.of({.what = What::kCommits, .transition = TransitionId{0}}) == 3);
  a.space.done_count = 5;  // never: all inputs stall
  const Reached r = a({.what = What::kLatency});
  CHECK(r.complete);
  CHECK(r.may_stall);
}

TEST_CASE("bound_by_states: which inputs stall or fail is not passed over") {
  Asked stalls = Asked(
      "place p : job\nplace out : unit done\n"
      "transition t {\n  take j from p when j.n != 5\n  delay j.n\n  servers 1\n  put out\n}\n");
  stalls.net.places[0].drain = true;
  CHECK_FALSE(stalls.jobs(1, {0, 4})({.what = What::kLatency}).may_stall);
  Asked some = stalls;
  some.space = {};
  CHECK(some.jobs(1, {0, 5})({.what = What::kLatency}).may_stall);
  const Asked fails = Asked(
      "place p : job start\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay j.n - 3\n  put out\n}\n");
  CHECK_FALSE(Asked(fails).jobs(1, {3, 9})({.what = What::kLatency}).may_fail);
  CHECK(Asked(fails).jobs(1, {2, 9})({.what = What::kLatency}).may_fail);
  CHECK(Asked(fails).jobs(1, {2, 9}).of({.what = What::kLatency}) == 6);
}

TEST_CASE("bound_by_states: inputs that fail at what a firing puts have no latency") {
  // Those above 9 would take 50.
  const auto asked = [](const std::string& puts) {
    return Asked(
               "place p : job start\nplace q : job\nplace out : unit done\n"
               "transition t {\n  take j from p when j.n < 10\n  delay j.n\n  put out\n}\n"
               "transition u {\n  take j from p when j.n >= 10\n  delay 50\n  put out\n  put q " +
               puts + "\n}\n")
        .jobs(1, {0, 99});
  };
  const ReachQuestion latency{.what = What::kLatency};
  CHECK(asked("(j.n)").of(latency) == 50);
  CHECK_FALSE(asked("(j.n)")(latency).may_fail);
  for (const char* puts : {"(j.n + 90)", "(9 - j.n)", "(1) times 9 - j.n"}) {
    CAPTURE(puts);
    CHECK(asked(puts)(latency).may_fail);
    CHECK(asked(puts).of(latency) == 9);
  }
}

TEST_CASE("bound_by_states: a limit of states gives what is left in the worst case, and says so") {
  const Asked a = Asked(kServer).jobs(6, {2, 7});
  const Reached r =
      a({.what = What::kLatency},
        {.zones = 1, .values = 2, .states = 2, .memory = 1 << 30, .enough = {}, .go_on = {}});
  CHECK_FALSE(r.complete);
  CHECK(r.why == "stopped at 2 states");
  CHECK(r.states == 2);
  REQUIRE(r.bound.has_value());
  CHECK(*r.bound >= 42);
  CHECK(r.may_stall);
  CHECK(r.may_fail);
  const Reached least =
      a({.what = What::kLatency, .maximum = false},
        {.zones = 1, .values = 2, .states = 2, .memory = 1 << 30, .enough = {}, .go_on = {}});
  REQUIRE(least.bound.has_value());
  CHECK(*least.bound <= 12);
  const Reached asked =
      a({.what = What::kLatency}, {.zones = 1,
                                   .values = 2,
                                   .states = 0,
                                   .memory = 1 << 30,
                                   .enough = {},
                                   .go_on = [](auto, auto, bool) { return false; }});
  CHECK((asked.complete || asked.why == "the work was ended"));
}

TEST_CASE("bound_by_states: what cannot pass a bound that is enough is looked at last") {
  // Jobs of two kinds, each for a server of its own; all for the slow one take longest.
  Asked a(
      "place p : job start\nplace out : unit done\n"
      "transition t {\n  take j from p when j.n < 5\n  delay j.n\n  servers 1\n  put out\n}\n"
      "transition u {\n  take j from p when j.n >= 5\n  delay 2 * j.n\n  servers 1\n  put "
      "out\n}\n");
  a.jobs(6, {1, 9});
  ReachOptions options{
      .zones = 1, .values = 2, .states = 0, .memory = 1 << 30, .enough = {}, .go_on = {}};
  const Reached plain = a({.what = What::kLatency}, options);
  CHECK(plain.bound == 6 * 18);
  options.enough = 6 * 18;
  CHECK(a.of({.what = What::kLatency}, options) == 6 * 18);
  // However little is enough, or wrong, the bound is one.
  for (const std::int64_t enough : {0, 30, 107, 108, 109, 500}) {
    options.enough = enough;
    CHECK(a.of({.what = What::kLatency}, options) == 6 * 18);
    for (const std::uint64_t states : {1, 3, 9, 20}) {
      ReachOptions cut = options;
      cut.states = states;
      const Reached r = a({.what = What::kLatency}, cut);
      if (r.complete) continue;
      REQUIRE(r.bound.has_value());
      CHECK(*r.bound >= 6 * 18);
      CHECK(r.may_stall);
      CHECK(r.may_fail);
      if (enough >= 500) CHECK(*r.bound <= enough);
      CHECK(a({.what = What::kLatency, .maximum = false}, cut).bound <= 6);
    }
  }
}

TEST_CASE("bound_by_states: a token that comes late and that nothing takes ends no run later") {
  Asked a(
      "place p : job start\nplace q : unit start\nplace gone : unit sink\n"
      "transition t {\n  take j from q\n  delay 3\n  put gone\n}\n");
  ExprPool& pool = a.space.variables.exprs;
  a.space.tokens.push_back({.place = PlaceId{0},
                            .rows = {{pool.constant(1)}, {pool.constant(1)}},
                            .count = {},
                            .at = {pool.constant(20), pool.constant(35)}});
  for (const std::uint64_t states : {0, 1, 2, 3}) {
    const ReachOptions options{
        .zones = 1, .values = 2, .states = states, .memory = 1 << 30, .enough = {}, .go_on = {}};
    CHECK(a({.what = What::kLatency, .maximum = false}, options).bound.value_or(0) <= 0);
  }
}

TEST_CASE("bound_by_states: what would need too much memory is stopped, and says at what") {
  // All of it starts at once: instants of 100,000 firings in flight have 10^10 differences.
  const Reached many = Asked(
      "place p : unit initial 100000\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay 3\n  put out\n}\n")({.what = What::kLatency});
  CHECK_FALSE(many.complete);
  CHECK(many.why ==
        "stopped at 512 firings in flight at once; give the transition `servers`, or the space "
        "fewer tokens");
  CHECK(many.may_stall);
  CHECK(many.bound == 300'000);  // one after the other
  // Which of some hundred firings come together: a zone for each of them that is not known.
  const Reached open = Asked(
                           "place p : job\nplace out : unit done\n"
                           "transition t {\n  take j from p\n  delay j.n\n  put out\n}\n")
                           .jobs(400, {0, 99})({.what = What::kLatency}, {.zones = 1,
                                                                          .values = 2,
                                                                          .states = 0,
                                                                          .memory = 64 << 20,
                                                                          .enough = {},
                                                                          .go_on = {}});
  CHECK_FALSE(open.complete);
  CHECK(open.why == "stopped at 64 MiB of states");
  CHECK(open.bound == 99);  // all are in flight
  // A state per value of a property, each with all the tokens behind it.
  const Asked wide =
      Asked(
          "place p : job\nplace q : job initial (index % 7) times 20000\nplace out : unit done\n"
          "transition t {\n  take j from p when j.n % 97 > 40\n  delay j.n\n  put out\n}\n"
          "transition u {\n  take j from q\n  delay j.n\n  servers 1\n  put out\n}\n")
          .jobs(3, {0, 99});
  const ReachOptions options{
      .zones = 1, .values = 2, .states = 0, .memory = 8 << 20, .enough = {}, .go_on = {}};
  const Reached much = wide({.what = What::kLatency}, options);
  CHECK_FALSE(much.complete);
  CHECK(much.why == "stopped at 8 MiB of states");
}

TEST_CASE("bound_by_states: a clock whose phase is known, and one taken as unknown") {
  const auto clocked = [](Range range, const char* clock) {
    return Asked(std::string("place p : job start\nplace q : unit\nplace out : unit done\n"
                             "transition t {\n  take j from p\n  delay j.n\n  put q\n}\n"
                             "transition u {\n  take j from q\n  delay 1\n  ") +
                 clock + "\n  put out\n}\n")
        .jobs(1, range);
  };
  CHECK(clocked({4, 12}, "clock 10 phase 3").of({.what = What::kLatency}) == 23);
  CHECK(clocked({4, 13}, "clock 10 phase 3").of({.what = What::kLatency}) == 23);
  CHECK(clocked({4, 14}, "clock 10 phase 3").of({.what = What::kLatency}) == 33);
  CHECK(clocked({3, 14}, "clock 10 phase 3").of({.what = What::kLatency, .maximum = false}) == 13);
  // More than 8 edges: any phase.
  CHECK(clocked({0, 99}, "clock 3 phase 0").of({.what = What::kLatency}) >= 99 + 3);
  CHECK(clocked({0, 99}, "clock 3 phase 0").of({.what = What::kLatency}) <= 99 + 2 + 3);
}

TEST_CASE("bound_by_states: the same tokens after more firings, later, are looked at again") {
  const Asked a =
      Asked(
          "place p : job\nplace way : unit\nplace m : unit\nplace out : unit done\n"
          "transition direct {\n  take j from p when j.n % 2 == 0\n  delay 1\n  put m\n}\n"
          "transition round {\n  take j from p when j.n % 2 == 1\n  delay 10\n  put way\n}\n"
          "transition on {\n  take j from way\n  delay 10\n  put m\n}\n"
          "transition end {\n  take j from m\n  delay 5\n  put out\n}\n")
          .jobs(1, {0, 9});
  for (const std::size_t zones : {0, 1, 2}) {
    const ReachOptions options{
        .zones = zones, .values = 2, .states = 0, .memory = 1 << 30, .enough = {}, .go_on = {}};
    CHECK(a.of({.what = What::kLatency}, options) == 25);
    CHECK(a.of({.what = What::kLatency, .maximum = false}, options) == 6);
    CHECK(a.of({.what = What::kCommits, .transition = TransitionId{2}}, options) == 1);
    CHECK(a.of({.what = What::kCommits, .transition = TransitionId{2}, .maximum = false},
               options) == 0);
  }
}

TEST_CASE("bound_by_states: how long a transition is busy, whatever else waits") {
  const std::string lines =
      "place p : job\nplace q : unit\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay j.n\n  servers 1\n  put q\n}\n"
      "transition u {\n  take j from q\n  delay 50\n  servers 1\n  put out\n}\n";
  const auto busy = [](const Asked& a, bool maximum, ReachOptions options = {}) {
    return a.of({.what = What::kBusy, .transition = TransitionId{0}, .maximum = maximum}, options);
  };
  const Asked a = Asked(lines).jobs(3, {2, 7});
  for (const std::size_t zones : {0, 1, 3}) {
    const ReachOptions options{
        .zones = zones, .values = 2, .states = 0, .memory = 1 << 30, .enough = {}, .go_on = {}};
    CHECK(busy(a, true, options) == 21);
    CHECK(busy(a, false, options) == 6);
  }
  std::string clocked = lines;
  clocked.replace(clocked.find("  servers 1\n"), 12, "  servers 1\n  clock 10 phase 3\n");
  CHECK(busy(Asked(clocked).jobs(3, {2, 7}), true) == 210);
  // What ways of different length leave behind is joined at its worst.
  const Asked ways =
      Asked(
          "place p : job\nplace q : job\nplace out : unit done\n"
          "transition t {\n  take j from p when j.n > 4\n  delay 30\n  servers 1\n  put q (0)\n}\n"
          "transition v {\n  take j from p when j.n <= 4\n  delay 30\n  servers 1\n  put q (0)\n}\n"
          "transition u {\n  take j from q\n  delay 5\n  put out\n}\n")
          .jobs(2, {0, 9});
  CHECK(busy(ways, true) == 60);
  CHECK(busy(ways, false) == 0);
  // Several servers: the sum of all firings for the most, none for the least.
  std::string many = lines;
  many.replace(many.find("  servers 1\n"), 12, "");
  const Asked m = Asked(many).jobs(3, {2, 7});
  CHECK(busy(m, true) == 21);
  const Reached least = m({.what = What::kBusy, .transition = TransitionId{0}, .maximum = false});
  CHECK_FALSE(least.complete);
  CHECK(least.why ==
        "the least busy time of a transition with several servers, or of runs that end "
        "with a done token");
  CHECK(least.bound == 0);
  const Reached cut =
      a({.what = What::kBusy, .transition = TransitionId{0}},
        {.zones = 1, .values = 2, .states = 2, .memory = 1 << 30, .enough = {}, .go_on = {}});
  CHECK_FALSE(cut.complete);
  REQUIRE(cut.bound.has_value());
  CHECK(*cut.bound == 21);
}

TEST_CASE("bound_by_states: intervals of a range, in periods of the clock where there is one") {
  const auto net = [](const char* clock) {
    return Asked(std::string("place p : job start\nplace out : unit done\ntransition t {\n"
                             "  take j from p\n  delay 2\n  interval j.n + 1\n") +
                 clock + "  put out\n}\n")
        .jobs(3, {0, 9});
  };
  CHECK(net("").of({.what = What::kLatency}) == 2 * 10 + 2);
  CHECK(net("").of({.what = What::kLatency, .maximum = false}) == 2 * 1 + 2);
  // That intervals are whole periods is forgotten: the last one may seem to end behind an edge.
  CHECK(net("  clock 3 phase 0\n").of({.what = What::kLatency}) >= 3 * (2 * 10 + 2));
  CHECK(net("  clock 3 phase 0\n").of({.what = What::kLatency}) <= 3 * (2 * 10 + 2) + 2);
  CHECK(net("  clock 3 phase 0\n").of({.what = What::kLatency, .maximum = false}) == 3 * 4);
}

TEST_CASE("bound_by_states: a net that goes round without time passing may fail") {
  const Reached r = Asked(
      "place p : unit initial 1\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay 0\n  put p\n}\n")({.what = What::kLatency});
  CHECK(r.complete);
  CHECK(r.may_fail);
}

TEST_CASE("bound_by_states: a guard over properties of too many values goes both ways") {
  Asked a(
      "type wide (a: 0..1000000)\nplace p : wide\nplace q : wide\nplace out : unit done\n"
      "transition t {\n  take j from p\n  take k from q when j.a < k.a\n  delay 3\n  put out\n}\n"
      "transition u {\n  take j from p\n  take k from q when j.a >= k.a\n  delay 9\n  put "
      "out\n}\n");
  for (const std::uint32_t place : {0, 1}) {
    a.space.tokens.push_back(
        {.place = PlaceId{place}, .rows = {{a.variable({0, 1'000'000})}}, .count = {}});
  }
  CHECK(a.of({.what = What::kLatency}) == 9);
  CHECK(a.of({.what = What::kLatency, .maximum = false}) == 3);
}

TEST_CASE("bound_by_states: thresholds, capacities, and tokens beyond them") {
  const Asked waits = Asked(
      "place p : unit initial 2\nplace out : unit done\n"
      "transition t {\n  take j from p need 3\n  delay 3\n  put out\n}\n");
  CHECK(waits({.what = What::kCommits, .transition = TransitionId{0}}).may_stall == false);
  CHECK(waits.of({.what = What::kCommits, .transition = TransitionId{0}}) == 0);
  const std::string room =
      "place q : unit capacity 2 initial 1\nplace p : unit initial 3\nplace gone : unit sink\n"
      "place out : unit done\n"
      "transition t {\n  take j from p\n  delay 1\n  put q\n  put out\n}\n"
      "transition u {\n  take j from q\n  delay 10\n  servers 1\n  put gone\n}\n";
  CHECK(Asked(room).of({.what = What::kCompletion, .k = 1}) == 1);
  CHECK(Asked(room).of({.what = What::kCompletion, .k = 2}) == 11);
  std::string given = room;
  given.replace(given.find(" initial 1"), 10, "");
  Asked more(given);
  InputSpace::Tokens tokens{
      .place = PlaceId{0}, .rows = {{}, {}, {}}, .count = more.variable({2, 3})};
  more.space.tokens.push_back(tokens);
  const Reached r = more({.what = What::kCompletion, .k = 1});
  CHECK(r.may_fail);  // three tokens where two fit
  CHECK(r.bound == 11);
}

TEST_CASE(
    "bound_by_states: a property that nobody reads and that fails for some is not passed over") {
  const Reached r = Asked(
                        "place p : job\nplace q : job done\n"
                        "transition t {\n  take j from p\n  delay 4\n  put q (10 // j.n)\n}\n")
                        .jobs(1, {0, 3})({.what = What::kLatency});
  CHECK(r.may_fail);
  CHECK(r.bound == 4);
}

TEST_CASE("bound_by_states: a space whose conditions contradict each other has no input") {
  Asked a = Asked(kServer).jobs(2, {1, 9});
  ExprPool& pool = a.space.variables.exprs;
  a.space.constraints.push_back(
      pool.binary(Op::kLe, pool.binary(Op::kAdd, pool.param(0), pool.param(1)), pool.constant(1)));
  const Reached r = a({.what = What::kLatency});
  CHECK(r.complete);
  CHECK_FALSE(r.bound.has_value());
  CHECK(r.states == 0);
}

TEST_CASE("most_done_tokens: an upper bound however long the run, or none") {
  CHECK(most_done_tokens(Asked(kServer).net, Asked(kServer).jobs(5, {0, 9}).space) == 5);
  const Asked loop(
      "place p : unit initial 1\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay 1\n  put p\n  put out\n}\n");
  CHECK_FALSE(most_done_tokens(loop.net, loop.space).has_value());
}

}  // namespace lpn

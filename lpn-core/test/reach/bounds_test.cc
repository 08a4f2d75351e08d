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
      const ReachOptions options{.zones = zones, .values = values, .states = 0, .go_on = {}};
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
  CHECK(a.of({.what = What::kLatency}, {.zones = 1, .values = 1, .states = 0, .go_on = {}}) >= 12);
  CHECK(a.of({.what = What::kLatency}, {.zones = 0, .values = 16, .states = 0, .go_on = {}}) == 12);
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

TEST_CASE("bound_by_states: a limit of states gives what is left in the worst case, and says so") {
  const Asked a = Asked(kServer).jobs(6, {2, 7});
  const Reached r =
      a({.what = What::kLatency}, {.zones = 1, .values = 2, .states = 2, .go_on = {}});
  CHECK_FALSE(r.complete);
  CHECK(r.why == "too many states");
  CHECK(r.states == 2);
  REQUIRE(r.bound.has_value());
  CHECK(*r.bound >= 42);
  CHECK(r.may_stall);
  CHECK(r.may_fail);
  const Reached least = a({.what = What::kLatency, .maximum = false},
                          {.zones = 1, .values = 2, .states = 2, .go_on = {}});
  REQUIRE(least.bound.has_value());
  CHECK(*least.bound <= 12);
  const Reached asked =
      a({.what = What::kLatency},
        {.zones = 1, .values = 2, .states = 0, .go_on = [](auto, auto) { return false; }});
  CHECK((asked.complete || asked.why == "the work was ended"));
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

TEST_CASE("most_done_tokens: an upper bound however long the run, or none") {
  CHECK(most_done_tokens(Asked(kServer).net, Asked(kServer).jobs(5, {0, 9}).space) == 5);
  const Asked loop(
      "place p : unit initial 1\nplace out : unit done\n"
      "transition t {\n  take j from p\n  delay 1\n  put p\n  put out\n}\n");
  CHECK_FALSE(most_done_tokens(loop.net, loop.space).has_value());
}

}  // namespace lpn

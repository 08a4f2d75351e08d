// Nets that are order-free as long as transitions do not meet: what is assumed, and that a run in
// which it fails is the interpreter's all the same.

#include <doctest/doctest.h>

#include <string>

#include "folder.h"
#include "lpn/net/lower.h"
#include "lpn/run/interp.h"
#include "lpn/sim/simulator.h"
#include "lpn/sim/ways.h"
#include "lpn/text/text.h"
#include "nets.h"
#include "plan/plan.h"

namespace lpn::sim {
namespace {

// Jobs of two kinds, `n` of them at once, which share a bus.
const char* const kTurns = R"(lpn 1
net turns
param n = 1 in 0..9
type unit ()
type job (kind: 0..1, v: 0..99)
place jobs : job start initial (index % 2, index) times 12
place idle : unit initial n
place bus : unit initial 1
place left : job drain
place right : job drain
place out : job drain
place shown : job done
transition sort {
  take j from jobs
  take i from idle
  delay 1
  servers 1
  put left (j.kind, j.v) times 1 - j.kind
  put right (j.kind, j.v) times j.kind
}
transition slow {
  take x from left
  take b from bus
  delay 9
  servers 1
  put bus
  put out (x.kind, x.v)
}
transition fast {
  take x from right
  take b from bus
  delay 2
  servers 1
  put bus
  put out (x.kind, x.v)
}
transition show {
  take x from out
  delay 1
  put idle
  put shown (x.kind, x.v)
}
end
)";

// Two that wait for one token, which nobody gives back; `a` and `b` say when.
const char* const kOnce = R"(lpn 1
net once
param a = 5 in 0..9
param b = 3 in 0..9
type unit ()
place s1 : unit start initial 1
place s2 : unit start initial 1
place bus : unit initial 1
place left : unit
place right : unit
place p1 : unit initial 1
place p2 : unit initial 1
place of_l : unit done
place of_r : unit
transition first {
  take x from s1
  take p from p1
  delay a
  put left
}
transition second {
  take x from s2
  take p from p2
  delay b
  put right
}
transition l {
  take x from left
  take t from bus
  delay 1
  put p1
  put of_l
}
transition r {
  take x from right
  take t from bus
  delay 1
  put p2
  put of_r
}
end
)";

CompileOptions quick() {
  static const Folder folder;
  CompileOptions options;
  options.flags = "-O0";
  options.cache = folder / "cache";
  return options;
}

struct Ran {
  bool order_free = false, fell_back = false, same = false;
};

Ran ran(const Library& library, const Net& net, const ParamValues& params, Mode mode) {
  Simulator simulator(library, params, Marking(net));
  simulator.set_mode(mode);
  const RunResult result = simulator.run();
  Interp defined(net, params, Marking(net));
  Ran all{simulator.was_order_free(), simulator.fell_back(), result == defined.run()};
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    const auto place = static_cast<PlaceId>(p);
    all.same &= simulator.tokens(place) == defined.tokens(place);
  }
  return all;
}

TEST_CASE("who takes turns by tokens that come one after the other needs no clock") {
  const Plan plan = make_plan(lower(parse_net(kTurns)));
  CHECK(plan.whole());
  REQUIRE(plan.assumes());
  CHECK(plan.disputed == std::vector<bool>{false, false, true, false, false, false, false});
  CHECK(plan.merged == std::vector<bool>{false, false, true, false, false, true, false});
  CHECK_FALSE(make_plan(lower(parse_net(kTurns)), {}, Assume::kNothing).assumes());
  CHECK_FALSE(assumes(parse_net(kTurns), Assume::kNothing));
  CHECK(assumes(parse_net(kTurns)));
  CHECK_FALSE(make_plan(lower(line())).assumes());  // nothing to assume
}

TEST_CASE("what a transition must not meet is told") {
  const std::vector<Way> all = ways(parse_net(kTurns));
  CHECK(all[1].order_free);
  CHECK_FALSE(all[1].lock_step);
  CHECK(all[1].why_no_repeat ==
        "must not meet others that take from place 'bus'; each run checks it");
  CHECK(all[3].why_no_repeat == "tokens must come to place 'out' in turn; each run checks it");
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

TEST_CASE("nothing is assumed of those who have their tokens from the start") {
  const std::string text = replaced(kTurns, "place left : job drain", "place left : job start");
  CHECK_FALSE(make_plan(lower(parse_net(text))).assumes());
  CHECK(make_plan(lower(parse_net(text)), {}, Assume::kAnything).assumes());
}

TEST_CASE("nor of those who may fail by looking at tokens that others take") {
  const std::string text =
      replaced(kTurns, "take x from right", "take x from right when 9 // x.v > 0");
  CHECK_FALSE(make_plan(lower(parse_net(text)), {}, Assume::kAnything).assumes());
  CHECK_FALSE(assumes(parse_net(text), Assume::kAnything));
}

TEST_CASE("what is assumed is checked in each run, and where it fails the events answer") {
  const Net net = parse_net(kTurns);
  const Library library = Library::build(net, {}, quick());
  for (const std::int64_t n : {1, 2}) {
    const Ran r = ran(library, net, {n}, Mode::kAuto);
    CHECK(r.order_free);
    CHECK(r.same);
  }
  // Two of a kind overtake one of the other in the order of turns.
  Ran r = ran(library, net, {3}, Mode::kAuto);
  CHECK(r.fell_back);
  CHECK(r.same);
  // From then on nobody tries, unless asked to.
  r = ran(library, net, {1}, Mode::kAuto);
  CHECK_FALSE(r.order_free);
  CHECK_FALSE(r.fell_back);
  CHECK(r.same);
  CHECK(ran(library, net, {1}, Mode::kOrderFree).order_free);
}

TEST_CASE("who has not fired at all was not ready before those who have") {
  const Net net = parse_net(kOnce);
  const Library library = Library::build(net, {}, quick());
  const Ran one = ran(library, net, {3, 5}, Mode::kOrderFree);
  const Ran other = ran(library, net, {5, 3}, Mode::kOrderFree);
  const Ran both = ran(library, net, {4, 4}, Mode::kOrderFree);
  CHECK((one.same && other.same && both.same));
  // Whoever has the first turn takes the token, in one of both rightly so.
  CHECK(one.order_free != other.order_free);
  CHECK(one.fell_back != other.fell_back);
  CHECK(both.fell_back);
}

}  // namespace
}  // namespace lpn::sim

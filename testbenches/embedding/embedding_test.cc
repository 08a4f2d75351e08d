// The host's calls, worked out by hand; every refusal with its words.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "engines.h"
#include "lpn/net/verify.h"
#include "lpn/text/text.h"
#include "lpnrt/embed.h"

namespace embed = lpn::embed;

namespace {

// One job of n ticks at a time; both ends have one slot, or as many as said.
constexpr const char* kUnit = R"(lpn 1
net unit
param slots = 1
type Job (n: 0..9)
place jobs : Job capacity slots
place out : Job sink capacity 1
transition work {
  take j from jobs
  delay j.n
  servers 1
  put out (j.n)
}
end
)";

// The other end: takes what `unit` leaves, two ticks each.
constexpr const char* kNext = R"(lpn 1
net next
param slots = 1 in 1..9
type unit ()
type Job (n: 0..9)
place in_ : Job capacity slots
place gone : unit done
transition eat {
  take j from in_
  delay 2
  servers 1
  put gone
}
end
)";

// Ends that cannot be joined with those of the others.
constexpr const char* kOdd = R"(lpn 1
net odd
type Job (n: 0..9)
type Wide (n: 0..10)
type Other (m: 0..9)
place open : Job
place wide : Wide capacity 1
place other : Other capacity 1
place finished : Job done capacity 1
place fed : Job capacity 1
place two : Job capacity 2
transition t {
  take a from open
  delay 1
  put fed (a.n)
}
end
)";

embed::Library library(const char* text) {
  const lpn::Net net = lpn::parse_net(text);
  lpn::require_valid(net);
  const lpn::sim::Library code = lpn::sim::Library::build(net, {}, lpn::bench::quick_options());
  return embed::Library(code.api(), std::make_shared<lpn::sim::Library>(code));
}

template <typename Kind, typename Call>
std::string refused(const Call& call) {
  try {
    call();
  } catch (const Kind& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("push: a slot is held from the call to the consumer's commit") {
  embed::Instance sim(library(kUnit));
  const embed::Place jobs = sim.place("jobs");
  CHECK(sim.next() == 0);
  CHECK(sim.room(jobs) == 1);
  CHECK(sim.try_push(jobs, {3}, 2));
  CHECK(sim.room(jobs) == 0);  // before the first run, and before the token is there
  CHECK_FALSE(sim.try_push(jobs, {3}, 9));
  sim.run(0);
  CHECK(sim.room(jobs) == 0);
  CHECK(sim.next() == 2);
  sim.run(4);  // the work began at 2
  CHECK(sim.now() == 2);
  CHECK(sim.count(jobs) == 0);
  CHECK(sim.room(jobs) == 0);
  CHECK(sim.next() == 5);
  sim.run(5);
  CHECK(sim.room(jobs) == 1);
  CHECK(sim.next() == embed::kForever);
}

TEST_CASE("take and release: the outside is a consumer that commits when it says") {
  embed::Instance sim(library(kUnit), {{"slots", 3}});
  const embed::Place jobs = sim.place("jobs"), out = sim.place("out");
  sim.collect(out);
  sim.load(jobs, 2, {4, 1});
  CHECK(sim.room(jobs) == 1);
  sim.run();
  CHECK(sim.now() == 4);  // the second job has no credit
  CHECK(sim.count(jobs) == 1);
  CHECK(sim.room(out) == 0);
  const std::vector<embed::Token> first = sim.take(out);
  REQUIRE(first.size() == 1);
  CHECK(first[0].values == embed::Values{4});
  CHECK(first[0].time == 4);
  CHECK(first[0].group == 0);
  CHECK(sim.take(out).empty());
  CHECK(sim.room(out) == 0);  // still the outside's
  sim.release(out, 1, 10);
  CHECK(sim.next() == 10);
  CHECK(sim.run().stalled == 0);  // at 10 the second job starts
  CHECK(sim.now() == 11);
  CHECK(sim.take(out)[0].time == 11);
  sim.release(out, 1, 12);
  CHECK(sim.room(out) == 0);
  sim.run();
  CHECK(sim.room(out) == 1);
}

TEST_CASE("hold: slots without tokens") {
  embed::Instance sim(library(kUnit), {{"slots", 2}});
  const embed::Place jobs = sim.place("jobs"), out = sim.place("out");
  sim.hold(out, 1);  // before the first run
  sim.push(jobs, {0}, 0);
  sim.run(3);
  CHECK(sim.count(jobs) == 1);
  sim.release(out, 1, 7);
  sim.run();
  CHECK(sim.count(out) == 1);
  CHECK(sim.now() == 7);
  CHECK(refused<embed::RoomError>([&] { sim.hold(jobs, 3); }) ==
        "net 'unit', place 'jobs': hold: 2 free slots; ask room() first, or try_push()");
}

TEST_CASE("a run of everything at once sees what the outside holds") {
  // Nothing but order-free code would run this net when it is alone.
  embed::Instance sim(library(kUnit), {{"slots", 5}});
  sim.hold(sim.place("out"), 1);
  sim.load(sim.place("jobs"), 3, {1, 1, 1});
  CHECK(sim.run().commits == 0);
  CHECK(sim.room(sim.place("jobs")) == 2);
}

TEST_CASE("group by group: pushes at the instant that is under way are seen by the next start") {
  embed::Instance sim(library(kUnit), {{"slots", 4}});
  const embed::Place jobs = sim.place("jobs"), out = sim.place("out");
  sim.collect(out);
  sim.enter(0);
  sim.commit();
  sim.push(jobs, {0}, 0);
  CHECK(sim.start());  // due in group 1
  CHECK(sim.next() == 0);
  sim.commit();
  CHECK(sim.take(out)[0].group == 1);
  sim.push(jobs, {0}, 0);
  CHECK_FALSE(sim.start());  // no credit
  sim.release(out, 1, 0);
  sim.commit();  // an empty group 2
  CHECK(sim.start());
  sim.run(0);  // completes the instant
  const auto second = sim.take(out);
  CHECK(second[0].time == 0);
  CHECK(second[0].group == 3);
  CHECK(refused<embed::LateError>([&] { sim.push(jobs, {0}, 0); }) ==
        "net 'unit', place 'jobs': push for time 0 comes too late; the net is at 0");
  CHECK(refused<embed::CallError>([&] { sim.start(); }) ==
        "net 'unit': start: enter, then commit and start in turns");
  sim.push(jobs, {0}, 5);
  CHECK(refused<embed::CallError>([&] { sim.enter(6); }) ==
        "net 'unit': enter: an instant is not completed, the run is over, or an instant would be "
        "skipped: the next is 5");
  sim.enter(5);
  CHECK(sim.count(jobs) == 1);
}

TEST_CASE("what a caller gets wrong") {
  const embed::Library unit = library(kUnit);
  embed::Instance sim(unit);
  const embed::Place jobs = sim.place("jobs"), out = sim.place("out");
  CHECK(refused<embed::NameError>([&] { sim.place("nowhere"); }) ==
        "net 'unit' has no place 'nowhere'; it has jobs, out");
  CHECK(refused<embed::NameError>([&] {
          embed::Instance(unit, {{"size", 1}});
        }) == "net 'unit' has no parameter 'size'; it has slots");
  CHECK(
      refused<embed::ParamError>([&] {
        embed::Instance(unit, {{"slots", -1}});
      }) ==
      "net 'unit': the parameters give servers < 1, a clock period < 1, or tokens, a capacity or a "
      "done count that there cannot be; lpn sim says which");
  CHECK(refused<embed::ValueError>([&] {
          sim.push(jobs, {1, 2}, 0);
        }) == "net 'unit', place 'jobs': 2 values for 1 tokens with 1 properties");
  CHECK(refused<embed::ValueError>([&] { sim.push(jobs, {10}, 0); }) ==
        "net 'unit', place 'jobs': push: token 0: n = 10 is outside its range 0..9");
  CHECK(refused<embed::ValueError>([&] {
          sim.load(jobs, 3, {1, 2, -1});
        }) == "net 'unit', place 'jobs': load: token 2: n = -1 is outside its range 0..9");
  CHECK(refused<embed::ValueError>([&] {  // so many rows have no numbers in 64 bits
          sim.load(jobs, std::uint64_t{1} << 63, {});
        }) ==
        "net 'unit', place 'jobs': 0 values for 9223372036854775808 tokens with 1 properties");
  CHECK(refused<embed::CallError>([&] { sim.take(out); }) ==
        "net 'unit', place 'out': take: only of a place that the net does not read, "
        "that collects, and, with a capacity, after the first instant");
  CHECK(refused<embed::CallError>([&] { sim.collect(jobs); }).find("does not read") !=
        std::string::npos);
  CHECK(refused<embed::CallError>([&] { sim.release(out, 1, 0); }).find("more slots than") !=
        std::string::npos);
  embed::Instance full(unit);
  full.push(jobs, {1}, 0);
  CHECK(refused<embed::RoomError>([&] { full.push(jobs, {1}, 0); }) ==
        "net 'unit', place 'jobs': push: 0 free slots; ask room() first, or try_push()");
  full.enter(0);
  CHECK(refused<embed::CallError>([&] { full.enter(0); }).find("an instant is not completed") !=
        std::string::npos);
  sim.load(jobs, 2, {1, 1});
  CHECK(refused<embed::RoomError>([&] { sim.run(); }) ==
        "net 'unit', place 'jobs': starts with 2 tokens, more than its capacity, or than the slots "
        "held of it leave");
  embed::Instance other(unit, {{"slots", 3}});
  other.load(jobs, {1});
  other.load(out, 2, {1, 1});
  CHECK(refused<embed::RoomError>([&] {
          other.run();
        }).find("'unit', place 'out': starts with 2") != std::string::npos);
  CHECK(other.room(jobs) == 2);  // nothing has changed
  CHECK(refused<embed::ParamError>([&] {
          embed::Instance(library(kNext), {{"slots", 10}});
        }) == "net 'next': parameter 'slots' is 10, outside its range 1..9");
  CHECK(refused<embed::LateError>([&] { other.push(jobs, {1}, -1); }) ==
        "net 'unit', place 'jobs': push: there is no time -1; times are 0..9223372036854775806");
  CHECK(refused<embed::LoadError>([&] { embed::Library::open("./no_such.so"); }).find("no_such") !=
        std::string::npos);
  CHECK(refused<embed::LoadError>([&] {
          embed::Library::open("no_such.so");
        }).find("write ./no_such.so") != std::string::npos);
  CHECK(unit.fields(jobs) == std::vector<std::string>{"n"});
  CHECK(unit.range(out, 0) == std::pair<std::int64_t, std::int64_t>{0, 9});
}

TEST_CASE("after its last done token a run is over, unless the host said otherwise") {
  const embed::Library next = library(kNext);
  for (const bool goes_on : {false, true}) {
    embed::Instance sim(next);
    const embed::Place jobs = sim.place("in_");
    sim.set_done(1);
    if (goes_on) sim.set_done(-2);
    sim.load(jobs, {0});
    sim.run();
    const std::string what = refused<embed::LateError>([&] { sim.push(jobs, {0}, 9); });
    CHECK(what == (goes_on
                       ? "nothing was refused"
                       : "net 'next', place 'in_': push for time 9: the run ended at 2 with its "
                         "last done token; set_done(-2) before it lets a host go on"));
  }
}

// Its delay fails for n > 3.
constexpr const char* kFails = R"(lpn 1
net fails
type unit ()
type Job (n: 0..9)
place in_ : Job capacity 1
place free : Job
place gone : unit done
transition eat {
  take j from in_
  delay 3 - j.n
  servers 1
  put gone
}
transition drop {
  take j from free
  delay 1
}
end
)";

TEST_CASE("after an error every call that would change something repeats it") {
  embed::Instance sim(library(kFails));
  const embed::Place in = sim.place("in_"), open = sim.place("free");
  const std::string what =
      "net 'fails': transition 'eat' at time 5: E-negative-delay in its delay "
      "(value -6); lpn sim says it in full";
  sim.push(in, {9}, 5);
  CHECK(refused<embed::Fault>([&] { sim.run(); }) == what);
  CHECK(refused<embed::Fault>([&] { sim.run(); }) == what);
  CHECK(refused<embed::Fault>([&] { sim.push(open, {1}, 9); }) == what);
  CHECK(refused<embed::Fault>([&] { sim.hold(in, 1); }) == what);
  CHECK(refused<embed::Fault>([&] { sim.release(in, 1, 9); }) == what);
  CHECK(refused<embed::Fault>([&] { sim.enter(9); }) == what);
  const std::int64_t row[] = {1}, late[] = {9}, early[] = {0};
  const auto feed = [&](const std::int64_t* when) {
    return sim.api().feed(sim.handle(), static_cast<std::uint32_t>(open), 1, row, when);
  };
  CHECK(feed(late) == LPN_FAULT);
  CHECK(feed(early) == LPN_FAULT);
}

TEST_CASE("an instance may be replaced by one of another library") {
  embed::Instance sim(library(kUnit));
  sim.load(sim.place("jobs"), {3});
  sim.run(1);
  sim = embed::Instance(library(kNext));
  sim.load(sim.place("in_"), {3});
  CHECK(sim.run().latency == 2);
}

TEST_CASE("coupled: the producer starts at the instant at which the consumer frees the slot") {
  embed::Coupled chip;
  const auto unit = chip.add(embed::Instance(library(kUnit), {{"slots", 9}}));
  const auto next = chip.add(embed::Instance(library(kNext)));
  chip.join(unit, "out", next, "in_");
  chip[unit].load(chip[unit].place("jobs"), 3, {1, 0, 5});
  // work 0-1, eat 1-3; work 3-3, eat 3-5; work 5-10, eat 10-12.
  CHECK(chip.next() == 0);
  embed::Result r = chip.run(3);
  CHECK(r.ending == LPN_LIMIT);
  CHECK(r.commits == 3);
  CHECK(r.latency == 3);
  r = chip.run();
  CHECK(r.ending == LPN_QUIET);
  CHECK(r.stalled == 0);
  CHECK(r.latency == 12);
  CHECK(r.commits == 6);
  CHECK(r.done_tokens == 3);

  embed::Coupled two;
  two.add(embed::Instance(library(kUnit), {{"slots", 9}}));
  two.add(embed::Instance(library(kNext)));
  two.join(0, "out", 1, "in_");
  two[0].load(two[0].place("jobs"), 3, {1, 0, 5});
  two.set_done(2);
  r = two.run();
  CHECK(r.ending == LPN_DONE);
  CHECK(r.latency == 5);
  CHECK(two.next() == embed::kForever);
}

// Takes from two channels without capacities; what is done is put away a tick later.
constexpr const char* kBoth = R"(lpn 1
net both
type unit ()
type Job (n: 0..9)
place left : Job
place right : Job
place done_ : unit done
place cleared : unit
place gone : unit sink
transition pair {
  take a from left
  take b from right
  delay a.n + b.n
  servers 1
  put done_
  put cleared
}
transition clear {
  take c from cleared
  delay 1
  servers 1
  put gone
}
end
)";
constexpr const char* kOpen = R"(lpn 1
net open
type Job (n: 0..9)
place jobs : Job
place out : Job sink
transition work {
  take j from jobs
  delay j.n
  servers 1
  put out (j.n)
}
end
)";

TEST_CASE("coupled: two channels into one net, without capacities; the latency is of done tokens") {
  embed::Coupled chip;
  for (int k = 0; k < 2; ++k) chip.add(embed::Instance(library(kOpen)));
  chip.add(embed::Instance(library(kBoth)));
  chip.join(0, "out", 2, "left");
  chip.join(1, "out", 2, "right");
  CHECK(refused<embed::JoinError>([&] { chip.join(1, "out", 0, "jobs"); }).find("another") !=
        std::string::npos);
  chip[0].load(chip[0].place("jobs"), {2});
  chip[1].load(chip[1].place("jobs"), {4});
  chip[2].load(chip[2].place("left"), {1});  // a channel may begin with tokens at its end
  const embed::Result r = chip.run();
  // work to 2, and to 4; pair 4-9 with the token that was there; clear to 10.
  CHECK(r.commits == 4);
  CHECK(r.done_tokens == 1);
  CHECK(r.latency == 9);
  CHECK(r.last_commit == 10);

  embed::Coupled line;  // nothing is done here: the last commit
  for (int k = 0; k < 2; ++k) line.add(embed::Instance(library(kOpen)));
  line.join(0, "out", 1, "jobs");
  line[0].load(line[0].place("jobs"), {3});
  CHECK(line.run().latency == 6);
}

TEST_CASE("coupled: an error ends it") {
  embed::Coupled chip;
  chip.add(embed::Instance(library(kUnit), {{"slots", 9}}));
  chip.add(embed::Instance(library(kFails)));
  chip.add(embed::Instance(library(kOpen)));
  chip.join(0, "out", 1, "in_");
  chip[0].load(chip[0].place("jobs"), 2, {2, 9});
  chip[2].load(chip[2].place("jobs"), 3, {9, 9, 9});
  for (int again = 0; again < 2; ++again) {
    const std::string what = refused<embed::Fault>([&] { chip.run(); });
    CHECK(what.find("net 'fails': transition 'eat' at time 12: E-negative-delay") == 0);
    CHECK(chip[2].now() == 9);  // nobody goes on
  }
}

TEST_CASE("coupled: the nets have one time") {
  const embed::Library unit = library(kUnit), next = library(kNext);
  const auto chip = [&] {
    embed::Coupled both;
    both.add(embed::Instance(unit, {{"slots", 3}}));
    both.add(embed::Instance(next, {{"slots", 1}}));
    both.join(0, "out", 1, "in_");
    return both;
  };
  const std::string alone =
      "net 'unit': an instance of a coupling was run by itself; run the "
      "coupling, which runs them all";
  {
    embed::Coupled both = chip();  // before
    const embed::Place jobs = both[0].place("jobs");
    both[0].load(jobs, {3});
    both[0].run();
    CHECK(refused<embed::CallError>([&] { both.run(); }) == alone);
  }
  {
    embed::Coupled both = chip();  // and in between
    const embed::Place jobs = both[0].place("jobs");
    both[0].load(jobs, 2, {3, 4});
    both.run(3);
    CHECK(both.now() == 3);
    both[1].run(7);  // which ends what it does at 5
    CHECK(refused<embed::CallError>([&] { both.run(); }).find("net 'next': an instance") == 0);
  }
  {
    embed::Coupled both = chip();
    const embed::Place jobs = both[0].place("jobs");
    both[0].load(jobs, {3});
    CHECK(both.run().last_commit == 5);
    CHECK(both[0].now() == 5);
    both[0].push(jobs, {1}, 6);
    CHECK(both.run().last_commit == 9);
    embed::Instance late(unit);
    CHECK(refused<embed::JoinError>([&] {
            both.add(std::move(late));
          }).find("'unit': an instance") == 4);
  }
  {
    embed::Coupled both = chip();  // `unit` does nothing after 1, and the other one until 9
    const embed::Place jobs = both[0].place("jobs"), in = both[1].place("in_");
    both[0].load(jobs, {0});
    both.run();
    CHECK(both.now() == 2);
    both[1].push(in, {0}, 9);
    CHECK(refused<embed::CallError>([&] { both.run(); }) ==
          "net 'next', place 'in_': somebody else took slots of it, and the ends of a channel are "
          "the coupling's alone");
  }
  embed::Coupled two;  // not joined at all: the second one is further
  two.add(embed::Instance(unit));
  two.add(embed::Instance(next));
  const embed::Place jobs = two[0].place("jobs"), in = two[1].place("in_");
  two[1].push(in, {0}, 9);
  two.run();
  CHECK(two[0].now() == 0);
  two[0].push(jobs, {1}, 10);
  CHECK(refused<embed::LateError>([&] { two.run(); }) ==
        "net 'unit': something was pushed or released for time 10, but the coupling is at 11");
}

TEST_CASE("coupled: what cannot be a channel") {
  const auto couple = [](const char* from, const char* out, const char* to, const char* in) {
    embed::Coupled chip;
    chip.add(embed::Instance(library(from)));
    chip.add(embed::Instance(library(to)));
    return refused<embed::JoinError>([&] {
      chip.join(0, out, 1, in);
      chip.run();
    });
  };
  const std::string cannot = " cannot be a channel: ";
  CHECK(couple(kUnit, "jobs", kNext, "in_") ==
        "'unit.jobs' and 'next.in_'" + cannot +
            "the first net itself takes from or reads its place");
  CHECK(couple(kUnit, "out", kOdd, "fed") ==
        "'unit.out' and 'odd.fed'" + cannot + "the second net itself puts tokens into its place");
  CHECK(couple(kUnit, "out", kOdd, "other") ==
        "'unit.out' and 'odd.other'" + cannot + "their tokens have other properties");
  CHECK(couple(kUnit, "out", kOdd, "wide") ==
        "'unit.out' and 'odd.wide'" + cannot + "property 'n' has other ranges");
  CHECK(couple(kUnit, "out", kOdd, "finished").find("a done place counts finished work") !=
        std::string::npos);
  CHECK(couple(kUnit, "out", kOdd, "open").find("only one declares a capacity") !=
        std::string::npos);
  CHECK(couple(kUnit, "out", kOdd, "two") ==
        "channel 'unit.out' to 'odd.two': capacities 1 and 2; declare the same");
  // Ticks of one kind, or nobody knows better.
  const auto at = [](const std::string& text, const char* frequency) {
    return text.substr(0, text.size() - 4) + "frequency " + frequency + "\nend\n";
  };
  const std::string unit = at(kUnit, "1000000000"), next = at(kNext, "250000000");
  CHECK(couple(unit.c_str(), "out", next.c_str(), "in_") ==
        "'unit.out' and 'next.in_'" + cannot +
            "a second is 1000000000 ticks of the first net, 250000000 of the second; make each an "
            "instance in a net with the same ticks (clock=...)");
  const std::string same = at(kNext, "1000000000");
  CHECK(couple(unit.c_str(), "out", same.c_str(), "in_") == "nothing was refused");
  CHECK(couple(unit.c_str(), "out", kNext, "in_") == "nothing was refused");
  embed::Coupled chip;
  chip.add(embed::Instance(library(kUnit)));
  chip.add(embed::Instance(library(kNext), {{"slots", 1}}));
  chip.join(0, "out", 1, "in_");
  CHECK(refused<embed::JoinError>([&] { chip.join(0, "out", 1, "in_"); }).find("another channel") !=
        std::string::npos);
  CHECK(refused<embed::JoinError>([&] { chip.join(0, "out", 0, "jobs"); }) ==
        "a channel leads from one added instance to another one");
  chip[0].load(chip[0].place("out"), {1});
  chip[1].load(chip[1].place("in_"), {1});
  CHECK(refused<embed::JoinError>([&] { chip.run(); }) ==
        "channel 'unit.out' to 'next.in_': both ends start with tokens; put them into one");
}

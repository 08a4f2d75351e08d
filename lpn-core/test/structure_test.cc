#include "lpn/structure/structure.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lpn/text/text.h"

using namespace lpn;

namespace {

using Names = std::vector<std::string>;

Net net_of(const std::string& body) {
  return parse_net(
      "lpn 1\nnet n\nparam n = 3\nparam m = 4\ntype unit ()\n"
      "type job (kind: 0..3, size)\n" +
      body + "end\n");
}

// A transition that takes one `x` from each of `from` and puts one token without properties.
std::string move(const std::string& name, const std::string& from, const std::string& to,
                 const std::string& more = "delay 1") {
  std::string text = "transition " + name + " {\n";
  for (std::size_t begin = 0; begin < from.size();) {
    const std::size_t end = std::min(from.find(' ', begin), from.size());
    const std::string place = from.substr(begin, end - begin);
    text += "  take " + place + " from " + place + "\n";
    begin = end + 1;
  }
  text += "  " + more + "\n";
  for (std::size_t begin = 0; begin < to.size();) {
    const std::size_t end = std::min(to.find(' ', begin), to.size());
    text += "  put " + to.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text + "}\n";
}

Names names(const Net& net, const std::vector<TransitionId>& ids) {
  Names all;
  for (const TransitionId id : ids) all.push_back(net[id].name);
  return all;
}
Names names(const Net& net, const std::vector<PlaceId>& ids) {
  Names all;
  for (const PlaceId id : ids) all.push_back(net[id].name);
  return all;
}

// Whether two consumers of one place with these guards are seen to take turns.
bool exclusive(const std::string& a, const std::string& b) {
  const Net net = net_of(
      "place p : job start\nplace q : unit\n"
      "transition a {\n  take x from p when " +
      a +
      "\n  delay 1\n}\n"
      "transition b {\n  take w from q weight 0 need 0\n  take y from p when " +
      b + "\n  delay 1\n}\n");
  const PlaceId p = *net.find_place("p");
  const bool found =
      exclude_each_other(net, p, *net.find_transition("a"), *net.find_transition("b"));
  CHECK(found == exclude_each_other(net, p, *net.find_transition("b"), *net.find_transition("a")));
  return found;
}

}  // namespace

TEST_CASE("structure: guards on different constants exclude each other") {
  CHECK(exclusive("x.kind == 0", "y.kind == 1"));
  CHECK(exclusive("x.kind == 0", "y.kind != 0"));
  CHECK(exclusive("x.kind == 0 and x.size > 3", "y.kind == 1"));
  CHECK(exclusive("x.size < 5", "y.size >= 5"));
  CHECK(exclusive("x.size <= 5", "y.size > 5"));
  CHECK(exclusive("3 < x.size and x.size < 5", "y.size != 4"));
  CHECK(exclusive("x.size % 2 == 0", "y.size % 2 == 1"));
  CHECK(exclusive("x.kind == 0 or x.kind == 1", "y.kind == 2 or y.kind == 3"));
  CHECK(exclusive("select(x.size > 9, x.kind == 1, x.kind == 2)", "y.kind == 0"));
  CHECK(exclusive("assume(x.size > 0, x.kind == 1, \"some\")", "y.kind == 2"));
}

TEST_CASE("structure: complementary conditions exclude each other, whatever they compare") {
  CHECK(exclusive("x.kind == x.size", "y.kind != y.size"));
  CHECK(exclusive("x.kind == x.size", "not (y.size == y.kind)"));
  CHECK(exclusive("x.size < n", "y.size >= n"));
  CHECK(exclusive("x.size <= n", "n < y.size"));
  CHECK(exclusive("not (x.size < n and x.kind == 1)", "y.size < n and y.kind == 1"));
}

TEST_CASE("structure: exclusion is not claimed where both may hold") {
  CHECK_FALSE(exclusive("x.kind == 0", "y.size == 1"));
  CHECK_FALSE(exclusive("x.kind == 0 or x.size == 2", "y.kind == 1"));
  CHECK_FALSE(exclusive("x.size <= 5", "y.size >= 5"));
  CHECK_FALSE(exclusive("x.size < n", "y.size > n - 1"));
  CHECK_FALSE(exclusive("x.size < n", "y.size < m"));
  CHECK_FALSE(exclusive("x.kind != 0", "y.kind != 1"));
  CHECK_FALSE(exclusive("x.kind == n", "y.kind == m"));
  // Not of the same tokens: how many an aggregate sees, and the count, belong to the arc.
  CHECK_FALSE(exclusive("sum(j in x: x[j].size) == 1", "sum(j in y: y[j].size) == 2"));
  CHECK_FALSE(exclusive("free(x) == 1", "occupancy(y) != 1"));
}

TEST_CASE("structure: conflicts and routers") {
  const Net net = net_of(
      "place p : job start\nplace q : unit start\n"
      "transition left {\n  take x from p when x.kind == 0\n  delay 1\n}\n"
      "transition right {\n  take x from p when x.kind > 0\n  delay 1\n}\n" +
      move("one", "q", "") +
      "transition two {\n  take look from q weight 0 need 1\n  delay 1\n"
      "  interval 1\n}\n");
  const auto found = conflicts(net);
  REQUIRE(found.size() == 2);
  CHECK(names(net, found[0].consumers) == Names{"left", "right"});
  CHECK(found[0].router);
  CHECK(names(net, found[1].consumers) == Names{"one", "two"});
  CHECK_FALSE(found[1].router);
  const PlaceUse use = place_uses(net)[1];
  CHECK(names(net, use.takers) == Names{"one"});
  CHECK(names(net, use.readers) == Names{"two"});
}

TEST_CASE("structure: guards at one shared place decide at the others too") {
  const Net net = net_of(
      "place p : job start\nplace q : unit initial 1\nplace r : unit start\n"
      "transition left {\n  take x from p when x.kind == 0\n  take u from q\n  delay 1\n"
      "  put q\n}\n"
      "transition right {\n  take w from r\n  take u from q\n  take x from p when x.kind > 0\n"
      "  delay 1\n  put q\n}\n" +
      move("other", "r", ""));
  const auto found = conflicts(net);
  REQUIRE(found.size() == 3);
  CHECK(found[0].router);
  CHECK(found[1].router);  // q, because of p
  CHECK_FALSE(found[2].router);
  CHECK_FALSE(found[1].by_solver);
}

TEST_CASE("structure: explicit credits and capacities bound concurrency") {
  const Net net = net_of(
      "place in : unit start\nplace slots : unit initial n\n"
      "place mid : unit\nplace out : unit capacity m\nplace free : unit done\n" +
      move("work", "in slots", "mid", "delay 7") + move("give", "mid", "slots out", "delay 2") +
      move("end", "out", "free") + move("wild", "free", "", "delay 1"));
  const auto loops = credit_loops(net);
  REQUIRE(loops.size() == 2);
  CHECK(loops[0].capacity);
  CHECK(names(net, loops[0].places) == Names{"out"});
  CHECK(names(net, loops[0].transitions) == Names{"give", "end"});
  CHECK(loop_tokens(net, bind_params(net), loops[0]) == 4);
  CHECK_FALSE(loops[1].capacity);
  CHECK(names(net, loops[1].places) == Names{"slots", "mid"});
  CHECK(names(net, loops[1].transitions) == Names{"work", "give"});
  CHECK(loop_tokens(net, bind_params(net, {{"n", 9}}), loops[1]) == 9);
  CHECK(names(net, unbounded_concurrency(net)) == Names{"wild"});
}

TEST_CASE("structure: weights and tokens of a loop add up beyond 64 bits") {
  const std::string most = "9223372036854775807";
  const Net net =
      net_of("place a : unit initial " + most + "\nplace b : unit initial " + most +
             "\ntransition go {\n  take x from a weight " + most + "\n  take y from b weight " +
             most + "\n  delay 7\n  put a " + most + "\n  put b " + most + "\n}\n");
  for (const CreditLoop& loop : credit_loops(net)) CHECK(loop.places.size() < 3);
  CHECK(loop_tokens(net, {}, {{PlaceId{0}, PlaceId{1}}, {}, false}) == kForever);
}

TEST_CASE("structure: a loop through a fork and a join is one loop per path") {
  const Net net = net_of("place s : unit initial 2\nplace a : unit\nplace b : unit\n" +
                         move("fork", "s", "a b") + move("join", "a b", "s"));
  const auto loops = credit_loops(net);
  REQUIRE(loops.size() == 1);
  CHECK(names(net, loops[0].places) == Names{"s", "a"});
}

TEST_CASE("structure: a loop is without the tokens of another that it can do without") {
  // An issuer of one instruction per cycle in front of two units.
  const Net net = net_of(
      "place in : unit start\nplace ready : unit initial 1\nplace cooling : unit\n"
      "place adder : unit initial 1\nplace adding : unit\n"
      "place unit : unit initial 3\nplace busy : unit\nplace out : unit done\n" +
      move("sum", "adding", "adder out") + move("end", "busy", "unit out") +
      move("again", "cooling", "ready") + move("add", "in ready adder", "cooling adding") +
      move("work", "in ready unit", "cooling busy"));
  std::vector<Names> found;
  for (const CreditLoop& loop : credit_loops(net)) found.push_back(names(net, loop.places));
  CHECK(found == std::vector<Names>{{"ready", "cooling"}, {"adder", "adding"}, {"unit", "busy"}});
}

TEST_CASE("structure: the workload's tokens are no credits") {
  const Net net = net_of(
      "place s : unit initial 2\nplace in : unit start\nplace a : unit\n"
      "place b : unit\n" +
      move("t", "s in", "a b") + move("u", "a b", "s"));
  const auto loops = credit_loops(net);
  REQUIRE(loops.size() == 1);
  CHECK(names(net, loops[0].places) == Names{"s", "a"});
}

TEST_CASE("structure: a place whose counts depend on tokens is in no loop") {
  const Net net = net_of(
      "place s : unit initial 2\nplace j : job start\nplace a : unit\n"
      "transition t {\n  take s from s\n  take j from j\n  delay 1\n"
      "  put a j.kind\n}\n" +
      move("u", "a", "s"));
  CHECK(credit_loops(net).empty());
  CHECK(names(net, unbounded_concurrency(net)) == Names{"t", "u"});
}

TEST_CASE("structure: an emission that may be empty holds no slot") {
  const Net net = net_of(
      "place j : job start\nplace a : unit capacity 2\n"
      "transition t {\n  take j from j\n  delay 1\n  put a j.kind\n}\n" +
      move("u", "a", ""));
  REQUIRE(credit_loops(net).size() == 1);
  CHECK(names(net, credit_loops(net)[0].transitions) == Names{"u"});
  CHECK(names(net, unbounded_concurrency(net)) == Names{"t"});
}

TEST_CASE("structure: dead transitions reach as far as their tokens") {
  const Net net = net_of(
      "place in : unit start\nplace never : unit\nplace x : unit\nplace y : unit\n"
      "place out : unit\n" +
      move("lives", "in", "out") + move("waits", "never", "x") + move("behind", "x out", "y") +
      move("also", "y", "x") + "transition free {\n  empty y in y\n  delay 1\n  servers 1\n}\n");
  CHECK(names(net, dead_transitions(net)) == Names{"waits", "behind", "also"});
}

TEST_CASE("structure: components, fed ones first") {
  const Net net = net_of(
      "place in : unit start\nplace a : unit initial 1\nplace b : unit\n"
      "place c : unit\n" +
      move("source", "in", "a") + move("ping", "a", "b") + move("pong", "b", "a c") +
      move("sink", "c", ""));
  std::vector<Names> found;
  for (const auto& component : components(net)) found.push_back(names(net, component));
  CHECK(found == std::vector<Names>{{"sink"}, {"ping", "pong"}, {"source"}});
}

TEST_CASE("structure: a chain of many stages needs no machine stack") {
  constexpr int kStages = 50'000;
  std::string body = "place p0 : unit initial 1\n", moves;
  for (int k = 0; k < kStages; ++k) {
    if (k > 0) body += "place p" + std::to_string(k) + " : unit\n";
    moves += move("t" + std::to_string(k), "p" + std::to_string(k),
                  "p" + std::to_string((k + 1) % kStages));
  }
  const Net net = net_of(body + moves);
  CHECK(components(net).size() == 1);
  const auto parts = marked_graphs(net);
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].transitions.size() == kStages);
  REQUIRE(credit_loops(net).size() == 1);
  CHECK(credit_loops(net)[0].places.size() == kStages);
  CHECK(unbounded_concurrency(net).empty());
}

TEST_CASE("structure: marked-graph parts end at choices, weights and counts") {
  const Net net = net_of(
      "place in : unit start\nplace a : unit\nplace b : unit\nplace c : unit\nplace d : unit\n" +
      move("t0", "in", "a") + move("t1", "a", "b") + move("t2", "b", "c") +
      "transition t3 {\n  take c from c weight 2\n  delay 1\n  put d 3\n}\n" + move("t4", "d", ""));
  const auto parts = marked_graphs(net);
  REQUIRE(parts.size() == 1);
  CHECK(names(net, parts[0].transitions) == Names{"t0", "t1", "t2"});
  CHECK(names(net, parts[0].places) == Names{"a", "b"});
}

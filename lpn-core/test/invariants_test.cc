#include "lpn/structure/invariants.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "lpn/net/lower.h"
#include "lpn/text/text.h"

using namespace lpn;

namespace {

using Names = std::vector<std::string>;

Net net_of(const std::string& body) {
  return lower(
      parse_net("lpn 1\nnet n\nparam n = 3 in 1..6\nparam wild = 3\ntype unit ()\n"
                "type job (kind: 0..3, flag: 0..1, size: 1..8, any)\n" +
                body + "end\n"));
}

// A transition of the given input and output lines.
std::string move(const std::string& name, const Names& takes, const Names& puts,
                 const std::string& more = "delay 1") {
  std::string text = "transition " + name + " {\n";
  for (const std::string& take : takes)
    text += "  take " + take.substr(0, take.find(' ')) + " from " + take + "\n";
  text += "  " + more + "\n";
  for (const std::string& put : puts) text += "  put " + put + "\n";
  return text + "}\n";
}

std::optional<std::int64_t> bound(const Net& net, const std::string& place) {
  return token_bound(net, *net.find_place(place));
}
Names relied(const Net& net, const std::string& place) {
  const auto found = Invariants(net).bound(*net.find_place(place));
  Names names;
  REQUIRE(found);
  for (const PlaceId p : found->because->relies_on) names.push_back(net[p].name);
  return names;
}
bool exclusive(const Net& net, const Names& names) {
  std::vector<TransitionId> ids;
  for (const std::string& name : names) ids.push_back(*net.find_transition(name));
  return mutually_exclusive(net, ids);
}
bool overlap_free(const Net& net, const std::string& a, const std::string& b) {
  return Invariants(net).never_overlap(*net.find_transition(a), *net.find_transition(b));
}

}  // namespace

TEST_CASE("invariants: a token that is put back is the only one") {
  const Net net = net_of("place in : unit start\nplace idle : unit initial 1\nplace out : unit\n" +
                         move("work", {"in", "idle"}, {"out", "idle"}));
  CHECK(bound(net, "idle") == 1);
  CHECK(at_most_one_token(net, *net.find_place("idle")));
  CHECK(relied(net, "idle") == Names{"idle"});
  CHECK_FALSE(bound(net, "in"));
  CHECK_FALSE(bound(net, "out"));
  CHECK(overlap_free(net, "work", "work"));
}

TEST_CASE("invariants: credits bound what they pay for") {
  const Net net = net_of(
      "place in : unit start\nplace slots : unit initial 2\nplace mid : unit\nplace more : unit\n" +
      move("work", {"in", "slots"}, {"mid"}) + move("next", {"mid"}, {"more"}) +
      move("give", {"more"}, {"slots"}));
  for (const char* place : {"slots", "mid", "more"}) CHECK(bound(net, place) == 2);
  CHECK(relied(net, "mid") == Names{"slots", "mid", "more"});
  CHECK_FALSE(overlap_free(net, "work", "work"));
}

TEST_CASE("invariants: a capacity bounds whatever was loaded") {
  const Net net = net_of(
      "place in : unit start capacity 4\nplace mid : unit capacity n\nplace out : unit capacity "
      "1\n" +
      move("a", {"in"}, {"mid 2"}) + move("b", {"mid"}, {"out"}) + move("c", {"out"}, {}));
  CHECK(bound(net, "in") == 4);
  CHECK(bound(net, "mid") == 6);  // the greatest value of the parameter
  CHECK(bound(net, "out") == 1);
  CHECK(bound(net, "credit(out)") == 1);
  CHECK(relied(net, "in").empty());
  CHECK(relied(net, "out").empty());
  CHECK(overlap_free(net, "c", "c"));
  CHECK(overlap_free(net, "b", "b"));
  CHECK(overlap_free(net, "b", "c"));
  CHECK_FALSE(overlap_free(net, "a", "b"));
}

TEST_CASE("invariants: weights other than one") {
  // Four turns of `y`, one of `c` that needs all four.
  const Net net = net_of(
      "place in : unit start\nplace y : unit initial 4\nplace wy : unit\nplace c : unit\n"
      "place wc : unit\n" +
      move("start_y", {"in", "y"}, {"wy"}) + move("end_y", {"wy"}, {"c"}) +
      move("start_c", {"in", "c weight 4"}, {"wc"}) + move("end_c", {"wc"}, {"y 4"}));
  CHECK(bound(net, "y") == 4);
  CHECK(bound(net, "c") == 4);
  CHECK(bound(net, "wc") == 1);
  CHECK(exclusive(net, {"start_y", "start_c"}));
  CHECK_FALSE(exclusive(net, {"start_y", "end_y"}));
  CHECK_FALSE(exclusive(net, {"start_y", "start_y"}));
  CHECK(overlap_free(net, "start_y", "start_c"));
  CHECK(overlap_free(net, "end_y", "end_c"));
  CHECK_FALSE(overlap_free(net, "end_y", "start_y"));
  CHECK(overlap_free(net, "end_c", "end_c"));
}

TEST_CASE("invariants: rounding goes down, and to the best of several loops") {
  const Net net =
      net_of("place a : unit initial 5\nplace b : unit\nplace s : unit initial 1\n" +
             move("join", {"a weight 2", "s"}, {"b"}) + move("split", {"b"}, {"a 2", "s"}));
  CHECK(bound(net, "b") == 1);
  CHECK(bound(net, "a") == 5);
  const Net pairs = net_of("place a : unit initial 5\nplace b : unit\n" +
                           move("join", {"a weight 2"}, {"b"}) + move("split", {"b"}, {"a 2"}));
  CHECK(bound(pairs, "b") == 2);
}

TEST_CASE("invariants: tokens may be lost, not gained") {
  const Net net = net_of("place a : unit initial 3\nplace b : unit\nplace c : unit initial 1\n" +
                         move("lose", {"a weight 2"}, {"b"}) + move("gain", {"c"}, {"c 2"}));
  CHECK(bound(net, "a") == 3);
  CHECK(bound(net, "b") == 1);
  CHECK_FALSE(bound(net, "c"));
}

TEST_CASE("invariants: counts that depend on tokens balance or spoil") {
  const Net net = net_of(
      "place in : job start\nplace s : unit initial 8\nplace q : unit\nplace t : unit initial 8\n"
      "place u : unit\nplace w : unit initial 1\nplace x : unit\n"
      "transition a {\n  take j from in\n  take s from s weight j.size\n  take t from t\n"
      "  take w from w weight j.flag\n  delay 1\n"
      "  put q j.size\n  put u j.size\n  put x select(j.flag == 1, 1, 0)\n}\n" +
      move("b", {"q"}, {"s"}) + move("c", {"u"}, {"t"}) + move("d", {"x"}, {"w"}));
  CHECK(bound(net, "q") == 8);
  CHECK(bound(net, "s") == 8);
  CHECK_FALSE(bound(net, "u"));  // up to eight for one token of t
  CHECK_FALSE(bound(net, "t"));
  CHECK(bound(net, "x") == 1);  // two formulas, equal for every flag
  const Net taken = net_of(
      "place in : job start\nplace s : unit initial 8\nplace q : unit\n"
      "transition a {\n  take j from in\n  take s from s weight j.any\n  delay 1\n"
      "  put q taken(s)\n}\n" +
      move("b", {"q"}, {"s"}));
  CHECK(bound(taken, "q") == 8);
}

TEST_CASE("invariants: of counts that exclude each other only one adds") {
  const auto net = [](const std::string& last) {
    return net_of(
        "place in : job start\nplace ready : unit initial 1\nplace a : unit\nplace b : unit\n"
        "place c : unit\n"
        "transition sort {\n  take j from in\n  take r from ready\n  delay 1\n"
        "  put a select(j.any == 3 and j.flag == 1, 1, 0)\n"
        "  put b select(j.any == 3 and j.flag == 0, 1, 0)\n  put c select(" +
        last + ", 1, 0)\n}\n" + move("ta", {"a"}, {"ready"}) + move("tb", {"b"}, {"ready"}) +
        move("tc", {"c"}, {"ready"}));
  };
  // The range of `any` is too large to try, but it is compared with constants only.
  CHECK(bound(net("j.any > 3"), "c") == 1);
  CHECK(bound(net("j.any > 3"), "ready") == 1);
  CHECK(exclusive(net("j.any > 3"), {"ta", "tb", "tc", "sort"}));
  CHECK_FALSE(bound(net("j.any > 2"), "ready"));
  CHECK_FALSE(bound(net("j.any >= 3"), "ready"));
  CHECK_FALSE(exclusive(net("j.any >= 3"), {"tb", "tc"}));
}

TEST_CASE("invariants: a guard fixes a count") {
  const auto net = [](const std::string& guard,
                      const std::string& count = "select(j.kind == 1, 1, j.size)") {
    return net_of(
        "place in : job start\nplace s : unit initial 1\nplace q : unit\n"
        "transition a {\n  take j from in when " +
        guard +
        "\n  take s from s\n  delay 1\n"
        "  put q " +
        count + "\n}\n" + move("b", {"q"}, {"s"}));
  };
  CHECK(bound(net("j.kind == 1"), "q") == 1);
  CHECK(bound(net("j.size < 5 and j.kind == 1"), "q") == 1);
  CHECK(bound(net("not (j.kind != 1)"), "q") == 1);
  CHECK_FALSE(bound(net("j.kind == 2"), "q"));
  CHECK_FALSE(bound(net("j.kind == 1 or j.kind == 2"), "q"));
  CHECK_FALSE(bound(net("j.kind < 2"), "q"));
  CHECK(bound(net("not (j.any < 7)", "select(j.any < 7, 2, 1)"), "q") == 1);
  CHECK_FALSE(bound(net("not (j.any < 7)", "select(j.any < 7, 1, 2)"), "q"));
  CHECK(bound(net("j.any < 7 and j.size > 2", "select(j.any < 7, 1, 2)"), "q") == 1);
  CHECK(bound(net("j.kind == 2", "j.kind - 1"), "q") == 1);
  CHECK_FALSE(bound(net("j.kind == 3", "j.kind - 1"), "q"));
}

TEST_CASE("invariants: initial tokens over parameters count as the most they can be") {
  const Net net =
      net_of("place a : unit initial n + 1\nplace b : unit\nplace c : unit initial wild\n" +
             move("ab", {"a"}, {"b"}) + move("c", {"c"}, {}));
  CHECK(bound(net, "b") == 7);
  CHECK_FALSE(bound(net, "c"));
}

TEST_CASE("invariants: what wants a place empty excludes what needs its tokens") {
  const Net net = net_of(
      "place a : unit start\nplace b : unit start\n"
      "transition x {\n  take a from a\n  empty b in b\n  delay 1\n}\n" +
      move("y", {"b"}, {}) + move("z", {"a"}, {}));
  CHECK(exclusive(net, {"x", "y"}));
  CHECK_FALSE(exclusive(net, {"x", "z"}));
  CHECK_FALSE(overlap_free(net, "x", "y"));  // b may fill while x works
}

TEST_CASE("invariants: a place that takes turns over a long ring, and a hub, are soon answered") {
  constexpr int kStages = 3'000;
  std::string body = "place p0 : unit initial 1\nplace hub : unit initial 1\n", moves;
  for (int k = 0; k < kStages; ++k) {
    const std::string here = "p" + std::to_string(k),
                      next = "p" + std::to_string((k + 1) % kStages);
    if (k > 0) body += "place " + here + " : unit\n";
    moves += move("t" + std::to_string(k), {here, "hub"}, {next, "hub"});
  }
  const Net net = net_of(body + moves);
  const Invariants invariants(net);
  const auto hub = invariants.bound(*net.find_place("hub"));
  REQUIRE(hub);
  CHECK(hub->tokens == 1);
  const auto ring = invariants.bound(*net.find_place("p7"));
  REQUIRE(ring);
  CHECK(ring->tokens == 1);
  CHECK(ring->because->weights.size() == kStages);
}

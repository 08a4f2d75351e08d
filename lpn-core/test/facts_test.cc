#include "lpn/net/facts.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lpn/text/text.h"

using namespace lpn;

namespace {

Net net_of(const std::string& body) {
  return parse_net("lpn 1\nnet n\nparam n = 3\ntype unit ()\ntype job (size: 1..8)\n" + body +
                   "end\n");
}

}  // namespace

TEST_CASE("what an arc needs") {
  struct Case {
    std::string arc;
    std::optional<std::int64_t> weight, need;
    std::int64_t least;
    bool reads_head;
  };
  const Case cases[] = {
      {"take x from p", 1, 1, 1, false},
      {"take x from p weight 2 need 5", 2, 5, 5, false},
      {"take x from p weight 3 need 2", 3, 3, 3, false},
      {"take x from p weight 0 need 0", 0, 0, 0, false},
      {"take x from p weight 0", 0, 0, 0, false},
      {"take x from p weight n", {}, {}, 0, false},
      {"take x from p weight 1 need n", 1, {}, 0, false},
      {"take x from p weight x.size", {}, {}, 1, true},
      {"take x from p weight 1 need x.size", 1, {}, 1, true},
      {"empty x in p", 0, 0, 0, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.arc);
    const Net net =
        net_of("place p : job start\ntransition t {\n  " + c.arc + "\n  delay 1\n  servers 1\n}\n");
    const ArcFacts facts = arc_facts(net, net.transitions[0], 0);
    CHECK(facts.weight == c.weight);
    CHECK(facts.need == c.need);
    CHECK(facts.least_need() == c.least);
    CHECK(facts.reads_head == c.reads_head);
  }
}

TEST_CASE("which places must drain") {
  const std::pair<const char*, bool> cases[] = {{"", false},
                                                {"start", true},
                                                {"drain", true},
                                                {"capacity 2", true},
                                                {"sink capacity 2", false},
                                                {"done capacity 2", false},
                                                {"done drain", true},
                                                {"sink", false}};
  for (const auto& [flags, drains] : cases) {
    const std::string named = flags;  // clang 14 cannot capture a structured binding
    CAPTURE(named);
    CHECK(must_drain(net_of(std::string("place p : unit ") + flags + "\n").places[0]) == drains);
  }
}

TEST_CASE("who touches a place") {
  const Net net = net_of(
      "place p : unit start\nplace q : unit\n"
      "transition takes {\n  take x from p\n  delay 1\n  put q\n}\n"
      "transition reads {\n  take x from p weight 0 need 1\n  delay 1\n  servers 1\n}\n"
      "transition waits {\n  empty x in p\n  take y from q\n  delay 1\n}\n"
      "transition counts {\n  take x from p weight 0\n  delay 1\n  servers 1\n"
      "  put q 0\n}\n");
  const std::vector<PlaceUse> uses = place_uses(net);
  using Ids = std::vector<TransitionId>;
  const auto id = [](int k) { return static_cast<TransitionId>(k); };
  CHECK(uses[0].producers == Ids{});
  CHECK(uses[0].takers == Ids{id(0)});
  CHECK(uses[0].readers == Ids{id(1)});
  CHECK(uses[0].watchers == Ids{id(2), id(3)});
  CHECK(uses[1].producers == Ids{id(0)});  // not what never puts one
}

TEST_CASE("delays and servers") {
  const Net net = net_of(
      "place p : job start\n"
      "transition a {\n  take x from p\n  delay n * 2\n  servers 1\n}\n"
      "transition b {\n  take x from p\n  delay x.size\n  servers n\n}\n");
  CHECK(constant_delay(net, net.transitions[0]));
  CHECK_FALSE(constant_delay(net, net.transitions[1]));
  CHECK(one_server(net, net.transitions[0]));
  CHECK_FALSE(one_server(net, net.transitions[1]));
}

TEST_CASE("every formula is visited, and found again at its site") {
  Net net = net_of(
      "place p : job start capacity n initial (3) times 2\nplace q : job\n"
      "transition t {\n  take x from p weight 1 need 2 when x.size > 1\n  delay 1\n"
      "  servers n\n  interval 2\n  clock 3 phase 1\n  put q (x.size)\n}\n");
  std::vector<SiteKind> kinds;
  const Transition& t = net.transitions[0];
  for_each_formula(t, [&](const Formula& f, const Site& site) {
    kinds.push_back(site.kind);
    CHECK(formula_at(t, site) == (site.kind == SiteKind::kNone ? nullptr : &f));
  });
  using enum SiteKind;
  CHECK(kinds == std::vector{kWeight, kThreshold, kGuard, kDelay, kInterval, kCount, kField, kNone,
                             kNone, kNone});
  int all = 0;
  for_each_formula(net, [&](Formula& f) {
    f.source.line = 7;
    ++all;
  });
  CHECK(all == 10 + 3);
  CHECK(net.places[0].capacity->source.line == 7);
}

TEST_CASE("an assertion watches, puts nothing, and its guard is false or fails") {
  const auto is = [](const std::string& lines) {
    const Net net = net_of("place p : job start\nplace q : unit\ntransition t {\n" + lines + "}\n");
    return is_assertion(net, net.transitions[0]);
  };
  const std::string fails = "when assume(occupancy(x) < 3, false, \"few\")\n";
  const std::string rest = "delay 0\nservers 1\n";
  CHECK(is("take x from p weight 0 need 0 " + fails + rest));
  CHECK(is("take y from q weight 0 need 0\ntake x from p weight 0 need 0 " + fails + rest));
  CHECK(
      is("take x from p weight 0 need 0 when assume(occupancy(x) < 3, assume(occupancy(x) > n, "
         "false, \"b\"), \"a\")\n" +
         rest));
  CHECK_FALSE(is("take x from p " + fails + rest));                  // takes
  CHECK_FALSE(is("take x from p weight 0 need 1 " + fails + rest));  // needs one
  CHECK_FALSE(is("take x from p weight 0 need 0 " + fails + rest + "put q\n"));
  CHECK_FALSE(is("take x from p weight 0 need 0 " + fails + "delay 0\nservers 2\n"));
  CHECK_FALSE(is("take x from p weight 0 need 0 when false\n" + rest));  // assumes nothing
  CHECK_FALSE(is("take x from p weight 0 need 0 when occupancy(x) < 3\n" + rest));
  CHECK_FALSE(
      is("take x from p weight 0 need 0 when assume(occupancy(x) < 3, true, \"few\")\n" + rest));
}

// Which few values of what guards read stand for all.
#include "structure/leaf_use.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "lpn/text/text.h"

namespace lpn {
namespace {

// A transition with one guard over a token (a: 0..3, b) and a parameter p in 0..1.
struct Guarded {
  Net net;
  LeafUse use;

  explicit Guarded(const std::string& guard)
      : net(parse_net("lpn 1\nnet n\nparam p = 0 in 0..1\ntype t (a: 0..3, b)\n"
                      "place q : t start\nplace out : t done\ntransition go {\n"
                      "  take x from q when " +
                      guard + "\n  delay 1\n  put out (x.a, x.b)\n}\nend\n")),
        use(net, net.transitions[0]) {}
  bool look() { return use.look(net.transitions[0].inputs[0].guard->id); }
};

TEST_CASE("LeafUse: every value of a small range, each side of a comparison of a large one") {
  Guarded small("x.a == 2 and p == 1");
  REQUIRE(small.look());
  const auto few = small.use.values();
  REQUIRE(few);
  CHECK(few->at({0, 0, 0}) == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(few->at({Leaf::kParam, 0, 0}) == std::vector<std::int64_t>{0, 1});

  Guarded large("x.b < 100");
  REQUIRE(large.look());
  const std::vector<std::int64_t> values = large.use.values()->at({0, 1, 0});
  for (const std::int64_t v : {99, 100, 101})
    CHECK(std::count(values.begin(), values.end(), v) == 1);
  CHECK(values.size() == 5);
}

TEST_CASE("LeafUse: too many values, or what is no leaf, is not answered") {
  Guarded bare("x.b % 2 == 0");
  REQUIRE(bare.look());
  CHECK_FALSE(bare.use.values());
  CHECK_FALSE(Guarded("occupancy(x) < 3").look());
}

TEST_CASE("LeafUse: uses join; one may read only what another reads") {
  Guarded one("x.a == 1"), both("x.a == 1 and x.b == 7");
  REQUIRE((one.look() && both.look()));
  CHECK(both.use.reads_only(one.use));
  CHECK_FALSE(one.use.reads_only(both.use));
  one.use.merge(both.use);
  CHECK(one.use.reads_only(both.use));
}

}  // namespace
}  // namespace lpn

#include "lpn/sim/generate.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "nets.h"

namespace lpn::sim {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the source depends on the net alone, and names reach it as bytes") {
  Net net = line();
  const std::string source = generate(net);
  CHECK(source == generate(line()));
  CHECK(has(source, "#include \"lpnrt/static.h\""));
  CHECK(has(source, "lpn_sim_entry()"));
  CHECK_FALSE(has(source, "pack"));
  net.places[0].name = "*/ #error";
  CHECK_FALSE(has(generate(net), "#error"));
}

TEST_CASE("values that may need more than 32 bits do not go in lock step") {
  const auto with = [](const char* value) {
    return generate(parse_net(fmt::format(R"(lpn 1
net values
type item (v: 0..9)
place src : item start
place mid : item
place out : item done
transition work {{
  take x from src
  delay 2
  servers 1
  put mid ({})
}}
transition pack {{
  take x from mid
  delay x.v + 1
  servers 1
  put out (x.v)
}}
end
)",
                                          value)));
  };
  CHECK(has(with("x.v * 100000000 // 100000000"), "StaticLanes"));
  CHECK_FALSE(has(with("x.v * 1000000000 // 1000000000"), "StaticLanes"));
}

TEST_CASE("groups are counted where firings that repeat may take no time") {
  const auto with = [](const char* delay) {
    return generate(parse_net(fmt::format(R"(lpn 1
net instants
type item (v: 0..9)
place src : item start
place out : item done
transition work {{
  take x from src
  delay {}
  servers 1
  put out (x.v)
}}
end
)",
                                          delay)));
  };
  CHECK(has(with("x.v"), "(kGroupLimit - group) / 1)"));
  CHECK_FALSE(has(with("x.v + 1"), "(kGroupLimit - group)"));
}

TEST_CASE("a source that is too long is refused, whatever its formulas would be as trees") {
  GenerateOptions options;
  options.most = generate(line()).size();
  CHECK(generate(line(), options).size() == options.most);
  --options.most;
  CHECK_THROWS_WITH(generate(line(), options), doctest::Contains("is too large to compile"));

  // 70 stages of 16,000 nodes each, which are one function of a few terms.
  std::string text = "lpn 1\nnet stages\ntype item (v: 0..9)\nplace out : item done\n";
  std::string same = "(x.v & 7)";
  for (int k = 0; k < 12; ++k) same = "(" + same + " ^ " + same + ")";
  for (int k = 0; k < 70; ++k) {
    text += fmt::format(
        "place a{0} : item start\ntransition go{0} {{\n  take x from a{0}\n  delay {1}\n"
        "  put out (x.v)\n}}\n",
        k, same);
  }
  CHECK(generate(parse_net(text + "end\n")).size() < 200'000);
}

TEST_CASE("a fold that several formulas have is computed once in a start") {
  const std::string source = generate(parse_net(R"(lpn 1
net folds
type item (v: 0..9)
place src : item start
place out : item done
transition work {
  take x from src weight 3
  delay sum(j in x: x[j].v)
  put out (sum(j in x: x[j].v) % 10) times 2, (sum(j in x: x[j].v * index) % 10) times 2
}
end
)"));
  std::size_t loops = 0;
  for (std::size_t at = source.find("s_ = add(s_"); at != std::string::npos; ++loops) {
    at = source.find("s_ = add(s_", at + 1);
  }
  CHECK(has(source, "Kept"));
  CHECK(loops == 2);  // the other one depends on the token that is emitted
}

TEST_CASE("several nets may stand in one translation unit") {
  GenerateOptions options;
  options.suffix = "_7";
  const std::string source = generate(line(), options);
  CHECK(has(source, "namespace lpn_net_7 {"));
  CHECK(has(source, "lpn_sim_entry_7() { return &lpn_net_7::kApi; }"));
}

TEST_CASE("competitors queue for a place from a number on") {
  Net net = inhibited();
  net.transitions[0].inputs[1].inhibit = false;
  net.transitions[0].inputs[1].weight = net.transitions[1].inputs[0].weight;
  CHECK_FALSE(has(generate(net), "parked"));
  GenerateOptions options;
  options.contested = 2;
  CHECK(has(generate(net, options), "parked1"));
}

// Tokens of four kinds, each for a transition of its own, in the order of the kinds or backwards.
Net kinds(bool backwards = false) {
  std::string text =
      "lpn 1\nnet kinds\ntype job (kind: 0..9, bank: 0..9)\n"
      "place src : job start\nplace late : job\nplace out : job done\n";
  for (int t = 0; t < 4; ++t) {
    const int k = backwards ? 3 - t : t;
    text += "transition t" + std::to_string(t) +
            " {\n  take x from src when x.kind + 3 == " + std::to_string(k + 3) +
            "\n  delay 1\n  servers 1\n  put out (x.kind, x.bank)\n}\n";
  }
  return parse_net(text + "end\n");
}

TEST_CASE("tokens told apart by a term go to whom it names, from a number of takers on") {
  Net net = kinds();
  const std::string source = generate(net);
  CHECK(has(source, "void route_0()"));
  CHECK(has(source, "kTo[] = {0,1,2,3,};"));
  CHECK(has(generate(kinds(true)), "kTo[] = {3,2,1,0,};"));
  GenerateOptions options;
  options.routed = 5;
  CHECK_FALSE(has(generate(net, options), "route_0"));
  // One whose term is another, or that sees more than the first token, is asked as ever.
  ExprPool& exprs = net.exprs;
  const ExprId bank = exprs.token(0, 1, exprs.constant(0));
  net.transitions[1].inputs[0].guard->id = exprs.binary(Op::kEq, bank, exprs.constant(1));
  CHECK(has(generate(net), "kTo[] = {0,kNobody,2,3,};"));
  net.transitions[2].inputs[0].weight.id = exprs.constant(2);
  CHECK_FALSE(has(generate(net), "route_0"));
}

}  // namespace
}  // namespace lpn::sim

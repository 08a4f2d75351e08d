#include "lpn/text/text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/net/verify.h"

using namespace lpn;

namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

// What the printer writes for the net that text_test reads most; every construct appears.
constexpr std::string_view kSample = R"(lpn 1
net jpeg
file "model.py"
file "lib/\"odd\"\n\x80.py"

param slots = 4 in 1..16 @12
param least = -9223372036854775808
param a.b = 1

type block (nonzero: 0..63, plane: 0..2, serial) @1:3
type unit ()

place coded : block start @3
place ready : block drain capacity slots + least
place free : unit initial slots @4, 2
place more : block sink initial (1, index @5, 0) times slots, (2, 2, -1)
place pixels : unit done
place stop : unit

done 24

transition huffman @37 {
  take blk from coded @38 weight 3 @39
  take slot from free weight 2 need 4 when occupancy(slot) > 3 and free(blk) > 1
  empty e in stop
  delay 6 + 3 * blk.nonzero - (1 - -(5)) + sum(j in blk: blk[j].nonzero) @1:50
  servers 1
  interval 4 @?
  ordered
  clock 2 phase 1
  put ready (blk.nonzero, blk[2].plane, a.b)
  put pixels
  put free 64, index_of
}

end
)";

std::string sample() {
  std::string text(kSample);
  const std::string_view odd = "index_of";
  return text.replace(text.find(odd), odd.size(), "taken(blk)");
}

std::string error_of(std::string_view text) {
  try {
    parse_net(text);
  } catch (const Error& error) {
    return error.code() + " " + error.what();
  }
  return "no error";
}

bool same_tree(const Net& a, ExprId x, const Net& b, ExprId y) {
  const Node& m = a.exprs[x];
  const Node& n = b.exprs[y];
  if (m.op != n.op || m.type != n.type || m.b != n.b || m.value != n.value) return false;
  if (m.op == Op::kLookup) {
    if (a.exprs.table(m.a) != b.exprs.table(n.a)) return false;
  } else if (m.op == Op::kAssume) {
    if (a.exprs.text(m.a) != b.exprs.text(n.a)) return false;
  } else if (m.a != n.a) {
    return false;
  }
  for (int k = 0; k < op_info(m.op).arity; ++k) {
    const auto kid = static_cast<std::size_t>(k);
    if (!same_tree(a, m.kids[kid], b, n.kids[kid])) return false;
  }
  return true;
}

// A net whose names are those that are easiest to mistake for something else.
class NastyNet {
 public:
  explicit NastyNet(std::uint32_t seed) : random_(seed) {
    net_.name = "net";
    for (const char* name : {"index", "min", "min.x", "take.free", "j", "k_", "true", "end", "put",
                             "a.b", "a.b.c", "nothing", "of", "lookup"}) {
      net_.params.push_back({name, 3, std::nullopt, {0, below(3)}});
    }
    net_.types.push_back(
        {"type", {{"x", Range{kLeast, 1 << 30}}, {"free", {}}, {"x.y", {}}}, {1, 0}});
    net_.types.push_back({"unit", {}, {}});
    const std::vector<std::string> arcs = {"min", "take", "a.b", "index", "j", "sum", "x.free"};
    Transition t;
    t.name = "transition";
    t.source = {1, 7};
    for (const std::string& name : arcs) {
      Place place;
      place.name = name;
      place.source = {0, below(2)};
      net_.places.push_back(place);
      InputArc arc;
      arc.name = name;
      arc.place = static_cast<PlaceId>(net_.places.size() - 1);
      arc.weight = {net_.exprs.constant(5), {0, below(4)}};
      arc.source = {0, below(3)};
      t.inputs.push_back(arc);
      if (below(2) == 0) t.inputs.back().guard = Formula{condition(0, 0), {0, below(3)}};
    }
    transition_ = std::move(t);
    arcs_ = transition_.inputs.size();
    transition_.delay = {net_.exprs.unary(Op::kAbs, value(5, 0)), {1, below(9)}};
    transition_.interval = Formula{net_.exprs.unary(Op::kAbs, value(5, 0)), {1, below(9)}};
    index_ = true;
    Emission emission{{net_.exprs.constant(1), transition_.source}, {}};
    for (int k = 0; k < 3; ++k) {
      const ExprId field = value(6, 0);
      // A constant outside the field's range would be a violation.
      emission.fields.push_back(
          {net_.exprs.is_const(field) ? net_.exprs.constant(k) : field, transition_.source});
    }
    transition_.outputs.push_back({PlaceId{1}, {emission, emission}, {0, 4}});
    transition_.outputs.push_back({PlaceId{2}, {}, {}});
    net_.transitions.push_back(transition_);
  }

  const Net& net() const { return net_; }

 private:
  std::uint32_t below(std::uint32_t n) { return random_() % n; }

  ExprId number() {
    constexpr std::int64_t kNumbers[] = {
        0, 1, -1, 5, kLeast, -5, std::numeric_limits<std::int64_t>::max()};
    return net_.exprs.constant(kNumbers[below(7)]);
  }

  ExprId value(int depth, std::uint32_t nesting) {
    ExprPool& pool = net_.exprs;
    const std::uint32_t arc = arcs_ == 0 ? 0 : below(static_cast<std::uint32_t>(arcs_));
    const auto kid = [&] { return value(depth - 1, nesting); };
    switch (below(depth <= 0 ? 5 : 23)) {
      case 0: return number();
      case 1: return pool.param(below(static_cast<std::uint32_t>(net_.params.size())));
      case 2: return arcs_ == 0 ? number() : pool.token(arc, below(3), pool.constant(below(5)));
      case 3: return nesting == 0 ? number() : pool.bound(below(nesting));
      case 4: return index_ ? pool.index() : number();
      case 5:
      case 19: return pool.unary(Op::kBitNot, kid());
      case 20:
        return pool.binary(below(2) ? Op::kShiftLeft : Op::kShiftRight, kid(),
                           below(2) ? pool.param(0) : pool.constant(below(64)));
      case 21: {
        constexpr Op kBits[] = {Op::kBitAnd, Op::kBitXor, Op::kBitOr};
        return pool.binary(kBits[below(3)], kid(), kid());
      }
      case 6: return pool.unary(Op::kNeg, kid());
      case 7: return pool.unary(Op::kAbs, kid());
      case 8: return pool.binary(Op::kAdd, kid(), kid());
      case 9:
      case 10: return pool.binary(Op::kSub, kid(), kid());
      case 11: return pool.binary(Op::kMul, kid(), kid());
      case 12: return pool.binary(Op::kFloorDiv, kid(), pool.param(0));
      case 13: return pool.binary(Op::kMod, kid(), pool.constant(7));
      case 14: return pool.binary(below(2) ? Op::kMin : Op::kMax, kid(), kid());
      case 15: return pool.select(condition(depth - 1, nesting), kid(), kid());
      case 16: return pool.lookup({1, kLeast, below(3)}, kid());
      case 17: return pool.assume(condition(depth - 1, nesting), kid(), "\"a\"\\\t\x01\xff");
      case 18: {
        if (arcs_ == 0) return pool.binary(Op::kCeilDiv, kid(), pool.constant(2));
        const Op op = below(2) ? Op::kSum : Op::kMaxOf;
        if (nesting == 8) return kid();
        return pool.aggregate(op, arc, nesting, value(depth - 1, nesting + 1));
      }
      default:
        if (arcs_ == 0) return kid();
        if (below(3) == 0) return pool.make({.op = Op::kTaken, .a = arc});
        return below(2) ? pool.occupancy(arc)
                        : pool.token(arc, below(3), pool.unary(Op::kNeg, kid()));
    }
  }

  ExprId condition(int depth, std::uint32_t nesting) {
    ExprPool& pool = net_.exprs;
    const auto kid = [&] { return condition(depth - 1, nesting); };
    constexpr Op kCompare[] = {Op::kEq, Op::kNe, Op::kLt, Op::kLe};
    switch (below(depth <= 0 ? 2 : 6)) {
      case 0: return pool.boolean(below(2) == 0);
      case 1:
      case 2:
        return pool.binary(kCompare[below(4)], value(depth - 1, nesting),
                           value(depth - 1, nesting));
      case 3: return pool.unary(Op::kNot, kid());
      case 4: return pool.binary(below(2) ? Op::kAnd : Op::kOr, kid(), kid());
      default: return pool.select(kid(), kid(), kid());
    }
  }

  std::mt19937 random_;
  Net net_;
  Transition transition_;
  std::size_t arcs_ = 0;  // arcs that expressions may read
  bool index_ = false;
};

bool same_formula(const Net& a, const Formula& f, const Net& b, const Formula& g) {
  return f.source == g.source && same_tree(a, f.id, b, g.id);
}

// An expression in a net with arcs blk (fields x, y) and min, as it is printed again.
std::string again(const std::string& text) {
  const Net net = parse_net(R"(lpn 1
net t
param n = 1
param 'min' = 1
param 'index' = 1
param blk.z = 1
type u (x, y)
place p : u
place q : u
transition t {
  take blk from p weight n
  take min from q weight n
  delay 1
  put p (0, )" + text + ")\n}\nend\n");
  const Transition& t = net.transitions[0];
  return print_expr(net, &t, t.outputs[0].emissions[0].fields[1].id);
}

}  // namespace

TEST_CASE("text: what was printed parses and prints the same") {
  CHECK(print_net(parse_net(sample())) == sample());
}

TEST_CASE("text: every source of the sample survives") {
  const Net net = parse_net(sample());
  const Transition& t = net.transitions[0];
  CHECK(t.source == Source{0, 37});
  CHECK(t.inputs[0].source == Source{0, 38});
  CHECK(t.inputs[0].weight.source == Source{0, 39});
  CHECK(t.inputs[1].source == Source{0, 37});
  CHECK(t.inputs[1].guard->source == Source{0, 37});
  CHECK(t.delay.source == Source{1, 50});
  CHECK(t.interval->source == Source{});
  CHECK(net.places[2].initial[0].count.source == Source{0, 4});
  CHECK(net.types[0].source == Source{1, 3});
  CHECK(net.files[1] == "lib/\"odd\"\n\x80.py");
}

TEST_CASE("text: without sources nets of the same meaning have one text") {
  Net net = parse_net(sample());
  const std::string bare = print_net(net, Sources::kLeftOut);
  CHECK(print_net(parse_net(bare)) == bare);
  net.transitions[0].source = {1, 99};
  net.transitions[0].inputs[0].weight.source = {0, 98};
  net.files[1] = "moved.py";
  CHECK(print_net(net) != sample());
  CHECK(print_net(net, Sources::kLeftOut) == bare);
}

TEST_CASE("text: nets with misleading names and random expressions survive") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const NastyNet nasty(seed);
    const Net& net = nasty.net();
    const std::vector<Violation> violations = verify(net);
    REQUIRE_MESSAGE(violations.empty(), violations.front().message);
    const std::string text = print_net(net);
    CAPTURE(text);
    const Net copy = parse_net(text);
    REQUIRE(print_net(copy) == text);
    REQUIRE(copy.params.size() == net.params.size());
    for (std::size_t k = 0; k < net.params.size(); ++k) {
      CHECK(copy.params[k].name == net.params[k].name);
      CHECK(copy.params[k].source == net.params[k].source);
    }
    const Transition& s = net.transitions[0];
    const Transition& t = copy.transitions[0];
    REQUIRE(t.inputs.size() == s.inputs.size());
    for (std::size_t k = 0; k < s.inputs.size(); ++k) {
      CHECK(t.inputs[k].name == s.inputs[k].name);
      CHECK(t.inputs[k].place == s.inputs[k].place);
      CHECK(t.inputs[k].source == s.inputs[k].source);
      CHECK(same_formula(net, s.inputs[k].weight, copy, t.inputs[k].weight));
      REQUIRE(t.inputs[k].guard.has_value() == s.inputs[k].guard.has_value());
      if (s.inputs[k].guard) CHECK(same_formula(net, *s.inputs[k].guard, copy, *t.inputs[k].guard));
    }
    CHECK(same_formula(net, s.delay, copy, t.delay));
    CHECK(same_formula(net, *s.interval, copy, *t.interval));
    REQUIRE(t.outputs.size() == 2);
    REQUIRE(t.outputs[0].emissions.size() == 2);
    CHECK(t.outputs[1].emissions.empty());
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(same_formula(net, s.outputs[0].emissions[1].fields[k], copy,
                         t.outputs[0].emissions[1].fields[k]));
    }
  }
}

TEST_CASE("text: expressions print as people write them") {
  for (const char* text : {"6 + 3 * blk.x",
                           "n - (n - n)",
                           "n - n - n",
                           "(n + 1) * 2",
                           "n // 2 % 3",
                           "n & 3 | n ^ 2",
                           "(n | 1) & (n ^ 6)",
                           "n << 2 + n >> 1",
                           "n << (n << 1)",
                           "(n << 2) * n",
                           "~n & ~-n",
                           "-~n - ~5 * ~-5",
                           "~(n * 2)",
                           "select(n >> 3 & 1 == 0, 1, 2)",
                           "n // (2 * n)",
                           "-5",
                           "-(5)",
                           "-n",
                           "-(-n)",
                           "-(n + n)",
                           "-n * n",
                           "n * -n",
                           "n - -5",
                           "-(-5)",
                           "-9223372036854775808",
                           "9223372036854775807",
                           "blk[n].y",
                           "blk[blk.x + 1].y",
                           "'min'",
                           "min.x",
                           "'min'[1].x",
                           "'index'",
                           "'blk.z'",
                           "min('min', 'index')",
                           "ceil_div(n, 2)",
                           "sum(j in blk: blk[j].x * max_of(k in min: 'min'[k].x + j))",
                           "select(n > 3, 1, 2)",
                           "select(3 < n or n <= 4 and not n == 5, 1, 2)",
                           "select((true or false) and false, 1, 2)",
                           "select(true or (false or true), 1, 2)",
                           "select(not (true and false), 1, 2)",
                           "lookup([1, -2, 3], n)",
                           "abs(n)",
                           "assume(n >= 1, n, \"n \\\"is\\\" \\\\ positive\\n\")",
                           "occupancy(min) + free(blk) + taken(blk)"}) {
    const std::string written = text;
    // A constant on the left of '<' is turned round: "n > 3".
    const std::string printed = written.find("3 < n") == std::string::npos
                                    ? written
                                    : std::string("select(n > 3 or n <= 4 and not n == 5, 1, 2)");
    CHECK(again(written) == printed);
  }
  CHECK(again("((n)) + (2 * n)") == "n + 2 * n");
  CHECK(again("--n") == "-(-n)");
  CHECK(again("- 5") == "-5");
  CHECK(again("'blk'.x") == "blk.x");
  CHECK(again("sum(q in blk: blk[q].x)") == "sum(j in blk: blk[j].x)");
  CHECK(again("select(n >= n, 1, 2)") == "select(n <= n, 1, 2)");
}

TEST_CASE("text: the deepest expressions survive") {
  // 500 levels are the most that the pool holds.
  for (int shape = 0; shape < 5; ++shape) {
    CAPTURE(shape);
    Net net = parse_net(sample());
    ExprPool& pool = net.exprs;
    const ExprId one = pool.param(0);
    ExprId deep = one;
    while (pool.depth(deep) + 2 < ExprPool::kMaxDepth) {
      if (shape == 0) deep = pool.binary(Op::kSub, one, deep);
      if (shape == 1) deep = pool.unary(Op::kNeg, deep);
      if (shape == 2) deep = pool.binary(Op::kSub, one, pool.unary(Op::kNeg, deep));
      if (shape == 3) deep = pool.select(pool.unary(Op::kNot, pool.boolean(true)), deep, one);
      if (shape == 4) deep = pool.token(0, 0, pool.unary(Op::kNeg, deep));
    }
    net.transitions[0].outputs[0].emissions[0].fields[0].id = deep;
    net.types[0].fields[0].range.reset();
    REQUIRE(verify(net).empty());
    const Net copy = parse_net(print_net(net));
    CHECK(same_tree(net, deep, copy, copy.transitions[0].outputs[0].emissions[0].fields[0].id));
  }
}

TEST_CASE("text: a net beyond the limits of the parser is not written") {
  Net net = parse_net(sample());
  for (int k = 0; k < 10'000; ++k) {
    net.params.push_back({std::string(1, 'p').append(std::to_string(k)), 0, {}, {}});
  }
  std::string message;
  try {
    print_net(net);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message == "net 'jpeg' is too large for the text form: more than 10000 parameters");
}

TEST_CASE("text: an expression over parameters needs no transition") {
  const Net net = parse_net(sample());
  CHECK(print_expr(net, nullptr, net.places[1].capacity->id) == "slots + least");
  // Serves messages about illegal nets: an arc that is not there is shown by its number.
  CHECK(print_expr(net, nullptr, net.transitions[0].inputs[1].guard->id) ==
        "occupancy(?1) > 3 and free(?0) > 1");
}

TEST_CASE("text: spaces, comments and lines inside parentheses do not matter") {
  std::string text = sample();
  text.replace(text.find("delay 6 + 3"), 11, "delay 6 + (  # per block\r\n\n\t 3)");
  text += "# the end\n\n";
  CHECK(print_net(parse_net("\n# a net\n" + text)) == sample());
}

TEST_CASE("text: the example of docs/lpn-format.md is a net") {
  const auto page = std::filesystem::path(LPN_TEST_DIR) / ".." / ".." / "docs" / "lpn-format.md";
  std::ifstream in(page);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t start = text.find("```\nlpn 1") + 4;
  const Net net = parse_net(std::string_view(text).substr(start, text.find("```", start) - start));
  CHECK(net.transitions.size() == 1);
  CHECK(print_net(parse_net(print_net(net))) == print_net(net));
}

TEST_CASE("text: every illegal text has its message") {
  const std::filesystem::path folder = std::filesystem::path(LPN_TEST_DIR) / "illegal";
  const auto read = [](const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".lpn") continue;
    ++files;
    CAPTURE(entry.path().filename().string());
    std::filesystem::path expected = entry.path();
    CHECK(error_of(read(entry.path())) + "\n" == read(expected.replace_extension(".err")));
  }
  CHECK(files >= 40);
}

TEST_CASE("text: a cut file names its line") {
  const std::string text = sample();
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    const std::string_view cut = std::string_view(text).substr(0, size);
    const std::string error = error_of(cut);
    CAPTURE(size);
    CAPTURE(error);
    REQUIRE(error.substr(0, 7) == "E-text ");
    const auto lines = std::count(cut.begin(), cut.end(), '\n') + 1;
    const int line = std::stoi(error.substr(7));
    REQUIRE(line <= lines);
    REQUIRE(line >= lines - 1);  // the word that is missing, or the last one read before it
  }
}

TEST_CASE("text: flipped bytes give an error or another net") {
  std::mt19937 random(20261121);
  const std::string text = sample();
  int nets = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = text;
    for (std::uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      bytes[random() % bytes.size()] =
          static_cast<char>(random() % 2 ? random() : 32 + random() % 95);
    }
    std::string printed;
    try {
      printed = print_net(parse_net(bytes));
    } catch (const Error&) {
      continue;
    }
    ++nets;
    REQUIRE(print_net(parse_net(printed)) == printed);
  }
  CHECK(nets > 100);  // names, numbers and sources may change without harm
}

TEST_CASE("text: hostile sizes are refused") {
  const auto with_delay = [](const std::string& delay) {
    return error_of("lpn 1\nnet t\nparam n = 1\ntransition x {\ninterval 1\ndelay " + delay +
                    "\n}\nend\n");
  };
  const auto repeat = [](std::string_view part, int times) {
    std::string text;
    for (int k = 0; k < times; ++k) text += part;
    return text;
  };
  CHECK(with_delay(repeat("(", 500) + "n" + repeat(")", 500)) == "no error");
  CHECK(with_delay(repeat("(", 1'000'000)) ==
        "E-text 6:1207: expression nested too deeply (at most 1200 levels)");
  CHECK(with_delay(repeat("-", 1'000'000)) ==
        "E-text 6:1206: expression nested too deeply (at most 1200 levels)");
  CHECK(with_delay(repeat("not ", 1'000'000)) ==
        "E-text 6:4807: expression nested too deeply (at most 1200 levels)");
  CHECK(with_delay(repeat("blk[", 1'000'000)) ==
        "E-text 6:7: no input arc 'blk' in this transition");
  CHECK(
      with_delay("n" + repeat(" + n", 600)) ==
      "E-text 6:2005: expression too large: 1001 nodes (at most 65536), 501 levels (at most 500); "
      "use lookup or split the transition");
  CHECK(with_delay(repeat("9", 100'000)) ==
        "E-text 6:7: '9999999999999999999999999999999999999999...' does not fit in 64 bits");
  CHECK(error_of("lpn 1\nnet " + repeat("n", 100'000) + "\nend\n") ==
        "E-text 2:5: 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...' is too long for a name: 100000 "
        "characters (at most 200)");
  CHECK(error_of("lpn 1\nnet t\ntype u (" + repeat("a, ", 1) + repeat("a", 3) + ", a)\nend\n") ==
        "E-text 3:17: field 'a' is declared twice");
  CHECK(error_of(std::string(kMaxTextBytes + 1, '\n')) ==
        "E-text 1:1: the text has 67108865 bytes (at most 67108864)");
  CHECK(error_of(std::string(kMaxTextBytes, '\n')) ==
        "E-text 67108865:1: found the end of the text, expected 'lpn 1' as the first line");
}

// Random static nets: straight-line code (lpn2sim/src/write/straight_line.h) against the
// interpreter, one input at a time and several in lock step.
//
// static_test [NETS [SEED [GROUPS]]]: so many nets, each with several inputs; as a test 24. GROUPS:
// the limit of groups in an instant. LPN_TEST_FLAGS: the compiler's, else -O0.

#define DOCTEST_CONFIG_IMPLEMENT
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <numeric>

#include "case.h"
#include "engines.h"
#include "lpn/expr/build.h"
#include "lpn/net/verify.h"
#include "lpn/text/text.h"
#include "many.h"
#include "outcome.h"

namespace lpn::bench {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

int nets = 24;
uint64_t seed = 20261121;
uint64_t groups = kDefaultGroupLimit;

class Dice {
 public:
  explicit Dice(uint64_t start) : state_(start) {}
  int64_t below(int64_t n) {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<int64_t>((z ^ (z >> 31)) % static_cast<uint64_t>(n));
  }
  int64_t between(int64_t lo, int64_t hi) { return lo + below(hi - lo + 1); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  uint64_t state_;
};

// Nets that return to their marking after some firings: rates follow from how often each transition
// is to fire.
class Maker {
 public:
  Maker(Dice& dice, bool wild) : d(dice), wild_(wild), build_(net.exprs) {}

  Net run() {
    net.name = "static";
    net.types = {{"unit", {}, {}},
                 {"byte", {{"x", Range{0, 255}}}, {}},
                 {"pair", {{"x", Range{0, (int64_t{1} << 31) - 1}}, {"y", Range{0, 15}}}, {}},
                 {"any", {{"x", std::nullopt}}, {}}};
    net.params = {
        {"cap", 3, Range{1, 8}, {}}, {"lat", 2, std::nullopt, {}}, {"srv", 2, Range{1, 8}, {}}};
    const auto n = static_cast<size_t>(d.between(1, 6));
    for (size_t k = 0; k < n; ++k) {
      static constexpr int64_t kTimes[] = {1, 1, 1, 2, 3};
      times_.push_back(kTimes[d.below(5)]);
      Transition t;
      t.name = fmt::format("t{}", k);
      net.transitions.push_back(std::move(t));
    }
    for (size_t k = 0; k < n; ++k) {
      if (k == 0 || d.chance(25)) source(k);
      if (k > 0) edge(static_cast<size_t>(d.below(static_cast<int64_t>(k))), k);
    }
    for (int64_t extra = d.below(3); extra > 0 && n > 1; --extra) {
      const auto a = static_cast<size_t>(d.below(static_cast<int64_t>(n)));
      const auto b = static_cast<size_t>(d.below(static_cast<int64_t>(n)));
      if (a < b) edge(a, b);
      if (a > b) back(a, b);
    }
    for (size_t k = 0; k < n; ++k) {
      if (net.transitions[k].outputs.empty() || d.chance(20)) sink(k);
    }
    for (size_t k = 0; k < n; ++k) finish(k);
    return std::move(net);
  }

 private:
  ExprId number(int64_t x) { return net.exprs.constant(x); }
  Formula formula(ExprId id) { return {id, {}}; }

  PlaceId place(const char* kind, uint32_t type) {
    Place p;
    p.name = fmt::format("{}{}", kind, net.places.size());
    p.type = static_cast<TypeId>(type);
    net.places.push_back(std::move(p));
    return static_cast<PlaceId>(net.places.size() - 1);
  }

  void take(size_t k, PlaceId p, int64_t weight) {
    Transition& t = net.transitions[k];
    InputArc arc;
    arc.name = fmt::format("a{}", t.inputs.size());
    arc.place = p;
    arc.weight = formula(number(weight));
    // Where it counts most: at the tokens that run out.
    if (d.chance(net[p].start ? 25 : 8)) arc.threshold = formula(number(weight + d.below(3)));
    t.inputs.push_back(std::move(arc));
  }
  void put(size_t k, PlaceId p, int64_t count) {
    OutputArc arc;
    arc.place = p;
    const int64_t first = d.chance(20) ? d.below(count + 1) : count;
    arc.emissions.push_back({formula(number(first)), {}});
    if (first < count) arc.emissions.push_back({formula(number(count - first)), {}});
    net.transitions[k].outputs.push_back(std::move(arc));
  }

  void source(size_t k) {
    const PlaceId p = place("source", static_cast<uint32_t>(d.below(4)));
    net[p].start = true;
    take(k, p, d.chance(75) ? 1 : 2);
  }

  void edge(size_t from, size_t to) {
    const int64_t g = std::gcd(times_[from], times_[to]) * (d.chance(90) ? 1 : 1);
    const int64_t emitted = times_[to] / g, taken = times_[from] / g;
    const PlaceId p = place("p", static_cast<uint32_t>(d.below(4)));
    int64_t initial = 0;
    if (d.chance(15)) initial = d.between(1, 3);
    if (initial > 0) tokens(p, initial);
    const int64_t least = emitted * times_[from] + initial;
    if (d.chance(25)) net[p].capacity = formula(number(least * d.between(1, 3)));
    if (!net[p].capacity && d.chance(25)) {
      net[p].capacity = formula(build_.add(number(least), net.exprs.param(0)));
    }
    if (d.chance(30)) net[p].drain = true;
    if (d.chance(10)) net[p].done = true;
    put(from, p, emitted);
    take(to, p, taken);
  }
  void back(size_t from, size_t to) {
    const int64_t g = std::gcd(times_[from], times_[to]);
    const PlaceId p = place("back", d.chance(60) ? 0 : static_cast<uint32_t>(d.below(4)));
    const int64_t taken = times_[from] / g;
    tokens(p, taken * times_[to] * d.between(1, 3) + d.below(2));
    put(from, p, times_[to] / g);
    take(to, p, taken);
  }
  void tokens(PlaceId p, int64_t count) {
    Initial initial;
    initial.count = formula(number(count));
    for (size_t f = 0; f < net.type_of(p).fields.size(); ++f) {
      initial.fields.push_back(formula(build_.add(net.exprs.index(), number(d.below(7)))));
    }
    net[p].initial.push_back(std::move(initial));
  }
  void sink(size_t k) {
    const PlaceId p = place("sink", static_cast<uint32_t>(d.below(4)));
    net[p].done = d.chance(70);
    net[p].sink = true;
    put(k, p, d.chance(80) ? 1 : 2);
  }

  // A property of a needed token, and its type; none when the transition takes units only.
  std::optional<ExprId> token(const Transition& t) {
    std::vector<uint32_t> arcs;
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      if (!net.type_of(t.inputs[a].place).fields.empty()) arcs.push_back(a);
    }
    if (arcs.empty()) return std::nullopt;
    const uint32_t a = arcs[static_cast<size_t>(d.below(static_cast<int64_t>(arcs.size())))];
    int64_t weight = 1;
    net.exprs.is_const(t.inputs[a].weight.id, weight);
    const auto fields = static_cast<int64_t>(net.type_of(t.inputs[a].place).fields.size());
    const auto f = static_cast<uint32_t>(d.below(fields));
    if (d.chance(20)) {
      static constexpr Op kOps[] = {Op::kSum, Op::kMinOf, Op::kMaxOf};
      return net.exprs.aggregate(kOps[d.below(3)], a, 0, net.exprs.token(a, f, net.exprs.bound(0)));
    }
    return net.exprs.token(a, f, number(d.below(weight)));
  }

  // Something small and not negative, from tokens where there are any.
  ExprId small(const Transition& t, bool tokens) {
    const auto x = tokens ? token(t) : std::nullopt;
    if (!x || d.chance(25)) {
      return d.chance(20) ? number(0) : d.chance(25) ? net.exprs.param(1) : number(d.below(10));
    }
    static constexpr int64_t kModuli[] = {2, 4, 16, 3, 10, 64};
    const ExprId y = build_.mod(*x, number(kModuli[d.below(6)]));
    switch (d.below(9)) {
      case 0: return y;
      case 1: return build_.add(number(d.between(1, 4)), y);
      case 2: return build_.add(number(1), build_.mod(build_.floor_div(*x, number(8)), number(7)));
      case 3: return build_.max(build_.sub(y, number(5)), number(d.below(3)));
      case 4: return build_.select(build_.lt(y, number(3)), number(d.below(9)), build_.add(y, y));
      case 5: return build_.lookup({3, 1, 4, 1, 5, 9, 2, 6}, build_.mod(*x, number(8)));
      case 6: return build_.ceil_div(build_.mul(y, number(3)), number(4));
      case 7:
        return build_.select(build_.logical_and(build_.le(y, number(9)), build_.ne(y, number(1))),
                             build_.min(y, number(6)), build_.add(net.exprs.param(1), number(1)));
      default: return build_.abs(build_.sub(y, number(4)));
    }
  }

  ExprId value(const Transition& t, uint32_t type, uint32_t field) {
    // Mostly what arrives, as it is.
    for (uint32_t a = 0; a < t.inputs.size() && d.chance(80); ++a) {
      if (static_cast<uint32_t>(net[t.inputs[a].place].type) == type) {
        return net.exprs.token(a, field, number(0));
      }
    }
    const auto x = token(t);
    if (!x) return number(d.below(10));
    if (type == 3) return d.chance(50) ? *x : build_.add(*x, number(d.below(5)));
    if (wild_ && d.chance(20)) return *x;  // perhaps outside the range: then an error
    const int64_t limit = field == 1 ? 16 : 200;
    return build_.mod(d.chance(50) ? *x : build_.add(*x, net.exprs.index()), number(limit));
  }

  void finish(size_t k) {
    Transition& t = net.transitions[k];
    for (OutputArc& arc : t.outputs) {
      const auto type = static_cast<uint32_t>(net[arc.place].type);
      for (Emission& e : arc.emissions) {
        for (uint32_t f = 0; f < net.types[type].fields.size(); ++f) {
          e.fields.push_back(formula(value(t, type, f)));
        }
      }
    }
    const int64_t kind = d.below(10);
    if (kind < 5) t.servers = formula(number(1));
    if (kind == 5) t.servers = formula(number(d.between(2, 3)));
    if (kind == 6) t.servers = formula(net.exprs.param(2));
    const bool free = kind < 5 || d.chance(40);
    t.ordered = (kind >= 5 && free) || d.chance(5);
    t.delay = formula(small(t, free));
    if (wild_ && !net.exprs.is_const(t.delay.id) && d.chance(20))
      t.delay = formula(build_.sub(t.delay.id, number(1)));
    if (d.chance(15)) t.interval = formula(small(t, true));
  }

  Dice& d;
  bool wild_;
  Net net;
  ExprBuilder build_;
  std::vector<int64_t> times_;
};

int64_t some_value(Dice& d, const std::optional<Range>& range) {
  if (!range) return d.chance(3) ? int64_t{1} << d.between(30, 62) : d.between(-3, 1000);
  return d.chance(20) ? range->hi : range->lo + d.below(range->hi - range->lo + 1);
}

Case some_inputs(const Net& net, Dice& d, int64_t lat, int64_t cap, int64_t srv, bool plain) {
  Case c = make_case(net);
  c.group_limit = groups;
  c.params = {cap, lat, srv};
  for (size_t p = 0; p < net.places.size(); ++p) {
    int64_t count = 0;
    if (net.places[p].start) {
      // Lock step is as long as the shortest input.
      count = plain          ? d.between(d.chance(1) ? 0 : 90, 160)
              : d.chance(10) ? d.below(4)
                             : d.between(5, 60);
    }
    if (!plain && !net.places[p].start && !net.places[p].capacity && d.chance(4)) count = 1;
    if (count == 0) continue;
    Load load{static_cast<PlaceId>(p), static_cast<uint64_t>(count), {}};
    for (int64_t i = 0; i < count; ++i) {
      for (const Field& f : net.type_of(load.place).fields) {
        load.values.push_back(plain && !f.range ? d.between(0, 1000) : some_value(d, f.range));
      }
    }
    c.loads.push_back(std::move(load));
  }
  return c;
}

struct Made {
  std::vector<Net> nets;
  std::vector<sim::Library> libraries;
  void* handle = nullptr;
  uint64_t *iterations = nullptr, *lane_iterations = nullptr, *lane_rebases = nullptr;
};

const Made& made() {
  static const Made all = [] {
    Made m;
    Dice d(seed);
    while (m.nets.size() < static_cast<size_t>(nets)) {
      Net net = Maker(d, m.nets.size() % 8 == 7).run();
      const auto wrong = verify(net);
      INFO(print_net(net));
      REQUIRE(wrong.empty());
      m.nets.push_back(std::move(net));
    }
    sim::CompileOptions options;
    const char* flags = std::getenv("LPN_TEST_FLAGS");
    options.flags = flags != nullptr ? flags : "-O0";
    if (groups != kDefaultGroupLimit)
      options.flags += fmt::format(" -DLPNRT_GROUP_LIMIT={}", groups);
    options.flags += " -DLPNRT_TEST_STATIC";
    m.libraries = build_many(m.nets, {}, options);
    m.handle = ::dlopen(m.libraries[0].provenance().artefact.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(m.handle != nullptr);
    const auto counter = [&m](const char* name) {
      void* at = ::dlsym(m.handle, name);
      REQUIRE(at != nullptr);
      return static_cast<uint64_t*>(at);
    };
    m.iterations = counter("_ZN5lpnrt17static_iterationsE");
    m.lane_iterations = counter("_ZN5lpnrt15lane_iterationsE");
    m.lane_rebases = counter("_ZN5lpnrt12lane_rebasesE");
    return m;
  }();
  return all;
}

TEST_CASE("straight-line code does what the interpreter does") {
  const Made& m = made();
  Dice d(seed + 1);
  int with_iterations = 0;
  uint64_t firings = 0;
  for (size_t i = 0; i < m.nets.size(); ++i) {
    bool some = false;
    for (int n = 0; n < 6; ++n) {
      const Case c =
          some_inputs(m.nets[i], d, d.between(0, 9), d.between(1, 8), d.between(1, 8), false);
      const uint64_t before = *m.iterations;
      const Outcome defined = play(c, {});
      const Outcome compiled = play(c, m.libraries[i], {});
      const std::string what = difference(c, defined, compiled);
      if (!what.empty()) {
        FAIL_CHECK(fmt::format("net {}, input {}: {}\n{}{}", i, n, what, print_net(m.nets[i]),
                               print_inputs(c)));
      }
      some |= *m.iterations != before;
      if (defined.steps.size() == 1 && defined.steps[0].result) {
        firings += defined.steps[0].result->commits;
      }
    }
    with_iterations += some;
  }
  MESSAGE(fmt::format("{} nets, {} of them with straight-line iterations, {} firings",
                      m.nets.size(), with_iterations, firings));
  CHECK(with_iterations * 2 > static_cast<int>(m.nets.size()));
}

TEST_CASE("inputs in lock step do what each does alone") {
  using Together = uint32_t (*)(lpn_sim* const*, uint32_t);
  const Made& m = made();
  Dice d(seed + 2);
  int together = 0, asked = 0;
  for (size_t i = 0; i < m.nets.size(); ++i) {
    const std::string space = fmt::format("lpn_net_{}", i);
    const auto run = reinterpret_cast<Together>(::dlsym(
        m.handle, fmt::format("_ZN{}{}10test_lanesEPKP7lpn_simj", space.size(), space).c_str()));
    if (run == nullptr) continue;  // no part of it can go in lock step
    const uint32_t most = run(nullptr, 0);
    if (most == 0) {
      MESSAGE("this machine's vectors are not used");
      return;
    }
    for (int n = 0; n < 3; ++n) {
      ++asked;
      const auto count = static_cast<uint32_t>(n == 0 ? most : d.between(1, most));
      const int64_t cap = d.between(1, 8), srv = d.between(1, 8);
      std::vector<Case> cases;
      std::vector<lpn_sim*> sims;
      const lpn_sim_api& api = m.libraries[i].api();
      for (uint32_t lane = 0; lane < count; ++lane) {
        cases.push_back(some_inputs(m.nets[i], d, d.between(0, 9), cap, srv, d.chance(98)));
        int32_t status = 0;
        lpn_sim* sim = api.create(cases.back().params.data(), &status);
        REQUIRE(sim != nullptr);
        for (const Load& l : cases.back().loads) {
          REQUIRE(api.load(sim, static_cast<uint32_t>(l.place), l.count, l.values.data()) ==
                  LPN_OK);
        }
        sims.push_back(sim);
      }
      const uint64_t before = *m.lane_iterations;
      const uint32_t how = run(sims.data(), count);
      together += *m.lane_iterations != before;
      for (uint32_t lane = 0; lane < count; ++lane) {
        const Outcome defined = play(cases[lane], {});
        REQUIRE(defined.steps.size() == 1);
        lpn_result result;
        const int32_t status = api.run(sims[lane], kForever, &result);
        INFO(fmt::format("net {}, {} inputs, lane {}, together {}\n{}{}", i, count, lane, how >> 31,
                         print_net(m.nets[i]), print_inputs(cases[lane])));
        const auto& expected = defined.steps[0].result;
        REQUIRE((status == LPN_OK) == expected.has_value());
        if (expected) {
          CHECK(result.commits == expected->commits);
          CHECK(result.last_commit == expected->last_commit);
          CHECK(result.done_tokens == expected->done_tokens);
          CHECK((result.stalled != 0) == expected->stalled);
          CHECK((result.has_latency != 0) == expected->latency.has_value());
          if (expected->latency) CHECK(result.latency == *expected->latency);
          for (uint32_t p = 0; p < m.nets[i].places.size(); ++p) {
            CHECK(api.tokens(sims[lane], p, nullptr) == defined.steps[0].counts[p]);
          }
        }
        api.destroy(sims[lane]);
      }
    }
  }
  MESSAGE(fmt::format("{} of {} batches in lock step, {} iterations, {} times lanes were rebased",
                      together, asked, *m.lane_iterations, *m.lane_rebases));
  CHECK(*m.lane_rebases > 0);
  CHECK(together * 3 > asked);
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') lpn::bench::nets = std::atoi(argv[1]);
  if (argc > 2 && argv[2][0] != '-') lpn::bench::seed = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3 && argv[3][0] != '-') lpn::bench::groups = std::strtoull(argv[3], nullptr, 10);
  return doctest::Context(argc, argv).run();
}

#include "static_net.h"

#include <fmt/format.h>

#include <numeric>

#include "lpn/expr/build.h"

namespace lpn::bench {
namespace {

using std::int64_t;
using std::size_t;
using std::uint32_t;

// Nets that return to their marking after some firings: rates follow from how often each transition
// is to fire.
class Maker {
 public:
  Maker(Random& dice, bool wild) : d(dice), wild_(wild), build_(net.exprs) {}

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

  Random& d;
  bool wild_;
  Net net;
  ExprBuilder build_;
  std::vector<int64_t> times_;
};

}  // namespace

Net static_net(Random& random, bool wild) { return Maker(random, wild).run(); }

}  // namespace lpn::bench

// Nets without bias are quiet at once or fail at once. So: every transition has about as many
// tokens coming out as going in, places start with tokens, guards tend to come in complementary
// pairs (a router), and expressions are wrapped into the range that their use demands, except for
// a few "wild" ones, which are there to fail.

#include "random_net.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "equal_net.h"
#include "lpn/base/error.h"
#include "random_route.h"
#include "static_net.h"
#include "system_net.h"

namespace lpn::bench {

std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

namespace {

constexpr const char* kProfileNames[] = {"usual",  "ties",   "far",  "errors", "clocks",
                                         "wide",   "counts", "bits", "static", "equal",
                                         "routes", "system", "folds"};
static_assert(std::size(kProfileNames) == kProfiles);

}  // namespace

const char* profile_name(Profile profile) { return kProfileNames[static_cast<int>(profile)]; }

Profile profile_named(const std::string& name) {
  for (int k = 0; k < kProfiles; ++k) {
    if (name == kProfileNames[k]) return static_cast<Profile>(k);
  }
  throw Error("E-case", fmt::format("there is no profile '{}', only {}", name,
                                    fmt::join(kProfileNames, ", ")));
}

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// Times from which little is missing to the last instant, or two of which go beyond it.
std::int64_t far_time(Random& r) {
  static constexpr std::int64_t kQuarter = std::int64_t{1} << 61;
  static constexpr std::int64_t kFar[] = {kMax,         kMax - 1,   kMax / 2,     kMax / 2 + 1,
                                          kMax / 3,     kQuarter,   2 * kQuarter, kMax - kQuarter,
                                          kMax / 2 - 1, kMax - 1024};
  const std::int64_t near = kFar[r.below(std::size(kFar))];
  return r.chance(50) ? near : std::max(near - r.between(0, 12), near / 2);
}

// What an expression may read, as verify() sees it.
struct Scope {
  const Transition* transition = nullptr;
  std::uint32_t token_arcs = 0;
  bool head = false;  // also the head of arc `token_arcs`
  bool index = false;
  std::vector<std::uint32_t> bound;  // the arcs of the aggregates around
};

class Maker {
 public:
  Maker(Random& random, Profile profile) : r(random), of(profile), pool(net.exprs) {}

  Net run() {
    net.name = "fuzz";
    wild_percent = r.chance(45) ? 0 : r.chance(60) ? 2 : 9;
    slow = r.chance(15);
    large = r.below(400) == 0;
    if (of == Profile::kErrors) wild_percent = r.between(15, 50);
    if (of != Profile::kUsual) large = false;
    params();
    types();
    places();
    open_route();
    // Sets of transitions have words of 64.
    const auto count = large                    ? r.between(63, 90)
                       : of == Profile::kUsual  ? r.between(1, 7)
                       : of == Profile::kWide   ? r.between(1, 2)
                       : of == Profile::kRoutes ? r.between(3, 7)
                       : r.chance(80)           ? r.between(1, 3)
                                                : r.between(4, 5);
    for (std::int64_t k = 0; k < count; ++k) transition(static_cast<std::size_t>(k));
    done();
    return std::move(net);
  }

 private:
  Random& r;
  Profile of;
  Net net;
  ExprPool& pool;
  int wild_percent = 0;
  bool large = false;
  std::vector<RandomRoute> routes;       // the last is given takers
  bool slow = false;                     // delays of a thousand ticks between short ones
  std::vector<std::int64_t> least_need;  // of the arcs of the transition being made; -1 inhibitor
  std::vector<std::int64_t> exact_need;  // or -1
  std::vector<ExprId> folds;             // of the transition being made

  bool wild() { return r.chance(wild_percent); }
  // Draws a number for this profile only, so that the usual nets stay those of their seeds.
  bool mostly(Profile profile, int percent) { return of == profile && r.chance(percent); }

  // ---- expressions ------------------------------------------------------------------------

  ExprId number(std::int64_t value) { return pool.constant(value); }
  ExprId op(Op o, ExprId x, ExprId y) { return pool.binary(o, x, y); }

  std::int64_t odd_value() {
    static constexpr std::int64_t kOdd[] = {kMax,
                                            kMin,
                                            kMax - 1,
                                            kMin + 1,
                                            kMax / 2,
                                            kMin / 2,
                                            std::int64_t{1} << 32,
                                            -(std::int64_t{1} << 31),
                                            3037000500,
                                            -1,
                                            0};
    return kOdd[r.below(std::size(kOdd))];
  }

  const TokenType& type_of(std::uint32_t arc, const Scope& s) {
    return net.type_of(s.transition->inputs[arc].place);
  }

  // Arcs whose tokens may be read, with fields.
  std::vector<std::uint32_t> readable(const Scope& s) {
    std::vector<std::uint32_t> arcs;
    if (s.transition == nullptr) return arcs;
    const auto end = s.token_arcs + (s.head ? 1 : 0);
    for (std::uint32_t a = 0; a < end; ++a) {
      if (s.transition->inputs[a].inhibit || type_of(a, s).fields.empty()) continue;
      const bool own = s.head && a == s.token_arcs;
      // Reading a token that may be missing is an error of the run: rarely.
      if (own || least_need[a] > 0 || (exact_need[a] < 0 && r.chance(5))) arcs.push_back(a);
    }
    return arcs;
  }

  ExprId token(std::uint32_t arc, const Scope& s) {
    const auto field = static_cast<std::uint32_t>(
        r.below(static_cast<std::int64_t>(type_of(arc, s).fields.size())));
    ExprId which = number(0);
    const bool own = s.head && arc == s.token_arcs;
    if (!own) {
      for (std::size_t d = 0; d < s.bound.size(); ++d) {
        if (s.bound[d] == arc && r.chance(80)) which = pool.bound(static_cast<std::uint32_t>(d));
      }
      if (pool.is_const(which) && least_need[arc] > 1 && r.chance(30)) {
        which = number(r.below(least_need[arc]));
      } else if (exact_need[arc] < 0 && r.chance(2)) {
        which = number(r.between(1, 2));
      } else if (least_need[arc] > 0 && r.chance(5)) {
        which = op(Op::kMod, any(s, 1), number(least_need[arc]));
      } else if (wild()) {
        which = any(s, 1);
        // A constant is checked by verify().
        if (pool.is_const(which)) which = number(0);
      }
    }
    return pool.token(arc, field, which);
  }

  ExprId leaf(const Scope& s) {
    for (;;) {
      switch (r.below(9)) {
        case 0:
        case 1: return number(wild() ? odd_value() : r.between(r.chance(15) ? -4 : 0, 6));
        case 2:
          if (!net.params.empty())
            return pool.param(
                static_cast<std::uint32_t>(r.below(static_cast<std::int64_t>(net.params.size()))));
          break;
        case 3:
        case 4:
        case 5:
          if (const auto arcs = readable(s); !arcs.empty()) return token(r.pick(arcs), s);
          break;
        case 6:
          if (s.index) return pool.index();
          break;
        case 7:
          if (!s.bound.empty()) {
            return pool.bound(
                static_cast<std::uint32_t>(r.below(static_cast<std::int64_t>(s.bound.size()))));
          }
          break;
        case 8:
          if (s.transition != nullptr && !s.transition->inputs.empty()) {
            const auto arc = static_cast<std::uint32_t>(
                r.below(static_cast<std::int64_t>(s.transition->inputs.size())));
            if (r.chance(35)) return pool.occupancy(arc);
            if (r.chance(50)) return pool.free(arc);
            if (arc < s.token_arcs) return pool.taken(arc);
          }
          break;
      }
    }
  }

  ExprId any(const Scope& s, int depth) {
    if (depth <= 0 || r.chance(25)) return leaf(s);
    if (mostly(Profile::kBits, 60)) return bits(s, depth);
    if (mostly(Profile::kFolds, 40)) return fold(s, depth);
    const auto sub = [&] { return any(s, depth - 1); };
    const auto in_order = [&](Op o) {
      const ExprId x = sub();
      return op(o, x, sub());
    };
    switch (r.below(20)) {
      case 0:
      case 1:
      case 2: return in_order(Op::kAdd);
      case 3:
      case 4: return in_order(Op::kSub);
      case 5: {
        const ExprId x = sub();
        return op(Op::kMul, x, wild() ? sub() : number(r.between(-2, 5)));
      }
      case 6:
      case 7:
      case 8: {
        static constexpr Op kOps[] = {Op::kFloorDiv, Op::kCeilDiv, Op::kMod};
        const Op o = kOps[r.below(3)];
        const ExprId x = sub();
        if (wild()) return op(o, x, positive_if_const(sub()));
        if (r.chance(70)) return op(o, x, number(r.between(1, 7)));
        return op(o, x, op(Op::kMax, sub(), number(1)));
      }
      case 9: return in_order(Op::kMin);
      case 10: return in_order(Op::kMax);
      case 11: return pool.unary(r.chance(50) ? Op::kNeg : Op::kAbs, sub());
      case 12:
      case 13: {
        const ExprId c = condition(s, depth - 1);
        const ExprId x = sub();
        return pool.select(c, x, sub());
      }
      case 14: {
        std::vector<std::int64_t> table;
        const auto n = r.between(1, 5);
        for (std::int64_t k = 0; k < n; ++k) {
          table.push_back(wild() ? odd_value() : r.between(-2, 9));
        }
        const ExprId x = sub();
        return pool.lookup(table, wild() ? x : op(Op::kMod, x, number(n)));
      }
      case 15:
        if (r.chance(30)) {
          const ExprId c = wild() ? condition(s, depth - 1) : likely(s, depth - 1);
          return pool.assume(c, sub(), "holds");
        }
        return sub();
      case 16:
      case 17: return bits(s, depth);
      default: return aggregate(s, depth);
    }
  }

  ExprId bits(const Scope& s, int depth) {
    const ExprId x = any(s, depth - 1);
    if (r.chance(15)) return pool.unary(Op::kBitNot, x);
    if (r.chance(50)) {
      static constexpr Op kOps[] = {Op::kBitAnd, Op::kBitXor, Op::kBitOr};
      const Op o = kOps[r.below(3)];
      return op(o, x, r.chance(50) ? any(s, depth - 1) : number(r.between(-9, 40)));
    }
    const Op o = r.chance(50) ? Op::kShiftLeft : Op::kShiftRight;
    if (r.chance(50)) return op(o, x, number(r.between(0, wild() ? 63 : 5)));
    if (mostly(Profile::kBits, 30)) return op(o, x, number(r.between(55, 63)));
    const ExprId by = any(s, depth - 1);
    // verify() rejects a constant shift out of range.
    if (wild() && !pool.is_const(by)) return op(o, x, by);
    return op(o, x, op(Op::kMod, by, number(7)));
  }

  // verify() rejects a constant divisor that is not positive.
  ExprId positive_if_const(ExprId x) {
    std::int64_t value = 0;
    return pool.is_const(x, value) && value <= 0 ? number(1) : x;
  }

  // A condition that nearly always holds.
  ExprId likely(const Scope& s, int depth) {
    return op(Op::kLe, op(Op::kMod, any(s, depth), number(9)), number(8));
  }

  ExprId aggregate(const Scope& s, int depth) {
    std::vector<std::uint32_t> arcs;
    for (std::uint32_t a = 0; s.transition != nullptr && a < s.token_arcs; ++a) {
      if (!s.transition->inputs[a].inhibit) arcs.push_back(a);
    }
    if (arcs.empty() || s.bound.size() >= 3) return leaf(s);
    const std::uint32_t arc = r.pick(arcs);
    Op o = Op::kSum;
    if (r.chance(50) && (least_need[arc] > 0 || wild())) o = r.chance(50) ? Op::kMinOf : Op::kMaxOf;
    Scope inner = s;
    inner.bound.push_back(arc);
    return pool.aggregate(o, arc, static_cast<std::uint32_t>(s.bound.size()),
                          any(inner, depth - 1));
  }

  // A fold, mostly one of those that other formulas of the transition have.
  ExprId fold(const Scope& s, int depth) {
    if (!s.bound.empty()) return aggregate(s, depth);  // these are written with other variables
    if (!folds.empty() && r.chance(70)) return r.pick(folds);
    const ExprId id = aggregate(s, depth);
    if (!s.index) folds.push_back(id);
    return id;
  }

  ExprId condition(const Scope& s, int depth) {
    const auto compare = [&] {
      static constexpr Op kOps[] = {Op::kEq, Op::kNe, Op::kLt, Op::kLe};
      const Op o = kOps[r.below(4)];
      const ExprId x = any(s, depth - 1);
      return op(o, x, any(s, depth - 1));
    };
    if (depth <= 0 || r.chance(55)) return compare();
    switch (r.below(8)) {
      case 0: return pool.unary(Op::kNot, condition(s, depth - 1));
      case 1:
      case 2: {
        const ExprId x = condition(s, depth - 1);
        return op(Op::kAnd, x, condition(s, depth - 1));
      }
      case 3:
      case 4: {
        const ExprId x = condition(s, depth - 1);
        return op(Op::kOr, x, condition(s, depth - 1));
      }
      case 5: {
        const ExprId c = condition(s, depth - 1), x = condition(s, depth - 1);
        return pool.select(c, x, condition(s, depth - 1));
      }
      case 6:
        if (r.chance(40)) {
          const ExprId c = likely(s, depth - 1);
          return pool.assume(c, condition(s, depth - 1), "also \"holds\"");
        }
        return pool.boolean(r.chance(70));
      default: return compare();
    }
  }

  // An expression whose value is in lo..hi, unless something in it fails.
  ExprId within(const Scope& s, std::int64_t lo, std::int64_t hi) {
    const ExprId x = any(s, r.chance(70) ? 2 : 3);
    if (r.chance(60)) {
      const ExprId m = op(Op::kMod, x, number(hi - lo + 1));
      return lo == 0 && r.chance(80) ? m : op(Op::kAdd, m, number(lo));
    }
    if (r.chance(50)) return op(Op::kMax, op(Op::kMin, x, number(hi)), number(lo));
    return op(Op::kMin, number(hi), op(Op::kMax, number(lo), x));
  }

  // Guards: true on some but not all tokens.
  ExprId guard(const Scope& s) {
    if (r.chance(50)) {
      return op(r.chance(50) ? Op::kNe : Op::kEq, op(Op::kMod, any(s, 1), number(r.between(2, 3))),
                number(r.below(2)));
    }
    return condition(s, 2);
  }

  // ---- parts ------------------------------------------------------------------------------

  void params() {
    const auto count = r.below(4);
    for (std::int64_t k = 0; k < count; ++k) {
      Param p;
      p.name = fmt::format("n{}", k);
      p.value = r.between(1, 4);
      if (r.chance(40)) p.range = Range{r.between(-1, 1), r.between(4, 9)};
      net.params.push_back(p);
    }
  }

  void types() {
    net.types.push_back({.name = "unit", .fields = {}, .source = {}});
    const auto count = r.between(1, 3);
    for (std::int64_t k = 0; k < count; ++k) {
      TokenType t;
      t.name = fmt::format("type{}", k);
      const auto fields =
          mostly(Profile::kWide, 70) ? r.between(r.chance(50) ? 60 : 4, 64) : r.between(1, 3);
      for (std::int64_t f = 0; f < fields; ++f) {
        Field field;
        field.name = fmt::format("f{}", f);
        static constexpr Range kFew[] = {{0, 1}, {1, 3}, {-1, 2}, {0, 3}, {4, 8}};
        if (mostly(Profile::kRoutes, 70)) {
          field.range = kFew[r.below(std::size(kFew))];
        } else if (r.chance(45)) {
          static constexpr Range kRanges[] = {{0, 7},   {0, 1},     {-4, 11},  {1, 3},
                                              {0, 255}, {kMin, -1}, {0, kMax}, {5, 5}};
          field.range = kRanges[r.below(r.chance(85) ? 5 : 8)];
        }
        t.fields.push_back(field);
      }
      net.types.push_back(t);
    }
  }

  // A value of a field that no other token decides.
  std::int64_t value_of(const Field& field) {
    if (!field.range) return wild() ? odd_value() : r.between(-1, 9);
    const std::int64_t hi = field.range->hi - field.range->lo > 40 || field.range->lo < -1000
                                ? field.range->lo / 2 + field.range->hi / 2
                                : field.range->hi;
    if (field.range->lo < -1000) return hi;
    return r.between(field.range->lo, std::min(hi, field.range->lo + 40));
  }

  void places() {
    const auto count = large                   ? r.between(30, 70)
                       : of == Profile::kUsual ? r.between(2, 8)
                       : of == Profile::kTies  ? r.between(1, 3)
                                               : r.between(2, 4);
    for (std::int64_t k = 0; k < count; ++k) {
      Place p;
      p.name = r.chance(10) ? fmt::format("part.p{}", k) : fmt::format("p{}", k);
      const bool typed =
          of == Profile::kWide || (of == Profile::kRoutes && (k == 0 || r.chance(70)));
      p.type = static_cast<TypeId>(
          !typed && r.chance(45) ? 0 : r.below(static_cast<std::int64_t>(net.types.size())));
      if (of == Profile::kRoutes && k == 0 && p.type == TypeId{0}) p.type = TypeId{1};
      std::int64_t present = 0;
      if (r.chance(55)) present = initial(p);
      if (r.chance(25)) {
        ExprId slots = number(present + r.between(0, 4));
        if (!net.params.empty() && r.chance(40)) slots = op(Op::kAdd, slots, some_param());
        p.capacity = Formula{slots, {}};
      }
      p.start = r.chance(15);
      p.drain = r.chance(10);
      p.sink = r.chance(10);
      net.places.push_back(p);
    }
  }

  ExprId some_param() {
    return pool.param(
        static_cast<std::uint32_t>(r.below(static_cast<std::int64_t>(net.params.size()))));
  }

  // Returns how many tokens there are about.
  std::int64_t initial(Place& p) {
    std::int64_t present = 0;
    const auto groups = r.chance(80) ? 1 : 2;
    for (int g = 0; g < groups; ++g) {
      Initial i;
      const std::int64_t n = mostly(Profile::kCounts, 60) ? r.between(50, 700) : r.between(1, 5);
      present += n;
      i.count = Formula{number(n), {}};
      if (!net.params.empty() && r.chance(25)) i.count = Formula{some_param(), {}};
      Scope s;
      s.index = true;
      for (const Field& field : net[p.type].fields) {
        ExprId value = number(value_of(field));
        if (r.chance(40) && (!field.range || (field.range->hi < 1000 && field.range->lo > -1000))) {
          value = within(s, field.range ? field.range->lo : -2, field.range ? field.range->hi : 9);
          if (!field.range && r.chance(30)) value = pool.index();
        }
        i.fields.push_back(Formula{value, {}});
      }
      p.initial.push_back(i);
    }
    return present;
  }

  bool consumed(std::size_t p) const { return connected(p, true); }
  bool connected(std::size_t p, bool input) const {
    for (const Transition& t : net.transitions) {
      if (input) {
        for (const InputArc& a : t.inputs) {
          if (static_cast<std::size_t>(a.place) == p && !a.inhibit) return true;
        }
      } else {
        for (const OutputArc& a : t.outputs) {
          if (static_cast<std::size_t>(a.place) == p) return true;
        }
      }
    }
    return false;
  }

  // A place, rather one that nothing takes from (puts into) so far.
  PlaceId some_place(bool input) {
    if (mostly(Profile::kTies, 60)) return PlaceId{0};
    for (int tries = 0; tries < 3; ++tries) {
      const auto p =
          static_cast<std::size_t>(r.below(static_cast<std::int64_t>(net.places.size())));
      if (!connected(p, input) || r.chance(30)) return static_cast<PlaceId>(p);
    }
    return static_cast<PlaceId>(r.below(static_cast<std::int64_t>(net.places.size())));
  }

  PlaceId other_place(PlaceId than) {
    PlaceId place = than;
    while (place == than) place = some_place(true);
    return place;
  }

  // Tokens of a place may be told apart by a value, for takers that come with other transitions
  // between them.
  void open_route() {
    const int percent = of == Profile::kRoutes ? 95 : of == Profile::kUsual ? 40 : 15;
    if (!r.chance(percent)) return;
    std::vector<PlaceId> typed;
    for (std::size_t p = 0; p < net.places.size(); ++p) {
      const auto place = static_cast<PlaceId>(p);
      if (!is_routed(place) && !net.type_of(place).fields.empty()) typed.push_back(place);
    }
    if (typed.empty()) return;
    const std::uint32_t arc = net.places.size() > 1 && r.chance(15) ? 1 : 0;
    const RandomRoute route = random_route(net, r.pick(typed), arc, r);
    for (Initial& i : net[route.place].initial) {
      if (r.chance(70)) i.fields[route.field] = Formula{routed_value(route, pool.index()), {}};
    }
    routes.push_back(route);
  }

  bool is_routed(PlaceId place) const {
    return std::any_of(routes.begin(), routes.end(),
                       [&](const RandomRoute& route) { return route.place == place; });
  }

  // A value of the property by which tokens are told apart that has a taker.
  ExprId routed_value(const RandomRoute& route, ExprId by) {
    const auto n = static_cast<std::int64_t>(route.properties.size());
    return pool.lookup(route.properties, op(Op::kMod, by, number(n)));
  }

  void transition(std::size_t number_) {
    Transition t;
    t.name = fmt::format("t{}", number_);
    least_need.clear();
    exact_need.clear();
    folds.clear();
    const bool timer = r.chance(7);
    if (!routes.empty() && !routes.back().open() && r.chance(25)) open_route();
    const bool taker = !timer && !routes.empty() && routes.back().open() &&
                       r.chance(of == Profile::kRoutes ? 90 : 70);
    const bool copy = number_ > 0 && !timer && !taker && r.chance(28) &&
                      !net.transitions.back().inputs.empty() &&
                      !net.transitions.back().inputs[0].inhibit;
    std::int64_t inputs =
        timer ? r.below(2) : 1 + (r.chance(taker ? 15 : 40) ? 1 : 0) + (r.chance(12) ? 1 : 0);
    if (taker) inputs = std::max<std::int64_t>(inputs, routes.back().arc + 1);
    std::set<PlaceId> used;
    if (taker) used.insert(routes.back().place);
    for (std::int64_t a = 0; a < inputs; ++a) {
      InputArc arc;
      arc.name = fmt::format("a{}", a);
      arc.place = copy && a == 0 ? net.transitions.back().inputs[0].place : some_place(true);
      // Whoever takes any token of a place whose takers wait hides that nobody woke them.
      for (int tries = 0; of == Profile::kRoutes && tries < 3 && is_routed(arc.place); ++tries) {
        arc.place = some_place(true);
      }
      const bool routed = taker && a == routes.back().arc;
      if (taker && a < routes.back().arc) arc.place = other_place(routes.back().place);
      if (routed) arc.place = routes.back().place;
      if (!used.insert(arc.place).second && !routed) continue;
      arc.inhibit = !routed && (timer || a > 0) && r.chance(timer ? 60 : 15);
      arc.weight = Formula{number(arc.inhibit ? 0 : 1), {}};
      t.inputs.push_back(arc);
    }
    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
      input(t, a, timer);
      // What a guard reads must be there.
      if (taker && a <= routes.back().arc && (least_need[a] < 1 || r.chance(95))) one_token(t, a);
      if (taker && a == routes.back().arc)
        t.inputs[a].guard = Formula{next_guard(pool, routes.back(), r), {}};
    }
    // Without the complementary guard the two compete for the head that the first one's guard
    // reads.
    if (copy && t.inputs[0].weight.id == number(1) && r.chance(60)) leave_rest(t);

    const Scope all{&t, static_cast<std::uint32_t>(t.inputs.size()), false, false, {}};
    outputs(t, all);
    const bool loop = std::any_of(t.outputs.begin(), t.outputs.end(),
                                  [&](const OutputArc& o) { return used.count(o.place) != 0; });
    t.delay = Formula{delay(all, timer, loop), {}};
    timing(t, all, timer);
    net.transitions.push_back(std::move(t));
  }

  void input(Transition& t, std::uint32_t a, bool timer) {
    InputArc& arc = t.inputs[a];
    least_need.push_back(0);
    exact_need.push_back(0);
    if (arc.inhibit) return;
    const bool has_fields = !net.type_of(arc.place).fields.empty();
    const Scope before{&t, a, has_fields, false, {}};
    std::int64_t exact = 1, least = 1;
    const auto roll = timer ? 70 : r.below(100);
    if (roll < 68) {
    } else if (roll < 76) {
      exact = least = 0;
      arc.weight = Formula{number(0), {}};
    } else if (roll < 87) {
      exact = least = mostly(Profile::kCounts, 70) ? r.between(4, 200) : r.between(2, 3);
      arc.weight = Formula{number(exact), {}};
    } else if (roll < 94) {
      exact = -1;
      least = 1;
      arc.weight = Formula{op(Op::kAdd, op(Op::kMod, any(before, 1), number(3)), number(1)), {}};
    } else {
      exact = -1;
      least = 0;
      arc.weight = Formula{wild() ? non_negative_const(any(before, 2)) : within(before, 0, 2), {}};
    }
    if (r.chance(exact == 0 ? 50 : 13)) {
      if (exact >= 0 && r.chance(70)) {
        const std::int64_t k = r.between(0, exact + 2);
        arc.threshold = Formula{number(k), {}};
        exact = least = std::max(exact, k);
      } else {
        exact = -1;
        arc.threshold =
            Formula{wild() ? non_negative_const(any(before, 2)) : within(before, 0, 3), {}};
      }
    }
    std::int64_t value = 0;
    const auto dynamic = [&](const Formula& f) { return !pool.is_const(f.id, value); };
    if (!dynamic(arc.weight) && (!arc.threshold || !dynamic(*arc.threshold))) {
      std::int64_t k = 0;
      pool.is_const(arc.weight.id, exact);
      if (arc.threshold && pool.is_const(arc.threshold->id, k)) exact = std::max(exact, k);
      least = exact;
    }
    least_need[a] = least;
    exact_need[a] = exact;
    if (r.chance(a == 0 && has_fields ? 22 : 14)) {
      const Scope upto{&t, a + 1, false, false, {}};
      arc.guard = Formula{guard(upto), {}};
    }
  }

  ExprId non_negative_const(ExprId x) {
    std::int64_t value = 0;
    return pool.is_const(x, value) && value < 0 ? number(0) : x;
  }

  // Takes one token whatever it is.
  void one_token(Transition& t, std::uint32_t a) {
    if (t.inputs[a].inhibit) return;
    t.inputs[a].weight = Formula{number(1), {}};
    t.inputs[a].threshold.reset();
    t.inputs[a].guard.reset();
    least_need[a] = exact_need[a] = 1;
  }

  // Makes `t` take what its predecessor's guard leaves.
  void leave_rest(Transition& t) {
    InputArc& theirs = net.transitions.back().inputs[0];
    InputArc& ours = t.inputs[0];
    const bool has_fields = !net.type_of(ours.place).fields.empty();
    if (!has_fields || least_need[0] < 1 || ours.guard || theirs.weight.id != ours.weight.id)
      return;
    if (!theirs.guard) {
      const ExprId head = pool.token(0, 0, number(0));
      const ExprId parity = op(Op::kMod, head, number(2));
      theirs.guard = Formula{op(Op::kEq, parity, number(0)), {}};
    } else {
      const Reads reads = pool.reads(theirs.guard->id);
      const auto beyond = [](const std::vector<std::uint32_t>& arcs) {
        return !arcs.empty() && arcs.back() > 0;
      };
      if (beyond(reads.tokens) || beyond(reads.occupancy) || beyond(reads.free) ||
          !reads.tokens.empty()) {
        return;  // only what is certainly legal here, too
      }
    }
    ours.guard = Formula{pool.unary(Op::kNot, theirs.guard->id), {}};
  }

  ExprId delay(const Scope& s, bool timer, bool loop) {
    if (mostly(Profile::kTies, 70)) return number(r.chance(loop ? 5 : 40) ? 0 : r.between(1, 2));
    if (mostly(Profile::kFar, 45)) return far_delay(s);
    const auto roll = r.below(100);
    if (roll < (loop ? 3 : 18)) return number(0);
    if (slow && r.chance(35)) return slow_delay(s);
    if (roll < 60) return number(r.between(1, 6));
    if (!timer && wild())
      return r.chance(50) ? number(kMax - r.below(50)) : non_negative_const(any(s, 2));
    if (roll < 64 && !net.params.empty()) return some_param();
    if (roll < 66) return pool.select(condition(s, 1), number(0), number(r.between(1, 3)));
    return within(s, r.chance(85) ? 1 : 0, r.between(2, 8));
  }

  ExprId far_delay(const Scope& s) {
    const ExprId base = number(far_time(r));
    switch (r.below(4)) {
      case 0: return op(Op::kSub, base, within(s, 0, 9));
      case 1: return pool.select(condition(s, 1), base, number(r.between(0, 3)));
      default: return base;
    }
  }

  // Around the lengths at which an event queue may change its ways.
  ExprId slow_delay(const Scope& s) {
    static constexpr std::int64_t kLengths[] = {62, 127, 255, 1021, 1023, 1024, 2047, 5000};
    const ExprId base = number(kLengths[r.below(std::size(kLengths))]);
    return r.chance(50) ? base : op(Op::kAdd, base, within(s, 0, 3));
  }

  void timing(Transition& t, const Scope& s, bool timer) {
    const bool takes = std::any_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& a) {
      std::int64_t w = 0;
      return !a.inhibit && (!pool.is_const(a.weight.id, w) || w > 0);
    });
    // Without a token to take, servers or an interval are required; with neither a delay nor an
    // interval such a transition runs for ever at one instant, which is rarely of interest.
    const bool must = timer || !takes;
    if (must ? r.chance(60) : r.chance(35)) {
      ExprId n = number(r.chance(60) ? 1 : r.between(2, 4));
      if (!net.params.empty() && r.chance(25)) n = op(Op::kMax, some_param(), number(1));
      if (!net.params.empty() && r.chance(10)) n = some_param();
      t.servers = Formula{n, {}};
    }
    if (must || r.chance(22) || mostly(Profile::kClocks, 40)) {
      ExprId i = number(r.between(must && (!t.servers || r.chance(90)) ? 1 : 0, 5));
      if (!must && r.chance(50)) i = wild() ? non_negative_const(any(s, 2)) : within(s, 0, 4);
      if (!must && wild()) i = number(kMax - r.below(50));
      if (slow && r.chance(20)) i = slow_delay(s);
      if (mostly(Profile::kFar, 40)) i = far_delay(s);
      if (mostly(Profile::kClocks, 50)) i = number(r.between(must ? 1 : 0, 12));
      t.interval = Formula{i, {}};
    }
    t.ordered = r.chance(18);
    if (r.chance(12) || mostly(Profile::kClocks, 60)) {
      ExprId period = number(r.between(1, 4)), phase = number(r.below(6));
      if (!net.params.empty() && r.chance(30)) period = some_param();
      if (!net.params.empty() && r.chance(30)) phase = some_param();
      if (mostly(Profile::kClocks, 40)) period = number(r.between(2, 13));
      if (mostly(Profile::kClocks, 8) || mostly(Profile::kFar, 50)) period = number(far_time(r));
      if (mostly(Profile::kClocks, 8) || mostly(Profile::kFar, 50)) phase = number(far_time(r));
      t.clock = Clock{{period, {}}, {phase, {}}};
    }
  }

  void outputs(Transition& t, const Scope& all) {
    const std::int64_t count =
        r.chance(6) ? 0 : 1 + (r.chance(38) ? 1 : 0) + (r.chance(10) ? 1 : 0);
    for (std::int64_t o = 0; o < count; ++o) {
      OutputArc arc;
      arc.place = some_place(false);
      if (!t.inputs.empty() && r.chance(12)) arc.place = t.inputs[0].place;  // a self-loop
      if (!t.outputs.empty() && r.chance(5)) arc.place = t.outputs[0].place;
      if (!routes.empty() && r.chance(of == Profile::kRoutes ? 40 : 15)) {
        arc.place = r.pick(routes).place;
      }
      const int emissions = r.chance(3) ? 0 : r.chance(86) ? 1 : 2;
      for (int e = 0; e < emissions; ++e) arc.emissions.push_back(emission(arc, all));
      t.outputs.push_back(arc);
    }
  }

  Emission emission(const OutputArc& arc, const Scope& all) {
    Emission e;
    const auto& fields = net.type_of(arc.place).fields;
    const auto roll = r.below(100);
    ExprId count = number(1);
    if (roll < 74) {
    } else if (roll < 77) {
      count = number(0);
    } else if (roll < 84) {
      count = number(mostly(Profile::kCounts, 70) ? r.between(4, 300) : r.between(2, 3));
    } else if (wild()) {
      count = r.chance(20) ? number(kMaxTokens + r.between(1, 3))
                           : non_negative_const(op(Op::kMin, any(all, 2), number(40)));
    } else {
      count = within(all, 0, r.between(1, 3));
    }
    e.count = Formula{count, {}};
    Scope s = all;
    s.index = true;
    for (const Field& field : fields) e.fields.push_back(Formula{field_value(field, s), {}});
    for (const RandomRoute& route : routes) {
      if (arc.place == route.place && r.chance(75)) {
        e.fields[route.field] = Formula{routed_value(route, any(s, 1)), {}};
      }
    }
    return e;
  }

  ExprId field_value(const Field& field, const Scope& s) {
    if (r.chance(45) || mostly(Profile::kWide, 70)) {  // pass something on
      for (std::uint32_t a : readable(s)) {
        const auto& theirs = type_of(a, s).fields;
        for (std::uint32_t f = 0; f < theirs.size(); ++f) {
          const bool fits =
              !field.range || (theirs[f].range && theirs[f].range->lo >= field.range->lo &&
                               theirs[f].range->hi <= field.range->hi);
          if (fits && r.chance(60)) return pool.token(a, f, number(0));
        }
      }
    }
    if (r.chance(10)) return number(value_of(field));
    if (!field.range) {
      if (wild()) return any(s, 3);
      return r.chance(75) ? within(s, 0, r.between(3, 15)) : any(s, 2);
    }
    const Range range = *field.range;
    if (range.lo < -1000 || range.hi > 1000) return number(value_of(field));
    if (wild()) {
      const ExprId x = any(s, 2);
      if (!pool.is_const(x)) return x;
    }
    return within(s, range.lo, range.hi);
  }

  void done() {
    bool any_done = false;
    for (std::size_t p = 0; p < net.places.size(); ++p) {
      if (net.places[p].start) continue;
      net.places[p].done = r.chance(consumed(p) ? 8 : 45);
      any_done = any_done || net.places[p].done;
    }
    if (any_done && r.chance(20)) {
      net.done_count = Formula{number(r.between(0, 30)), {}};
      if (!net.params.empty() && r.chance(30)) {
        net.done_count =
            Formula{op(Op::kMul, op(Op::kMax, some_param(), number(0)), number(7)), {}};
      }
    }
  }
};

// A token's values for a place, nearly always within the ranges.
std::vector<std::int64_t> token_values(const Net& net, PlaceId place, Random& r) {
  std::vector<std::int64_t> values;
  for (const Field& field : net.type_of(place).fields) {
    if (!field.range) {
      values.push_back(r.chance(98) ? r.between(-1, 12) : kMax - r.below(3));
    } else if (field.range->lo < -1000) {
      values.push_back(field.range->hi - r.below(5));
    } else {
      const std::int64_t span = std::min<std::int64_t>(field.range->hi - field.range->lo, 30);
      values.push_back(field.range->lo + r.between(0, span));
    }
  }
  return values;
}

}  // namespace

Net random_net(Random& random, Profile profile) {
  if (profile == Profile::kStatic) return static_net(random, random.chance(12));
  if (profile == Profile::kEqual) return equal_net(random);
  if (profile == Profile::kSystem) return system_net(random, random.chance(30)).net;
  return Maker(random, profile).run();
}

Case random_inputs(const Net& net, Random& r) {
  Case c = make_case(net);
  for (std::size_t k = 0; k < c.params.size(); ++k) {
    if (r.chance(50)) c.params[k] = r.between(1, 5);
    if (r.chance(3)) c.params[k] = r.between(-1, 9);
    if (const auto& range = net.params[k].range) {
      c.params[k] = std::clamp(c.params[k], range->lo, range->hi);
    }
  }
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    const auto place = static_cast<PlaceId>(p);
    if (!r.chance(net.places[p].capacity ? 8 : 55)) continue;
    Load load;
    load.place = place;
    load.count = static_cast<std::uint64_t>(r.between(1, net.places[p].capacity ? 2
                                                         : r.chance(80)         ? 8
                                                                                : 25));
    for (std::uint64_t k = 0; k < load.count; ++k) {
      const auto values = token_values(net, place, r);
      load.values.insert(load.values.end(), values.begin(), values.end());
    }
    c.loads.push_back(load);
  }
  if (r.chance(10) &&
      std::any_of(net.places.begin(), net.places.end(), [](const Place& p) { return p.done; })) {
    c.done_count = static_cast<std::uint64_t>(r.between(0, 20));
  }
  return c;
}

std::vector<Step> random_steps(const Case& c, Time horizon, Random& r, Profile profile) {
  std::vector<Step> steps;
  const bool far = profile == Profile::kFar || profile == Profile::kClocks;
  const auto run = [&](Time limit) {
    Step s;
    s.time = limit;
    steps.push_back(s);
  };
  const auto push = [&](Time time) {
    Step s;
    s.push = true;
    s.time = time;
    s.place = static_cast<PlaceId>(r.below(static_cast<std::int64_t>(c.net.places.size())));
    if (c.net[s.place].capacity && r.chance(80)) return;
    s.values = token_values(c.net, s.place, r);
    steps.push_back(s);
  };
  const Time span = std::min<Time>(horizon, 1'000'000) + 1;
  const auto some_time = [&](Time most) {
    return far && r.chance(40) ? std::min(horizon, far_time(r)) : r.below(most);
  };
  if (r.chance(25)) {
    const auto count = r.between(1, 6);
    for (std::int64_t k = 0; k < count; ++k) push(some_time(span + 3));
  }
  if (r.chance(35)) {
    std::vector<Time> limits;
    const auto count = r.between(1, 5);
    for (std::int64_t k = 0; k < count; ++k) limits.push_back(some_time(span));
    if (r.chance(90)) std::sort(limits.begin(), limits.end());
    if (r.chance(10)) limits.insert(limits.begin(), -1);
    for (Time limit : limits) {
      run(limit);
      while (r.chance(30)) push(std::min(limit, kMax - 6) + r.between(-2, 6));
    }
  }
  run(horizon);
  return steps;
}

}  // namespace lpn::bench

#include "system_net.h"

#include <fmt/format.h>

#include <algorithm>

namespace lpn::bench {
namespace {

constexpr std::int64_t kIds = 64, kNumbers = 8;
constexpr TypeId kUnit{0}, kWord{1};

class Maker {
 public:
  Maker(Random& random, bool bounded) : r(random), bounded_(bounded), pool(net.exprs) {}

  SystemNet run() {
    net.name = "system";
    net.types = {{"unit", {}, {}},
                 {"word", {{"id", Range{0, kIds - 1}}, {"n", Range{0, kNumbers - 1}}}, {}}};
    for (std::int64_t n = r.between(1, 3); n > 0; --n) open_.push_back(start());
    for (std::int64_t n = r.between(2, 4); n > 0; --n) part(n == 1);
    for (const PlaceId left : open_) {
      if (r.chance(60))
        leave(left);
      else
        net[left].done = true;
    }
    // The order is who comes first among those that could start.
    if (r.chance(60)) {
      auto& all = net.transitions;
      for (std::size_t k = all.size(); k > 1; --k) {
        std::swap(all[k - 1], all[static_cast<std::size_t>(r.below(static_cast<std::int64_t>(k)))]);
      }
    }
    return {std::move(net), std::move(ports_)};
  }

 private:
  Random& r;
  bool bounded_;
  Net net;
  ExprPool& pool;
  std::vector<PlaceId> open_;  // nothing takes from them so far
  std::vector<Port> ports_;
  std::optional<Clock> clock_;  // of the part that is being made

  Formula number(std::int64_t value) { return {pool.constant(value), {}}; }
  ExprId mod(ExprId x, std::int64_t by) { return pool.binary(Op::kMod, x, pool.constant(by)); }
  ExprId read(std::uint32_t arc, std::uint32_t field) {
    return pool.token(arc, field, pool.constant(0));
  }

  PlaceId place(const char* kind, TypeId type = kWord) {
    Place p;
    p.name = fmt::format("{}{}", kind, net.places.size());
    p.type = type;
    net.places.push_back(p);
    return static_cast<PlaceId>(net.places.size() - 1);
  }
  PlaceId queue() {
    const PlaceId p = place("queue");
    if (r.chance(65)) net[p].capacity = number(r.between(1, 4));
    return p;
  }
  PlaceId start() {
    const PlaceId p = place("work");
    const ExprId i = pool.index();
    const ExprId spread =
        pool.binary(Op::kAdd, pool.binary(Op::kMul, i, pool.constant(r.between(1, 9))),
                    pool.constant(r.between(0, 7)));
    net[p].initial.push_back(
        {number(r.between(3, 20)), {{mod(i, kIds), {}}, {mod(spread, kNumbers), {}}}});
    return p;
  }

  PlaceId taken() {
    const auto k =
        static_cast<std::size_t>(r.chance(60) ? static_cast<std::int64_t>(open_.size()) - 1
                                              : r.below(static_cast<std::int64_t>(open_.size())));
    const PlaceId p = open_[k];
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(k));
    return p;
  }

  void take(Transition& t, PlaceId p) {
    InputArc arc;
    arc.name = fmt::format("a{}", t.inputs.size());
    arc.place = p;
    arc.weight = number(1);
    t.inputs.push_back(arc);
  }

  // What it put depends on what it took: a firing has to remember that until it commits.
  void put(Transition& t, PlaceId p) {
    OutputArc arc;
    arc.place = p;
    Emission e;
    e.count = number(1);
    if (net[p].type == kWord) {
      const auto from = static_cast<std::uint32_t>(words(t));
      const ExprId n = pool.binary(
          Op::kAdd, pool.binary(Op::kMul, read(from, 1), pool.constant(r.between(1, 3))),
          r.chance(50) ? read(0, 0) : pool.constant(r.between(0, 7)));
      e.fields = {{read(0, 0), {}}, {r.chance(30) ? read(from, 1) : mod(n, kNumbers), {}}};
    }
    arc.emissions.push_back(e);
    t.outputs.push_back(arc);
  }
  // An arc whose tokens have properties; the first always has.
  std::int64_t words(const Transition& t) {
    std::int64_t n = 0;
    while (n < static_cast<std::int64_t>(t.inputs.size()) &&
           net[t.inputs[static_cast<std::size_t>(n)].place].type == kWord) {
      ++n;
    }
    return r.below(n);
  }

  void add(Transition t, const char* kind) {
    t.name = fmt::format("{}{}", kind, net.transitions.size());
    const auto roll = r.below(100);
    if (roll < 20)
      t.delay = number(0);
    else if (roll < 65)
      t.delay = number(1);
    else if (roll < 75)
      t.delay = number(r.between(2, 4));
    else
      t.delay = {mod(read(0, 1), r.between(2, 4)), {}};
    if (r.chance(80)) t.servers = number(r.chance(85) ? 1 : 2);
    if (r.chance(10)) t.interval = number(r.between(0, 3));
    if (r.chance(10)) t.ordered = true;
    if (r.chance(90)) t.clock = clock_;
    net.transitions.push_back(std::move(t));
  }

  void part(bool last) {
    clock_.reset();
    if (r.chance(55)) clock_ = Clock{number(r.between(1, 5)), number(r.below(4))};
    const std::int64_t stages = r.between(2, 5);
    std::int64_t asks_at = r.chance(60) || (last && ports_.empty()) ? r.below(stages) : -1;
    std::optional<PlaceId> slots;
    const auto first = net.transitions.size();
    if (r.chance(25)) {
      slots = place("slots", kUnit);
      net[*slots].initial.push_back({number(r.between(1, 3)), {}});
    }
    for (std::int64_t k = 0; k < stages; ++k) {
      if (k == asks_at)
        ask();
      else
        stage();
    }
    if (!slots) return;
    take(net.transitions[first], *slots);
    put(net.transitions.back(), *slots);
  }

  void stage() {
    Transition t;
    take(t, taken());
    if (!open_.empty() && r.chance(15)) take(t, taken());
    if (r.chance(8) && !t.inputs.empty()) {
      // One of two for each token.
      Transition other = t;
      const ExprId odd = mod(read(0, 1), 2);
      t.inputs[0].guard = Formula{pool.binary(Op::kEq, odd, pool.constant(0)), {}};
      other.inputs[0].guard = Formula{pool.binary(Op::kEq, odd, pool.constant(1)), {}};
      const PlaceId to = queue();
      put(other, to);
      open_.push_back(to);
      add(std::move(other), "odd");
    }
    const PlaceId to = queue();
    put(t, to);
    open_.push_back(to);
    if (r.chance(20)) {
      const PlaceId second = queue();
      put(t, second);
      open_.push_back(second);
    }
    add(std::move(t), "stage");
  }

  // What is asked for waits beside the port for its answer, or nothing does and the answer is all.
  void ask() {
    Port port{place("requests"), place("answers")};
    if (bounded_ && r.chance(60)) net[port.requests].capacity = number(r.between(1, 4));
    const PlaceId to = queue();
    Transition out, in;
    take(out, taken());
    put(out, port.requests);
    take(in, port.answers);
    if (r.chance(60)) {
      const PlaceId waits = queue();
      put(out, waits);
      take(in, waits);
    }
    put(in, to);
    // Whoever looks at the answers without taking them.
    if (r.chance(25)) {
      take(out, port.answers);
      if (r.chance(50)) {
        out.inputs.back().inhibit = true;
        out.inputs.back().weight = number(0);
      } else {
        out.inputs.back().weight = number(0);
        out.inputs.back().guard = Formula{
            pool.binary(Op::kLe, pool.occupancy(static_cast<std::uint32_t>(out.inputs.size() - 1)),
                        pool.constant(r.between(0, 2))),
            {}};
      }
    }
    ports_.push_back(port);
    open_.push_back(to);
    add(std::move(out), "ask");
    add(std::move(in), "get");
  }

  void leave(PlaceId from) {
    const PlaceId gone = place("gone");
    net[gone].done = true;
    Transition t;
    take(t, from);
    put(t, gone);
    add(std::move(t), "leave");
  }
};

}  // namespace

SystemNet system_net(Random& random, bool bounded) { return Maker(random, bounded).run(); }

}  // namespace lpn::bench

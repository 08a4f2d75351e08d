#include "shrink.h"

#include <algorithm>
#include <map>
#include <set>

#include "lpn/net/verify.h"

namespace lpn::bench {
namespace {

template <typename Visit>
void each_formula(Transition& t, const Visit& visit) {
  for (InputArc& arc : t.inputs) {
    visit(arc.weight);
    if (arc.threshold) visit(*arc.threshold);
    if (arc.guard) visit(*arc.guard);
  }
  visit(t.delay);
  if (t.servers) visit(*t.servers);
  if (t.interval) visit(*t.interval);
  if (t.clock) {
    visit(t.clock->period);
    visit(t.clock->phase);
  }
  for (OutputArc& arc : t.outputs) {
    for (Emission& e : arc.emissions) {
      visit(e.count);
      for (Formula& f : e.fields) visit(f);
    }
  }
}

template <typename Visit>
void each_formula(Net& net, const Visit& visit) {
  for (Place& p : net.places) {
    if (p.capacity) visit(*p.capacity);
    for (Initial& i : p.initial) {
      visit(i.count);
      for (Formula& f : i.fields) visit(f);
    }
  }
  for (Transition& t : net.transitions) each_formula(t, visit);
  if (net.done_count) visit(*net.done_count);
}

// Copies within one pool; `change` may answer for a node instead.
class Rewriter {
 public:
  Rewriter(ExprPool& pool, std::function<std::optional<ExprId>(ExprId, const Node&)> change)
      : pool_(pool), change_(std::move(change)) {}
  ExprId operator()(ExprId id) {
    if (const auto it = done_.find(id); it != done_.end()) return it->second;
    Node n = pool_[id];
    ExprId copy = id;
    if (const auto changed = change_(id, n)) {
      copy = *changed;
    } else {
      const Node before = n;
      for (int k = 0; k < op_info(n.op).arity; ++k) {
        auto& kid = n.kids[static_cast<std::size_t>(k)];
        kid = (*this)(kid);
      }
      if (!(n == before)) copy = pool_.make(n);
    }
    done_.emplace(id, copy);
    return copy;
  }

 private:
  ExprPool& pool_;
  std::function<std::optional<ExprId>(ExprId, const Node&)> change_;
  std::map<ExprId, ExprId> done_;
};

void drop_input(Net& net, Transition& t, std::uint32_t dropped) {
  ExprPool& pool = net.exprs;
  Rewriter rewrite(pool, [&](ExprId, const Node& n) -> std::optional<ExprId> {
    if (!names_arc(n.op)) return std::nullopt;
    if (n.a == dropped) return pool.constant(1);
    if (n.a < dropped) return std::nullopt;
    Node copy = n;
    --copy.a;
    for (int k = 0; k < op_info(n.op).arity; ++k) {
      copy.kids[static_cast<std::size_t>(k)] = rewrite(copy.kids[static_cast<std::size_t>(k)]);
    }
    return pool.make(copy);
  });
  t.inputs.erase(t.inputs.begin() + dropped);
  each_formula(t, [&](Formula& f) { f.id = rewrite(f.id); });
}

bool used(const Net& net, PlaceId place) {
  for (const Transition& t : net.transitions) {
    for (const InputArc& a : t.inputs) {
      if (a.place == place) return true;
    }
    for (const OutputArc& a : t.outputs) {
      if (a.place == place) return true;
    }
  }
  return false;
}

void drop_place(Case& c, std::size_t dropped) {
  const auto move = [dropped](PlaceId& p) {
    if (static_cast<std::size_t>(p) > dropped)
      p = static_cast<PlaceId>(static_cast<std::size_t>(p) - 1);
  };
  const auto is = [dropped](PlaceId p) { return static_cast<std::size_t>(p) == dropped; };
  std::erase_if(c.loads, [&](const Load& l) { return is(l.place); });
  std::erase_if(c.steps, [&](const Step& s) { return s.push && is(s.place); });
  for (Load& l : c.loads) move(l.place);
  for (Step& s : c.steps) move(s.place);
  for (Transition& t : c.net.transitions) {
    for (InputArc& a : t.inputs) move(a.place);
    for (OutputArc& a : t.outputs) move(a.place);
  }
  c.net.places.erase(c.net.places.begin() + static_cast<std::ptrdiff_t>(dropped));
}

// Every node below `id` once, parents first.
std::vector<ExprId> nodes_of(const ExprPool& pool, ExprId id) {
  std::vector<ExprId> order, todo{id};
  std::set<ExprId> seen;
  while (!todo.empty()) {
    const ExprId at = todo.back();
    todo.pop_back();
    if (!seen.insert(at).second) continue;
    order.push_back(at);
    for (int k = op_info(pool[at].op).arity - 1; k >= 0; --k) {
      todo.push_back(pool[at].kids[static_cast<std::size_t>(k)]);
    }
  }
  return order;
}

class Smaller {
 public:
  explicit Smaller(const Case& c) : original_(c) {}

  std::vector<Case> run() {
    structure();
    options();
    inputs();
    expressions();
    return std::move(all_);
  }

 private:
  template <typename Change>
  void with(const Change& change) {
    Case c = original_;
    try {
      change(c);
    } catch (const Error&) {
      return;  // an expression that would not fit together any more
    }
    if (verify(c.net).empty()) all_.push_back(std::move(c));
  }

  void structure() {
    const Net& net = original_.net;
    for (std::size_t k = 0; k < net.transitions.size(); ++k) {
      with([k](Case& c) {
        c.net.transitions.erase(c.net.transitions.begin() + static_cast<std::ptrdiff_t>(k));
      });
    }
    for (std::size_t p = 0; p < net.places.size(); ++p) {
      if (!used(net, static_cast<PlaceId>(p))) with([p](Case& c) { drop_place(c, p); });
    }
    for (std::size_t k = 0; k < net.transitions.size(); ++k) {
      const Transition& t = net.transitions[k];
      for (std::size_t o = 0; o < t.outputs.size(); ++o) {
        with([k, o](Case& c) {
          auto& outputs = c.net.transitions[k].outputs;
          outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(o));
        });
        for (std::size_t e = 0; e < t.outputs[o].emissions.size(); ++e) {
          with([k, o, e](Case& c) {
            auto& emissions = c.net.transitions[k].outputs[o].emissions;
            emissions.erase(emissions.begin() + static_cast<std::ptrdiff_t>(e));
          });
        }
      }
      for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
        with([k, a](Case& c) { drop_input(c.net, c.net.transitions[k], a); });
      }
    }
    for (std::size_t y = 0; y < net.types.size(); ++y) {
      for (std::size_t f = 0; f < net.types[y].fields.size(); ++f) {
        if (net.types[y].fields[f].range) {
          with([y, f](Case& c) { c.net.types[y].fields[f].range.reset(); });
        }
      }
    }
  }

  void options() {
    const Net& net = original_.net;
    for (std::size_t k = 0; k < net.transitions.size(); ++k) {
      const Transition& t = net.transitions[k];
      const auto change = [&](const auto& what) {
        with([k, &what](Case& c) { what(c.net.transitions[k]); });
      };
      if (t.servers) change([](Transition& x) { x.servers.reset(); });
      if (t.interval) change([](Transition& x) { x.interval.reset(); });
      if (t.clock) change([](Transition& x) { x.clock.reset(); });
      if (t.ordered) change([](Transition& x) { x.ordered = false; });
      for (std::size_t a = 0; a < t.inputs.size(); ++a) {
        if (t.inputs[a].guard) change([a](Transition& x) { x.inputs[a].guard.reset(); });
        if (t.inputs[a].threshold) change([a](Transition& x) { x.inputs[a].threshold.reset(); });
      }
    }
    for (std::size_t p = 0; p < net.places.size(); ++p) {
      const Place& place = net.places[p];
      const auto change = [&](const auto& what) {
        with([p, &what](Case& c) { what(c.net.places[p]); });
      };
      if (place.capacity) change([](Place& x) { x.capacity.reset(); });
      for (std::size_t i = 0; i < place.initial.size(); ++i) {
        change(
            [i](Place& x) { x.initial.erase(x.initial.begin() + static_cast<std::ptrdiff_t>(i)); });
      }
      if (place.start || place.drain || place.sink || place.done) {
        change([](Place& x) { x.start = x.drain = x.sink = x.done = false; });
        if (place.done) change([](Place& x) { x.done = false; });
        if (place.start) change([](Place& x) { x.start = false; });
      }
    }
    if (net.done_count) with([](Case& c) { c.net.done_count.reset(); });
  }

  void inputs() {
    for (std::size_t k = 0; k < original_.loads.size(); ++k) {
      with([k](Case& c) { c.loads.erase(c.loads.begin() + static_cast<std::ptrdiff_t>(k)); });
      if (original_.loads[k].count > 1) {
        for (const bool front : {true, false}) {
          with([k, front](Case& c) {
            Load& load = c.loads[k];
            const std::size_t width = load.values.size() / load.count;
            --load.count;
            const auto cut = static_cast<std::ptrdiff_t>(width);
            if (front)
              load.values.erase(load.values.begin(), load.values.begin() + cut);
            else
              load.values.erase(load.values.end() - cut, load.values.end());
          });
        }
      }
    }
    for (std::size_t k = 0; k < original_.steps.size(); ++k) {
      if (original_.steps.size() > 1) {
        with([k](Case& c) { c.steps.erase(c.steps.begin() + static_cast<std::ptrdiff_t>(k)); });
      }
    }
    if (original_.done_count) with([](Case& c) { c.done_count.reset(); });
    for (std::size_t k = 0; k < original_.params.size(); ++k) {
      if (original_.params[k] == original_.net.params[k].value) continue;
      with([k](Case& c) { c.params[k] = c.net.params[k].value; });
    }
  }

  void expressions() {
    Net scratch = original_.net;
    std::size_t count = 0;
    std::vector<ExprId> ids;
    each_formula(scratch, [&](Formula& f) {
      ids.push_back(f.id);
      ++count;
    });
    for (std::size_t slot = 0; slot < count; ++slot) {
      for (ExprId node : nodes_of(scratch.exprs, ids[slot])) {
        const Node n = scratch.exprs[node];
        std::vector<ExprId> simpler;
        for (int k = 0; k < op_info(n.op).arity; ++k) {
          const ExprId kid = n.kids[static_cast<std::size_t>(k)];
          if (scratch.exprs[kid].type == n.type && n.op != Op::kToken) simpler.push_back(kid);
        }
        if (n.type == Type::kInt && n.op != Op::kConst) {
          simpler.push_back(scratch.exprs.constant(0));
          simpler.push_back(scratch.exprs.constant(1));
        }
        if (n.op == Op::kConst && n.value != 0 && n.value != 1) {
          simpler.push_back(scratch.exprs.constant(n.value / 2));
          simpler.push_back(scratch.exprs.constant(1));
        }
        if (n.type == Type::kBool && op_info(n.op).arity > 0) {
          simpler.push_back(scratch.exprs.boolean(true));
          simpler.push_back(scratch.exprs.boolean(false));
        }
        for (ExprId replacement : simpler) {
          if (replacement != node) replace(scratch.exprs, slot, node, replacement);
        }
      }
    }
  }

  void replace(const ExprPool& pool, std::size_t slot, ExprId node, ExprId replacement) {
    with([&](Case& c) {
      c.net.exprs = pool;  // has the replacement, too
      Rewriter rewrite(c.net.exprs, [&](ExprId id, const Node&) -> std::optional<ExprId> {
        if (id == node) return replacement;
        return std::nullopt;
      });
      std::size_t at = 0;
      each_formula(c.net, [&](Formula& f) {
        if (at++ == slot) f.id = rewrite(f.id);
      });
    });
  }

  const Case& original_;
  std::vector<Case> all_;
};

}  // namespace

std::vector<Case> smaller_cases(const Case& c) { return Smaller(c).run(); }

Case shrink(Case c, const std::function<std::vector<bool>(const std::vector<Case>&)>& fails) {
  // A few at first, since the boldest mostly do; twice as many each time that none does.
  constexpr std::size_t kFirst = 6, kMost = 48;
  constexpr int kRounds = 300;
  std::size_t from = 0;  // where the last success was: what failed before will mostly fail again
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Case> all = smaller_cases(c);
    if (all.empty()) return c;
    bool found = false;
    std::size_t at_once = kFirst;
    for (std::size_t done = 0; done < all.size() && !found;) {
      std::vector<Case> some;
      std::vector<std::size_t> where;
      for (std::size_t k = done; k < std::min(done + at_once, all.size()); ++k) {
        where.push_back((from + k) % all.size());
        some.push_back(all[where.back()]);
      }
      const std::vector<bool> answers = fails(some);
      for (std::size_t k = 0; k < answers.size(); ++k) {
        if (!answers[k]) continue;
        c = some[k];
        from = where[k];
        found = true;
        break;
      }
      done += at_once;
      at_once = std::min(2 * at_once, kMost);
    }
    if (!found) return c;
  }
  return c;
}

}  // namespace lpn::bench

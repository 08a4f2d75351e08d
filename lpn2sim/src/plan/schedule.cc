#include "plan/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/base/error.h"
#include "lpn/graph/union_find.h"
#include "lpn/net/facts.h"
#include "lpn/net/initial.h"

namespace lpn::sim {
namespace {

using std::int64_t;
using std::size_t;
using std::string;
using std::uint32_t;

// Queues that start with more tokens, or look back further, are rings in memory instead of
// variables; so are those whose start is known only with the parameters.
constexpr int64_t kMostFixed = 16;
constexpr int64_t kMostIterationsBack = 4;

struct End {
  uint32_t transition, arc;
};

class Scheduler {
 public:
  explicit Scheduler(const Net& net)
      : net_(net), producers_(net.places.size()), consumers_(net.places.size()) {
    for (uint32_t k = 0; k < net.transitions.size(); ++k) {
      const Transition& t = net.transitions[k];
      for (uint32_t a = 0; a < t.inputs.size(); ++a) {
        consumers_[static_cast<size_t>(t.inputs[a].place)].push_back({k, a});
      }
      for (uint32_t o = 0; o < t.outputs.size(); ++o) {
        producers_[static_cast<size_t>(t.outputs[o].place)].push_back({k, o});
      }
    }
  }

  StaticParts run() {
    const size_t n = net_.transitions.size();
    result_.why_not.resize(n);
    parts_ = UnionFind(n);
    for (uint32_t k = 0; k < n; ++k) result_.why_not[k] = why_not(k);
    for (size_t p = 0; p < net_.places.size(); ++p) join_users(p);
    // One transition that is not static keeps its whole part from being so.
    std::vector<string> reason(n);
    for (uint32_t k = 0; k < n; ++k) {
      string& r = reason[parts_.find(k)];
      if (r.empty() && !result_.why_not[k].empty()) {
        r = fmt::format("'{}' is connected and {}", net_.transitions[k].name, result_.why_not[k]);
      }
    }
    std::vector<std::vector<uint32_t>> members(n);
    for (uint32_t k = 0; k < n; ++k) members[parts_.find(k)].push_back(k);
    for (uint32_t r = 0; r < n; ++r) {
      if (members[r].empty()) continue;
      StaticPart part;
      part.transitions = members[r];
      string why = reason[r];
      if (why.empty()) why = schedule(part);
      if (why.empty()) {
        result_.parts.push_back(std::move(part));
        continue;
      }
      for (uint32_t k : members[r]) {
        if (result_.why_not[k].empty()) result_.why_not[k] = why;
      }
    }
    return std::move(result_);
  }

 private:
  // A place with several users on one side is a choice or a merge: its users share a fate.
  void join_users(size_t p) {
    const auto& in = producers_[p];
    const auto& out = consumers_[p];
    const bool fields = !net_[net_.places[p].type].fields.empty();
    if (out.empty() && !(fields && in.size() > 1)) return;
    string why;
    if (out.size() > 1) why = fmt::format("shares place '{}' with a consumer", net_.places[p].name);
    if (in.size() > 1) why = fmt::format("shares place '{}' with a producer", net_.places[p].name);
    for (const auto* ends : {&in, &out}) {
      for (const End& e : *ends) {
        parts_.join(e.transition, (in.empty() ? out : in)[0].transition);
        if (!why.empty() && result_.why_not[e.transition].empty()) {
          result_.why_not[e.transition] = why;
        }
      }
    }
  }

  std::optional<int64_t> constant(const Formula& f) const {
    int64_t value = 0;
    if (net_.exprs.is_const(f.id, value)) return value;
    return std::nullopt;
  }

  string why_not(uint32_t k) const {
    const Transition& t = net_.transitions[k];
    if (t.clock) return "has a clock";
    if (t.inputs.empty()) return "takes nothing";
    std::vector<ExprId> all{t.delay.id};
    if (t.interval) all.push_back(t.interval->id);
    for (const InputArc& arc : t.inputs) {
      if (arc.inhibit) return "has an inhibitor";
      if (arc.guard) return "has a guard";
      const auto weight = constant(arc.weight);
      if (!weight || (arc.threshold && !constant(*arc.threshold))) {
        return "has a weight that is not constant";
      }
      if (*weight < 1 || *weight > kMaxIteration) return "only looks at a place";
      if (arc.threshold && *constant(*arc.threshold) > kMaxIteration) {
        return "has a large threshold";
      }
    }
    for (const OutputArc& arc : t.outputs) {
      int64_t total = 0;
      for (const Emission& e : arc.emissions) {
        const auto count = constant(e.count);
        if (!count) return "emits a number that is not constant";
        if (*count < 0 || *count > kMaxIteration) return "emits very many tokens";
        total += *count;
        for (const Formula& f : e.fields) all.push_back(f.id);
      }
      if (total > kMaxIteration) return "emits very many tokens";
    }
    for (ExprId id : all) {
      const Reads r = net_.exprs.reads(id);
      if (!r.occupancy.empty() || !r.free.empty()) return "reads an occupancy";
      if (net_.exprs.tree_size(id) > kMaxIteration) return "has a large expression";
    }
    if (!one_server(net_, t) && !t.ordered && !net_.exprs.reads(t.delay.id).tokens.empty()) {
      return "has commits that may overtake";
    }
    return "";
  }

  // ---- one part ---------------------------------------------------------------------------

  static int64_t emitted(const Net& net, const OutputArc& arc) {
    int64_t total = 0;
    for (const Emission& e : arc.emissions) {
      int64_t count = 0;
      net.exprs.is_const(e.count.id, count);
      total += count;
    }
    return total;
  }

  string schedule(StaticPart& part) {
    index_.assign(net_.transitions.size(), 0);
    for (uint32_t i = 0; i < part.transitions.size(); ++i) index_[part.transitions[i]] = i;
    for (uint32_t k : part.transitions) {
      const Transition& t = net_.transitions[k];
      for (uint32_t a = 0; a < t.inputs.size(); ++a) {
        const auto p = static_cast<uint32_t>(t.inputs[a].place);
        const int64_t taken = *constant(t.inputs[a].weight);
        const int64_t needed =
            t.inputs[a].threshold ? std::max(taken, *constant(*t.inputs[a].threshold)) : taken;
        if (producers_[p].empty()) {
          part.sources.push_back({p, k, a, taken, needed});
          continue;
        }
        const End from = producers_[p][0];
        const int64_t e = emitted(net_, net_.transitions[from.transition].outputs[from.arc]);
        if (e == 0) return fmt::format("place '{}' is never filled", net_.places[p].name);
        StaticQueue q{.place = p,
                      .producer = from.transition,
                      .consumer = k,
                      .input = a,
                      .output = from.arc,
                      .emitted = e,
                      .taken = taken,
                      .needed = needed};
        if (const auto initial = initial_tokens(p)) {
          q.fixed = *initial <= kMostFixed;
          q.initial = *initial;
        } else {
          q.initial = default_tokens(p);
        }
        part.queues.push_back(q);
      }
      for (uint32_t o = 0; o < t.outputs.size(); ++o) {
        const auto p = static_cast<uint32_t>(t.outputs[o].place);
        if (!consumers_[p].empty()) continue;
        const int64_t e = emitted(net_, t.outputs[o]);
        if (e > 0) part.sinks.push_back({p, k, o, e, 0});
      }
      if (t.servers) {
        const auto servers = constant(*t.servers);
        part.queues.push_back({.producer = k,
                               .consumer = k,
                               .emitted = 1,
                               .taken = 1,
                               .needed = 1,
                               .fixed = servers && *servers <= kMostFixed,
                               .initial = servers ? *servers : 1});
      }
    }
    if (part.sources.empty()) return "no place with a given number of tokens bounds it";
    if (string why = balance(part); !why.empty()) return why;
    for (StaticQueue& q : part.queues) {
      q.rate = q.emitted * part.repetitions[index_[q.producer]];
      if (q.initial > kMostIterationsBack * q.rate) q.fixed = false;
    }
    return order(part);
  }

  // How often each transition fires per iteration.
  string balance(StaticPart& part) const {
    const size_t n = part.transitions.size();
    std::vector<int64_t> num(n, 0), den(n, 1);
    std::vector<size_t> todo{0};
    num[0] = 1;
    std::vector<std::vector<const StaticQueue*>> of(n);
    for (const StaticQueue& q : part.queues) {
      of[index_[q.producer]].push_back(&q);
      of[index_[q.consumer]].push_back(&q);
    }
    while (!todo.empty()) {
      const size_t i = todo.back();
      todo.pop_back();
      for (const StaticQueue* q : of[i]) {
        const size_t from = index_[q->producer], to = index_[q->consumer];
        const size_t other = from == i ? to : from;
        int64_t x = num[i] * (from == i ? q->emitted : q->taken);
        int64_t y = den[i] * (from == i ? q->taken : q->emitted);
        const int64_t g = std::gcd(x, y);
        x /= g;
        y /= g;
        if (x > kMaxIteration || y > kMaxIteration) return "an iteration is very long";
        if (num[other] == 0) {
          num[other] = x;
          den[other] = y;
          todo.push_back(other);
        } else if (num[other] != x || den[other] != y) {
          return "tokens pile up or run out: the part has no repeating sequence";
        }
      }
    }
    int64_t scale = 1;
    for (int64_t d : den) {
      scale = std::lcm(scale, d);
      if (scale > kMaxIteration) return "an iteration is very long";
    }
    int64_t total = 0, common = 0;
    for (size_t i = 0; i < n; ++i) {
      // Two transitions may be connected through nothing but a sink.
      if (num[i] == 0) return "the part is not connected";
      num[i] = num[i] * (scale / den[i]);
      common = std::gcd(common, num[i]);
    }
    for (size_t i = 0; i < n; ++i) {
      part.repetitions.push_back(num[i] / common);
      total += num[i] / common;
    }
    if (total > kMaxIteration) return "an iteration is very long";
    return "";
  }

  // Depth first, so that tokens are taken soon after they were put and queues stay short; from
  // the highest id, since tokens usually move towards higher ones.
  string order(StaticPart& part) const {
    std::vector<int64_t> tokens, least(part.queues.size(), 0), left = part.repetitions;
    std::vector<std::vector<size_t>> in(left.size()), out(left.size());
    for (size_t q = 0; q < part.queues.size(); ++q) {
      tokens.push_back(part.queues[q].initial);
      in[index_[part.queues[q].consumer]].push_back(q);
      out[index_[part.queues[q].producer]].push_back(q);
    }
    const std::vector<int64_t> start = tokens;
    std::vector<size_t> stack;
    for (size_t i = 0; i < left.size(); ++i) stack.push_back(i);
    while (!stack.empty()) {
      const size_t i = stack.back();
      const bool ready = left[i] > 0 && std::all_of(in[i].begin(), in[i].end(), [&](size_t q) {
                           return tokens[q] >= part.queues[q].needed;
                         });
      if (!ready) {
        stack.pop_back();
        continue;
      }
      const uint32_t k = part.transitions[i];
      part.order.push_back({k, static_cast<uint32_t>(part.repetitions[i] - left[i])});
      --left[i];
      for (size_t q : in[i]) {
        // With `start` replaced by s, as many were there as s - start more.
        least[q] = std::max(least[q], part.queues[q].needed - tokens[q] + start[q]);
        tokens[q] -= part.queues[q].taken;
      }
      for (size_t q : out[i]) {
        tokens[q] += part.queues[q].emitted;
        if (index_[part.queues[q].consumer] != i) stack.push_back(index_[part.queues[q].consumer]);
      }
    }
    for (int64_t l : left) {
      if (l != 0) return "its tokens at the start do not let it repeat";
    }
    for (size_t q = 0; q < part.queues.size(); ++q) {
      LPN_ASSERT(tokens[q] == start[q]);
      if (!part.queues[q].fixed) part.queues[q].initial = std::max<int64_t>(least[q], 0);
    }
    return "";
  }

  // Tokens of a place at the start when the parameters do not matter.
  std::optional<int64_t> initial_tokens(uint32_t p) const {
    const Place& place = net_.places[p];
    if (place.credit_of) {
      const auto capacity = constant(*net_[*place.credit_of].capacity);
      const auto own = initial_tokens(static_cast<uint32_t>(*place.credit_of));
      if (!capacity || !own) return std::nullopt;
      return *capacity - *own;
    }
    int64_t total = 0;
    for (const Initial& i : place.initial) {
      const auto count = constant(i.count);
      if (!count) return std::nullopt;
      total += *count;
    }
    return total;
  }

  // The same with the parameters' defaults: enough to look for a sequence with.
  int64_t default_tokens(uint32_t p) const {
    const Place& place = net_.places[p];
    const ParamValues params = bind_params(net_);
    try {
      if (place.credit_of) {
        const Place& of = net_[*place.credit_of];
        return param_value(net_, params, *of.capacity, "capacity", 0) -
               default_tokens(static_cast<uint32_t>(*place.credit_of));
      }
      int64_t total = 0;
      for (const Initial& i : place.initial) {
        total += param_value(net_, params, i.count, "count", 0);
      }
      return total;
    } catch (const Error&) {
      return 0;  // defaults that no run can use; then there may be no sequence
    }
  }

  const Net& net_;
  std::vector<std::vector<End>> producers_, consumers_;
  UnionFind parts_;
  std::vector<uint32_t> index_;  // of a transition in its part
  StaticParts result_;
};

}  // namespace

int64_t StaticPart::repetition(uint32_t transition) const {
  const auto at = std::lower_bound(transitions.begin(), transitions.end(), transition);
  LPN_ASSERT(at != transitions.end() && *at == transition);
  return repetitions[static_cast<size_t>(at - transitions.begin())];
}

StaticParts static_parts(const Net& net) { return Scheduler(net).run(); }

}  // namespace lpn::sim

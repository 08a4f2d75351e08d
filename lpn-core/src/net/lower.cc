#include "lpn/net/lower.h"

#include <map>
#include <utility>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/net/verify.h"

namespace lpn {
namespace {

// max(a - b, 0), folded when both are constants.
ExprId excess(ExprPool& pool, ExprId a, ExprId b) {
  std::int64_t x = 0, y = 0;
  if (pool.is_const(a, x) && pool.is_const(b, y)) return pool.constant(x > y ? x - y : 0);
  if (!(pool.is_const(b, y) && y == 0)) a = pool.binary(Op::kSub, a, b);
  return pool.binary(Op::kMax, a, pool.constant(0));  // a negative count is the emission's fault
}

ExprId sum(ExprPool& pool, ExprId a, ExprId b) {
  std::int64_t x = 0, y = 0;
  if (pool.is_const(a, x) && pool.is_const(b, y) && x >= 0 && y >= 0 && x <= kMaxTokens &&
      y <= kMaxTokens) {
    return pool.constant(x + y);
  }
  return pool.binary(Op::kAdd, a, b);
}

bool is_zero(const ExprPool& pool, ExprId id) {
  std::int64_t x = 0;
  return pool.is_const(id, x) && x == 0;
}

// What one transition does to a place with a capacity.
struct Flow {
  ExprId emitted, taken;
  bool puts = false;  // it has an output arc there
};

// The credits that `t` takes and gives back. An arc that always takes none is left out, unless a
// later one may fail: its number stands in that error.
void add_arcs(Net& net, Transition& t, const std::map<PlaceId, Flow>& flows,
              const std::map<PlaceId, PlaceId>& credits) {
  ExprPool& pool = net.exprs;
  std::vector<std::pair<PlaceId, ExprId>> wanted;
  std::size_t may_fail = 0;  // up to here
  for (const auto& [place, flow] : flows) {
    const PlaceId credit = credits.at(place);
    if (flow.puts) {
      wanted.emplace_back(credit, excess(pool, flow.emitted, flow.taken));
      if (!pool.is_const(wanted.back().second)) may_fail = wanted.size();
    }
    if (is_zero(pool, flow.taken)) continue;
    const ExprId returned = excess(pool, flow.taken, flow.emitted);
    if (is_zero(pool, returned)) continue;
    t.outputs.push_back({.place = credit,
                         .emissions = {{.count = {returned, t.source}, .fields = {}}},
                         .source = t.source});
  }
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto& [credit, weight] = wanted[k];
    if (is_zero(pool, weight) && k >= may_fail) continue;
    t.inputs.push_back({.name = net[credit].name,
                        .place = credit,
                        .weight = {weight, t.source},
                        .threshold = {},
                        .guard = {},
                        .source = t.source});
  }
}

}  // namespace

Net lower(const Net& given) {
  Net net = given;
  std::map<PlaceId, PlaceId> credits;  // place with a capacity -> its credit place
  TypeId unit{};
  for (std::size_t k = 0; k < given.places.size(); ++k) {
    if (!given.places[k].capacity) continue;
    if (credits.empty()) {
      unit = static_cast<TypeId>(net.types.size());
      net.types.push_back({.name = "credit", .fields = {}, .source = {}});
    }
    Place credit;
    credit.name = "credit(" + given.places[k].name + ")";  // no is_name: cannot clash
    credit.type = unit;
    credit.source = given.places[k].source;
    credit.credit_of = static_cast<PlaceId>(k);
    credits.emplace(static_cast<PlaceId>(k), static_cast<PlaceId>(net.places.size()));
    net.places.push_back(std::move(credit));
  }
  if (credits.empty()) return net;

  ExprPool& pool = net.exprs;
  const ExprId zero = pool.constant(0);
  for (Transition& t : net.transitions) {
    std::map<PlaceId, Flow> flows;
    for (const OutputArc& arc : t.outputs) {
      if (!credits.count(arc.place)) continue;
      Flow& flow = flows.try_emplace(arc.place, Flow{zero, zero}).first->second;
      flow.puts = true;
      for (const Emission& emission : arc.emissions) {
        flow.emitted = is_zero(pool, flow.emitted) ? emission.count.id
                                                   : sum(pool, flow.emitted, emission.count.id);
      }
    }
    for (std::uint32_t k = 0; k < t.inputs.size(); ++k) {
      const InputArc& arc = t.inputs[k];
      if (arc.inhibit || !credits.count(arc.place)) continue;
      Flow& flow = flows.try_emplace(arc.place, Flow{zero, zero}).first->second;
      flow.taken = pool.is_const(arc.weight.id) ? arc.weight.id : pool.taken(k);
    }
    add_arcs(net, t, flows, credits);
  }
  return net;
}

}  // namespace lpn

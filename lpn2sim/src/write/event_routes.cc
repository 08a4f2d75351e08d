#include "write/event_routes.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "lpn/expr/partial.h"
#include "lpn/net/bounds.h"

namespace lpn::sim {

using std::int64_t;
using std::size_t;
using std::uint32_t;

namespace {

constexpr int64_t kLongestTable = 4096;
constexpr std::uint64_t kShort = 24;  // nodes of guards; looking at a transition costs more

// Whether a term cannot fail, and reads of a run no more than `may_read` lets it.
template <typename MayRead>
bool is_safe(const Net& net, NetBounds& bounds, ExprId id, const MayRead& may_read) {
  const Node& n = net.exprs[id];
  if (kind_of(n.op) == Kind::kRun) return may_read(n);
  if (kind_of(n.op) == Kind::kAggregate) return false;
  std::array<Range, 3> ranges;
  for (int k = 0; k < op_info(n.op).arity; ++k) {
    const auto at = static_cast<size_t>(k);
    if (!is_safe(net, bounds, n.kids[at], may_read)) return false;
    ranges[at] = bounds.of(n.kids[at]);
  }
  return !partial(net.exprs, n, ranges).any();
}

bool is_first_token(const Net& net, const Node& n) {
  int64_t which = 0;
  return n.op == Op::kToken && net.exprs.is_const(n.kids[0], which) && which == 0;
}

struct Candidate {
  uint32_t arc = 0;
  ExprId term{};
  int64_t value = 0;
};

// Arc `a` as one of a route; false when it is none.
bool candidate(const Net& net, const std::vector<ArcInfo>& arcs, size_t k, uint32_t a,
               Candidate& found) {
  const Transition& t = net.transitions[k];
  const ArcInfo& arc = arcs[a];
  if (!t.inputs[a].guard || arc.need != 1 || arc.weight < 0) return false;
  if (arc.free_read || arc.occupancy_read) return false;
  for (uint32_t b = 0; b < arcs.size(); ++b) {
    if (b != a && arcs[b].place == arc.place) return false;
    // What comes before it must be there whenever it is asked.
    if (b < a && !t.inputs[b].inhibit && (arcs[b].need < 0 || t.inputs[b].guard)) return false;
  }
  const Node& guard = net.exprs[t.inputs[a].guard->id];
  if (guard.op != Op::kEq) return false;
  ExprId term = guard.kids[0];
  if (!net.exprs.is_const(guard.kids[1], found.value)) {
    term = guard.kids[1];
    if (!net.exprs.is_const(guard.kids[0], found.value)) return false;
  }
  NetBounds bounds(net, &t);
  const auto of_arc = [&](const Node& n) { return n.a == a && is_first_token(net, n); };
  if (net.exprs[term].type != Type::kInt || !is_safe(net, bounds, term, of_arc)) return false;
  found.arc = a;
  found.term = term;
  return true;
}

}  // namespace

std::vector<Route> find_routes(const Net& net, const std::vector<TransitionInfo>& infos,
                               size_t fewest) {
  std::vector<std::map<std::tuple<uint32_t, ExprId>, Route>> all(net.places.size());
  for (size_t k = 0; k < infos.size(); ++k) {
    for (uint32_t a = 0; a < infos[k].arcs.size(); ++a) {
      Candidate c;
      if (net.transitions[k].inputs[a].inhibit || !candidate(net, infos[k].arcs, k, a, c)) continue;
      Route& route = all[infos[k].arcs[a].place][{c.arc, c.term}];
      route.arc = c.arc;
      route.term = c.term;
      route.member.emplace(c.value, static_cast<uint32_t>(k));  // a second one is asked as ever
    }
  }
  std::vector<Route> routes(net.places.size());
  for (size_t p = 0; p < all.size(); ++p) {
    for (auto& [key, route] : all[p]) {
      // As unsigned numbers, in which a difference cannot overflow.
      const auto span = static_cast<std::uint64_t>(route.member.rbegin()->first) -
                        static_cast<std::uint64_t>(route.member.begin()->first);
      if (span >= static_cast<std::uint64_t>(kLongestTable)) continue;
      if (route.member.size() >= std::max(fewest, routes[p].member.size() + 1)) {
        routes[p] = std::move(route);
      }
    }
  }
  return routes;
}

std::vector<uint32_t> early_guards(const Net& net, const TransitionInfo& info, size_t k) {
  const Transition& t = net.transitions[k];
  NetBounds bounds(net, &t);
  std::vector<uint32_t> found;
  std::uint64_t nodes = 0;
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    if (t.inputs[a].inhibit) continue;
    if (info.arcs[a].need < 0) break;
    if (!t.inputs[a].guard) continue;
    const ExprId guard = t.inputs[a].guard->id;
    const bool routed = info.routed_by == info.arcs[a].place;
    if (!routed && (nodes += net.exprs.tree_size(guard)) > kShort) break;
    const bool safe = is_safe(net, bounds, guard, [&](const Node& n) {
      if (n.op == Op::kFree || n.op == Op::kOccupancy) return true;
      return is_first_token(net, n) && info.arcs[n.a].need > 0;
    });
    if (!safe) break;
    found.push_back(a);
  }
  return found;
}

}  // namespace lpn::sim

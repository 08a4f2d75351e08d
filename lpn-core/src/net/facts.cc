#include "lpn/net/facts.h"

#include <algorithm>

namespace lpn {
namespace {

std::optional<std::int64_t> constant(const Net& net, const Formula& f) {
  std::int64_t value = 0;
  if (static_cast<std::size_t>(f.id) >= net.exprs.size()) return std::nullopt;
  if (!net.exprs.is_const(f.id, value)) return std::nullopt;
  return value;
}

}  // namespace

ArcFacts arc_facts(const Net& net, const Transition& t, std::uint32_t arc) {
  const InputArc& in = t.inputs[arc];
  if (in.inhibit) return {.weight = 0, .need = 0, .reads_head = false};
  ArcFacts facts;
  facts.weight = constant(net, in.weight);
  facts.need = facts.weight;
  if (in.threshold && facts.weight) {
    const auto threshold = constant(net, *in.threshold);
    facts.need = threshold ? std::optional(std::max(*facts.weight, *threshold)) : std::nullopt;
  }
  const auto reads_own = [&](const Formula& f) {
    if (static_cast<std::size_t>(f.id) >= net.exprs.size()) return false;
    const Reads reads = net.exprs.reads(f.id);
    return std::find(reads.tokens.begin(), reads.tokens.end(), arc) != reads.tokens.end();
  };
  // Most are constant, and what reads nothing need not be walked.
  facts.reads_head = (!facts.weight && reads_own(in.weight)) ||
                     (in.threshold && !constant(net, *in.threshold) && reads_own(*in.threshold));
  return facts;
}

bool must_drain(const Place& place) {
  const bool bounded = place.capacity && !place.done && !place.sink;
  return place.start || place.drain || bounded;
}

std::vector<PlaceUse> place_uses(const Net& net) {
  std::vector<PlaceUse> uses(net.places.size());
  for (std::uint32_t k = 0; k < net.transitions.size(); ++k) {
    const auto id = static_cast<TransitionId>(k);
    const Transition& t = net.transitions[k];
    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
      PlaceUse& use = uses[static_cast<std::size_t>(t.inputs[a].place)];
      const ArcFacts facts = arc_facts(net, t, a);
      if (facts.only_watches())
        use.watchers.push_back(id);
      else if (facts.takes_nothing())
        use.readers.push_back(id);
      else
        use.takers.push_back(id);
    }
    for (const OutputArc& arc : t.outputs) {
      const bool never =
          std::all_of(arc.emissions.begin(), arc.emissions.end(),
                      [&](const Emission& e) { return constant(net, e.count) == 0; });
      auto& producers = uses[static_cast<std::size_t>(arc.place)].producers;
      if (!never && (producers.empty() || producers.back() != id)) producers.push_back(id);
    }
  }
  return uses;
}

bool constant_delay(const Net& net, const Transition& t) {
  return net.exprs.reads(t.delay.id).only_params();
}

bool one_server(const Net& net, const Transition& t) {
  return t.servers && constant(net, *t.servers) == 1;
}

bool is_assertion(const Net& net, const Transition& t) {
  if (!t.outputs.empty() || t.inputs.empty() || !one_server(net, t)) return false;
  for (std::uint32_t k = 0; k < t.inputs.size(); ++k) {
    if (t.inputs[k].inhibit || !arc_facts(net, t, k).only_watches()) return false;
    if (t.inputs[k].guard && k + 1 != t.inputs.size()) return false;
  }
  const auto& guard = t.inputs.back().guard;
  if (!guard || static_cast<std::size_t>(guard->id) >= net.exprs.size()) return false;
  ExprId value = guard->id;
  while (net.exprs[value].op == Op::kAssume) value = net.exprs[value].kids[1];
  return value != guard->id && net.exprs[value].op == Op::kFalse;
}

const Formula* formula_at(const Transition& t, const Site& site) {
  const auto of = [](const std::optional<Formula>& f) { return f ? &*f : nullptr; };
  switch (site.kind) {
    case SiteKind::kWeight: return &t.inputs[site.arc].weight;
    case SiteKind::kThreshold: return of(t.inputs[site.arc].threshold);
    case SiteKind::kGuard: return of(t.inputs[site.arc].guard);
    case SiteKind::kDelay: return &t.delay;
    case SiteKind::kInterval: return of(t.interval);
    case SiteKind::kCount: return &t.outputs[site.arc].emissions[site.emission].count;
    case SiteKind::kField: return &t.outputs[site.arc].emissions[site.emission].fields[site.field];
    case SiteKind::kNone: return nullptr;
  }
  return nullptr;
}

}  // namespace lpn

#include "write/event_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lpn/net/bounds.h"
#include "lpn/net/facts.h"
#include "lpn/net/lower.h"
#include "lpn/run/run.h"
#include "write/flow_stats.h"

namespace lpn::sim {

using std::size_t;
using std::uint32_t;

namespace {

constexpr std::uint64_t kMaxNodes = 1 << 24;  // of all expressions, visited as trees

struct Readers {
  const ExprPool& pool;
  std::vector<bool> tokens, free, occupancy;
  Readers(const ExprPool& p, size_t arcs) : pool(p), tokens(arcs), free(arcs), occupancy(arcs) {}
  void add(ExprId id) {
    const Reads r = pool.reads(id);
    for (uint32_t a : r.tokens) tokens[a] = true;
    for (uint32_t a : r.free) free[a] = true;
    for (uint32_t a : r.occupancy) occupancy[a] = true;
  }
};

}  // namespace

EventFacts::EventFacts(const Net& authored, const GenerateOptions& options)
    : declared(authored),
      net(lower(authored)),
      plan(make_plan(net, options.solver, options.assume)),
      metered(plan.whole() && FlowStats(net, declared.places.size(), plan).possible()),
      contested(options.contested),
      apart(net.transitions.size() > options.inlined) {
  analyse();
  routes = find_routes(net, infos, options.routed);
  for (size_t p = 0; p < routes.size(); ++p) {
    for (const auto& [value, k] : routes[p].member) infos[k].routed_by = p;
  }
  for (size_t k = 0; k < infos.size(); ++k) infos[k].early = early_guards(net, infos[k], k);
  waits = find_waits(net, infos, consumers);
  copies.places.resize(net.places.size());
  copies.transitions.resize(infos.size());
  if (apart) copies = find_copies(net, infos);
}

void EventFacts::analyse() {
  std::uint64_t nodes = 0;
  const auto count = [&](const Formula& f) { nodes += net.exprs.tree_size(f.id); };
  consumers.resize(net.places.size());
  credits.resize(net.places.size());
  for (size_t c = declared.places.size(); c < net.places.size(); ++c) {
    credits[static_cast<size_t>(*net.places[c].credit_of)] = c;
  }
  locked.resize(net.places.size());
  for (size_t k = 0; k < net.transitions.size(); ++k) {
    const Transition& t = net.transitions[k];
    TransitionInfo info;
    info.declared_inputs = declared.transitions[k].inputs.size();
    info.declared_outputs = declared.transitions[k].outputs.size();
    Readers all(net.exprs, t.inputs.size()), arcs(net.exprs, t.inputs.size());
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      const InputArc& arc = t.inputs[a];
      ArcInfo ai;
      ai.place = static_cast<size_t>(arc.place);
      ai.credit = net[arc.place].credit_of.has_value();
      for (const Formula* f : formulas_of(arc)) {
        count(*f);
        arcs.add(f->id);
        all.add(f->id);
      }
      const ArcFacts facts = arc_facts(net, t, a);
      ai.reads_head = facts.reads_head;
      if (!arc.inhibit) {
        ai.weight = facts.weight.value_or(-1);
        ai.need = facts.need.value_or(-1);
      }
      ai.least_need = facts.least_need();
      info.arcs.push_back(ai);
      consumers[ai.place].push_back(static_cast<uint32_t>(k));
    }
    count(t.delay);
    all.add(t.delay.id);
    if (t.interval) {
      count(*t.interval);
      all.add(t.interval->id);
    }
    for (const OutputArc& arc : t.outputs) {
      if (arc.emissions.size() > kMaxArcs) throw too_large();
      for (const Emission& e : arc.emissions) {
        count(e.count);
        all.add(e.count.id);
        for (const Formula& f : e.fields) {
          count(f);
          all.add(f.id);
        }
      }
    }
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      ArcInfo& ai = info.arcs[a];
      ai.read_by_arcs = arcs.tokens[a] || arcs.free[a];
      ai.free_read = arcs.free[a];
      ai.occupancy_read = all.occupancy[a];
      ai.tokens_read = all.tokens[a] && !net.type_of(t.inputs[a].place).fields.empty();
      if (ai.occupancy_read || t.inputs[a].inhibit) locked[ai.place] = true;
    }
    for (const OutputArc& arc : t.outputs) {
      for (const Emission& e : arc.emissions) {
        if (!is_const(e.count) && bounds(net, &t, e.count.id).hi <= 1) lone.insert(&e);
      }
    }
    choose_keep(t, info);
    infos.push_back(std::move(info));
  }
  if (nodes > kMaxNodes || net.transitions.size() >= (1u << 20)) throw too_large();
  find_contests();
}

void EventFacts::find_contests() {
  contests.resize(net.places.size());
  std::vector<std::map<std::int64_t, std::vector<uint32_t>>> rivals(net.places.size());
  for (size_t k = 0; k < net.transitions.size(); ++k) {
    const size_t safe = safe_arcs(k);
    for (size_t a = 0; a < safe; ++a) {
      const ArcInfo& ai = infos[k].arcs[a];
      // Whoever reads the place otherwise has to see every change of it.
      if (net.transitions[k].inputs[a].inhibit || ai.need < 1) continue;
      if (ai.read_by_arcs || ai.occupancy_read) continue;
      rivals[ai.place][ai.need].push_back(static_cast<uint32_t>(k));
    }
  }
  for (size_t p = 0; p < net.places.size(); ++p) {
    for (auto& [need, members] : rivals[p]) {
      if (members.size() < std::max(contested, contests[p].rivals.size() + 1)) continue;
      contests[p] = {need, std::move(members)};
    }
  }
}

Error EventFacts::too_large() const {
  return Error(
      "E-too-large",
      fmt::format("net '{}' is too large to compile; run it with --engine interp", net.name));
}

std::vector<const Formula*> EventFacts::formulas_of(const InputArc& arc) {
  std::vector<const Formula*> all;
  if (arc.inhibit) return all;
  all.push_back(&arc.weight);
  if (arc.threshold) all.push_back(&*arc.threshold);
  if (arc.guard) all.push_back(&*arc.guard);
  return all;
}

void EventFacts::choose_keep(const Transition& t, TransitionInfo& info) {
  std::int64_t value = 0;
  info.zero_delay = net.exprs.is_const(t.delay.id, value) && value == 0;
  info.one_server = one_server(net, t);
  if (info.zero_delay && !remembers(t, info))
    info.keep = Keep::kCount;
  else if (info.one_server)
    info.keep = Keep::kSingle;
  else if (t.ordered || constant_delay(net, t))
    info.keep = Keep::kFifo;
  else
    info.keep = Keep::kPool;
}

size_t EventFacts::safe_arcs(size_t k) const {
  const Transition& t = net.transitions[k];
  size_t a = 0;
  for (; a < t.inputs.size(); ++a) {
    if (t.inputs[a].inhibit) continue;
    if (infos[k].arcs[a].need < 0) break;
    if (t.inputs[a].guard) return a + 1;
  }
  return a;
}

bool EventFacts::is_rival(size_t p, uint32_t k) const {
  const auto& rivals = contests[p].rivals;
  return std::binary_search(rivals.begin(), rivals.end(), k);
}

bool EventFacts::is_routed(size_t p, uint32_t k) const { return infos[k].routed_by == p; }

bool EventFacts::is_const(const Formula& f) const { return net.exprs.is_const(f.id); }

std::int64_t EventFacts::const_of(const Formula& f) const {
  std::int64_t value = 0;
  LPN_ASSERT(net.exprs.is_const(f.id, value));
  return value;
}

bool EventFacts::const_count(const Emission& e) const {
  return is_const(e.count) && const_of(e.count) <= kMaxTokens;
}

bool EventFacts::const_total(const OutputArc& arc) const {
  return std::all_of(arc.emissions.begin(), arc.emissions.end(),
                     [this](const Emission& e) { return const_count(e); });
}

bool EventFacts::is_unit(const OutputArc& arc) const {
  return net.type_of(arc.place).fields.empty();
}

bool EventFacts::one_row(const Emission& e) const {
  return const_count(e) && const_of(e.count) == 1;
}

bool EventFacts::remembers(const Transition& t, const TransitionInfo& info) const {
  for (const OutputArc& arc : t.outputs) {
    for (const Emission& e : arc.emissions) {
      if (!const_count(e)) return true;
      if (const_of(e.count) == 0) continue;
      for (const Formula& f : e.fields) {
        if (!is_const(f)) return true;
      }
    }
  }
  for (const ArcInfo& arc : info.arcs) {
    if (arc.weight < 0) return true;  // the taken count, for occupancies
  }
  return false;
}

bool EventFacts::brief(size_t k) const {
  return apart && infos[k].zero_delay && infos[k].keep == Keep::kSingle;
}

bool EventFacts::flows() const { return plan.whole() || mixed(); }

bool EventFacts::mixed() const { return plan.mixed(); }

bool EventFacts::has_done() const {
  return std::any_of(net.places.begin(), net.places.end(), [](const Place& p) { return p.done; });
}

bool EventFacts::timed(const Transition& t) { return t.interval || t.clock; }

bool EventFacts::timed() const {
  return std::any_of(net.transitions.begin(), net.transitions.end(),
                     [](const Transition& t) { return timed(t); });
}

bool EventFacts::has_rows(const Transition& t) const {
  for (const OutputArc& arc : t.outputs) {
    for (const Emission& e : arc.emissions) {
      if (rows(arc, e)) return true;
    }
  }
  return false;
}

bool EventFacts::rows(const OutputArc& arc, const Emission& e) const {
  if (is_unit(arc) || one_row(e) || row_or_none(e)) return false;
  if (const_count(e) && const_of(e.count) == 0) return false;
  return std::any_of(e.fields.begin(), e.fields.end(),
                     [&](const Formula& f) { return !is_const(f); });
}

bool EventFacts::watched(size_t p) const {
  for (uint32_t k : consumers[p]) {
    for (uint32_t a = 0; a < infos[k].arcs.size(); ++a) {
      const ArcInfo& ai = infos[k].arcs[a];
      const bool looks =
          net.transitions[k].inputs[a].inhibit || ai.occupancy_read || ai.read_by_arcs;
      if (ai.place == p && looks) return true;
    }
  }
  return false;
}

bool EventFacts::only_counts(size_t k) const {
  return sim::only_counts(net.transitions[k], infos[k]);
}

// Servers that several commits of a group free let it start more than once, the others by the
// first of these starts.
bool EventFacts::by_starts(size_t k) const {
  return !only_counts(k) || (net.transitions[k].servers && !infos[k].one_server);
}

bool EventFacts::level_kept(size_t p) const {
  return p < declared.places.size() && !consumers[p].empty() && !locked[p];
}

bool EventFacts::came_kept(size_t p) const {
  return consumers[p].size() == 1 && waits[consumers[p][0]].how == Waiting::kByTimes;
}

bool EventFacts::asked_what_came(size_t p) const {
  return std::any_of(consumers[p].begin(), consumers[p].end(),
                     [this](uint32_t k) { return !net.transitions[k].clock; });
}

bool EventFacts::asked_whose(size_t p) const {
  return std::any_of(consumers[p].begin(), consumers[p].end(),
                     [this](uint32_t k) { return net.transitions[k].clock.has_value(); });
}

bool EventFacts::asked_who_took(size_t p) const {
  const auto& all = consumers[p];
  return std::any_of(all.begin(), all.end(), [&](uint32_t k) { return k != all.front(); }) &&
         std::any_of(all.begin(), all.end(), [this](uint32_t k) { return !only_counts(k); });
}

bool EventFacts::outlet(size_t p) const {
  return p < declared.places.size() && consumers[p].empty();
}

bool EventFacts::stamped(size_t p) const {
  return outlet(p) || (mixed() && plan.passage[p] == Passage::kOutOf);
}

const char* EventFacts::flow_condition() const {
  if (!plan.whole() || plan.assumes()) return "!LPNRT_STATS && !LPNRT_PATH";
  return metered ? "1" : "!LPNRT_STATS";
}

}  // namespace lpn::sim

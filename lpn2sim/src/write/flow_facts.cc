#include "write/flow_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lpn/base/error.h"
#include "lpn/net/facts.h"
#include "plan/schedule.h"

namespace lpn::sim {

using std::size_t;
using std::string;
using std::uint32_t;

FlowFacts::FlowFacts(const Net& net, size_t declared, const Plan& plan)
    : net_(net), declared_(declared), plan_(plan), printer_(net_, *this) {
  find_live();
}

bool FlowFacts::drains(size_t p) const { return must_drain(net_.places[p]); }

void FlowFacts::read(size_t k, ExprId id, bool& changed) {
  std::vector<ExprId> todo{id};
  std::set<uint32_t> seen;
  while (!todo.empty()) {
    const ExprId at = todo.back();
    todo.pop_back();
    if (!seen.insert(static_cast<uint32_t>(at)).second) continue;
    const Node& n = net_.exprs[at];
    if (n.op == Op::kToken) {
      auto flag = live_[place_of(k, n.a)].begin() + n.b;
      if (!*flag) *flag = changed = true;
    }
    const int arity = op_info(n.op).arity;
    for (int c = 0; c < arity; ++c) todo.push_back(n.kids[static_cast<size_t>(c)]);
  }
}

void FlowFacts::find_live() {
  for (size_t p = 0; p < net_.places.size(); ++p) {
    // A source keeps its rows as they were loaded; what may be left at the end is kept whole.
    const bool travels = passage(p) == Passage::kFifo || passage(p) == Passage::kOutOf;
    live_.emplace_back(width(p), !travels || !drains(p));
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      if (event(k)) continue;
      const Transition& t = net_.transitions[k];
      for (const InputArc& arc : t.inputs) {
        read(k, arc.weight.id, changed);
        if (arc.threshold) read(k, arc.threshold->id, changed);
        if (arc.guard) read(k, arc.guard->id, changed);
      }
      read(k, t.delay.id, changed);
      if (t.interval) read(k, t.interval->id, changed);
      for (size_t o = 0; o < t.outputs.size(); ++o) {
        for (size_t e = 0; e < t.outputs[o].emissions.size(); ++e) {
          const Emission& emission = t.outputs[o].emissions[e];
          read(k, emission.count.id, changed);
          for (size_t f = 0; f < emission.fields.size(); ++f) {
            if (live(k, o, f) || can_fail(k, o, e, f)) read(k, emission.fields[f].id, changed);
          }
        }
      }
    }
  }
  find_references();
  for (size_t p = 0; p < net_.places.size(); ++p) {
    std::vector<uint32_t> columns;
    uint32_t next = 0;
    for (size_t f = 0; f < width(p); ++f) {
      columns.push_back(refers_[p] ? static_cast<uint32_t>(f) : live_[p][f] ? next++ : 0);
    }
    columns_.push_back(std::move(columns));
  }
}

void FlowFacts::find_references() {
  refers_.assign(net_.places.size(), false);
  // Straight-line code carries values.
  if (!plan_.assumes() && !static_parts(net_).parts.empty()) return;
  for (size_t p = 0; p < net_.places.size(); ++p) {
    refers_[p] = passage(p) == Passage::kFifo && net_.places[p].initial.empty() &&
                 !net_.places[p].start && std::count(live_[p].begin(), live_[p].end(), true) >= 2;
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
      for (const OutputArc& out : net_.transitions[k].outputs) {
        const auto p = static_cast<size_t>(out.place);
        if (!refers_[p]) continue;
        const bool passes = std::all_of(
            out.emissions.begin(), out.emissions.end(),
            [&](const Emission& e) { return no_row(e) || passed(k, p, e).has_value(); });
        if (!passes) {
          refers_[p] = false;
          changed = true;
        }
      }
    }
  }
}

size_t FlowFacts::width(size_t p) const { return net_[net_.places[p].type].fields.size(); }

Passage FlowFacts::passage(size_t p) const { return plan_.passage[p]; }

bool FlowFacts::event(size_t k) const { return !plan_.why_not[k].empty(); }

bool FlowFacts::queued(size_t p) const {
  return passage(p) == Passage::kFifo || passage(p) == Passage::kOutOf;
}

bool FlowFacts::of_events(size_t p) const {
  return passage(p) == Passage::kEvent || passage(p) == Passage::kInto;
}

size_t FlowFacts::place_of(size_t k, uint32_t arc) const {
  return static_cast<size_t>(net_.transitions[k].inputs[arc].place);
}

bool FlowFacts::is_const(const Formula& f) const { return net_.exprs.is_const(f.id); }

std::int64_t FlowFacts::const_of(const Formula& f) const {
  std::int64_t value = 0;
  LPN_ASSERT(net_.exprs.is_const(f.id, value));
  return value;
}

bool FlowFacts::const_count(const Emission& e) const {
  return is_const(e.count) && const_of(e.count) <= kMaxTokens;
}

bool FlowFacts::one_row(const Emission& e) const {
  return const_count(e) && const_of(e.count) == 1;
}

bool FlowFacts::no_row(const Emission& e) const { return const_count(e) && const_of(e.count) == 0; }

std::optional<uint32_t> FlowFacts::passed(uint32_t k, size_t p, const Emission& e) const {
  const Node& first = net_.exprs[e.fields[0].id];
  if (event(k) || first.op != Op::kToken) return std::nullopt;
  const Node& which = net_.exprs[first.kids[0]];
  if (which.op != Op::kIndex && which.op != Op::kConst) return std::nullopt;
  for (uint32_t f = 0; f < e.fields.size(); ++f) {
    const Node& n = net_.exprs[e.fields[f].id];
    if (n.op != Op::kToken || n.a != first.a || n.b != f || n.kids[0] != first.kids[0]) {
      return std::nullopt;
    }
  }
  const size_t from = place_of(k, first.a);
  const bool stands = passage(from) == Passage::kSource || refers_[from];
  if (!stands || net_.places[from].type != net_.places[p].type) return std::nullopt;
  if (which.op == Op::kConst && (which.value < 0 || which.value >= arc(k, first.a).least_need)) {
    return std::nullopt;
  }
  return first.a;
}

bool FlowFacts::live(size_t k, size_t o, size_t f) const {
  return live_[static_cast<size_t>(net_.transitions[k].outputs[o].place)][f];
}

size_t FlowFacts::kept(size_t p) const {
  if (refers_[p]) return 1;
  return static_cast<size_t>(std::count(live_[p].begin(), live_[p].end(), true));
}

bool FlowFacts::can_fail(size_t k, size_t o, size_t e, size_t f) const {
  const OutputArc& arc = net_.transitions[k].outputs[o];
  const Formula& formula = arc.emissions[e].fields[f];
  if (is_const(formula)) return false;
  return printer_.may_fail(k, formula) || range_check(k, o, e, f);
}

bool FlowFacts::range_check(size_t k, size_t o, size_t e, size_t f) const {
  const OutputArc& arc = net_.transitions[k].outputs[o];
  const auto& range = net_.type_of(arc.place).fields[f].range;
  if (!range) return false;
  const Range r = printer_.range(k, arc.emissions[e].fields[f]);
  return r.lo < range->lo || r.hi > range->hi;
}

bool FlowFacts::any_dead_failure(uint32_t k, size_t o, size_t e) const {
  const auto& all = net_.transitions[k].outputs[o].emissions[e].fields;
  for (size_t f = 0; f < all.size(); ++f) {
    if (!live(k, o, f) && can_fail(k, o, e, f)) return true;
  }
  return false;
}

FlowFacts::Arc FlowFacts::arc(size_t k, uint32_t a) const {
  const ArcFacts facts = arc_facts(net_, net_.transitions[k], a);
  return {facts.weight.value_or(-1), facts.need.value_or(-1), facts.reads_head, facts.least_need()};
}

// Of constant numbers, those that are put one by one.
std::uint64_t FlowFacts::const_tokens(uint32_t k) const {
  std::uint64_t tokens = 0;
  for (const OutputArc& out : net_.transitions[k].outputs) {
    const auto p = static_cast<size_t>(out.place);
    if (width(p) == 0 && passage(p) == Passage::kSink) continue;
    for (const Emission& e : out.emissions) {
      if (const_count(e)) tokens += static_cast<std::uint64_t>(const_of(e.count));
    }
  }
  return tokens;
}
std::uint64_t FlowFacts::chunk(uint32_t k) const {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 18;
  return std::max<std::uint64_t>(1, kChunk / (1 + const_tokens(k)));
}
bool FlowFacts::emits_too_many(uint32_t k) const {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
  return const_tokens(k) > kMost;
}
bool FlowFacts::is_input(uint32_t k, size_t p) const {
  const auto& inputs = net_.transitions[k].inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const InputArc& in) { return static_cast<size_t>(in.place) == p; });
}

bool FlowFacts::feeds(uint32_t k) const {
  if (event(k)) return false;
  const auto& outputs = net_.transitions[k].outputs;
  return std::any_of(outputs.begin(), outputs.end(), [&](const OutputArc& out) {
    return passage(static_cast<size_t>(out.place)) == Passage::kInto;
  });
}

bool FlowFacts::contested(size_t p) const { return consumers(p).size() > 1; }

std::vector<uint32_t> FlowFacts::disputes(uint32_t k) const {
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < net_.transitions[k].inputs.size(); ++i) {
    if (disputed(place_of(k, i))) all.push_back(i);
  }
  const auto rank = [&](uint32_t i) {
    const Place& place = net_.places[place_of(k, i)];
    return std::pair(place.start || place.initial.empty(), place_of(k, i));
  };
  std::sort(all.begin(), all.end(), [&](uint32_t i, uint32_t j) { return rank(i) < rank(j); });
  return all;
}

std::vector<uint32_t> FlowFacts::gates(uint32_t k) const {
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < net_.transitions[k].inputs.size(); ++i) {
    const size_t p = place_of(k, i);
    if (!disputed(p) && queued(p) && arc(k, i).need >= 1) all.push_back(i);
  }
  return all;
}

bool FlowFacts::one_server(size_t k) const {
  const auto& servers = net_.transitions[k].servers;
  return servers && is_const(*servers) && const_of(*servers) == 1;
}

bool FlowFacts::many_servers(size_t k) const {
  return net_.transitions[k].servers && !one_server(k);
}

bool FlowFacts::unsorted(size_t p) const {
  if (passage(p) != Passage::kSink || width(p) == 0) return false;
  const std::vector<uint32_t> from = producers(p);
  const Actor& actor = plan_.actors[plan_.actor_of[from[0]]];
  if (!actor.in_order) return true;
  return std::any_of(from.begin(), from.end(),
                     [&](uint32_t k) { return plan_.actor_of[k] != plan_.actor_of[from[0]]; });
}

std::vector<uint32_t> FlowFacts::producers(size_t p) const {
  std::vector<uint32_t> all;
  for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
    if (event(k)) continue;
    for (const OutputArc& arc : net_.transitions[k].outputs) {
      if (static_cast<size_t>(arc.place) == p && (all.empty() || all.back() != k)) {
        all.push_back(k);
      }
    }
  }
  return all;
}

std::vector<uint32_t> FlowFacts::consumers(size_t p) const {
  std::vector<uint32_t> all;
  for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
    if (event(k)) continue;
    for (const InputArc& arc : net_.transitions[k].inputs) {
      if (static_cast<size_t>(arc.place) == p && (all.empty() || all.back() != k)) {
        all.push_back(k);
      }
    }
  }
  return all;
}

string FlowFacts::head(size_t, uint32_t a) const { return fmt::format("a{}", a); }

string FlowFacts::row(size_t k, uint32_t a, const string& index) const {
  const size_t p = place_of(k, a);
  if (passage(p) != Passage::kSource && !queued(p)) {
    return "static_cast<const i64*>(nullptr)";  // only watched
  }
  if (passage(p) == Passage::kSource) {
    return fmt::format("(@run_s{0}.rows + (@run_s{0}.next + {1}) * {2})", p, index, width(p));
  }
  if (!refers_.empty() && refers_[p]) {
    return fmt::format("reinterpret_cast<const i64*>(@run_q{}.row({})[0])", p, index);
  }
  return fmt::format("@run_q{}.row({})", p, index);
}

uint32_t FlowFacts::column(size_t k, uint32_t a, uint32_t field) const {
  return columns_.empty() ? field : columns_[place_of(k, a)][field];
}

string FlowFacts::needed(size_t k, uint32_t a) const {
  const Arc about = arc(k, a);
  if (about.need >= 0) return fmt::format("{}ull", std::max(about.need, about.least_need));
  return fmt::format("n{}", a);
}

std::int64_t FlowFacts::least_need(size_t k, uint32_t a) const { return arc(k, a).least_need; }

string FlowFacts::taken(size_t k, uint32_t a) const {
  const Arc about = arc(k, a);
  return about.weight >= 0 ? literal(about.weight) : fmt::format("w{}", a);
}

string FlowFacts::occupancy(size_t, uint32_t) const { return "0"; }  // no order-free net reads it

string FlowFacts::free(size_t, uint32_t) const { return "0"; }

string FlowFacts::value(size_t k, const Formula& f, const string& where) const {
  return printer_.of(k, f, where);
}

string FlowFacts::size(size_t p) const {
  return fmt::format("@run_{}{}.size()", passage(p) == Passage::kSource ? 's' : 'q', p);
}

string FlowFacts::count(uint32_t k, size_t o, size_t e) const {
  const Emission& emission = net_.transitions[k].outputs[o].emissions[e];
  return const_count(emission) ? literal(const_of(emission.count)) : fmt::format("c{}_{}", o, e);
}

string FlowFacts::fifo(size_t p, uint32_t k) const {
  return passage(p) == Passage::kInto ? fmt::format("in{}_{}", p, k) : fmt::format("@run_q{}", p);
}

string FlowFacts::arrival(uint32_t k, uint32_t i) const {
  const size_t p = place_of(k, i);
  if (!queued(p)) return "";
  const Arc about = arc(k, i);
  if (about.need < 0) return fmt::format("(n{0} != 0 ? @run_q{1}.instant(n{0} - 1) : 0)", i, p);
  const std::int64_t need = std::max(about.need, about.least_need);
  return need > 0 ? fmt::format("@run_q{}.instant({})", p, need - 1) : "";
}

string FlowFacts::node_of(uint32_t k, uint32_t i) const {
  const size_t p = place_of(k, i);
  const Arc about = arc(k, i);
  const string last = about.need < 0
                          ? fmt::format("n{} - 1", i)
                          : fmt::format("{}", std::max(about.need, about.least_need) - 1);
  return fmt::format("static_cast<u32>(@run_q{}.row({})[{}])", p, last, kept(p));
}

}  // namespace lpn::sim

#include "write/event_wakes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace lpn::sim {

using std::size_t;
using std::string;
using std::uint32_t;

void EventWakes::mark(const Woken& members, size_t own) {
  std::vector<uint32_t> always;
  for (uint32_t m : members.all()) {
    const string condition = names_.may_start(m, m == own);
    string look;
    for (const ArcInfo& ai : infos_[m].arcs) {
      if (!facts_.is_rival(ai.place, m)) continue;
      look +=
          fmt::format("if (@f{} < {}ull) {} else ", ai.place, ai.need, names_.park(ai.place, m));
    }
    if (condition.empty() && look.empty()) {
      always.push_back(m);
      continue;
    }
    look += fmt::format("dirty.insert(@T{});", m);
    if (condition.empty())
      line("{}", look);
    else
      line("if ({}) {{ {} }}", condition, look);
  }
  if (!always.empty()) line("@Wdirty_{};", fmt::join(always, ","));
}

void EventWakes::by_route(Woken& members) {
  constexpr size_t kMany = 4;  // to ask fewer is as quick
  std::map<size_t, std::vector<uint32_t>> routed;
  for (const uint32_t m : members.all()) {
    if (infos_[m].routed_by) routed[*infos_[m].routed_by].push_back(m);
  }
  for (const auto& [p, all] : routed) {
    if (all.size() < kMany) continue;
    line("if (@f{} != 0) {}", p, names_.send_on(p));
    for (const uint32_t m : all) members.erase(m);
  }
}

void EventWakes::look_at_consumers(size_t p) {
  for (uint32_t k : consumers_[p]) {
    if (!facts_.is_rival(p, k) && !facts_.is_routed(p, k)) line("dirty.insert(@T{});", k);
  }
  if (routes_[p].there()) line("if (@f{} == 1ull) {}", p, names_.send_on(p));
  if (!contests_[p].rivals.empty()) line("{}", names_.call_on(p));
}

void EventWakes::touch(const std::vector<uint32_t>& members) {
  const std::vector<uint32_t> asked = asked_of(members);
  if (!asked.empty()) line("LPNRT_IF_STATS(@Wtouched_{};)", fmt::join(asked, ","));
}

std::vector<uint32_t> EventWakes::asked_of(const std::vector<uint32_t>& members) const {
  std::vector<uint32_t> asked;
  for (const uint32_t m : members) {
    if (facts_.waits[m].how == Waiting::kAsked) asked.push_back(m);
  }
  return asked;
}

void EventWakes::touch_consumers(size_t p, const string& least) {
  std::vector<uint32_t> always;
  std::map<std::int64_t, std::vector<uint32_t>> by_need;
  for (uint32_t m : asked_of(consumers_[p])) {
    if (facts_.is_rival(p, m)) continue;
    const std::int64_t need = least.empty() ? 0 : only_need(p, m);
    (need > 0 ? by_need[need] : always).push_back(m);
  }
  touch(always);
  for (const auto& [need, members] : by_need) {
    line("LPNRT_IF_STATS(if ({} < {}ull) {{ @Wtouched_{}; }})", least, need,
         fmt::join(members, ","));
  }
}

void EventWakes::tokens_came(size_t p, const string& before) {
  touch_consumers(p, before);
  if (!facts_.came_kept(p)) return;
  for (const ArcInfo& ai : infos_[consumers_[p][0]].arcs) {
    if (ai.place != p || ai.need == 0) continue;
    line("LPNRT_IF_STATS(if ({} < {}ull) @came{} = now;)", before, ai.need, p);
  }
}

void EventWakes::peak(size_t p) {
  line("LPNRT_IF_STATS(if ({0} > place_meters[@P{1}].peak) place_meters[@P{1}].peak = {0};)",
       occupancy(p), p);
}

string EventWakes::occupancy(size_t p) const {
  if (facts_.level_kept(p)) return fmt::format("@level{}", p);
  return locked_[p] ? fmt::format("@f{0} + @l{0}", p) : fmt::format("@f{}", p);
}

std::int64_t EventWakes::only_need(size_t p, uint32_t m) const {
  std::int64_t need = 0;
  for (uint32_t a = 0; a < infos_[m].arcs.size(); ++a) {
    const ArcInfo& ai = infos_[m].arcs[a];
    if (ai.place != p) continue;
    const bool plain = !net_.transitions[m].inputs[a].inhibit && !ai.read_by_arcs &&
                       !ai.occupancy_read && ai.need > 0;
    if (!plain || need != 0) return 0;
    need = ai.need;
  }
  return need;
}

void EventWakes::meter_outside(size_t p, const string& tokens) {
  if (p < declared_.places.size()) {
    line("LPNRT_IF_STATS(place_meters[@P{}].change_outside({}, {}, now, last_commit);)", p, tokens,
         occupancy(p));
  }
}

void EventWakes::meter(size_t p, const string& tokens) {
  if (p < declared_.places.size()) {
    line("LPNRT_IF_STATS(place_meters[@P{0}].change({1}, now);)", p, tokens);
  }
}

void EventWakes::call_function(size_t p) {
  const auto& rivals = contests_[p].rivals;
  if (rivals.empty()) return;
  const uint32_t first = rivals.front();
  line("[[gnu::noinline]] void call_@N{0}(@A{0}) {{", p);
  if (rivals.back() - first + 1 == rivals.size()) {
    line("dirty.insert(@T{} + @parked{}.take_least());", first, p);
  } else {
    string table;
    for (const uint32_t k : rivals) table += fmt::format("{},", k - first);
    line("static constexpr u32 kRivals[] = {{{}}};", table);
    line("dirty.insert(@T{} + kRivals[@parked{}.take_least()]);", first, p);
  }
  line("}}");
}

void EventWakes::route_function(size_t p) {
  const Route& route = routes_[p];
  if (!route.there()) return;
  const std::int64_t least = route.member.begin()->first;
  uint32_t first = route.member.begin()->second;
  for (const auto& [value, k] : route.member) first = std::min(first, k);
  const auto span = static_cast<size_t>(route.member.rbegin()->first - least + 1);
  string table;
  for (size_t v = 0; v < span; ++v) {
    const auto to = route.member.find(least + static_cast<std::int64_t>(v));
    table += to == route.member.end() ? "kNobody," : fmt::format("{},", to->second - first);
  }
  line("[[gnu::noinline]] void route_@N{0}(@A{0}) {{ constexpr u32 kNobody = ~u32{{0}};", p);
  line("static constexpr u32 kTo[] = {{{}}};", table);
  line("const u64 at = static_cast<u64>({}) - static_cast<u64>({});", names_.route_term(p),
       literal(least));
  line("if (at < {}ull && kTo[at] != kNobody) dirty.insert(@T{} + kTo[at]); }}", span, first);
}

void EventWakes::touch_rivals_function() {
  line("void touch_rivals() {{");
  for (size_t p = 0; p < contests_.size(); ++p) {
    if (contests_[p].rivals.empty()) continue;
    line("if (const bool has = @f{0} >= {1}ull; has != @had{0}) {{ @had{0} = has;", p,
         contests_[p].need);
    touch(contests_[p].rivals);
    line("}}");
  }
  line("}}");
}

}  // namespace lpn::sim

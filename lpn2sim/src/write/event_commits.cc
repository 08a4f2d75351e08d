#include "write/event_commits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace lpn::sim {

using std::size_t;
using std::string;
using std::uint32_t;

void EventCommits::commit_function(size_t k) {
  const TransitionInfo& info = infos_[k];
  line("void commit_@N{0}(@A{0}) {{", k);
  switch (info.keep) {
    case Keep::kCount:
      line("if (@c{0} != 0) do {{", k);
      line("LPNRT_IF_RECORD(@R{0}& r = {1};)", k,
           info.one_server ? fmt::format("@r{}", k) : fmt::format("@q{}.front()", k));
      commit_body(k);
      if (!info.one_server) line("LPNRT_IF_RECORD(@q{}.pop();)", k);
      line("}} while (--@c{0} != 0 && step());", k);
      break;
    case Keep::kSingle:
      line("@R{0}& r = @r{0}{1}; (void)r; @busy{0} = false;", k,
           facts_.brief(k) ? ".end(briefs)" : "");
      commit_body(k);
      break;
    case Keep::kFifo:
      line("do {{ @R{0}& r = @q{0}.front(); (void)r;", k);
      commit_body(k);
      line("@q{0}.pop(); }} while (@q{0}.size() != 0 && @q{0}.front().due == now && step());", k);
      line("if (@q{0}.size() != 0) schedule(@q{0}.front().due, @T{0});", k);
      break;
    case Keep::kPool:
      line(
          "if (@batch{0}.size() > 1) std::sort(@batch{0}.begin(), @batch{0}.end(), [&](u32 x, "
          "u32 y) "
          "{{ return @q{0}[x].number < @q{0}[y].number; }});",
          k);
      line("for (const u32 slot : @batch{0}) {{ @R{0}& r = @q{0}[slot]; (void)r; --@c{0};", k);
      commit_body(k);
      line("LPNRT_IF_PATH(r.me = 0;)");
      line("@q{}.give(slot); step(); }}", k);
      line("@batch{}.clear();", k);
      break;
  }
  line("}}");
}

void EventCommits::commit_body(size_t k) {
  const Transition& t = net_.transitions[k];
  const TransitionInfo& info = infos_[k];
  Woken marks;  // whoever this commit makes ready for certain conditions
  line("++commits;");
  if (info.keep == Keep::kPool && facts_.has_rows(t)) line("u64 cursor = 0;");
  const bool alone = info.zero_delay || info.keep == Keep::kSingle;
  line("LPNRT_IF_STATS(meters[@T{}].{}(now);)", k, alone ? "commit_at_once" : "commit");
  wakes_.touch({static_cast<uint32_t>(k)});
  if (!facts_.has_done()) line("LPNRT_IF_PATH(last_node = r.me;)");
  if (t.servers) {
    const string free = fmt::format("recent.mark(@freed{}, r.me);", k);
    if (info.one_server)
      line("LPNRT_IF_PATH({})", free);
    else
      line("LPNRT_IF_PATH(if (@full{0}) {{ {1} @full{0} = false; }})", k, free);
  }
  if (t.servers) marks.insert(static_cast<uint32_t>(k));
  for (uint32_t a = 0; a < t.inputs.size(); ++a) unlock(k, a, marks);
  for (size_t o = 0; o < t.outputs.size(); ++o) append(k, o, marks);
  levels(k);
  wakes_.mark(marks, k);
  if (info.declared_outputs == 0) {
    line("LPNRT_IF_TRACE(report(@T{}, r.firing, r.start, r.taken, nullptr);)", k);
    return;
  }
  string produced;
  for (size_t o = 0; o < info.declared_outputs; ++o) produced += names_.total(k, o) + ", ";
  line(
      "LPNRT_IF_TRACE(const u64 produced[] = {{{}}}; report(@T{}, r.firing, r.start, r.taken, "
      "produced);)",
      produced, k);
}

void EventCommits::unlock(size_t k, uint32_t a, Woken& marks) {
  const Transition& t = net_.transitions[k];
  const ArcInfo& ai = infos_[k].arcs[a];
  if (t.inputs[a].inhibit || ai.weight == 0) return;
  const size_t p = ai.place;
  const string w =
      ai.weight > 0 ? fmt::format("{}ull", ai.weight) : fmt::format("static_cast<u64>(r.w{})", a);
  if (ai.weight < 0) wakes_.meter(p, fmt::format("-r.w{}", a));
  if (locked_[p]) line("@l{} -= {};", p, w);
  std::int64_t change = 0;
  if (facts_.level_kept(p) && !changes_by(k, p, change)) {
    line("LPNRT_IF_STATS(@level{} -= {};)", p, w);
  }
  if (facts_.watched(p)) line("LPNRT_IF_PATH(recent.mark(@changed_by{}, r.me);)", p);
  if (!locked_[p]) return;
  std::vector<uint32_t> readers;
  for (uint32_t other : consumers_[p]) {
    const Transition& theirs = net_.transitions[other];
    for (uint32_t b = 0; b < theirs.inputs.size(); ++b) {
      const ArcInfo& bi = infos_[other].arcs[b];
      if (bi.place != p || (!theirs.inputs[b].inhibit && !bi.occupancy_read)) continue;
      readers.push_back(other);
      marks.insert(other);
    }
  }
  wakes_.touch(readers);
}

void EventCommits::append(size_t k, size_t o, Woken& marks) {
  const OutputArc& arc = net_.transitions[k].outputs[o];
  const auto p = static_cast<size_t>(arc.place);
  const string count = names_.total(k, o);
  if (count == "0ull") return;
  const bool always = std::any_of(
      arc.emissions.begin(), arc.emissions.end(),
      [&](const Emission& e) { return facts_.const_count(e) && facts_.const_of(e.count) > 0; });
  const bool declared = p < declared_.places.size();
  if (!always)
    line("if (const u64 total = {}; total != 0) {{", count);
  else
    line("{{ const u64 total = {};", count);
  if (!facts_.const_total(arc)) wakes_.meter(p, "static_cast<i64>(total)");
  if (declared) {
    line("LPNRT_IF_TRACE(@ids{}.push() = {{0, 0, @T{}, {}, r.firing, 0, total}};)", p, k, o);
  }
  for (size_t e = 0; !facts_.is_unit(arc) && e < arc.emissions.size(); ++e) append_rows(k, o, e);
  line("@f{} += total;", p);
  if (facts_.asked_what_came(p)) line("LPNRT_IF_PATH(recent.put(@arrived{}, r.me, total);)", p);
  if (facts_.asked_whose(p)) line("LPNRT_IF_PATH(@origins{}.push(r.me, total);)", p);
  if (facts_.watched(p)) line("LPNRT_IF_PATH(recent.mark(@changed_by{}, r.me);)", p);
  std::int64_t change = 0;
  if (facts_.level_kept(p) && !changes_by(k, p, change)) {
    line("LPNRT_IF_STATS(@level{} += total;)", p);
    wakes_.peak(p);
  } else if (declared && locked_[p]) {
    wakes_.peak(p);
  }
  if (net_.places[p].done) {
    line("done_tokens += total; latency = now; LPNRT_IF_PATH(done_node = r.me;)");
  }
  if (facts_.stamped(p)) line("if (@s{0}.on) @s{0}.add(now, group, total);", p);
  wakes_.tokens_came(p, fmt::format("@f{} - total", p));
  if (!contests_[p].rivals.empty()) line("{}", names_.call_on(p));
  if (routes_[p].there()) line("if (@f{} == total) {}", p, names_.send_on(p));
  Woken woken;
  for (uint32_t other : consumers_[p]) {
    if (facts_.is_rival(p, other) || facts_.is_routed(p, other)) continue;
    const Transition& theirs = net_.transitions[other];
    for (uint32_t b = 0; b < theirs.inputs.size(); ++b) {
      // More tokens never satisfy an inhibitor, unless another arc reads that occupancy.
      const ArcInfo& bi = infos_[other].arcs[b];
      if (bi.place == p && (!theirs.inputs[b].inhibit || bi.occupancy_read || bi.read_by_arcs)) {
        woken.insert(other);
      }
    }
  }
  wakes_.by_route(woken);
  if (always)
    marks.insert(woken);
  else
    wakes_.mark(woken, k);
  line("}}");
}

bool EventCommits::changes_by(size_t k, size_t p, std::int64_t& tokens) const {
  const Transition& t = net_.transitions[k];
  bool takes = false, puts = false;
  tokens = 0;
  for (size_t a = 0; a < t.inputs.size(); ++a) {
    const ArcInfo& ai = infos_[k].arcs[a];
    if (ai.place != p || t.inputs[a].inhibit) continue;
    if (ai.weight < 0) return false;
    takes = true;
    tokens -= ai.weight;
  }
  for (const OutputArc& arc : t.outputs) {
    if (static_cast<size_t>(arc.place) != p) continue;
    if (!facts_.const_total(arc)) return false;
    puts = true;
    for (const Emission& e : arc.emissions) tokens += facts_.const_of(e.count);
  }
  return takes && puts;
}

void EventCommits::levels(size_t k) {
  std::vector<size_t> places;
  for (const OutputArc& arc : net_.transitions[k].outputs) {
    const auto p = static_cast<size_t>(arc.place);
    if (std::find(places.begin(), places.end(), p) == places.end()) places.push_back(p);
  }
  for (const size_t p : places) {
    std::int64_t change = 0;
    if (!facts_.level_kept(p) || !changes_by(k, p, change) || change == 0) continue;
    line("LPNRT_IF_STATS(@level{} {} {}ull;)", p, change > 0 ? "+=" : "-=", std::abs(change));
    if (change > 0) wakes_.peak(p);
  }
}

void EventCommits::append_rows(size_t k, size_t o, size_t e) {
  const OutputArc& arc = net_.transitions[k].outputs[o];
  const Emission& emission = arc.emissions[e];
  const auto p = static_cast<size_t>(arc.place);
  if (facts_.const_count(emission) && facts_.const_of(emission.count) == 0) return;
  const bool one = facts_.one_row(emission);
  const string count = facts_.const_count(emission) ? literal(facts_.const_of(emission.count))
                                                    : fmt::format("r.c{}_{}", o, e);
  const bool pool = infos_[k].keep == Keep::kPool;
  const bool or_none = facts_.row_or_none(emission);
  if (or_none)
    line("if ({} != 0) {{", count);
  else if (!one)
    line("for (i64 i = 0; i < {}; ++i) {{", count);
  line("{{ i64* const x = @p{}.push();", p);
  for (size_t f = 0; f < emission.fields.size(); ++f) {
    const Formula& formula = emission.fields[f];
    if (facts_.is_const(formula))
      line("x[{}] = {};", f, literal(facts_.const_of(formula)));
    else if (one || or_none)
      line("x[{}] = r.v{}_{}_{};", f, o, e, f);
    else if (pool)
      line("x[{}] = r.values[cursor++];", f);
    else
      line("x[{0}] = @values{1}.front(); @values{1}.pop();", f, k);
  }
  line("}}");
  if (!one) line("}}");
}

}  // namespace lpn::sim

#include "write/event_starts.h"

#include <fmt/format.h>

#include <algorithm>

namespace lpn::sim {

using std::size_t;
using std::string;
using std::string_view;
using std::uint32_t;

namespace {

constexpr std::int64_t kFewTokens = 64;  // lpnrt::kFew
constexpr std::uint64_t kLongArcs =
    64;  // nodes of the formulas of arcs; asking the time is cheaper

}  // namespace

void EventStarts::try_function(size_t k) {
  const Transition& t = net_.transitions[k];
  terms_.turn_to(k);
  const TransitionInfo& info = infos_[k];
  string calls;
  for (const ArcInfo& ai : info.arcs) {
    if (facts_.is_rival(ai.place, static_cast<uint32_t>(k)))
      calls += " " + names_.call_on(ai.place);
  }
  if (calls.empty()) {
    line("void try_@N{0}(@A{0}) {{", k);
  } else {
    line("void try_@N{0}(@A{0}) {{ look_at_@N{0}(@B{0});{1} }}", k, calls);
    line("void look_at_@N{0}(@A{0}) {{", k);
  }
  const bool once = info.one_server;
  // Any number of starts at one instant: now and then a look at whether to go on.
  line("{}{{", once ? "" : "for (;; step()) ");
  if (t.servers) line("if ({}) return;", names_.no_server(k));
  early_timing(k);
  arcs(
      k, [](const char*) { return string("return;"); }, true);
  timing(k, fmt::format("wake_at(at, @T{0}, @wake{0}); return;", k));
  firing_times(k);
  progress(k);
  if (facts_.timed()) line("++starts_made;");
  if (!info.zero_delay) {
    line("LPNRT_IF_STATS(meters[@T{}].{};)", k,
         info.keep == Keep::kSingle ? "start_alone(now, due_at)" : "start(now)");
  }
  waited(k);
  causes_.find(k);
  new_record(k);
  line("LPNRT_IF_PATH(r.me = me_;)");
  emissions(k);
  take(k);
  keep(k);
  if (t.servers && !info.one_server) {
    line("LPNRT_IF_PATH(@freed{0} = {{}}; @full{0} = {1};)", k, names_.no_server(k));
  }
  marks_of_start(k);
  line("}}");
  line("}}");
}

void EventStarts::waiting_function(size_t k) {
  const Transition& t = net_.transitions[k];
  terms_.turn_to(k);
  if (!facts_.timed(t)) return;
  line("bool waiting_@N{0}(@A{0}) {{", k);
  if (t.servers) line("if ({}) return false;", names_.no_server(k));
  arcs(
      k, [](const char*) { return string("return false;"); }, true);
  line("return true;");
  line("}}");
}

void EventStarts::waited(size_t k) {
  const WaitInfo& waits = facts_.waits[k];
  if (waits.how != Waiting::kByTimes) return;
  line("#if LPNRT_STATS");
  line("{{ TransitionMeter& meter = meters[@T{}]; i64 upto_ = meter.begun;", k);
  const string_view first = waits.groups[0].reason;
  for (size_t g = 0; g + 1 < waits.groups.size(); ++g) {
    const WaitGroup& group = waits.groups[g];
    const bool counts = group.reason != first;
    if (counts) line("const i64 from_{} = upto_;", g);
    for (const uint32_t a : group.arcs)
      line("upto_ = lpnrt::max(upto_, @came{});", infos_[k].arcs[a].place);
    if (counts) line("meter.waited[{0}] += upto_ - from_{1};", group.reason, g);
  }
  if (waits.groups.back().reason != first) {
    line("meter.waited[{}] += now - upto_;", waits.groups.back().reason);
  }
  line("meter.begun = now; }}");
  line("#endif");
}

void EventStarts::left_function(size_t k) {
  const WaitInfo& waits = facts_.waits[k];
  if (waits.how != Waiting::kByTimes) return;
  line("#if LPNRT_STATS");
  line("void left_@N{0}(@A{0}) const {{", k);
  string all;
  for (const WaitGroup& group : waits.groups) {
    for (const uint32_t a : group.arcs) {
      const ArcInfo& ai = infos_[k].arcs[a];
      all += fmt::format("waits_left.there({0}, @f{1} >= {2}ull, @came{1}) && ", group.reason,
                         ai.place, ai.need);
    }
  }
  line("if ({}true) waits_left.rest({});", all, waits.groups.back().reason);
  line("waits_left.first_is({}); }}", waits.groups[0].reason);
  line("#endif");
}

void EventStarts::why_function(size_t k) {
  const Transition& t = net_.transitions[k];
  if (facts_.waits[k].how != Waiting::kAsked) return;
  terms_.turn_to(k);
  line("#if LPNRT_STATS");
  line("u32 why_@N{0}(@A{0}) {{", k);
  if (facts_.only_counts(k)) {
    // Without branches: which it is cannot be foretold.
    line("u32 why = kReady;");
    if (t.servers) line("why = {} ? u32{{kServer}} : why;", names_.no_server(k));
    for (size_t a = t.inputs.size(); a-- > 0;) {
      const ArcInfo& ai = infos_[k].arcs[a];
      if (ai.need == 0) continue;
      line("why = @f{} < {}ull ? u32{{{}}} : why;", ai.place, ai.need,
           ai.credit ? "kCredit" : "kToken");
    }
    line("return why; }}");
    line("#endif");
    return;
  }
  line("try {{");
  arcs(
      k, [](const char* reason) { return fmt::format("return {};", reason); }, false);
  line("}} catch (const Failure&) {{ return kGuard; }}");
  if (t.servers) line("if ({}) return kServer;", names_.no_server(k));
  if (t.interval) line("if (@next{} > now) return kInterval;", k);
  if (t.clock) timing(k, "return kClock;");
  line("return kReady;");
  line("}}");
  line("#endif");
}

void EventStarts::define(const Formula& f) {
  terms_.define(f, [this](ExprId id, const string& cpp, bool kept) {
    const string name = fmt::format("e{}", terms_.names().size());
    if (kept) {
      line("Kept kept_{0};", name);
      line("const auto {0} = [&](u64 {1}) {{", name, SharedTerms::kSite);
      line("return kept_{0}.known ? kept_{0}.value : kept_{0}.is({1}); }};", name, cpp);
      return name;
    }
    line("[[maybe_unused]] const {} {} = {};", net_.exprs[id].type == Type::kBool ? "bool" : "i64",
         name, cpp);
    return name;
  });
}

string EventStarts::value(size_t k, const Formula& f, const string& where_) {
  define(f);
  return names_.value(k, f, where_, &terms_.names());
}

void EventStarts::arcs(size_t k, const Failed& failed, bool parks) {
  const Transition& t = net_.transitions[k];
  const TransitionInfo& info = infos_[k];
  const size_t safe = facts_.safe_arcs(k);
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    const InputArc& arc = t.inputs[a];
    const ArcInfo& ai = info.arcs[a];
    const size_t p = ai.place;
    const char* missing = ai.credit ? "kCredit" : "kToken";
    if (arc.inhibit) {
      line("if (@f{0} + @l{0} != 0) {1}", p, failed("kInhibited"));
      continue;
    }
    if (ai.reads_head) line("if (@f{} == 0) {}", p, failed(missing));
    const bool early_head = ai.reads_head && ai.tokens_read;
    if (early_head) line("const i64* const a{} = @p{}.row(0);", a, p);
    if (ai.weight < 0) {
      line("const i64 w{} = {};", a, value(k, arc.weight, site(k, SiteKind::kWeight, a)));
      if (names_.range_of(k, arc.weight).lo < 0) {
        line("if (w{0} < 0) fail(kNegativeWeight, {1}, w{0});", a, site(k, SiteKind::kWeight, a));
      }
    }
    if (ai.need >= 0) {
      if (parks && a < safe && facts_.is_rival(p, static_cast<uint32_t>(k)) &&
          ai.need == contests_[p].need) {
        const string rest = names_.counts(static_cast<uint32_t>(k), a + 1);
        line("if (@f{} < {}ull) {{ {}{} {} }}", p, ai.need,
             rest.empty() ? "" : fmt::format("if ({}) ", rest),
             names_.park(p, static_cast<uint32_t>(k)), failed(missing));
      } else if (ai.need > 0) {
        line("if (@f{} < {}ull) {}", p, ai.need, failed(missing));
      }
    } else {
      if (arc.threshold) {
        line("const i64 k{} = {};", a, value(k, *arc.threshold, site(k, SiteKind::kThreshold, a)));
        line("if (k{0} < 0) fail(kNegativeWeight, {1}, k{0});", a,
             site(k, SiteKind::kThreshold, a));
        line("u64 n{0} = static_cast<u64>(lpnrt::max({1}, k{0})); (void)n{0};", a,
             names_.taken(k, a));
      } else {
        line("u64 n{0} = static_cast<u64>(w{0}); (void)n{0};", a);
      }
      line("if (@f{} < n{}) {}", p, a, failed(missing));
      if (ai.reads_head) line("if (n{0} == 0) n{0} = 1;", a);
    }
    if (ai.tokens_read && !early_head)
      line("const i64* const a{0} = @p{1}.row(0); (void)a{0};", a, p);
    if (arc.guard) {
      line("if (!{}) {}", value(k, *arc.guard, site(k, SiteKind::kGuard, a)), failed("kGuard"));
    }
  }
}

void EventStarts::timing(size_t k, const string& late) {
  const Transition& t = net_.transitions[k];
  if (!t.interval && !t.clock) return;
  string at = t.interval ? fmt::format("lpnrt::max(now, @next{})", k) : string("now");
  if (t.clock) at = fmt::format("edge({}, {}, {})", at, names_.period(k), names_.phase(k));
  line("if (const i64 at = {}; at > now) {{ {} }}", at, late);
}

void EventStarts::early_timing(size_t k) {
  const Transition& t = net_.transitions[k];
  if (!t.interval && !t.clock) return;
  std::uint64_t nodes = 0;
  for (const InputArc& arc : t.inputs) {
    if (arc.inhibit) continue;
    for (const Formula* f : {&arc.weight, arc.threshold ? &*arc.threshold : nullptr,
                             arc.guard ? &*arc.guard : nullptr}) {
      if (f == nullptr) continue;
      if (names_.printer().may_fail(k, *f)) return;
      nodes += net_.exprs.tree_size(f->id);
    }
  }
  if (nodes < kLongArcs) return;
  const string counts = names_.counts(static_cast<uint32_t>(k));
  if (counts.empty()) return;
  line("if ({}) {{", counts);
  // Where there is no later instant the arcs decide whether that is an error.
  timing(k, fmt::format("if (at != kForever) {{ wake_at(at, @T{0}, @wake{0}); return; }}", k));
  line("}}");
}

void EventStarts::firing_times(size_t k) {
  const Transition& t = net_.transitions[k];
  const TransitionInfo& info = infos_[k];
  const string where_ = site(k, SiteKind::kDelay);
  if (info.zero_delay) {
    // due is now, also when ordered: no earlier firing can be due later.
  } else {
    line("const i64 delay = LPNRT_DELAY(@T{}, {});", k, value(k, t.delay, where_));
    if (names_.range_of(k, t.delay).lo < 0) {
      line("if (delay < 0) fail(kNegativeDelay, {}, delay);", where_);
    }
    const string ticks =
        t.clock ? fmt::format("mul(delay, {}, {})", names_.period(k), where_) : "delay";
    line("i64 due_at = instant_after({}, now, {});", ticks, where_);
    if (t.ordered) {
      line("LPNRT_IF_PATH(const bool late_ = due_at < @last{0};)", k);
      line("if (due_at < @last{0}) due_at = @last{0}; @last{0} = due_at;", k);
    }
  }
  if (t.interval) {
    const string at = site(k, SiteKind::kInterval);
    line("LPNRT_IF_PATH(const i64 from_ = @next{};)", k);  // the update below is for the next one
    line("const i64 interval = LPNRT_DELAY(@T{}, {});", k, value(k, *t.interval, at));
    if (names_.range_of(k, *t.interval).lo < 0) {
      line("if (interval < 0) fail(kNegativeInterval, {}, interval);", at);
    }
    const string ticks =
        t.clock ? fmt::format("mul(interval, {}, {})", names_.period(k), at) : "interval";
    line("if (interval > 0) @next{} = instant_after({}, now, {});", k, ticks, at);
  }
}

void EventStarts::progress(size_t k) {
  const Transition& t = net_.transitions[k];
  if (t.servers) return;
  string none;
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    if (infos_[k].arcs[a].weight > 0) return;
    if (infos_[k].arcs[a].weight < 0 && !t.inputs[a].inhibit) {
      none += fmt::format("w{} == 0 && ", a);
    }
  }
  none += t.interval ? "interval == 0" : "true";
  line("if ({}) fail(kTakesNothing, {});", none, site(k, SiteKind::kNone));
}

void EventStarts::new_record(size_t k) {
  switch (infos_[k].keep) {
    case Keep::kCount:
      line("LPNRT_IF_RECORD(@R{0}& r = {1};)", k,
           infos_[k].one_server ? fmt::format("@r{}", k) : fmt::format("@q{}.push()", k));
      break;
    case Keep::kSingle:
      line("@R{0}& r = @r{0}{1}; (void)r;", k, facts_.brief(k) ? ".begin(briefs)" : "");
      break;
    case Keep::kFifo: line("@R{0}& r = @q{0}.push();", k); break;
    case Keep::kPool:
      line("const u32 slot = @q{0}.take(); @R{0}& r = @q{0}[slot]; r.number = @number{0}++;", k);
      if (facts_.has_rows(net_.transitions[k])) line("r.values.clear();");
      break;
  }
}

void EventStarts::emissions(size_t k) {
  const Transition& t = net_.transitions[k];
  const TransitionInfo& info = infos_[k];
  for (const OutputArc& arc : t.outputs) {  // here, not in the block of one
    for (const Emission& emission : arc.emissions) {
      define(emission.count);
      for (const Formula& field : emission.fields) define(field);
    }
  }
  for (size_t o = 0; o < t.outputs.size(); ++o) {
    const OutputArc& arc = t.outputs[o];
    for (size_t e = 0; e < arc.emissions.size(); ++e) {
      const Emission& emission = arc.emissions[e];
      string count;
      if (facts_.const_count(emission)) {
        count = literal(facts_.const_of(emission.count));
        if (facts_.const_of(emission.count) == 0) continue;
        if (facts_.const_of(emission.count) > kFewTokens && !facts_.is_unit(arc))
          line("spend({});", count);
      } else {
        const string where_ = site(k, SiteKind::kCount, o, e);
        line("const i64 c{}_{} = {};", o, e, value(k, emission.count, where_));
        count = fmt::format("c{}_{}", o, e);
        line("if ({0} < 0) fail(kNegativeCount, {1}, {0});", count, where_);
        if (!facts_.row_or_none(emission)) line("if ({0} > kFew) many({0}, {1});", count, where_);
        line("r.{0} = {0};", count);
      }
      if (facts_.is_unit(arc)) continue;
      if (facts_.one_row(emission) || facts_.row_or_none(emission)) {
        if (facts_.row_or_none(emission)) line("if ({} != 0)", count);
        line("{{ constexpr i64 i = 0; (void)i;");
        fields(k, o, e, [&](size_t f) { return fmt::format("r.v{}_{}_{} = x_;", o, e, f); });
        line("}}");
      } else if (facts_.rows(arc, emission)) {
        line("for (i64 i = 0; i < {}; ++i) {{", count);
        const string store = info.keep == Keep::kPool ? "r.values.push() = x_;"
                                                      : fmt::format("@values{}.push() = x_;", k);
        fields(k, o, e, [&](size_t) { return store; });
        line("}}");
      }
    }
  }
}

void EventStarts::fields(size_t k, size_t o, size_t e, const Store& store) {
  const OutputArc& arc = net_.transitions[k].outputs[o];
  const auto& types = net_.type_of(arc.place).fields;
  for (size_t f = 0; f < types.size(); ++f) {
    const Formula& formula = arc.emissions[e].fields[f];
    if (facts_.is_const(formula)) continue;  // verified, and known to the commit
    const string where_ = site(k, SiteKind::kField, o, e, f);
    line("{{ const i64 x_ = {};", value(k, formula, where_));
    if (types[f].range) {
      const Range r = names_.range_of(k, formula);
      if (r.lo < types[f].range->lo || r.hi > types[f].range->hi) {
        line("if (x_ < {} || x_ > {}) fail(kRange, {}, x_);", literal(types[f].range->lo),
             literal(types[f].range->hi), where_);
      }
    }
    line("{} }}", store(f));
  }
}

void EventStarts::take(size_t k) {
  const Transition& t = net_.transitions[k];
  const TransitionInfo& info = infos_[k];
  line("LPNRT_IF_TRACE(r.firing = @started{}++; r.start = now; r.taken.clear();)", k);
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    const ArcInfo& ai = info.arcs[a];
    if (t.inputs[a].inhibit || ai.weight == 0) continue;
    const string w = fmt::format("static_cast<u64>({})", names_.taken(k, a));
    const size_t p = ai.place;
    if (a < info.declared_inputs) {
      line("LPNRT_IF_TRACE(take_ids(@ids{}, {}, {}, r.taken);)", p, w, a);
    }
    line("@f{} -= {};", p, w);
    if (facts_.asked_whose(p)) line("LPNRT_IF_PATH(@origins{0}.pop({1});)", p, w);
    if (facts_.asked_who_took(p)) line("LPNRT_IF_PATH(recent.mark(@taken_by{}, begun_);)", p);
    if (locked_[p]) line("@l{} += {};", p, w);
    if (!net_.type_of(t.inputs[a].place).fields.empty()) line("@p{}.pop({});", p, w);
    if (ai.weight < 0) always_or_stats(locked_[p], fmt::format("r.w{0} = w{0};", a));
    wakes_.touch_consumers(p, fmt::format("@f{}", p));
  }
}

void EventStarts::keep(size_t k) {
  const TransitionInfo& info = infos_[k];
  switch (info.keep) {
    case Keep::kCount: line("++@c{0}; zero.insert(@T{0});", k); break;
    case Keep::kSingle:
      line("@busy{} = true;", k);
      if (info.zero_delay)
        line("zero.insert(@T{});", k);
      else if (names_.never_zero(k))
        line("schedule(due_at, @T{});", k);
      else
        line("if (due_at == now) zero.insert(@T{0}); else schedule(due_at, @T{0});", k);
      break;
    case Keep::kFifo:
      if (info.zero_delay)
        line("r.due = now; zero.insert(@T{});", k);
      else {
        line("r.due = due_at;");
        if (names_.never_zero(k))
          line("if (@q{0}.size() == 1) schedule(due_at, @T{0});", k);
        else
          line(
              "if (due_at == now) zero.insert(@T{0}); else if (@q{0}.size() == 1) schedule(due_at, "
              "@T{0});",
              k);
      }
      break;
    case Keep::kPool:
      line("++@c{};", k);
      if (info.zero_delay)
        line("@batch{0}.push_back(slot); zero.insert(@T{0});", k);
      else
        line(
            "if (due_at == now) {{ @batch{0}.push_back(slot); zero.insert(@T{0}); }} else "
            "schedule_slot(due_at, @T{0}, slot, @batch{0});",
            k);
      break;
  }
  wakes_.touch({static_cast<uint32_t>(k)});
}

void EventStarts::marks_of_start(size_t k) {
  const Transition& t = net_.transitions[k];
  Woken others, asked;  // concerned; looked at one by one
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    const ArcInfo& ai = infos_[k].arcs[a];
    if (t.inputs[a].inhibit || ai.weight == 0) continue;
    if (routes_[ai.place].there()) {
      line("if (@f{} != 0) {}", ai.place, names_.send_on(ai.place));
    }
    for (uint32_t other : consumers_[ai.place]) {
      if (other == k) continue;
      for (const ArcInfo& theirs : infos_[other].arcs) {
        if (theirs.place != ai.place || !theirs.read_by_arcs) continue;
        others.insert(other);
        if (!facts_.is_routed(ai.place, other)) asked.insert(other);
      }
    }
  }
  wakes_.mark(asked, k);
  if (infos_[k].one_server) return;
  if (!others.all().empty() && others.least() < k) line("dirty.insert(@T{}); step(); return;", k);
}

}  // namespace lpn::sim

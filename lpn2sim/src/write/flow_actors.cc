#include "write/flow_actors.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lpn::sim {

using std::size_t;
using std::string;
using std::uint32_t;

size_t FlowActors::own(uint32_t k) const {
  const auto& members = plan_.actors[plan_.actor_of[k]].members;
  return static_cast<size_t>(std::find(members.begin(), members.end(), k) - members.begin());
}

void FlowActors::act(size_t a) {
  const Actor& actor = plan_.actors[a];
  line("void act_@N{0}(@A{0}) {{", a);
  line("u64 last = @run_last{};", a);
  // So many firings, and then the others have their turn: `left` counts down for free.
  for (uint32_t k : actor.members) {
    line("constexpr u64 some{0} = {1}; u64 left{0} = some{0}, end_{0} = @run_end{2};", own(k),
         facts_.chunk(k), k);
  }
  line("again:");
  for (uint32_t k : actor.members) {
    line("do {{");
    arcs(
        k, [](const char*) { return string("break;"); }, [](uint32_t, const string&) {});
    fire(a, k);
    line("if (--left{} != 0) goto again;", own(k));
    line("turn.insert(@T{}); goto others;", a);
    line("}} while (false);");
  }
  if (!actor.members.empty()) line("others:");
  line("@run_last{} = last;", a);
  for (uint32_t k : actor.members) {
    std::set<uint32_t> woken;
    for (const OutputArc& arc : net_.transitions[k].outputs) {
      for (uint32_t other : facts_.consumers(static_cast<size_t>(arc.place))) {
        if (plan_.actor_of[other] != a) woken.insert(plan_.actor_of[other]);
      }
    }
    line("if (const u64 count = some{0} - left{0}; count != 0) {{", own(k));
    line("@run_fired{0} += count; @run_end{0} = end_{1}; made += count;", k, own(k));
    for (uint32_t other : woken) line("{}turn.insert(@T{});", unless_waiting(other), other);
    line("}}");
  }
  line("}}");
}

string FlowActors::unless_waiting(size_t a) const {
  const std::vector<uint32_t>& members = plan_.actors[a].members;
  if (!plan_.assumes() || members.size() > 1) return "";
  const Transition& t = net_.transitions[members[0]];
  string all;
  for (uint32_t i = 0; i < t.inputs.size(); ++i) {
    const std::int64_t need = facts_.arc(members[0], i).least_need;
    if (need < 1) continue;
    all += fmt::format("{}({} >= {}ull)", all.empty() ? "" : " & ",
                       facts_.size(facts_.place_of(members[0], i)), need);
  }
  return all.empty() || t.inputs.size() == 1 ? "" : fmt::format("if ({}) ", all);
}

void FlowActors::arcs(uint32_t k, const Failed& failed, const Passed& passed) {
  const Transition& t = net_.transitions[k];
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    const InputArc& in = t.inputs[a];
    const size_t p = facts_.place_of(k, a);
    const FlowFacts::Arc about = facts_.arc(k, a);
    const char* const missing = net_.places[p].credit_of ? "kCredit" : "kToken";
    const auto where = [&](SiteKind kind) { return site(k, kind, a); };
    if (about.reads_head) line("if ({} == 0) {}", facts_.size(p), failed(missing));
    const auto bind_head = [&] {
      if (facts_.width(p) > 0)
        line("const i64* const a{} = {}; (void)a{};", a, facts_.row(k, a, "0"), a);
    };
    if (about.reads_head) bind_head();
    if (about.weight < 0) {
      line("const i64 w{} = {};", a, facts_.value(k, in.weight, where(SiteKind::kWeight)));
      if (facts_.printer().range(k, in.weight).lo < 0) line("if (w{} < 0) bail();", a);
    }
    if (about.need >= 0) {
      if (about.need > 0) line("if ({} < {}ull) {}", facts_.size(p), about.need, failed(missing));
    } else {
      if (in.threshold) {
        line("const i64 k{} = {};", a, facts_.value(k, *in.threshold, where(SiteKind::kThreshold)));
        line("if (k{} < 0) bail();", a);
        line("u64 n{0} = static_cast<u64>(lpnrt::max({1}, k{0})); (void)n{0};", a,
             facts_.taken(k, a));
      } else {
        line("u64 n{0} = static_cast<u64>(w{0}); (void)n{0};", a);
      }
      line("if ({} < n{}) {}", facts_.size(p), a, failed(missing));
      if (about.reads_head) line("if (n{0} == 0) n{0} = 1;", a);
    }
    // With no token needed the row is not read.
    if (!about.reads_head) bind_head();
    passed(a, facts_.arrival(k, a));
    if (in.guard) {
      line("if (!{}) {}", facts_.value(k, *in.guard, where(SiteKind::kGuard)), failed("kGuard"));
    }
  }
}

void FlowActors::fire(size_t a, uint32_t k) {
  const Transition& t = net_.transitions[k];
  // With causes, the last start is looked at last: a token at the same instant is the better one.
  line("#if LPNRT_PATH");
  line("if (net.causes.full()) collect();");
  line("u64 start = 0; u32 why = 0; Cause how = Cause::kInitial;");
  line("#else");
  line("u64 start = last;");
  line("#endif");
  const auto not_before = [this](const string& instant, const string& node, const char* how,
                                 const string& unless = "") {
    line(
        "if (const u64 x_ = {}; x_ > start{}) {{ start = x_; LPNRT_IF_PATH(why = {}; how = {};) }}",
        instant, unless, node, how);
  };
  // A server or an interval that was no matter at its last start is none now.
  const string unless_then = fmt::format(" LPNRT_IF_PATH(&& x_ > @run_begun_at{})", k);
  out_.add(stats_.before_arcs(k));
  for (uint32_t i = 0; i < t.inputs.size(); ++i) {
    if (const string at = facts_.arrival(k, i); !at.empty()) {
      not_before(at, facts_.node_of(k, i), "Cause::kToken");
    }
    out_.add(stats_.after_arc(k, i));
  }
  if (facts_.one_server(k)) {
    not_before(fmt::format("end_{}", own(k)), fmt::format("@run_ended{}", k), "Cause::kServer");
  }
  if (facts_.many_servers(k)) {
    const string servers = facts_.is_const(*t.servers)
                               ? fmt::format("{}ull", facts_.const_of(*t.servers))
                               : fmt::format("static_cast<u64>(net.@servers{})", k);
    not_before(
        fmt::format("@run_served{0}.size() >= {1} ? @run_served{0}.instant(0) : 0", k, servers),
        fmt::format("static_cast<u32>(@run_served{}.row(0)[0])", k), "Cause::kServer", unless_then);
  }
  out_.add(stats_.after_server(k));
  if (t.interval) {
    not_before(fmt::format("@run_next{}", k), fmt::format("@run_begun{}", k), "Cause::kInterval",
               unless_then);
  }
  out_.add(stats_.after_interval(k));
  line("#if LPNRT_PATH");
  if (plan_.actors[a].members.size() > 1) {
    not_before(fmt::format("@run_begun_at{}", k), fmt::format("@run_begun{}", k), "Cause::kOrder");
    for (const InputArc& in : t.inputs) {
      const auto p = static_cast<size_t>(in.place);
      if (!facts_.contested(p)) continue;
      not_before(fmt::format("@run_taken_at{}", p), fmt::format("@run_taken_by{}", p),
                 "Cause::kOrder");
    }
  }
  not_before("last", fmt::format("@run_began{}", a), "Cause::kOrder");
  line("#endif");
  if (t.clock) line("start = Instant::on_edge(start, net.@period{0}, net.@phase{0});", k);
  line("if (start > horizon) {{ hold(@T{}, start); break; }}", a);
  times(k);
  evaluate(k);
  line("#if LPNRT_PATH");
  line(
      "const u32 begun_ = net.causes.add(Instant::ticks(start), "
      "static_cast<u32>(Instant::group(start)), Instant::ticks(commit), why, @T{}, how);",
      k);
  line("u32 me = begun_; (void)me;");
  if (t.ordered)
    line("if (late_) me = net.causes.add_ordered(@run_ended{0}, @T{0}, Instant::ticks(start));", k);
  line("@run_begun{0} = @run_began{1} = begun_; @run_ended{0} = me; @run_begun_at{0} = start;", k,
       a);
  for (uint32_t i = 0; i < t.inputs.size(); ++i) {
    const size_t p = facts_.place_of(k, i);
    if (facts_.contested(p) && facts_.arc(k, i).weight != 0) {
      line("@run_taken_at{0} = start; @run_taken_by{0} = begun_;", p);
    }
  }
  line("#endif");
  line("last = start; end_{} = commit;", own(k));
  dispute(k);
  if (facts_.many_servers(k)) {
    const string servers = facts_.is_const(*t.servers)
                               ? fmt::format("{}ull", facts_.const_of(*t.servers))
                               : fmt::format("static_cast<u64>(net.@servers{})", k);
    line("if (@run_served{0}.size() >= {1}) @run_served{0}.pop(1);", k, servers);
    line("{{ i64* const x = @run_served{}.push(commit); (void)x; LPNRT_IF_PATH(x[0] = me;) }}", k);
  }
  progress(k);
  out_.add(stats_.fired(
      k, [&](uint32_t i) { return facts_.taken(k, i); },
      [&](size_t o, size_t e) { return facts_.count(k, o, e); }));
  line(
      "LPNRT_IF_TRACE(log.emplace_back(); FlowCommit& c = log.back(); c.commit = commit; "
      "c.start = Instant::ticks(start); c.transition = @T{0}; c.firing = @run_fired{0} + (some{1} "
      "- "
      "left{1});)",
      k, own(k));
  take_ids(k);
  append(k);
  for (uint32_t i = 0; i < t.inputs.size(); ++i) {
    if (facts_.arc(k, i).weight == 0) continue;
    const size_t p = facts_.place_of(k, i);
    if (facts_.passage(p) == Passage::kSource)
      line("@run_s{}.next += static_cast<u64>({});", p, facts_.taken(k, i));
    else
      line("@run_q{}.pop(static_cast<u64>({}));", p, facts_.taken(k, i));
  }
}

void FlowActors::dispute(uint32_t k) {
  const std::vector<uint32_t> disputes = facts_.disputes(k);
  if (disputes.empty()) return;
  line("{{ u64 ready = {};", ready(k));
  for (const uint32_t i : disputes) {
    const size_t p = facts_.place_of(k, i);
    line("if (@run_taker{0} != @T{1}) {{ if (ready < @run_since{0}) misjudged();", p, k);
    line("@run_taker{0} = @T{1}; }} @run_since{0} = start + 1;", p, k);
    const string at = facts_.arrival(k, i);
    if (at.empty() || i == disputes.back()) continue;
    line("if (const u64 x_ = {}; x_ > ready) ready = x_;", at);
  }
  line("}}");
}

string FlowActors::ready(uint32_t k) const {
  string latest = "0";
  for (const uint32_t i : facts_.gates(k)) {
    const string at = facts_.arrival(k, i);
    latest = latest == "0" ? at : fmt::format("std::max({}, {})", latest, at);
  }
  return latest;
}

void FlowActors::verify() {
  if (!plan_.assumes()) return;
  line("void verify() const {{");
  for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
    const std::vector<uint32_t> disputes = facts_.disputes(k);
    if (disputes.empty()) continue;
    line("do {{");
    for (const uint32_t i : facts_.gates(k)) {
      line("if ({} < {}ull) break;", facts_.size(facts_.place_of(k, i)), facts_.arc(k, i).need);
    }
    line("u64 ready = {};", ready(k));
    for (const uint32_t i : disputes) {
      const size_t p = facts_.place_of(k, i);
      line("if (@run_taker{0} != {1} && ready < @run_since{0}) misjudged();", p, k);
      const std::int64_t need = facts_.arc(k, i).need;
      if (i == disputes.back() || need <= 0 || !facts_.queued(p)) continue;
      line("if ({} < {}ull) break;", facts_.size(p), need);
      line("if (const u64 x_ = {}; x_ > ready) ready = x_;", facts_.arrival(k, i));
    }
    line("}} while (false);");
  }
  line("}}");
}

void FlowActors::times(uint32_t k) {
  const Transition& t = net_.transitions[k];
  const string at = site(k, SiteKind::kDelay);
  line("const i64 delay = LPNRT_DELAY(@T{}, {});", k, facts_.value(k, t.delay, at));
  if (facts_.printer().range(k, t.delay).lo < 0) line("if (delay < 0) bail();");
  const auto ticks = [&](const char* what, const string& where) {
    return t.clock ? fmt::format("mul({}, net.@period{}, {})", what, k, where) : string(what);
  };
  line("u64 commit = Instant::after(start, static_cast<u64>({}));", ticks("delay", at));
  if (t.ordered) {
    line("LPNRT_IF_PATH(const bool late_ = commit < end_{};)", own(k));
    line("if (commit < end_{0}) commit = end_{0};", own(k));
  }
  if (t.interval) {
    const string where = site(k, SiteKind::kInterval);
    line("const i64 interval = LPNRT_DELAY(@T{}, {});", k, facts_.value(k, *t.interval, where));
    if (facts_.printer().range(k, *t.interval).lo < 0) line("if (interval < 0) bail();");
    line(
        "if (interval > 0) @run_next{} = Instant::after(start & ~Instant::kMask, "
        "static_cast<u64>({}));",
        k, ticks("interval", where));
  }
}

void FlowActors::progress(uint32_t k) {
  const Transition& t = net_.transitions[k];
  if (t.servers) return;
  string none;
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    const FlowFacts::Arc about = facts_.arc(k, a);
    if (about.weight > 0) return;
    if (about.weight < 0) none += fmt::format("w{} == 0 && ", a);
  }
  line("if ({}{}) bail();", none, t.interval ? "interval == 0" : "true");
}

void FlowActors::evaluate(uint32_t k) {
  const Transition& t = net_.transitions[k];
  for (size_t o = 0; o < t.outputs.size(); ++o) {
    const OutputArc& out = t.outputs[o];
    const auto p = static_cast<size_t>(out.place);
    for (size_t e = 0; e < out.emissions.size(); ++e) {
      const Emission& emission = out.emissions[e];
      if (facts_.no_row(emission)) continue;
      if (!facts_.const_count(emission)) {
        line("const i64 c{}_{} = {};", o, e,
             facts_.value(k, emission.count, site(k, SiteKind::kCount, o, e)));
        line("if (static_cast<u64>(c{0}_{1}) > u64{{kFew}}) emits_many(net, c{0}_{1});", o, e);
      }
      if (facts_.width(p) == 0 || facts_.refers(p)) continue;
      if (facts_.one_row(emission)) {
        fields(k, o, e, [&](size_t f) { return fmt::format("v{}_{}_{}", o, e, f); });
      } else if (facts_.is_input(k, p) || facts_.any_dead_failure(k, o, e)) {
        line("const size_t scratch{}_{} = {};", o, e, "scratch.size()");
        line("for (i64 i = 0; i < {}; ++i) {{", facts_.count(k, o, e));
        fields(k, o, e, [&](size_t f) { return fmt::format("x{}_", f); });
        for (size_t f = 0; f < facts_.width(p); ++f) {
          if (facts_.live()[p][f]) {
            line("scratch.push_back({});", facts_.is_const(emission.fields[f])
                                               ? literal(facts_.const_of(emission.fields[f]))
                                               : fmt::format("x{}_", f));
          }
        }
        line("}}");
      }
    }
  }
}

void FlowActors::fields(uint32_t k, size_t o, size_t e, const Name& name_of) {
  const OutputArc& out = net_.transitions[k].outputs[o];
  const auto& types = net_.type_of(out.place).fields;
  const bool single = facts_.one_row(out.emissions[e]);
  for (size_t f = 0; f < types.size(); ++f) {
    const Formula& formula = out.emissions[e].fields[f];
    if (facts_.is_const(formula) || !(facts_.live(k, o, f) || facts_.can_fail(k, o, e, f)))
      continue;
    string text = facts_.value(k, formula, site(k, SiteKind::kField, o, e, f));
    if (single && net_.exprs.reads(formula.id).index) {
      text = fmt::format("[&] {{ constexpr i64 i = 0; return {}; }}()", text);
    }
    const string name = name_of(f);
    line("const i64 {} = {};", name, text);
    line("(void){};", name);
    if (facts_.range_check(k, o, e, f)) {
      line("if ({0} < {1} || {0} > {2}) bail();", name, literal(types[f].range->lo),
           literal(types[f].range->hi));
    }
  }
}

void FlowActors::append(uint32_t k) {
  const Transition& t = net_.transitions[k];
  bool scratch = false;
  string produced;
  for (size_t o = 0; o < t.outputs.size(); ++o) {
    const OutputArc& out = t.outputs[o];
    const auto p = static_cast<size_t>(out.place);
    std::int64_t known = 0;
    string sum;
    for (size_t e = 0; e < out.emissions.size(); ++e) {
      const Emission& emission = out.emissions[e];
      if (facts_.no_row(emission)) continue;
      if (facts_.const_count(emission))
        known += facts_.const_of(emission.count);
      else
        sum += fmt::format("static_cast<u64>(c{}_{}) + ", o, e);
      const bool sink = facts_.passage(p) == Passage::kSink;
      if (facts_.width(p) == 0 && sink) continue;
      const bool one = facts_.one_row(emission);
      const bool kept_rows = !one && facts_.width(p) > 0 && !facts_.refers(p) &&
                             (facts_.is_input(k, p) || facts_.any_dead_failure(k, o, e));
      scratch |= kept_rows;
      if (kept_rows) line("{{ const i64* from = scratch.data() + scratch{}_{};", o, e);
      if (facts_.merged(p)) {
        if (!facts_.const_count(emission)) line("if ({} != 0) {{", facts_.count(k, o, e));
        line("in_order(commit, @run_back{0}, @T{1}, @run_by{0});", p, k);
        if (!facts_.const_count(emission)) line("}}");
      }
      if (!one) line("for (i64 i = 0; i < {}; ++i) {{", facts_.count(k, o, e));
      if (facts_.width(p) == 0) {
        line("{{ i64* const x = {}.push(commit); (void)x; LPNRT_IF_PATH(x[{}] = me;) }}",
             facts_.fifo(p, k), facts_.kept(p));
      } else {
        push_row(k, o, e, p, one, kept_rows);
      }
      if (!one) line("}}");
      if (kept_rows) line("}}");
    }
    const string total = fmt::format("{}{}ull", sum, known);
    produced += total + ", ";
    if (total == "0ull") continue;
    if (facts_.passage(p) == Passage::kSink) line("@run_sunk{} += {};", p, total);
    if (net_.places[p].done) {
      line(
          "if (const u64 x_ = {0}; x_ != 0) {{ @run_produced{1} += x_; LPNRT_IF_PATH(finish_{1}("
          "commit, @T{2}, me);) if (commit > @run_done{1}) @run_done{1} = commit; }}",
          total, p, k);
    }
    if (p < declared_) {
      line(
          "LPNRT_IF_TRACE(if (const u64 x_ = {}; x_ != 0) {}.push() = {{0, 0, @T{}, {}, "
          "c.firing, 0, x_}};)",
          total,
          facts_.passage(p) == Passage::kInto ? fmt::format("idin{}_{}", p, k)
                                              : fmt::format("@run_ids{}", p),
          k, o);
    }
  }
  if (scratch) line("scratch.clear();");
  line("LPNRT_IF_TRACE(c.produced = {{{}}};)", produced);
}

void FlowActors::push_reference(uint32_t k, const Emission& emission, size_t p) {
  const uint32_t from = *facts_.passed(k, p, emission);
  const Node& which = net_.exprs[net_.exprs[emission.fields[0].id].kids[0]];
  string at;
  if (which.op == Op::kIndex) {
    if (!facts_.one_row(emission)) {
      line("if (static_cast<u64>(i) >= {}) bail();", facts_.needed(k, from));
      at = facts_.row(k, from, "static_cast<u64>(i)");
    } else {
      at = facts_.row(k, from, "0");
      line("if ({} == 0) bail();", facts_.needed(k, from));
    }
  } else {
    at = facts_.row(k, from, fmt::format("{}", which.value));
  }
  line("{{ const i64* const stands = {}; i64* const x = @run_q{}.push(commit);", at, p);
  line("x[0] = reinterpret_cast<i64>(stands); LPNRT_IF_PATH(x[1] = me;) }}");
}

void FlowActors::push_row(uint32_t k, size_t o, size_t e, size_t p, bool one, bool kept_rows) {
  const Emission& emission = net_.transitions[k].outputs[o].emissions[e];
  if (facts_.refers(p)) return push_reference(k, emission, p);
  size_t shift = 0;
  if (!one && !kept_rows) {
    fields(k, o, e, [&](size_t f) { return fmt::format("x{}_", f); });
  }
  if (facts_.passage(p) != Passage::kSink) {
    line("{{ i64* const x = {}.push(commit); (void)x;", facts_.fifo(p, k));
  } else if (facts_.unsorted(p)) {
    line("{{ i64* const x = out{}_{}.push(); x[0] = static_cast<i64>(commit);", p, k);
    shift = 1;
  } else {
    line("{{ i64* const x = @run_out{}.push();", p);
  }
  for (size_t f = 0; f < facts_.width(p); ++f) {
    if (!facts_.live()[p][f]) continue;
    const string to = fmt::format("x[{}]", facts_.column_of(p, f) + shift);
    const Formula& formula = emission.fields[f];
    if (kept_rows)
      line("{} = *from++;", to);
    else if (facts_.is_const(formula))
      line("{} = {};", to, literal(facts_.const_of(formula)));
    else if (one)
      line("{} = v{}_{}_{};", to, o, e, f);
    else
      line("{} = x{}_;", to, f);
  }
  if (facts_.passage(p) != Passage::kSink) line("LPNRT_IF_PATH(x[{}] = me;)", facts_.kept(p));
  line("}}");
}

void FlowActors::take_ids(uint32_t k) {
  const Transition& t = net_.transitions[k];
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    const size_t p = facts_.place_of(k, a);
    if (p >= declared_ || facts_.arc(k, a).weight == 0) continue;
    line("LPNRT_IF_TRACE(take_ids(@run_ids{}, static_cast<u64>({}), {}, c.taken);)", p,
         facts_.taken(k, a), a);
  }
}

}  // namespace lpn::sim

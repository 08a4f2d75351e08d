#include "write/flow_end.h"

#include <fmt/format.h>

#include "write/flow_actors.h"

namespace lpn::sim {

using std::size_t;
using std::string;
using std::uint32_t;

void FlowEnd::finish() {
  last_instant();
  report_so_far();
  // Why each transition waits in the end, by the arcs of its actor.
  out_.add(stats_.settle([this](uint32_t k, const auto& failed, const auto& passed) {
    Writer text;
    FlowActors(facts_, stats_, text).arcs(k, failed, [&](uint32_t i, const string& at) {
      text.add(passed(i, at));
    });
    return text.take();
  }));
  name_causes();
  settle();
  deliver();
}

void FlowEnd::last_instant() {
  line("u64 last_instant() const {{ u64 at = 0;");
  each(net_.transitions.size(), members_, [this](size_t k) {
    if (!facts_.event(k)) line("if (@run_end{0} > at) at = @run_end{0};", k);
  });
  line("return at; }}");
}

void FlowEnd::settle() {
  line("void settle() {{");
  for (size_t p = 0; p < net_.places.size(); ++p) {
    // Left where it must drain: stalled, and not all of its properties are here.
    if (facts_.queued(p) && facts_.kept(p) < facts_.width(p) && !facts_.refers(p)) {
      line("if (@run_q{}.size() != 0) bail();", p);
    }
  }
  if (stats_.possible()) line("LPNRT_IF_STATS(settle_stats();)");
  line("LPNRT_IF_TRACE(deliver();)");
  // Sources first: their rows may become those of a sink.
  each(net_.places.size(), members_, [this](size_t p) {
    if (facts_.passage(p) != Passage::kSource) return;
    line("net.@f{0} -= @run_s{0}.next;", p);
    if (facts_.width(p) > 0) line("net.@p{0}.pop(@run_s{0}.next);", p);
  });
  each(net_.places.size(), members_, [this](size_t p) { settle_place(p); });
  if (stats_.possible()) {
    each(declared_, members_, [this](size_t p) {
      if (facts_.consumers(p).empty()) return;
      line("LPNRT_IF_STATS(net.@level{0} = net.@f{0};)", p);
    });
  }
  each(net_.transitions.size(), members_, [this](size_t k) { settle_transition(k); });
  line("net.last_commit = Instant::ticks(last_instant());");
  if (facts_.mixed()) {
    line("net.commits += ev->commits; net.done_tokens += ev->done_tokens;");
    line("net.latency = lpnrt::max(net.latency, ev->latency);");
    line("net.last_commit = lpnrt::max(net.last_commit, ev->last_commit);");
  }
  settle_causes();
  line("net.starts_made = net.commits;");
  line("net.now = net.last_commit;");
  line("}}");
}

void FlowEnd::settle_place(size_t p) {
  switch (facts_.passage(p)) {
    case Passage::kSource: break;
    case Passage::kInto:
    case Passage::kEvent: settle_events(p); break;
    case Passage::kFifo:
    case Passage::kOutOf: settle_queue(p); break;
    case Passage::kSink:
      settle_sink(p);
      // Without properties: see Planner::merge.
      if (facts_.mixed()) line("net.@f{0} += ev->@f{0};", p);
      break;
  }
  if (net_.places[p].done) {
    line(
        "if (@run_produced{0} != 0) {{ net.done_tokens += @run_produced{0}; "
        "net.latency = lpnrt::max(net.latency, Instant::ticks(@run_done{0})); }}",
        p);
  }
  if (p < declared_ && !facts_.of_events(p))
    line("LPNRT_IF_TRACE(net.@ids{0}.swap(@run_ids{0});)", p);
}

// What the event-driven part has of it.
void FlowEnd::settle_events(size_t p) {
  if (!facts_.mixed()) return;
  if (facts_.width(p) > 0) {
    line("net.@p{0}.pop(net.@f{0});", p);
    line(
        "for (u64 k = 0; k < ev->@f{0}; ++k) std::memcpy(net.@p{0}.push(), ev->@p{0}.row(k), "
        "{1} * sizeof(i64));",
        p, facts_.width(p));
  }
  line("net.@f{0} = ev->@f{0};", p);
  if (p < declared_) line("LPNRT_IF_TRACE(net.@ids{0}.swap(ev->@ids{0});)", p);
}

void FlowEnd::settle_queue(size_t p) {
  if (facts_.width(p) > 0) {
    line("net.@p{0}.pop(net.@f{0});", p);
    line(
        "for (u64 k = 0; k < @run_q{0}.size(); ++k) std::memcpy(net.@p{0}.push(), {2}, "
        "{1} * sizeof(i64));",
        p, facts_.width(p),
        facts_.refers(p) ? fmt::format("reinterpret_cast<const i64*>(@run_q{}.row(k)[0])", p)
                         : fmt::format("@run_q{}.row(k)", p));
  }
  line("net.@f{0} = @run_q{0}.size();", p);
}

void FlowEnd::settle_transition(size_t k) {
  const Transition& t = net_.transitions[k];
  if (facts_.event(k)) {
    if (t.interval) line("net.@next{0} = ev->@next{0};", k);
    if (t.ordered) line("net.@last{0} = ev->@last{0};", k);
    line("LPNRT_IF_TRACE(net.@started{0} = ev->@started{0};)", k);
    return;
  }
  if (t.interval) line("net.@next{0} = Instant::ticks(@run_next{0});", k);
  if (t.ordered) line("net.@last{0} = Instant::ticks(@run_end{0});", k);
  line("LPNRT_IF_TRACE(net.@started{0} = @run_fired{0};)", k);
  line("net.commits += @run_fired{};", k);
}

void FlowEnd::settle_causes() {
  line("#if LPNRT_PATH");
  // Of commits at one instant the last one: that of the greatest id.
  line("u64 latest = 0; u32 by = 0; (void)by;");
  for (size_t p = 0; p < net_.places.size(); ++p) {
    if (!net_.places[p].done) continue;
    line(
        "if (@run_produced{0} != 0 && (@run_done{0} > latest || (@run_done{0} == latest && "
        "@run_finisher{0} >= by))) "
        "{{ latest = @run_done{0}; by = @run_finisher{0}; net.done_node = @run_finished{0}; }}",
        p);
  }
  line("latest = 0;");
  for (size_t k = 0; k < net_.transitions.size(); ++k) {
    if (facts_.event(k)) continue;
    line(
        "if (@run_fired{0} != 0 && @run_end{0} >= latest) {{ latest = @run_end{0}; net.last_node = "
        "@run_ended{0}; }}",
        k);
  }
  line("net.flowed = net.commits;");
  line("#endif");
}

// To an observer, when all is over.
void FlowEnd::deliver() {
  line("#if LPNRT_TRACE");
  line(
      "void deliver() {{ std::sort(log.begin(), log.end()); for (const FlowCommit& c : log) {{ "
      "const lpn_commit out = {{Instant::ticks(c.commit), Instant::group(c.commit), "
      "c.transition, c.firing, c.start, c.taken.data(), c.taken.size(), c.produced.data()}}; "
      "if (net.observer != nullptr) net.observer(net.observer_user, &out); }} }}");
  line("#endif");
}

void FlowEnd::name_causes() {
  line("#if LPNRT_PATH");
  line("template <typename Visit> static void visit_value(i64& value, const Visit& visit) {{");
  line("u32 node = static_cast<u32>(value); visit(node); value = node; }}");
  line(
      "[[gnu::noinline, gnu::cold]] void collect() {{ net.causes.collect([this](const auto& "
      "visit) {{");
  const auto each = [this](const string& chan, size_t column) {
    line(
        "for (u64 k = 0; k < {0}.size(); ++k) "
        "visit_value(const_cast<i64*>({0}.row(k))[{1}], visit);",
        chan, column);
  };
  for (size_t p = 0; p < net_.places.size(); ++p) {
    if (facts_.queued(p)) each(fmt::format("@run_q{}", p), facts_.kept(p));
    if (net_.places[p].done) line("visit(@run_finished{});", p);
  }
  for (size_t k = 0; k < net_.transitions.size(); ++k) {
    if (facts_.event(k)) continue;
    if (facts_.many_servers(k)) each(fmt::format("@run_served{}", k), 0);
    line("visit(@run_ended{0}); visit(@run_begun{0});", k);
  }
  for (size_t a = 0; a < plan_.actors.size(); ++a) line("visit(@run_began{});", a);
  for (size_t p = 0; p < net_.places.size(); ++p) {
    if (facts_.contested(p)) line("visit(@run_taken_by{});", p);
  }
  for (size_t i = 0; i < parts_; ++i) line("trace{}.each(visit);", i);
  line("}}); }}");
  line("#endif");
}

void FlowEnd::report_so_far() {
  // As the firings of run->made, some of which may end later.
  line("u64 done_so_far() const {{ u64 n = 0;");
  for (size_t p = 0; p < net_.places.size(); ++p) {
    if (net_.places[p].done) line("n += @run_produced{};", p);
  }
  if (facts_.mixed()) line("n += ev->done_tokens;");
  line("return n; }}");
  line(
      "void report_so_far() {{ i64 at = Instant::ticks(horizon); net.done_tokens = done_so_far();");
  line("if (horizon == 0) {{ at = kForever;");
  each(net_.transitions.size(), members_, [this](size_t k) {
    if (!facts_.event(k)) line("at = lpnrt::min(at, Instant::ticks(@run_end{}));", k);
  });
  line("net.commits = made; net.now = net.last_commit = at; return; }}");
  line("u64 flying = 0;");
  line(
      "const auto later = [&](const auto& queue) {{ u64 n = 0; while (n < queue.size() && "
      "Instant::ticks(queue.instant(queue.size() - 1 - n)) > at) ++n; return n; }}; "
      "(void)later;");
  each(net_.transitions.size(), members_, [this](size_t id) {
    const auto k = static_cast<uint32_t>(id);
    if (facts_.event(k)) return;
    if (facts_.one_server(k)) {
      line("flying += Instant::ticks(@run_end{}) > at;", k);
    } else if (facts_.many_servers(k)) {
      line("flying += later(@run_served{});", k);
    } else {
      for (const OutputArc& out : net_.transitions[k].outputs) {
        const auto p = static_cast<size_t>(out.place);
        const bool tells =
            out.emissions.size() == 1 && facts_.const_count(out.emissions[0]) &&
            facts_.const_of(out.emissions[0].count) > 0 &&
            (facts_.passage(p) == Passage::kInto ||
             (facts_.passage(p) == Passage::kFifo && facts_.producers(p).size() == 1));
        if (!tells) continue;
        line("flying += later({}) / {}ull;", facts_.fifo(p, k),
             facts_.const_of(out.emissions[0].count));
        break;
      }
    }
  });
  line("net.commits = made - flying; net.now = net.last_commit = at; }}");
}

void FlowEnd::settle_sink(size_t p) {
  if (facts_.width(p) > 0 && facts_.unsorted(p)) {
    // By instant, then transition: the order in which they were appended.
    const std::vector<uint32_t> from = facts_.producers(p);
    line("{{ u64 next[{}] = {{}};", from.size());
    line("for (u64 k = 0; k < @run_sunk{}; ++k) {{ u32 best = 0; u64 at = ~u64{{0}};", p);
    for (size_t i = 0; i < from.size(); ++i) {
      line(
          "if (next[{0}] < out{1}_{2}.size() && static_cast<u64>(out{1}_{2}.row(next[{0}])[0]) < "
          "at)"
          " {{ best = {0}; at = static_cast<u64>(out{1}_{2}.row(next[{0}])[0]); }}",
          i, p, from[i]);
    }
    line("const i64* row = nullptr; switch (best) {{");
    for (size_t i = 0; i < from.size(); ++i) {
      line("case {}: row = out{}_{}.row(next[{}]++); break;", i, p, from[i], i);
    }
    line("default: break; }}");
    line("std::memcpy(net.@p{}.push(), row + 1, {} * sizeof(i64)); }} }}", p, facts_.width(p));
  } else if (facts_.width(p) > 0) {
    string taken;
    for (size_t s = 0; s < net_.places.size(); ++s) {
      if (facts_.passage(s) == Passage::kSource && facts_.width(s) == facts_.width(p)) {
        taken += fmt::format(
            " || net.@p{0}.take(net.@p{1}, @run_out{0}.row(0), @run_out{0}.size())", p, s);
      }
    }
    line(
        "if (!(@run_out{0}.size() == 0 || (@run_out{0}.borrowed() && (false{1})))) "
        "net.@p{0}.append(@run_out{0}.size(), @run_out{0}.row(0));",
        p, taken);
  }
  line("net.@f{0} += @run_sunk{0};", p);
}

}  // namespace lpn::sim

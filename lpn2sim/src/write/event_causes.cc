#include "write/event_causes.h"

#include <fmt/format.h>

#include <algorithm>

namespace lpn::sim {

using std::size_t;
using std::string;
using std::uint32_t;

void EventCauses::find(size_t k) {
  const Transition& t = net_.transitions[k];
  const TransitionInfo& info = infos_[k];
  line("#if LPNRT_PATH");
  line("if (causes.full()) collect_causes();");
  line("u32 parent_ = Causes::kNone; Cause cause_ = Cause::kInitial;");
  if (t.clock)
    find_old(k);
  else
    find_recent(k);
  line("const u32 begun_ = causes.add(now, static_cast<u32>(group), {}, parent_, @T{}, cause_);",
       info.zero_delay ? "now" : "due_at", k);
  line("u32 me_ = begun_;");
  if (t.ordered && !info.zero_delay) {
    line("if (late_) me_ = causes.add_ordered(@ended{0}, @T{0}, now);", k);
    line("@ended{0} = me_;", k);
  }
  if (facts_.by_starts(k)) line("recent.mark(@begun{}, begun_);", k);
  line("#endif");
}

void EventCauses::find_recent(size_t k) {
  const Transition& t = net_.transitions[k];
  const TransitionInfo& info = infos_[k];
  string otherwise;
  const auto ask = [&](const string& condition, const char* cause) {
    line("{}if ({}) cause_ = Cause::{};", otherwise, condition, cause);
    otherwise = "else ";
  };
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    const ArcInfo& ai = info.arcs[a];
    if (t.inputs[a].inhibit || (ai.need >= 0 && std::max(ai.need, ai.least_need) == 0)) continue;
    ask(fmt::format("{0}recent.came(@arrived{1}, {2}, @f{1}, parent_)",
                    ai.need < 0 ? fmt::format("n{} != 0 && ", a) : "", ai.place, names_.need(k, a)),
        "kToken");
  }
  if (t.servers) ask(fmt::format("recent.now(@freed{}, parent_)", k), "kServer");
  for (const ArcInfo& ai : info.arcs) {
    if (!facts_.watched(ai.place)) continue;
    ask(fmt::format("recent.now(@changed_by{}, parent_)", ai.place), "kChange");
  }
  if (t.interval) {
    ask(fmt::format("group == 0 && from_ == now && from_ > causes.start(@begun{0}.node)", k),
        "kInterval");
    line("if (cause_ == Cause::kInterval) parent_ = @begun{}.node;", k);
    otherwise = "if (cause_ == Cause::kInitial) ";
  }
  if (facts_.by_starts(k)) ask(fmt::format("recent.started(@begun{}, parent_)", k), "kOrder");
  if (facts_.only_counts(k)) return;
  for (const ArcInfo& ai : info.arcs) {
    if (!facts_.asked_who_took(ai.place)) continue;
    ask(fmt::format("recent.started(@taken_by{}, parent_)", ai.place), "kOrder");
  }
}

void EventCauses::find_old(size_t k) {
  const Transition& t = net_.transitions[k];
  const TransitionInfo& info = infos_[k];
  line("Causes::Choice why_;");
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    const ArcInfo& ai = info.arcs[a];
    if (t.inputs[a].inhibit || (ai.need >= 0 && std::max(ai.need, ai.least_need) == 0)) continue;
    line("{}causes.commit_of(why_, @origins{}.at({} - 1, @f{}), Cause::kToken);",
         ai.need < 0 ? fmt::format("if (n{} != 0) ", a) : "", ai.place, names_.need(k, a),
         ai.place);
  }
  if (t.servers) line("causes.commit_of(why_, @freed{}.node, Cause::kServer);", k);
  for (const ArcInfo& ai : info.arcs) {
    if (facts_.watched(ai.place))
      line("causes.commit_of(why_, @changed_by{}.node, Cause::kChange);", ai.place);
  }
  if (t.interval) {
    line(
        "if (from_ > causes.start(@begun{0}.node)) causes.start_of(why_, @begun{0}.node, from_ - "
        "causes.start(@begun{0}.node), Cause::kInterval);",
        k);
  }
  line("causes.start_of(why_, @begun{}.node, 0, Cause::kOrder);", k);
  for (const ArcInfo& ai : info.arcs) {
    if (facts_.asked_who_took(ai.place))
      line("causes.start_of(why_, @taken_by{}.node, 0, Cause::kOrder);", ai.place);
  }
  line("parent_ = why_.node; cause_ = why_.cause;");
}

void EventCauses::collect_function() {
  line("#if LPNRT_PATH");
  line("[[gnu::noinline, gnu::cold]] void collect_causes() {{");
  line("causes.collect([this](const auto& visit) {{ recent.each(visit);");
  line("visit(done_node); visit(last_node);");
  for (size_t p = 0; p < net_.places.size(); ++p) {
    if (facts_.asked_what_came(p)) line("recent.each(@arrived{}, visit);", p);
    if (facts_.asked_whose(p)) line("@origins{}.each(visit);", p);
    if (facts_.asked_who_took(p)) line("visit(@taken_by{}.node);", p);
    if (facts_.watched(p)) line("visit(@changed_by{}.node);", p);
  }
  for (size_t k = 0; k < net_.transitions.size(); ++k) {
    if (facts_.by_starts(k)) line("visit(@begun{}.node);", k);
    if (net_.transitions[k].ordered) line("visit(@ended{});", k);
    if (net_.transitions[k].servers) line("visit(@freed{}.node);", k);
    if (infos_[k].keep != Keep::kPool && infos_[k].one_server) {
      line("visit(@r{}.me);", k);
      continue;
    }
    switch (infos_[k].keep) {
      case Keep::kSingle:
      case Keep::kCount:
      case Keep::kFifo:
        line("for (u64 i = 0; i < @q{0}.size(); ++i) visit(@q{0}.at(i).me);", k);
        break;
      case Keep::kPool:
        line("for (u32 i = 0; i < @q{0}.slots(); ++i) visit(@q{0}[i].me);", k);
        break;
    }
  }
  line("}}); }}");
  line("#endif");
}

}  // namespace lpn::sim

// One loop per actor: while the tokens are there, the start is a maximum of instants, the commit a
// sum, and the new tokens go at once into the FIFOs of their places with the instant at which they
// will appear.
//
// Only the properties that something reads travel (`live`): a place that must drain is empty at the
// end, or else the run has stalled and the event-driven engine tells what is left.
//
// The writer stands in layers: facts, then the state, the exchange with an event-driven part, the
// actors, and the end.

#include "write/flow.h"

#include <algorithm>

#include "plan/schedule.h"
#include "write/equal.h"
#include "write/flow_actors.h"
#include "write/flow_batch.h"
#include "write/flow_end.h"
#include "write/flow_exchange.h"
#include "write/flow_facts.h"
#include "write/flow_state.h"
#include "write/flow_stats.h"
#include "write/straight_line.h"
#include "write/writer.h"

namespace lpn::sim {
namespace {

using std::size_t;

constexpr const char* kUnobserved = "#if !LPNRT_TRACE";

// The actors' loops, one for all that are equal (equal.h) where members are in arrays.
void acts(FlowActors& actor, size_t actors, const Members& members, Writer& out) {
  if (!members.arrays()) {
    for (size_t a = 0; a < actors; ++a) actor.act(a);
    out.line("void act(u32 a) {{ switch (a) {{");
    for (size_t a = 0; a < actors; ++a) out.line("case {0}: act_{0}(); break;", a);
    out.line("default: break; }} }}");
    return;
  }
  const std::string before = out.take();
  EqualCode equal(members, true);
  for (size_t a = 0; a < actors; ++a) {
    actor.act(a);
    equal.add("act", a, out.take());
  }
  out.add(before);
  out.add(equal.text());
  out.add(equal.table("Run", {{"act", "act", ""}}, actors));
}

// `declared`: what FlowState::members() wrote; `fast.low`: of each static part of the net.
void run_struct(const FlowFacts& facts, const FlowStats& stats, const std::string& declared,
                const StaticCode& fast, Members& members, Writer& out) {
  const size_t parts = fast.low.size();
  const size_t actors = facts.plan().actors.size();
  FlowState state(facts, stats, members, out);
  FlowExchange exchange(facts, stats, out);
  FlowActors actor(facts, stats, out);
  FlowEnd end(facts, stats, parts, members, out);
  out.line("struct Run final : Flow<Run, {}, {}> {{", std::max<size_t>(actors, 1),
           facts.plan().packed);
  out.line("static constexpr bool kMixed = {};", facts.mixed());
  out.line("static constexpr bool kAssumes = {};", facts.plan().assumes());
  out.line("Net& net; LPNRT_IF_PATH(const bool* const halved = net.halved;)");
  if (facts.mixed()) {
    out.line("std::unique_ptr<Net> ev = std::make_unique<Net>();  // the event-driven part");
  }
  out.add(declared);
  for (size_t i = 0; stats.possible() && i < parts; ++i) {
    out.line("LPNRT_IF_STATS(StreamWatch<{}, {}> watch{};)", facts.plan().packed,
             fast.low[i] ? "u32" : "u64", i);
  }
  for (size_t i = 0; i < parts; ++i) {
    if (fast.low_path[i]) {
      out.line("LPNRT_IF_PATH(LowTrace trace{};)", i);
    } else {
      out.line("LPNRT_IF_PATH(StreamTrace<{}> trace{};)", facts.plan().packed, i);
    }
  }
  state.start();
  if (facts.mixed()) exchange.exchange();
  acts(actor, actors, members, out);
  actor.verify();
  end.finish();
  out.line("}};");
  if (facts.mixed()) exchange.deliveries();
}

// `fast`: parts of the net are static; `portion`: of how many iterations at a time.
void run_flow(bool fast, std::uint64_t portion, bool assumes, Writer& out) {
  out.line("int Net::run_flow() {{");
  out.line("std::unique_ptr<Run> run; bool settling = false;");
  out.line("try {{");
  out.line("run = std::make_unique<Run>(*this);");
  if (fast) {
    out.line("{}", kUnobserved);
    out.line("while (run_static(*run, {}) != 0) {{", portion);
    out.line("if (ask_stop(Run::ticks(run->last_instant()), run->made)) {{");
    out.line("run->report_so_far(); return kStopped; }} }}");
    out.line("#endif");
  }
  out.line("if (!run->flow([this](i64 at) {{ return !ask_stop(at, 0); }})) {{");
  out.line("run->report_so_far(); return kStopped; }}");
  out.line("settling = true; run->settle();");
  out.line("return kFlowed;");
  // Running ahead may need more memory than the run itself. Half settled, nothing can go on.
  out.line("}} catch (const Stopped& s) {{");
  out.line(
      "if (settling || s.why != kOutOfMemory) {{ stop = s.why; commits = run == nullptr ? 0 : "
      "run->made; done_tokens = run == nullptr ? 0 : run->done_so_far();");
  out.line("now = run == nullptr ? -1 : run->complete; last_commit = lpnrt::max(now, i64{{0}});");
  out.line("return kStopped; }}");
  if (assumes) out.line("}} catch (const Misjudged&) {{ mistaken = true;");
  out.line("}} catch (const Bail&) {{");
  out.line("}} catch (const std::bad_alloc&) {{");
  out.line("if (settling) {{ stop = kOutOfMemory; return kStopped; }}");
  out.line("}} catch (const Failure&) {{ }}");
  out.line("return kBailed;");
  out.line("}}");
}

}  // namespace

std::string generate_flow(const Net& net, std::size_t declared, const Plan& plan,
                          Members& members) {
  const FlowFacts facts(net, declared, plan);
  const FlowStats stats(net, declared, plan, members.arrays());
  Writer out;
  FlowState(facts, stats, members, out).members();  // before code that names them is compared
  const std::string declared_members = out.take();
  StaticCode fast;
  if (!facts.mixed() && !plan.assumes()) {
    fast = generate_static(
        net, static_parts(net),
        {plan.packed, facts.live(),
         [&facts](size_t k, size_t o, size_t e, size_t f) { return facts.can_fail(k, o, e, f); }},
        plan, stats, members);
  }
  if (!fast.text.empty()) {
    out.line("{}", kUnobserved);
    out.add(fast.text);
    out.line("#endif");
  }
  run_struct(facts, stats, declared_members, fast, members, out);
  run_flow(!fast.text.empty(), fast.portion, plan.assumes(), out);
  if (fast.lanes) generate_batch(fast.portion, out);
  out.line("#if {}", fast.lanes ? "LPNRT_TRACE || LPNRT_STATS || LPNRT_PATH" : "1");
  out.line("u32 Net::lanes() {{ return 1; }}");
  out.line("u64 Net::prepare_lanes(Net* const*, u32) {{ return 0; }}");
  out.line("#endif");
  return linked(out.take(), members);
}

}  // namespace lpn::sim

#include "write/flow_batch.h"

namespace lpn::sim {
namespace {

// What was computed for typed sinks in lock step is counted, not kept.
void together(std::uint64_t portion, Writer& out) {
  out.line("struct FlowBatch {{");
  out.line("Net* nets[kMostLanes]; std::unique_ptr<Run> runs[kMostLanes]; u32 count = 0;");
  out.line("StaticLanes<Run> lanes; bool together = false;");
  out.line("static u32 most() {{ return lanes_here(); }}");
  out.line("// Nets that have not begun; at most most().");
  out.line("void load(Net* const* all, u32 n) {{ Run* each[kMostLanes]; count = n;");
  out.line("for (u32 i = 0; i < n; ++i) {{ nets[i] = all[i]; runs[i].reset();");
  out.line("try {{ runs[i] = std::make_unique<Run>(*all[i]); }} catch (const Bail&) {{ }} }}");
  out.line("bool whole = true;");
  out.line(
      "for (u32 i = 0; i < n; ++i) {{ each[i] = runs[i].get(); whole &= each[i] != nullptr; }}");
  out.line("together = whole && lanes.load(each, n); }}");
  out.line(
      "// how[i]: as Net::run_flow, or kAlone of those for whom the time of the first was up:");
  out.line("// each has a time of its own.");
  out.line("void run(int* how) {{ Run* each[kMostLanes];");
  out.line("for (u32 i = 0; i < count; ++i) each[i] = runs[i].get();");
  out.line("const bool lost = together && !lanes.run(each, count);");
  out.line("for (u32 i = 0; i < count; ++i) {{ how[i] = kBailed;");
  out.line("if (lost || each[i] == nullptr) continue;");
  out.line("bool settling = false;");
  out.line("try {{ while (run_static(*each[i], {}) != 0) rest();", portion);
  out.line("each[i]->flow([](i64) {{ rest(); return true; }}); settling = true;");
  out.line("each[i]->settle();");
  out.line("how[i] = kFlowed; }}");
  out.line("catch (const Bail&) {{ }} catch (const Failure&) {{ }}");
  out.line("catch (const Stopped& s) {{");
  out.line("if (s.why == kOutOfTime) how[i] = kAlone;");
  out.line("else if (settling || s.why != kOutOfMemory) nets[i]->stopped(s.why); }}");
  out.line("catch (const std::bad_alloc&) {{");
  out.line("if (settling) nets[i]->stopped(kOutOfMemory); }} }} }}");
  out.line("}};");
}

// How batches of the C interface come to it.
void access(Writer& out) {
  out.line("u32 Net::lanes() {{ return FlowBatch::most(); }}");
  out.line("u64 Net::prepare_lanes(Net* const* all, u32 n) {{");
  out.line("Net* ready[kMostLanes]; int how[kMostLanes]; u32 count = 0;");
  out.line("std::fill_n(how, kMostLanes, int{{kBailed}});");
  out.line("for (u32 i = 0; i < n; ++i) {{ Net& net = *all[i];");
  out.line("if (net.begun || net.dead || net.order_free != 0 || !net.flows(kForever)) continue;");
  out.line("if (!net.armed && !net.begin()) continue;");
  out.line("net.armed = true; ready[count++] = &net; }}");
  out.line("if (count == 0) return 0;");
  out.line("const Inside inside(*ready[0]); FlowBatch batch; u64 layout = 0; int why = kGoesOn;");
  out.line("try {{ const u64 from = clock_ns(); batch.load(ready, count);");
  out.line("layout = clock_ns() - from; batch.run(how);");
  out.line("}} catch (const Stopped& s) {{ why = s.why; batch.together = false;");
  out.line("}} catch (const std::bad_alloc&) {{ why = kOutOfMemory; batch.together = false; }}");
  out.line("ready[0]->entered = clock_ns();  // what they took together is nobody's own time");
  out.line("if (why == kOutOfTime) return layout;");
  out.line("if (why != kGoesOn && why != kOutOfMemory) {{");
  out.line("for (u32 i = 0; i < count; ++i) ready[i]->stopped(why); return layout; }}");
  out.line("for (u32 i = 0; i < count; ++i) {{ if (how[i] == kAlone) continue;");
  out.line("ready[i]->order_free = how[i] == kBailed ? -1 : 1;");
  out.line("ready[i]->begun = how[i] != kBailed; ready[i]->rows_lost = batch.together; }}");
  out.line("return layout; }}");
}

void test_access(Writer& out) {
  out.line(
      "#ifdef LPNRT_TEST_STATIC  // for tests: like lpn_sim_api.run of each, up to the answer");
  out.line(
      "[[gnu::visibility(\"default\"), gnu::used]] u32 test_lanes(lpn_sim* const* sims, u32 n) "
      "{{");
  out.line("Net* nets[kMostLanes]; int how[kMostLanes]; if (n == 0) return FlowBatch::most();");
  out.line(
      "for (u32 i = 0; i < n; ++i) {{ nets[i] = reinterpret_cast<Net*>(sims[i]); "
      "if (!nets[i]->begin()) return 0; nets[i]->armed = true; }}");
  out.line("FlowBatch batch; batch.load(nets, n); batch.run(how); u32 flowed = 0;");
  out.line(
      "for (u32 i = 0; i < n; ++i) {{ nets[i]->order_free = how[i] == kBailed ? -1 : 1; "
      "if (how[i] == kFlowed) {{ nets[i]->begun = true; flowed |= 1u << i; }} }}");
  out.line("return flowed | (batch.together ? 1u << 31 : 0); }}");
  out.line("#endif");
}

}  // namespace

void generate_batch(std::uint64_t portion, Writer& out) {
  out.line("#if !LPNRT_TRACE && !LPNRT_STATS && !LPNRT_PATH");
  together(portion, out);
  access(out);
  test_access(out);
  out.line("#endif");
}

}  // namespace lpn::sim

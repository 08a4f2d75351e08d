// One loop per actor: while the tokens are there, the start is a maximum of instants, the commit a
// sum, and the new tokens go at once into the FIFOs of their places with the instant at which they
// will appear.
//
// Only the properties that something reads travel (`live`): a place that must drain is empty at the
// end, or else the run has stalled and the event-driven engine tells what is left.

#include "write/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "lpn/base/error.h"
#include "lpn/net/facts.h"
#include "write/expr.h"
#include "write/flow_stats.h"
#include "write/straight_line.h"

namespace lpn::sim {
namespace {

using std::size_t;
using std::string;
using std::uint32_t;

class FlowGenerator final : Operands {
 public:
  FlowGenerator(const Net& net, size_t declared, const Plan& plan)
      : net_(net),
        declared_(declared),
        plan_(plan),
        mixed_(!plan.whole()),
        printer_(net_, *this),
        stats_(net, declared, plan) {
    find_live();
  }

  string run() {
    const size_t actors = std::max<size_t>(plan_.actors.size(), 1);
    const StaticCode fast =
        mixed_ ? StaticCode{} : generate_static(net_, static_parts(net_), {plan_.packed, live_});
    if (!fast.text.empty()) {
      line("#if !LPNRT_TRACE && !LPNRT_STATS && !LPNRT_PATH");
      out_ += fast.text;
      line("#endif");
    }
    line("struct Run final : Flow<Run, {}, {}> {{", actors, plan_.packed);
    line("static constexpr bool kMixed = {};", mixed_);
    line("Net& net; LPNRT_IF_PATH(const bool* const halved = net.halved;)");
    if (mixed_)
      line("std::unique_ptr<Net> ev = std::make_unique<Net>();  // the event-driven part");
    members();
    start();
    if (mixed_) exchange();
    for (size_t a = 0; a < plan_.actors.size(); ++a) act(a);
    line("void act(u32 a) {{ switch (a) {{");
    for (size_t a = 0; a < plan_.actors.size(); ++a) line("case {0}: act_{0}(); break;", a);
    line("default: break; }} }}");
    finish();
    line("}};");
    if (mixed_) deliveries();
    line("int Net::run_flow() {{");
    line("try {{");
    line("const auto run = std::make_unique<Run>(*this);");
    if (!fast.text.empty()) {
      line("#if !LPNRT_TRACE && !LPNRT_STATS && !LPNRT_PATH");
      line("while (run_static(*run, kIterations) != 0) {{");
      line("if (ask_stop(Run::ticks(run->last_instant()), run->made)) {{");
      line("run->report_so_far(); return kStopped; }} }}");
      line("#endif");
    }
    line("if (!run->flow([this](i64 at) {{ return !ask_stop(at, 0); }})) {{");
    line("run->report_so_far(); return kStopped; }}");
    line("run->settle();");
    line("return kFlowed;");
    line("}} catch (const Bail&) {{");
    // Running ahead may need more than the run itself.
    line("}} catch (const std::bad_alloc&) {{");
    line("}} catch (const Failure&) {{ }}");
    line("return kBailed;");
    line("}}");
    if (fast.lanes) batch();
    line("#if {}", fast.lanes ? "LPNRT_TRACE || LPNRT_STATS || LPNRT_PATH" : "1");
    line("u32 Net::lanes() {{ return 1; }}");
    line("u64 Net::prepare_lanes(Net* const*, u32) {{ return 0; }}");
    line("#endif");
    return std::move(out_);
  }

 private:
  // Several runs whose static parts go in lock step. What was computed for typed sinks in lock step
  // is counted, not kept.
  void batch() {
    line("#if !LPNRT_TRACE && !LPNRT_STATS && !LPNRT_PATH");
    line("struct FlowBatch {{");
    line("Net* nets[kMostLanes]; std::unique_ptr<Run> runs[kMostLanes]; u32 count = 0;");
    line("StaticLanes<Run> lanes; bool together = false;");
    line("static u32 most() {{ return lanes_here(); }}");
    line("// Nets that have not begun; at most most().");
    line("void load(Net* const* all, u32 n) {{ Run* each[kMostLanes]; count = n;");
    line("for (u32 i = 0; i < n; ++i) {{ nets[i] = all[i]; runs[i].reset();");
    line("try {{ runs[i] = std::make_unique<Run>(*all[i]); }} catch (const Bail&) {{ }} }}");
    line("bool whole = true;");
    line("for (u32 i = 0; i < n; ++i) {{ each[i] = runs[i].get(); whole &= each[i] != nullptr; }}");
    line("together = whole && lanes.load(each, n); }}");
    line("// how[i]: as Net::run_flow");
    line("void run(int* how) {{ Run* each[kMostLanes];");
    line("for (u32 i = 0; i < count; ++i) each[i] = runs[i].get();");
    line("const bool lost = together && !lanes.run(each, count);");
    line("for (u32 i = 0; i < count; ++i) {{ how[i] = kBailed;");
    line("if (lost || each[i] == nullptr) continue;");
    line("try {{ while (run_static(*each[i], kIterations) != 0) {{ }}");
    line("each[i]->flow([](i64) {{ return true; }}); each[i]->settle(); how[i] = kFlowed; }}");
    line("catch (const Bail&) {{ }} catch (const Failure&) {{ }} }} }}");
    line("}};");
    line("u32 Net::lanes() {{ return FlowBatch::most(); }}");
    line("u64 Net::prepare_lanes(Net* const* all, u32 n) {{");
    line("Net* ready[kMostLanes]; int how[kMostLanes]; u32 count = 0;");
    line("for (u32 i = 0; i < n; ++i) {{ Net& net = *all[i];");
    line("if (net.begun || net.dead || net.order_free != 0 || !net.flows(kForever)) continue;");
    line("if (!net.armed && !net.begin()) continue;");
    line("net.armed = true; ready[count++] = &net; }}");
    line("if (count == 0) return 0;");
    line("FlowBatch batch; const u64 from = clock_ns(); batch.load(ready, count);");
    line("const u64 layout = clock_ns() - from; batch.run(how);");
    line("for (u32 i = 0; i < count; ++i) {{ ready[i]->order_free = how[i] == kBailed ? -1 : 1;");
    line("ready[i]->begun = how[i] != kBailed; ready[i]->rows_lost = batch.together; }}");
    line("return layout; }}");
    line("#ifdef LPNRT_TEST_STATIC  // for tests: like lpn_sim_api.run of each, up to the answer");
    line(
        "[[gnu::visibility(\"default\"), gnu::used]] u32 test_lanes(lpn_sim* const* sims, u32 n) "
        "{{");
    line("Net* nets[kMostLanes]; int how[kMostLanes]; if (n == 0) return FlowBatch::most();");
    line(
        "for (u32 i = 0; i < n; ++i) {{ nets[i] = reinterpret_cast<Net*>(sims[i]); "
        "if (!nets[i]->begin()) return 0; nets[i]->armed = true; }}");
    line("FlowBatch batch; batch.load(nets, n); batch.run(how); u32 flowed = 0;");
    line(
        "for (u32 i = 0; i < n; ++i) {{ nets[i]->order_free = how[i] == kBailed ? -1 : 1; "
        "if (how[i] == kFlowed) {{ nets[i]->begun = true; flowed |= 1u << i; }} }}");
    line("return flowed | (batch.together ? 1u << 31 : 0); }}");
    line("#endif");
    line("#endif");
  }

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  // ---- what is known of the net -----------------------------------------------------------

  size_t width(size_t p) const { return net_[net_.places[p].type].fields.size(); }
  Passage passage(size_t p) const { return plan_.passage[p]; }
  bool event(size_t k) const { return !plan_.why_not[k].empty(); }
  // Held by Run as a FIFO.
  bool queued(size_t p) const {
    return passage(p) == Passage::kFifo || passage(p) == Passage::kOutOf;
  }
  // Touched by the event-driven part alone, or given to it.
  bool of_events(size_t p) const {
    return passage(p) == Passage::kEvent || passage(p) == Passage::kInto;
  }
  size_t place_of(size_t k, uint32_t arc) const {
    return static_cast<size_t>(net_.transitions[k].inputs[arc].place);
  }
  bool is_const(const Formula& f) const { return net_.exprs.is_const(f.id); }
  std::int64_t const_of(const Formula& f) const {
    std::int64_t value = 0;
    LPN_ASSERT(net_.exprs.is_const(f.id, value));
    return value;
  }
  bool const_count(const Emission& e) const {
    return is_const(e.count) && const_of(e.count) <= kMaxTokens;
  }
  bool one_row(const Emission& e) const { return const_count(e) && const_of(e.count) == 1; }
  bool no_row(const Emission& e) const { return const_count(e) && const_of(e.count) == 0; }

  // Whether all tokens of the place are gone at the end of a run that has not stalled.
  bool drains(size_t p) const { return must_drain(net_.places[p]); }

  // The tokens that an arc's formulas may read, by property.
  void read(size_t k, ExprId id, bool& changed) {
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

  void find_live() {
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

  // Places into which tokens of sources are passed on as they are: their queues hold where the row
  // stands, not its values.
  void find_references() {
    refers_.assign(net_.places.size(), false);
    if (!static_parts(net_).parts.empty()) return;  // straight-line code carries values
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

  // The input arc whose tokens an emission into `p` passes on with all their properties, each the
  // same token or the one of the emission's index.
  std::optional<uint32_t> passed(uint32_t k, size_t p, const Emission& e) const {
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
  bool live(size_t k, size_t o, size_t f) const {
    return live_[static_cast<size_t>(net_.transitions[k].outputs[o].place)][f];
  }
  size_t kept(size_t p) const {
    if (refers_[p]) return 1;
    return static_cast<size_t>(std::count(live_[p].begin(), live_[p].end(), true));
  }

  // Whether evaluating a property of an emission can be an error, which must not go unnoticed.
  bool can_fail(size_t k, size_t o, size_t e, size_t f) const {
    const OutputArc& arc = net_.transitions[k].outputs[o];
    const Formula& formula = arc.emissions[e].fields[f];
    if (is_const(formula)) return false;
    return printer_.may_fail(k, formula) || range_check(k, o, e, f);
  }
  bool range_check(size_t k, size_t o, size_t e, size_t f) const {
    const OutputArc& arc = net_.transitions[k].outputs[o];
    const auto& range = net_.type_of(arc.place).fields[f].range;
    if (!range) return false;
    const Range r = printer_.range(k, arc.emissions[e].fields[f]);
    return r.lo < range->lo || r.hi > range->hi;
  }

  struct Arc {
    std::int64_t weight = -1;  // constant, else -1
    std::int64_t need = -1;    // constant, else -1
    bool reads_head = false;
    std::int64_t least_need = 0;
  };
  Arc arc(size_t k, uint32_t a) const {
    const ArcFacts facts = arc_facts(net_, net_.transitions[k], a);
    return {facts.weight.value_or(-1), facts.need.value_or(-1), facts.reads_head,
            facts.least_need()};
  }

  // ---- operands ---------------------------------------------------------------------------

  string head(size_t, uint32_t a) const override { return fmt::format("a{}", a); }
  string row(size_t k, uint32_t a, const string& index) const override {
    const size_t p = place_of(k, a);
    if (passage(p) != Passage::kSource && !queued(p)) {
      return "static_cast<const i64*>(nullptr)";  // only watched
    }
    if (passage(p) == Passage::kSource) {
      return fmt::format("(s{0}.rows + (s{0}.next + {1}) * {2})", p, index, width(p));
    }
    if (!refers_.empty() && refers_[p]) {
      return fmt::format("reinterpret_cast<const i64*>(q{}.row({})[0])", p, index);
    }
    return fmt::format("q{}.row({})", p, index);
  }
  uint32_t column(size_t k, uint32_t a, uint32_t field) const override {
    return columns_.empty() ? field : columns_[place_of(k, a)][field];
  }
  string needed(size_t k, uint32_t a) const override {
    const Arc about = arc(k, a);
    if (about.need >= 0) return fmt::format("{}ull", std::max(about.need, about.least_need));
    return fmt::format("n{}", a);
  }
  std::int64_t least_need(size_t k, uint32_t a) const override { return arc(k, a).least_need; }
  string taken(size_t k, uint32_t a) const override {
    const Arc about = arc(k, a);
    return about.weight >= 0 ? literal(about.weight) : fmt::format("w{}", a);
  }
  string occupancy(size_t, uint32_t) const override { return "0"; }  // no order-free net reads it
  string free(size_t, uint32_t) const override { return "0"; }

  string value(size_t k, const Formula& f, const string& where) const {
    return printer_.of(k, f, where);
  }

  // ---- state ------------------------------------------------------------------------------

  bool one_server(size_t k) const {
    const auto& servers = net_.transitions[k].servers;
    return servers && is_const(*servers) && const_of(*servers) == 1;
  }
  bool many_servers(size_t k) const { return net_.transitions[k].servers && !one_server(k); }

  // Sinks whose producers are not one actor in order: their tokens are sorted at the end.
  bool unsorted(size_t p) const {
    if (passage(p) != Passage::kSink || width(p) == 0) return false;
    const std::vector<uint32_t> from = producers(p);
    const Actor& actor = plan_.actors[plan_.actor_of[from[0]]];
    if (!actor.in_order) return true;
    return std::any_of(from.begin(), from.end(),
                       [&](uint32_t k) { return plan_.actor_of[k] != plan_.actor_of[from[0]]; });
  }
  // Order-free ones.
  std::vector<uint32_t> producers(size_t p) const {
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

  void members() {
    for (size_t k = 0; k < net_.params.size(); ++k) line("const i64 P{0} = net.P{0};", k);
    for (size_t p = 0; p < net_.places.size(); ++p) {
      switch (passage(p)) {
        case Passage::kSource: line("Source s{};", p); break;
        case Passage::kFifo:
        case Passage::kOutOf: line("Chan<{} + LPNRT_PATH> q{};", kept(p), p); break;
        case Passage::kInto:
          for (uint32_t k : producers(p)) {
            line("Chan<{}> in{}_{};", width(p), p, k);
            if (p < declared_) line("LPNRT_IF_TRACE(IdRuns idin{}_{};)", p, k);
          }
          break;
        case Passage::kEvent: break;
        case Passage::kSink:
          line("u64 sunk{} = 0;", p);
          if (unsorted(p)) {
            for (uint32_t k : producers(p)) line("Out<{}> out{}_{};", width(p) + 1, p, k);
          } else if (width(p) > 0) {
            line("Out<{}> out{};", width(p), p);
          }
          break;
      }
      if (net_.places[p].done) {
        line("u64 done{0} = 0, produced{0} = 0; LPNRT_IF_PATH(u32 finished{0} = 0;)", p);
      }
      if (p < declared_ && !of_events(p)) line("LPNRT_IF_TRACE(IdRuns ids{};)", p);
    }
    for (size_t a = 0; a < plan_.actors.size(); ++a) {
      line("u64 last{0} = 0; LPNRT_IF_PATH(u32 began{0} = 0;)", a);
    }
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      if (event(k)) continue;
      line("u64 fired{0} = 0, end{0} = 0;", k);
      line("LPNRT_IF_PATH(u32 ended{0} = 0, begun{0} = 0;)", k);
      if (many_servers(k)) line("Chan<LPNRT_PATH> served{};", k);
      if (net_.transitions[k].interval) line("u64 next{} = 0;", k);
    }
    line("LPNRT_IF_TRACE(std::vector<FlowCommit> log;)");
    line("std::vector<i64> scratch;");
    out_ += stats_.members();
  }

  void start() {
    line("explicit Run(Net& n) : net(n) {{");
    for (uint32_t p : plan_.single_token) line("if (net.f{} != 1) bail();", p);
    for (size_t p = 0; p < net_.places.size(); ++p) {
      switch (passage(p)) {
        case Passage::kSource:
          line("s{0}.count = net.f{0};", p);
          if (width(p) > 0) line("if (net.f{0} != 0) s{0}.rows = net.p{0}.row(0);", p);
          break;
        case Passage::kFifo:
        case Passage::kOutOf:
          line("if (net.f{0} > u64{{1}} << 24) bail();", p);
          line("q{0}.reserve(net.f{0});", p);
          if (refers_[p]) {
            line("if (net.f{} != 0) bail();", p);  // their rows stand where the last ones will
            break;
          }
          line("for (u64 k = 0; k < net.f{0}; ++k) {{ i64* const x = q{0}.push(0); (void)x;", p);
          for (size_t f = 0; f < width(p); ++f) {
            if (live_[p][f]) line("x[{}] = net.p{}.row(k)[{}];", columns_[p][f], p, f);
          }
          line("LPNRT_IF_PATH(x[{}] = 0;)", kept(p));
          line("}}");
          break;
        case Passage::kSink:
        case Passage::kInto:
        case Passage::kEvent: break;
      }
      if (p < declared_ && !of_events(p)) {
        line(
            "LPNRT_IF_TRACE(for (u64 k = 0; k < net.ids{0}.size(); ++k) ids{0}.push() = "
            "net.ids{0}[k];)",
            p);
      }
    }
    if (mixed_) start_events();
    out_ += stats_.begin();
    line("}}");
  }

  // The event-driven part starts from its tokens; those of the actors stay here.
  void start_events() {
    line("const i64 params[] = {{");
    for (size_t k = 0; k < net_.params.size(); ++k) line("P{},", k);
    line("0}};");
    line("if (ev->configure(params) != LPN_OK) bail();");
    line("ev->feeder = this; ev->armed = true;");
    for (size_t p = 0; p < net_.places.size(); ++p) {
      if (width(p) > 0) line("ev->p{0}.pop(ev->f{0});", p);
      line("ev->f{} = 0;", p);
      if (of_events(p)) {
        if (width(p) > 0) {
          line(
              "for (u64 k = 0; k < net.f{0}; ++k) std::memcpy(ev->p{0}.push(), net.p{0}.row(k), "
              "{1} * sizeof(i64));",
              p, width(p));
        }
        line("ev->f{0} = net.f{0};", p);
      }
      if (passage(p) == Passage::kOutOf) line("ev->s{}.on = true;", p);
      if (p < declared_) {
        line("#if LPNRT_TRACE");
        line("while (ev->ids{0}.size() != 0) ev->ids{0}.pop();", p);
        if (of_events(p)) {
          line("for (u64 k = 0; k < net.ids{0}.size(); ++k) ev->ids{0}.push() = net.ids{0}[k];", p);
        }
        line("#endif");
      }
    }
  }

  // What goes into the event-driven part and comes out of it.
  void exchange() {
    const auto each_channel = [this](const auto& with) {
      for (size_t p = 0; p < net_.places.size(); ++p) {
        if (passage(p) != Passage::kInto) continue;
        for (uint32_t k : producers(p)) with(p, k);
      }
    };
    line("u64 next_arrival() const {{ u64 at = Instant::kNever;");
    each_channel([this](size_t p, uint32_t k) {
      line("if (in{0}_{1}.size() != 0 && in{0}_{1}.instant(0) < at) at = in{0}_{1}.instant(0);", p,
           k);
    });
    line("return at; }}");
    line("void arrive(u64 at) {{");
    each_channel([this](size_t p, uint32_t k) {
      line("if (in{0}_{1}.size() != 0 && in{0}_{1}.instant(0) == at) ev->due.insert({1});", p, k);
    });
    line("}}");
    for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
      if (feeds(k)) deliver(k);
    }
    line("void drain() {{");
    for (size_t p = 0; p < net_.places.size(); ++p) {
      if (passage(p) != Passage::kOutOf) continue;
      line("if (ev->f{0} != 0) {{ for (u64 left = ev->f{0}; left != 0;) {{", p);
      line("const Stamp stamp = ev->s{0}.runs.front(); ev->s{0}.runs.pop(); left -= stamp.count;",
           p);
      line("const u64 at = Instant::at(static_cast<u64>(stamp.time)) | stamp.group;");
      line("for (u64 k = 0; k < stamp.count; ++k) {{ i64* const x = q{}.push(at); (void)x;", p);
      for (size_t f = 0; f < width(p); ++f) {
        if (live_[p][f]) line("x[{}] = ev->p{}.row(k)[{}];", columns_[p][f], p, f);
      }
      line("}}");
      if (width(p) > 0) line("ev->p{}.pop(stamp.count);", p);
      line("}}");
      line("ev->f{} = 0;", p);
      if (p < declared_) {
        line(
            "LPNRT_IF_TRACE(for (; ev->ids{0}.size() != 0; ev->ids{0}.pop()) ids{0}.push() = "
            "ev->ids{0}.front();)",
            p);
      }
      for (uint32_t k : consumers(p)) line("turn.insert({});", plan_.actor_of[k]);
      line("}}");
    }
    line("}}");
  }

  bool feeds(uint32_t k) const {
    if (event(k)) return false;
    const auto& outputs = net_.transitions[k].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](const OutputArc& out) {
      return passage(static_cast<size_t>(out.place)) == Passage::kInto;
    });
  }

  // The tokens of the commits of `k` at this instant.
  void deliver(uint32_t k) {
    line("void deliver_{}(u64 at) {{", k);
    std::set<size_t> places;
    for (const OutputArc& out : net_.transitions[k].outputs) {
      const auto p = static_cast<size_t>(out.place);
      if (passage(p) != Passage::kInto || !places.insert(p).second) continue;
      line("{{ u64 count = 0;");
      line("for (; in{0}_{1}.size() != 0 && in{0}_{1}.instant(0) == at; in{0}_{1}.pop(1)) {{", p,
           k);
      if (width(p) > 0) {
        line("std::memcpy(ev->p{0}.push(), in{0}_{1}.row(0), {2} * sizeof(i64));", p, k, width(p));
      }
      line("++count; }}");
      line("ev->f{} += count;", p);
      if (p < declared_) {
        line(
            "LPNRT_IF_TRACE(for (u64 left = count; left != 0;) {{ ev->ids{0}.push() = "
            "idin{0}_{1}.front(); left -= idin{0}_{1}.front().count; idin{0}_{1}.pop(); }})",
            p, k);
      }
      line("if (count != 0) {{");
      for (uint32_t other = 0; other < net_.transitions.size(); ++other) {
        const auto& inputs = net_.transitions[other].inputs;
        const bool takes = std::any_of(inputs.begin(), inputs.end(), [&](const InputArc& in) {
          return static_cast<size_t>(in.place) == p;
        });
        if (takes && event(other)) line("ev->dirty.insert({});", other);
      }
      line("}} }}");
    }
    line("}}");
  }

  void deliveries() {
    line(
        "bool Net::deliver(u32 k) {{ "
        "const u64 at = Run::Instant::at(static_cast<u64>(now)) | group; (void)at; switch (k) {{");
    for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
      if (feeds(k)) line("case {0}: feeder->deliver_{0}(at); return true;", k);
    }
    line("default: return false; }} }}");
    line("#if LPNRT_TRACE");
    line(
        "void Net::log(const lpn_commit& c, u64 outputs) {{ FlowCommit& to = "
        "feeder->log.emplace_back(); "
        "to.commit = Run::Instant::at(static_cast<u64>(c.time)) | c.group; to.start = c.start; "
        "to.transition = c.transition; to.firing = c.firing; to.taken.assign(c.taken, c.taken + "
        "c.taken_runs); to.produced.assign(c.produced, c.produced + (c.produced == nullptr ? 0 : "
        "outputs)); }}");
    line("#endif");
  }

  // ---- an actor ---------------------------------------------------------------------------

  void act(size_t a) {
    const Actor& actor = plan_.actors[a];
    line("void act_{}() {{", a);
    line("u64 last = last{};", a);
    for (uint32_t k : actor.members) line("u64 count{0} = 0, end_{0} = end{0};", k);
    line("again:");
    for (uint32_t k : actor.members) {
      line("do {{");
      arcs(
          k, [](const char*) { return string("break;"); }, [](uint32_t, const string&) {});
      fire(a, k);
      line("++count{}; goto again;", k);
      line("}} while (false);");
    }
    line("last{} = last;", a);
    for (uint32_t k : actor.members) {
      std::set<uint32_t> woken;
      for (const OutputArc& arc : net_.transitions[k].outputs) {
        for (uint32_t other : consumers(static_cast<size_t>(arc.place))) {
          if (plan_.actor_of[other] != a) woken.insert(plan_.actor_of[other]);
        }
      }
      line("if (count{0} != 0) {{ fired{0} += count{0}; end{0} = end_{0}; made += count{0};", k);
      for (uint32_t other : woken) line("turn.insert({});", other);
      line("}}");
    }
    line("}}");
  }

  // Order-free ones.
  std::vector<uint32_t> consumers(size_t p) const {
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

  string size(size_t p) const {
    return fmt::format("{}{}.size()", passage(p) == Passage::kSource ? 's' : 'q', p);
  }

  // Leaves the enclosing block when the tokens are not there, or a guard is false.
  // The arcs of `k` in order: leaves by `failed(reason)` at the first that is not satisfied; after
  // each that has its tokens, `passed(arc, their instant)`, "" when they were there from the start.
  template <typename Failed, typename Passed>
  void arcs(uint32_t k, const Failed& failed, const Passed& passed) {
    const Transition& t = net_.transitions[k];
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      const InputArc& in = t.inputs[a];
      const size_t p = place_of(k, a);
      const Arc about = arc(k, a);
      const char* const missing = net_.places[p].credit_of ? "kCredit" : "kToken";
      const auto where = [&](SiteKind kind) { return site(k, kind, a); };
      if (about.reads_head) line("if ({} == 0) {}", size(p), failed(missing));
      const auto bind_head = [&] {
        if (width(p) > 0) line("const i64* const a{} = {}; (void)a{};", a, row(k, a, "0"), a);
      };
      if (about.reads_head) bind_head();
      if (about.weight < 0) {
        line("const i64 w{} = {};", a, value(k, in.weight, where(SiteKind::kWeight)));
        if (printer_.range(k, in.weight).lo < 0) line("if (w{} < 0) bail();", a);
      }
      if (about.need >= 0) {
        if (about.need > 0) line("if ({} < {}ull) {}", size(p), about.need, failed(missing));
      } else {
        if (in.threshold) {
          line("const i64 k{} = {};", a, value(k, *in.threshold, where(SiteKind::kThreshold)));
          line("if (k{} < 0) bail();", a);
          line("u64 n{0} = static_cast<u64>(lpnrt::max({1}, k{0})); (void)n{0};", a, taken(k, a));
        } else {
          line("u64 n{0} = static_cast<u64>(w{0}); (void)n{0};", a);
        }
        line("if ({} < n{}) {}", size(p), a, failed(missing));
        if (about.reads_head) line("if (n{0} == 0) n{0} = 1;", a);
      }
      // With no token needed the row is not read.
      if (!about.reads_head) bind_head();
      passed(a, arrival(k, a));
      if (in.guard) {
        line("if (!{}) {}", value(k, *in.guard, where(SiteKind::kGuard)), failed("kGuard"));
      }
    }
  }

  // The node of the last of those tokens (lpnrt/path.h).
  string node_of(uint32_t k, uint32_t i) const {
    const size_t p = place_of(k, i);
    const Arc about = arc(k, i);
    const string last = about.need < 0
                            ? fmt::format("n{} - 1", i)
                            : fmt::format("{}", std::max(about.need, about.least_need) - 1);
    return fmt::format("static_cast<u32>(q{}.row({})[{}])", p, last, kept(p));
  }

  // The instant at which the tokens that arc `i` needs are there, "" when they always were.
  string arrival(uint32_t k, uint32_t i) const {
    const size_t p = place_of(k, i);
    if (!queued(p)) return "";
    const Arc about = arc(k, i);
    if (about.need < 0) return fmt::format("(n{0} != 0 ? q{1}.instant(n{0} - 1) : 0)", i, p);
    const std::int64_t need = std::max(about.need, about.least_need);
    return need > 0 ? fmt::format("q{}.instant({})", p, need - 1) : "";
  }

  void fire(size_t a, uint32_t k) {
    const Transition& t = net_.transitions[k];
    // With causes, the last start is looked at last: a token at the same instant is the better one.
    line("#if LPNRT_PATH");
    line("if (net.causes.full()) collect();");
    line("u64 start = 0; u32 why = 0; Cause how = Cause::kInitial;");
    line("#else");
    line("u64 start = last;");
    line("#endif");
    const auto not_before = [this](const string& instant, const string& node, const char* how) {
      line(
          "if (const u64 x_ = {}; x_ > start) {{ start = x_; LPNRT_IF_PATH(why = {}; how = {};) }}",
          instant, node, how);
    };
    out_ += stats_.before_arcs(k);
    for (uint32_t i = 0; i < t.inputs.size(); ++i) {
      if (const string at = arrival(k, i); !at.empty()) {
        not_before(at, node_of(k, i), "Cause::kToken");
      }
      out_ += stats_.after_arc(k, i);
    }
    if (one_server(k)) {
      not_before(fmt::format("end_{}", k), fmt::format("ended{}", k), "Cause::kServer");
    }
    if (many_servers(k)) {
      const string servers = is_const(*t.servers)
                                 ? fmt::format("{}ull", const_of(*t.servers))
                                 : fmt::format("static_cast<u64>(net.servers{})", k);
      not_before(fmt::format("served{0}.size() >= {1} ? served{0}.instant(0) : 0", k, servers),
                 fmt::format("static_cast<u32>(served{}.row(0)[0])", k), "Cause::kServer");
    }
    out_ += stats_.after_server(k);
    if (t.interval) {
      not_before(fmt::format("next{}", k), fmt::format("begun{}", k), "Cause::kInterval");
    }
    line("LPNRT_IF_PATH(if (last > start) {{ start = last; why = began{}; how = Cause::kOrder; }})",
         a);
    if (t.clock) line("start = Instant::on_edge(start, net.period{0}, net.phase{0});", k);
    line("if (start > horizon) {{ hold({}, start); break; }}", a);
    times(k);
    evaluate(k);
    line("#if LPNRT_PATH");
    line(
        "const u32 begun_ = net.causes.add(Instant::ticks(start), "
        "static_cast<u32>(Instant::group(start)), Instant::ticks(commit), why, {}, how);",
        k);
    line("u32 me = begun_; (void)me;");
    if (t.ordered) line("if (late_) me = net.causes.add_ordered(ended{0}, {0});", k);
    line("begun{0} = began{1} = begun_; ended{0} = me;", k, a);
    line("#endif");
    line("last = start; end_{} = commit;", k);
    if (many_servers(k)) {
      const string servers = is_const(*t.servers)
                                 ? fmt::format("{}ull", const_of(*t.servers))
                                 : fmt::format("static_cast<u64>(net.servers{})", k);
      line("if (served{0}.size() >= {1}) served{0}.pop(1);", k, servers);
      line("{{ i64* const x = served{}.push(commit); (void)x; LPNRT_IF_PATH(x[0] = me;) }}", k);
    }
    progress(k);
    out_ += stats_.fired(
        k, [&](uint32_t i) { return taken(k, i); },
        [&](size_t o, size_t e) { return count(k, o, e); });
    line(
        "LPNRT_IF_TRACE(log.emplace_back(); FlowCommit& c = log.back(); c.commit = commit; "
        "c.start = Instant::ticks(start); c.transition = {0}; c.firing = fired{0} + count{0};)",
        k);
    take_ids(k);
    append(k);
    for (uint32_t i = 0; i < t.inputs.size(); ++i) {
      if (arc(k, i).weight == 0) continue;
      const size_t p = place_of(k, i);
      if (passage(p) == Passage::kSource)
        line("s{}.next += static_cast<u64>({});", p, taken(k, i));
      else
        line("q{}.pop(static_cast<u64>({}));", p, taken(k, i));
    }
  }

  void times(uint32_t k) {
    const Transition& t = net_.transitions[k];
    const string at = site(k, SiteKind::kDelay);
    line("const i64 delay = LPNRT_DELAY({}, {});", k, value(k, t.delay, at));
    if (printer_.range(k, t.delay).lo < 0) line("if (delay < 0) bail();");
    const auto ticks = [&](const char* what, const string& where) {
      return t.clock ? fmt::format("mul({}, net.period{}, {})", what, k, where) : string(what);
    };
    line("u64 commit = Instant::after(start, static_cast<u64>({}));", ticks("delay", at));
    if (t.ordered) {
      line("LPNRT_IF_PATH(const bool late_ = commit < end_{};)", k);
      line("if (commit < end_{0}) commit = end_{0};", k);
    }
    if (t.interval) {
      const string where = site(k, SiteKind::kInterval);
      line("const i64 interval = {};", value(k, *t.interval, where));
      if (printer_.range(k, *t.interval).lo < 0) line("if (interval < 0) bail();");
      line(
          "if (interval > 0) next{} = Instant::after(start & ~Instant::kMask, "
          "static_cast<u64>({}));",
          k, ticks("interval", where));
    }
  }

  // Some firing must not take nothing for ever.
  void progress(uint32_t k) {
    const Transition& t = net_.transitions[k];
    if (t.servers) return;
    string none;
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      const Arc about = arc(k, a);
      if (about.weight > 0) return;
      if (about.weight < 0) none += fmt::format("w{} == 0 && ", a);
    }
    line("if ({}{}) bail();", none, t.interval ? "interval == 0" : "true");
  }

  bool is_input(uint32_t k, size_t p) const {
    const auto& inputs = net_.transitions[k].inputs;
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const InputArc& in) { return static_cast<size_t>(in.place) == p; });
  }

  // Counts, and the properties of single tokens; rows that would be read from the place they go to.
  void evaluate(uint32_t k) {
    const Transition& t = net_.transitions[k];
    for (size_t o = 0; o < t.outputs.size(); ++o) {
      const OutputArc& out = t.outputs[o];
      const auto p = static_cast<size_t>(out.place);
      for (size_t e = 0; e < out.emissions.size(); ++e) {
        const Emission& emission = out.emissions[e];
        if (no_row(emission)) continue;
        if (!const_count(emission)) {
          line("const i64 c{}_{} = {};", o, e,
               value(k, emission.count, site(k, SiteKind::kCount, o, e)));
          line("if (static_cast<u64>(c{0}_{1}) > static_cast<u64>(kMaxTokens)) bail();", o, e);
        }
        if (width(p) == 0 || refers_[p]) continue;
        if (one_row(emission)) {
          fields(k, o, e, [&](size_t f) { return fmt::format("const i64 v{}_{}_{} = ", o, e, f); });
        } else if (is_input(k, p) || any_dead_failure(k, o, e)) {
          line("const size_t scratch{}_{} = {};", o, e, "scratch.size()");
          line("for (i64 i = 0; i < {}; ++i) {{", count(k, o, e));
          fields(k, o, e, [&](size_t f) { return fmt::format("const i64 x{}_ = ", f); });
          for (size_t f = 0; f < width(p); ++f) {
            if (live_[p][f]) {
              line("scratch.push_back({});", is_const(emission.fields[f])
                                                 ? literal(const_of(emission.fields[f]))
                                                 : fmt::format("x{}_", f));
            }
          }
          line("}}");
        }
      }
    }
  }
  bool any_dead_failure(uint32_t k, size_t o, size_t e) const {
    const auto& all = net_.transitions[k].outputs[o].emissions[e].fields;
    for (size_t f = 0; f < all.size(); ++f) {
      if (!live(k, o, f) && can_fail(k, o, e, f)) return true;
    }
    return false;
  }

  string count(uint32_t k, size_t o, size_t e) const {
    const Emission& emission = net_.transitions[k].outputs[o].emissions[e];
    return const_count(emission) ? literal(const_of(emission.count)) : fmt::format("c{}_{}", o, e);
  }

  // Evaluates the live properties, and those whose evaluation may be an error.
  template <typename Declare>
  void fields(uint32_t k, size_t o, size_t e, const Declare& declare) {
    const OutputArc& out = net_.transitions[k].outputs[o];
    const auto& types = net_.type_of(out.place).fields;
    const bool single = one_row(out.emissions[e]);
    for (size_t f = 0; f < types.size(); ++f) {
      const Formula& formula = out.emissions[e].fields[f];
      if (is_const(formula) || !(live(k, o, f) || can_fail(k, o, e, f))) continue;
      string text = value(k, formula, site(k, SiteKind::kField, o, e, f));
      if (single && net_.exprs.reads(formula.id).index) {
        text = fmt::format("[&] {{ constexpr i64 i = 0; return {}; }}()", text);
      }
      const string name = declare(f);
      line("{}{};", name, text);
      const string variable = name.substr(10, name.size() - 13);  // between "const i64 " and " = "
      line("(void){};", variable);
      if (range_check(k, o, e, f)) {
        line("if ({0} < {1} || {0} > {2}) bail();", variable, literal(types[f].range->lo),
             literal(types[f].range->hi));
      }
    }
  }

  void append(uint32_t k) {
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
        if (no_row(emission)) continue;
        if (const_count(emission))
          known += const_of(emission.count);
        else
          sum += fmt::format("static_cast<u64>(c{}_{}) + ", o, e);
        const bool sink = passage(p) == Passage::kSink;
        if (width(p) == 0 && sink) continue;
        const bool one = one_row(emission);
        const bool kept_rows =
            !one && width(p) > 0 && !refers_[p] && (is_input(k, p) || any_dead_failure(k, o, e));
        scratch |= kept_rows;
        if (kept_rows) line("{{ const i64* from = scratch.data() + scratch{}_{};", o, e);
        if (!one) line("for (i64 i = 0; i < {}; ++i) {{", count(k, o, e));
        if (width(p) == 0) {
          line("{{ i64* const x = {}.push(commit); (void)x; LPNRT_IF_PATH(x[{}] = me;) }}",
               fifo(p, k), kept(p));
        } else {
          push_row(k, o, e, p, one, kept_rows);
        }
        if (!one) line("}}");
        if (kept_rows) line("}}");
      }
      const string total = fmt::format("{}{}ull", sum, known);
      produced += total + ", ";
      if (total == "0ull") continue;
      if (passage(p) == Passage::kSink) line("sunk{} += {};", p, total);
      if (net_.places[p].done) {
        line(
            "if (const u64 x_ = {0}; x_ != 0) {{ produced{1} += x_; if (commit > done{1}) {{ "
            "done{1} = commit; LPNRT_IF_PATH(finished{1} = me;) }} }}",
            total, p);
      }
      if (p < declared_) {
        line(
            "LPNRT_IF_TRACE(if (const u64 x_ = {}; x_ != 0) {}.push() = {{0, 0, {}, {}, "
            "c.firing, 0, x_}};)",
            total,
            passage(p) == Passage::kInto ? fmt::format("idin{}_{}", p, k) : fmt::format("ids{}", p),
            k, o);
      }
    }
    if (scratch) line("scratch.clear();");
    line("LPNRT_IF_TRACE(c.produced = {{{}}};)", produced);
  }

  string fifo(size_t p, uint32_t k) const {
    return passage(p) == Passage::kInto ? fmt::format("in{}_{}", p, k) : fmt::format("q{}", p);
  }

  void push_reference(uint32_t k, const Emission& emission, size_t p) {
    const uint32_t from = *passed(k, p, emission);
    const Node& which = net_.exprs[net_.exprs[emission.fields[0].id].kids[0]];
    string at;
    if (which.op == Op::kIndex) {
      if (!one_row(emission)) {
        line("if (static_cast<u64>(i) >= {}) bail();", needed(k, from));
        at = row(k, from, "static_cast<u64>(i)");
      } else {
        at = row(k, from, "0");
        line("if ({} == 0) bail();", needed(k, from));
      }
    } else {
      at = row(k, from, fmt::format("{}", which.value));
    }
    line("{{ const i64* const stands = {}; i64* const x = q{}.push(commit);", at, p);
    line("x[0] = reinterpret_cast<i64>(stands); LPNRT_IF_PATH(x[1] = me;) }}");
  }

  void push_row(uint32_t k, size_t o, size_t e, size_t p, bool one, bool kept_rows) {
    const Emission& emission = net_.transitions[k].outputs[o].emissions[e];
    if (refers_[p]) return push_reference(k, emission, p);
    size_t shift = 0;
    if (!one && !kept_rows) {
      fields(k, o, e, [&](size_t f) { return fmt::format("const i64 x{}_ = ", f); });
    }
    if (passage(p) != Passage::kSink) {
      line("{{ i64* const x = {}.push(commit); (void)x;", fifo(p, k));
    } else if (unsorted(p)) {
      line("{{ i64* const x = out{}_{}.push(); x[0] = static_cast<i64>(commit);", p, k);
      shift = 1;
    } else {
      line("{{ i64* const x = out{}.push();", p);
    }
    for (size_t f = 0; f < width(p); ++f) {
      if (!live_[p][f]) continue;
      const string to = fmt::format("x[{}]", columns_[p][f] + shift);
      const Formula& formula = emission.fields[f];
      if (kept_rows)
        line("{} = *from++;", to);
      else if (is_const(formula))
        line("{} = {};", to, literal(const_of(formula)));
      else if (one)
        line("{} = v{}_{}_{};", to, o, e, f);
      else
        line("{} = x{}_;", to, f);
    }
    if (passage(p) != Passage::kSink) line("LPNRT_IF_PATH(x[{}] = me;)", kept(p));
    line("}}");
  }

  void take_ids(uint32_t k) {
    const Transition& t = net_.transitions[k];
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      const size_t p = place_of(k, a);
      if (p >= declared_ || arc(k, a).weight == 0) continue;
      line("LPNRT_IF_TRACE(take_ids(ids{}, static_cast<u64>({}), {}, c.taken);)", p, taken(k, a),
           a);
    }
  }

  // ---- the end ----------------------------------------------------------------------------

  // Every node that something may still name as its cause.
  void name_causes() {
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
      if (queued(p)) each(fmt::format("q{}", p), kept(p));
      if (net_.places[p].done) line("visit(finished{});", p);
    }
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      if (event(k)) continue;
      if (many_servers(k)) each(fmt::format("served{}", k), 0);
      line("visit(ended{0}); visit(begun{0});", k);
    }
    for (size_t a = 0; a < plan_.actors.size(); ++a) line("visit(began{});", a);
    line("}}); }}");
    line("#endif");
  }

  void finish() {
    line("u64 last_instant() const {{ u64 at = 0;");
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      if (!event(k)) line("if (end{0} > at) at = end{0};", k);
    }
    line("return at; }}");

    report_so_far();

    out_ += stats_.settle([this](uint32_t k, const auto& failed, const auto& passed) {
      string before;
      before.swap(out_);
      arcs(k, failed, [&](uint32_t i, const string& at) { out_ += passed(i, at); });
      before.swap(out_);
      return before;
    });

    name_causes();

    line("void settle() {{");
    for (size_t p = 0; p < net_.places.size(); ++p) {
      // Left where it must drain: stalled, and not all of its properties are here.
      if (queued(p) && kept(p) < width(p) && !refers_[p]) line("if (q{}.size() != 0) bail();", p);
    }
    if (stats_.possible()) line("LPNRT_IF_STATS(settle_stats();)");
    line("LPNRT_IF_TRACE(deliver();)");
    // Sources first: their rows may become those of a sink.
    for (size_t p = 0; p < net_.places.size(); ++p) {
      if (passage(p) != Passage::kSource) continue;
      line("net.f{0} -= s{0}.next;", p);
      if (width(p) > 0) line("net.p{0}.pop(s{0}.next);", p);
    }
    for (size_t p = 0; p < net_.places.size(); ++p) {
      switch (passage(p)) {
        case Passage::kSource: break;
        case Passage::kInto:
        case Passage::kEvent:
          if (!mixed_) break;
          if (width(p) > 0) {
            line("net.p{0}.pop(net.f{0});", p);
            line(
                "for (u64 k = 0; k < ev->f{0}; ++k) std::memcpy(net.p{0}.push(), ev->p{0}.row(k), "
                "{1} * sizeof(i64));",
                p, width(p));
          }
          line("net.f{0} = ev->f{0};", p);
          if (p < declared_) line("LPNRT_IF_TRACE(net.ids{0}.swap(ev->ids{0});)", p);
          break;
        case Passage::kFifo:
        case Passage::kOutOf:
          if (width(p) > 0) {
            line("net.p{0}.pop(net.f{0});", p);
            line(
                "for (u64 k = 0; k < q{0}.size(); ++k) std::memcpy(net.p{0}.push(), {2}, "
                "{1} * sizeof(i64));",
                p, width(p),
                refers_[p] ? fmt::format("reinterpret_cast<const i64*>(q{}.row(k)[0])", p)
                           : fmt::format("q{}.row(k)", p));
          }
          line("net.f{0} = q{0}.size();", p);
          break;
        case Passage::kSink:
          settle_sink(p);
          if (mixed_) line("net.f{0} += ev->f{0};", p);  // without properties: see Planner::merge
          break;
      }
      if (net_.places[p].done) {
        line(
            "if (produced{0} != 0) {{ net.done_tokens += produced{0}; "
            "net.latency = lpnrt::max(net.latency, Instant::ticks(done{0})); }}",
            p);
      }
      if (p < declared_ && !of_events(p)) line("LPNRT_IF_TRACE(net.ids{0}.swap(ids{0});)", p);
    }
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      const Transition& t = net_.transitions[k];
      if (event(k)) {
        if (t.interval) line("net.next{0} = ev->next{0};", k);
        if (t.ordered) line("net.last{0} = ev->last{0};", k);
        line("LPNRT_IF_TRACE(net.started{0} = ev->started{0};)", k);
        continue;
      }
      if (t.interval) line("net.next{0} = Instant::ticks(next{0});", k);
      if (t.ordered) line("net.last{0} = Instant::ticks(end{0});", k);
      line("LPNRT_IF_TRACE(net.started{0} = fired{0};)", k);
      line("net.commits += fired{};", k);
    }
    line("net.last_commit = Instant::ticks(last_instant());");
    if (mixed_) {
      line("net.commits += ev->commits; net.done_tokens += ev->done_tokens;");
      line("net.latency = lpnrt::max(net.latency, ev->latency);");
      line("net.last_commit = lpnrt::max(net.last_commit, ev->last_commit);");
    }
    line("#if LPNRT_PATH");
    line("u64 latest = 0;");
    for (size_t p = 0; p < net_.places.size(); ++p) {
      if (!net_.places[p].done) continue;
      line("if (done{0} > latest) {{ latest = done{0}; net.done_node = finished{0}; }}", p);
    }
    line("latest = 0;");
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      if (event(k)) continue;
      line("if (end{0} > latest) {{ latest = end{0}; net.last_node = ended{0}; }}", k);
    }
    line("net.flowed = net.commits;");
    line("#endif");
    line("net.starts_made = net.commits;");
    line("net.now = net.last_commit;");
    line("}}");

    line("#if LPNRT_TRACE");
    line(
        "void deliver() {{ std::sort(log.begin(), log.end()); for (const FlowCommit& c : log) {{ "
        "const lpn_commit out = {{Instant::ticks(c.commit), Instant::group(c.commit), "
        "c.transition, c.firing, c.start, c.taken.data(), c.taken.size(), c.produced.data()}}; "
        "if (net.observer != nullptr) net.observer(net.observer_user, &out); }} }}");
    line("#endif");
  }

  // Of a run that was stopped: complete up to the horizon, or, within straight-line code, up to
  // where the slowest transition is. Firings in flight then are left out where some queue tells how
  // many.
  void report_so_far() {
    line("void report_so_far() {{ i64 at = Instant::ticks(horizon);");
    line("if (horizon == 0) {{ at = kForever;");
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      if (!event(k)) line("at = lpnrt::min(at, Instant::ticks(end{}));", k);
    }
    line("net.commits = made; net.now = net.last_commit = at; return; }}");
    line("u64 flying = 0;");
    line(
        "const auto later = [&](const auto& queue) {{ u64 n = 0; while (n < queue.size() && "
        "Instant::ticks(queue.instant(queue.size() - 1 - n)) > at) ++n; return n; }}; "
        "(void)later;");
    for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
      if (event(k)) continue;
      if (one_server(k)) {
        line("flying += Instant::ticks(end{}) > at;", k);
      } else if (many_servers(k)) {
        line("flying += later(served{});", k);
      } else {
        for (const OutputArc& out : net_.transitions[k].outputs) {
          const auto p = static_cast<size_t>(out.place);
          const bool tells = out.emissions.size() == 1 && const_count(out.emissions[0]) &&
                             const_of(out.emissions[0].count) > 0 &&
                             (passage(p) == Passage::kInto ||
                              (passage(p) == Passage::kFifo && producers(p).size() == 1));
          if (!tells) continue;
          line("flying += later({}) / {}ull;", fifo(p, k), const_of(out.emissions[0].count));
          break;
        }
      }
    }
    line("net.commits = made - flying; net.now = net.last_commit = at; }}");
  }

  void settle_sink(size_t p) {
    if (width(p) > 0 && unsorted(p)) {
      // By instant, then transition: the order in which they were appended.
      const std::vector<uint32_t> from = producers(p);
      line("{{ u64 next[{}] = {{}};", from.size());
      line("for (u64 k = 0; k < sunk{}; ++k) {{ u32 best = 0; u64 at = ~u64{{0}};", p);
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
      line("std::memcpy(net.p{}.push(), row + 1, {} * sizeof(i64)); }} }}", p, width(p));
    } else if (width(p) > 0) {
      string taken;
      for (size_t s = 0; s < net_.places.size(); ++s) {
        if (passage(s) == Passage::kSource && width(s) == width(p)) {
          taken += fmt::format(" || net.p{0}.take(net.p{1}, out{0}.row(0), out{0}.size())", p, s);
        }
      }
      line(
          "if (!(out{0}.size() == 0 || (out{0}.borrowed() && (false{1})))) "
          "net.p{0}.append(out{0}.size(), out{0}.row(0));",
          p, taken);
    }
    line("net.f{0} += sunk{0};", p);
  }

  const Net& net_;
  size_t declared_;
  const Plan& plan_;
  bool mixed_;
  ExprPrinter printer_;
  FlowStats stats_;
  string out_;
  std::vector<std::vector<bool>> live_;         // per place and property
  std::vector<bool> refers_;                    // per place: its queue holds where rows stand
  std::vector<std::vector<uint32_t>> columns_;  // where a live property stands in a row
};

}  // namespace

string generate_flow(const Net& net, size_t declared, const Plan& plan) {
  return FlowGenerator(net, declared, plan).run();
}

}  // namespace lpn::sim

// One struct per net: counters and rings for places, the cheapest sufficient record for firings.
//
// What is decided here, per transition:
//  - how its firings in flight are kept (Keep): a count, one record, a FIFO, or a pool when commits
//    may overtake one another;
//  - what of a firing is known only at its start and must be remembered until the commit: counts
//    and properties that are not constants;
//  - whom a start or a commit can make ready: only those are looked at again. A start takes
//    tokens, so it concerns those who read the head or the free count of the same place; a commit
//    concerns consumers of what it emits, readers of occupancies it lowers, and itself when its
//    servers are finite.
// A place that many transitions compete for keeps a set of those that lack only its tokens; new
// tokens have only the least of them looked at, and the next one when tokens are left after that.
// Overflow checks that the declared ranges make needless (expr/range.h) are left out.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "lpn/base/error.h"
#include "lpn/expr/range.h"
#include "lpn/net/facts.h"
#include "lpn/net/lower.h"
#include "lpn/run/run.h"
#include "lpn/sim/generate.h"
#include "plan/plan.h"
#include "write/expr.h"
#include "write/flow.h"
#include "write/flow_stats.h"

namespace lpn::sim {
namespace {

using std::size_t;
using std::string;
using std::uint32_t;

constexpr std::uint64_t kMaxNodes = 1 << 20;  // of all expressions, as trees
constexpr std::size_t kSmall = 16;            // transitions whose code is part of the engine's loop
constexpr std::size_t kInlined = 64;          // transitions whose code shares one function

// How the firings in flight of a transition are kept.
enum class Keep {
  kCount,   // zero delay and nothing to remember: how many
  kSingle,  // one server: one record
  kFifo,    // commits in start order: a ring
  kPool,    // commits may overtake: slots
};

struct ArcInfo {
  size_t place = 0;
  bool credit = false;
  bool reads_head = false;
  bool read_by_arcs = false;  // weights, thresholds or guards read its tokens or free count
  bool occupancy_read = false;
  bool tokens_read = false;     // anything reads its tokens
  std::int64_t weight = -1;     // constant, else -1
  std::int64_t least_need = 0;  // tokens that are there once the arc was passed
  std::int64_t need = -1;       // constant, else -1
};

// Transitions that compete for tokens of a place and may wait in its set, sorted; a net has few.
struct Contest {
  std::int64_t need = 0;  // how many tokens each of them needs
  std::vector<std::uint32_t> rivals;
};

struct TransitionInfo {
  std::vector<ArcInfo> arcs;
  size_t declared_inputs = 0, declared_outputs = 0;
  Keep keep = Keep::kFifo;
  bool zero_delay = false;  // constant 0
  bool one_server = false;
};

class Generator final : Operands {
 public:
  Generator(const Net& net, const GenerateOptions& options)
      : declared_(net),
        net_(lower(net)),
        plan_(make_plan(net_, options.solver)),
        metered_(plan_.whole() && FlowStats(net_, declared_.places.size(), plan_).possible()),
        printer_(net_, *this),
        space_("lpn_net" + options.suffix),
        contested_(options.contested) {
    analyse();
  }

  string run() {
    line("namespace {} {{", space_);
    line("using namespace lpnrt;");
    for (size_t k = 0; k < net_.exprs.tables(); ++k) {
      string values;
      for (std::int64_t v : net_.exprs.table(static_cast<uint32_t>(k))) values += literal(v) + ",";
      line("constexpr i64 kTable{}[] = {{{}}};", k, values);
    }
    line("struct Net final : Engine<Net, {}> {{", std::max<size_t>(net_.transitions.size(), 1));
    constants();
    members();
    configure();
    for (size_t p = 0; p < net_.places.size(); ++p) call_function(p);
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      try_function(k);
      commit_function(k);
      waiting_function(k);
      why_function(k);
    }
    dispatch();
    collect_causes();
    access();
    line("}};");
    if (flows()) {
      line("#if {}", flow_condition());
      out_ += generate_flow(net_, declared_.places.size(), plan_);
      line("#endif");
    }
    line("constexpr lpn_sim_api kApi = Abi<Net>::table();");
    line("}}  // namespace");
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  // Locked tokens are counted where something reads them, and always for statistics.
  void always_or_stats(bool always, const string& text) {
    if (always)
      line("{}", text);
    else
      line("LPNRT_IF_STATS({})", text);
  }

  // ---- analysis ---------------------------------------------------------------------------

  void analyse() {
    std::uint64_t nodes = 0;
    const auto count = [&](const Formula& f) { nodes += net_.exprs.tree_size(f.id); };
    consumers_.resize(net_.places.size());
    credits_.resize(net_.places.size());
    for (size_t c = declared_.places.size(); c < net_.places.size(); ++c) {
      credits_[static_cast<size_t>(*net_.places[c].credit_of)] = c;
    }
    locked_.resize(net_.places.size());
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      const Transition& t = net_.transitions[k];
      TransitionInfo info;
      info.declared_inputs = declared_.transitions[k].inputs.size();
      info.declared_outputs = declared_.transitions[k].outputs.size();
      Readers all(net_.exprs, t.inputs.size()), arcs(net_.exprs, t.inputs.size());
      for (uint32_t a = 0; a < t.inputs.size(); ++a) {
        const InputArc& arc = t.inputs[a];
        ArcInfo ai;
        ai.place = static_cast<size_t>(arc.place);
        ai.credit = net_[arc.place].credit_of.has_value();
        for (const Formula* f : formulas_of(arc)) {
          count(*f);
          arcs.add(f->id);
          all.add(f->id);
        }
        const ArcFacts facts = arc_facts(net_, t, a);
        ai.reads_head = facts.reads_head;
        if (!arc.inhibit) {
          ai.weight = facts.weight.value_or(-1);
          ai.need = facts.need.value_or(-1);
        }
        ai.least_need = facts.least_need();
        info.arcs.push_back(ai);
        consumers_[ai.place].push_back(static_cast<uint32_t>(k));
      }
      count(t.delay);
      all.add(t.delay.id);
      if (t.interval) {
        count(*t.interval);
        all.add(t.interval->id);
      }
      for (const OutputArc& arc : t.outputs) {
        if (arc.emissions.size() > kMaxArcs) throw too_large();
        for (const Emission& e : arc.emissions) {
          count(e.count);
          all.add(e.count.id);
          for (const Formula& f : e.fields) {
            count(f);
            all.add(f.id);
          }
        }
      }
      for (uint32_t a = 0; a < t.inputs.size(); ++a) {
        ArcInfo& ai = info.arcs[a];
        ai.read_by_arcs = arcs.tokens[a] || arcs.free[a];
        ai.occupancy_read = all.occupancy[a];
        ai.tokens_read = all.tokens[a] && !net_.type_of(t.inputs[a].place).fields.empty();
        if (ai.occupancy_read || t.inputs[a].inhibit) locked_[ai.place] = true;
      }
      choose_keep(t, info);
      infos_.push_back(std::move(info));
    }
    if (nodes > kMaxNodes || net_.transitions.size() >= (1u << 20)) throw too_large();
    find_contests();
  }

  // Arcs that are looked at before anything that can fail, and have constant needs: the first ones.
  size_t safe_arcs(size_t k) const {
    const Transition& t = net_.transitions[k];
    size_t a = 0;
    for (; a < t.inputs.size(); ++a) {
      if (t.inputs[a].inhibit) continue;
      if (infos_[k].arcs[a].need < 0) break;
      if (t.inputs[a].guard) return a + 1;
    }
    return a;
  }

  void find_contests() {
    contests_.resize(net_.places.size());
    std::vector<std::map<std::int64_t, std::vector<uint32_t>>> rivals(net_.places.size());
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      const size_t safe = safe_arcs(k);
      for (size_t a = 0; a < safe; ++a) {
        const ArcInfo& ai = infos_[k].arcs[a];
        // Whoever reads the place otherwise has to see every change of it.
        if (net_.transitions[k].inputs[a].inhibit || ai.need < 1) continue;
        if (ai.read_by_arcs || ai.occupancy_read) continue;
        rivals[ai.place][ai.need].push_back(static_cast<uint32_t>(k));
      }
    }
    for (size_t p = 0; p < net_.places.size(); ++p) {
      for (auto& [need, members] : rivals[p]) {
        if (members.size() < std::max(contested_, contests_[p].rivals.size() + 1)) continue;
        contests_[p] = {need, std::move(members)};
      }
    }
  }

  bool is_rival(size_t p, uint32_t k) const {
    const auto& rivals = contests_[p].rivals;
    return std::binary_search(rivals.begin(), rivals.end(), k);
  }
  // REQUIRES is_rival(p, k), and that the place has not the tokens now.
  string park(size_t p, uint32_t k) const {
    const auto& rivals = contests_[p].rivals;
    const auto rank = std::lower_bound(rivals.begin(), rivals.end(), k) - rivals.begin();
    return fmt::format("parked{}.insert({});", p, rank);
  }
  // Has the least of those that wait for a contested place looked at, if it has tokens for it.
  // Whoever is looked at calls on the next.
  string call_on(size_t p) const {
    return fmt::format("if (f{0} >= {1}ull && !parked{0}.empty()) call_{0}();", p,
                       contests_[p].need);
  }
  void call_function(size_t p) {
    const auto& rivals = contests_[p].rivals;
    if (rivals.empty()) return;
    line("[[gnu::noinline]] void call_{}() {{", p);
    if (rivals.back() - rivals.front() + 1 == rivals.size()) {
      line("dirty.insert({}u + parked{}.take_least());", rivals.front(), p);
    } else {
      line("static constexpr u32 kRivals[] = {{{}}};", fmt::join(rivals, ","));
      line("dirty.insert(kRivals[parked{}.take_least()]);", p);
    }
    line("}}");
  }

  Error too_large() const {
    return Error(
        "E-too-large",
        fmt::format("net '{}' is too large to compile; run it with --engine interp", net_.name));
  }

  struct Readers {
    const ExprPool& pool;
    std::vector<bool> tokens, free, occupancy;
    Readers(const ExprPool& p, size_t arcs) : pool(p), tokens(arcs), free(arcs), occupancy(arcs) {}
    void add(ExprId id) {
      const Reads r = pool.reads(id);
      for (uint32_t a : r.tokens) tokens[a] = true;
      for (uint32_t a : r.free) free[a] = true;
      for (uint32_t a : r.occupancy) occupancy[a] = true;
    }
  };

  static std::vector<const Formula*> formulas_of(const InputArc& arc) {
    std::vector<const Formula*> all;
    if (arc.inhibit) return all;
    all.push_back(&arc.weight);
    if (arc.threshold) all.push_back(&*arc.threshold);
    if (arc.guard) all.push_back(&*arc.guard);
    return all;
  }

  void choose_keep(const Transition& t, TransitionInfo& info) {
    std::int64_t value = 0;
    info.zero_delay = net_.exprs.is_const(t.delay.id, value) && value == 0;
    info.one_server = one_server(net_, t);
    if (info.zero_delay && !remembers(t, info))
      info.keep = Keep::kCount;
    else if (info.one_server)
      info.keep = Keep::kSingle;
    else if (t.ordered || constant_delay(net_, t))
      info.keep = Keep::kFifo;
    else
      info.keep = Keep::kPool;
  }

  bool is_const(const Formula& f) const { return net_.exprs.is_const(f.id); }
  std::int64_t const_of(const Formula& f) const {
    std::int64_t value = 0;
    LPN_ASSERT(net_.exprs.is_const(f.id, value));
    return value;
  }
  // A count that the commit knows without being told.
  bool const_count(const Emission& e) const {
    return is_const(e.count) && const_of(e.count) <= kMaxTokens;
  }
  bool is_unit(const OutputArc& arc) const { return net_.type_of(arc.place).fields.empty(); }
  bool one_row(const Emission& e) const { return const_count(e) && const_of(e.count) == 1; }

  // Whether a firing's record holds anything but its due time.
  bool remembers(const Transition& t, const TransitionInfo& info) const {
    for (const OutputArc& arc : t.outputs) {
      for (const Emission& e : arc.emissions) {
        if (!const_count(e)) return true;
        if (const_of(e.count) == 0) continue;
        for (const Formula& f : e.fields) {
          if (!is_const(f)) return true;
        }
      }
    }
    for (const ArcInfo& arc : info.arcs) {
      if (arc.weight < 0) return true;  // the taken count, for occupancies
    }
    return false;
  }

  // ---- expressions ------------------------------------------------------------------------

  string head(size_t, uint32_t arc) const override { return fmt::format("a{}", arc); }
  string row(size_t k, uint32_t arc, const string& index) const override {
    return fmt::format("p{}.row({})", infos_[k].arcs[arc].place, index);
  }
  string needed(size_t k, uint32_t arc) const override { return need(k, arc); }
  std::int64_t least_need(size_t k, uint32_t arc) const override {
    return infos_[k].arcs[arc].least_need;
  }
  string occupancy(size_t k, uint32_t arc) const override {
    return fmt::format("static_cast<i64>(f{0} + l{0})", infos_[k].arcs[arc].place);
  }
  string free(size_t k, uint32_t arc) const override {
    return fmt::format("static_cast<i64>(f{})", infos_[k].arcs[arc].place);
  }

  // How many tokens arc `a` needs and takes, as expressions of type u64 and i64.
  string need(size_t k, uint32_t a) const {
    const ArcInfo& arc = infos_[k].arcs[a];
    if (arc.need >= 0) return fmt::format("{}ull", std::max(arc.need, arc.least_need));
    return fmt::format("n{}", a);
  }
  string taken(size_t k, uint32_t a) const override {
    const ArcInfo& arc = infos_[k].arcs[a];
    if (net_.transitions[k].inputs[a].inhibit) return "0ll";
    return arc.weight >= 0 ? literal(arc.weight) : fmt::format("w{}", a);
  }

  string value(size_t k, const Formula& f, const string& where_) const {
    return printer_.of(k, f, where_);
  }
  Range range_of(size_t k, const Formula& f) const { return printer_.range(k, f); }

  // ---- constants and members --------------------------------------------------------------

  void constants() {
    line("static constexpr u32 kParams = {}, kDeclaredPlaces = {}, kTransitions = {};",
         net_.params.size(), declared_.places.size(), net_.transitions.size());
    const bool has_done =
        std::any_of(net_.places.begin(), net_.places.end(), [](const Place& p) { return p.done; });
    line("static constexpr bool kHasDone = {}, kTimed = {};", has_done, timed());
    if (flows()) {
      line("static constexpr bool kFlow = {};", flow_condition());
      line("int run_flow();");
      line("static u32 lanes();  // instances that go in lock step");
      line("static u64 prepare_lanes(Net* const* all, u32 count);");
      if (mixed()) {
        line("#if LPNRT_STATS || LPNRT_PATH");
        line("static constexpr void* feeder = nullptr;");
        line("bool deliver(u32) {{ return false; }}");
        line("void log(const lpn_commit&, u64) {{}}");
        line("#else");
        line("struct Run* feeder = nullptr;  // whose event-driven part this is");
        line("bool deliver(u32 k);");
        line("LPNRT_IF_TRACE(void log(const lpn_commit& c, u64 outputs);)");
        line("#endif");
        string events;
        for (const string& why : plan_.why_not) events += why.empty() ? "false, " : "true, ";
        line("static constexpr bool kEvent[] = {{{}}};", events);
      }
    } else {
      line("static constexpr bool kFlow = false;");
    }
    string defaults, fields, flags, credit, first, lo, hi;
    size_t ranges = 0;
    std::vector<bool> fed(net_.places.size());
    for (const Transition& t : net_.transitions) {
      for (const OutputArc& arc : t.outputs) fed[static_cast<size_t>(arc.place)] = true;
    }
    for (const Param& p : net_.params) defaults += literal(p.value) + ", ";
    for (size_t k = 0; k < declared_.places.size(); ++k) {
      const Place& p = declared_.places[k];
      fields += fmt::format("{}, ", net_[p.type].fields.size());
      flags += fmt::format("{}, ", (consumers_[k].empty() ? 0 : 1) | (fed[k] ? 2 : 0) |
                                       (p.capacity ? 4 : 0) | (p.start ? 8 : 0) |
                                       (p.done ? 16 : 0) | (p.sink ? 32 : 0));
      credit += p.capacity ? fmt::format("{}, ", credits_[k]) : string("kNoCredit, ");
      first += fmt::format("{}, ", ranges);
      for (const Field& f : net_[p.type].fields) {
        const Range range = f.range.value_or(Range{});
        lo += literal(range.lo) + ", ";
        hi += literal(range.hi) + ", ";
        ++ranges;
      }
    }
    // A last 0 keeps the arrays legal when there is nothing to list.
    line("static constexpr i64 kParamDefaults[] = {{{}0}};", defaults);
    line("static constexpr u32 kPlaceFields[] = {{{}0}};", fields);
    line("static constexpr u32 kPlaceFlags[] = {{{}0}};", flags);
    line("static constexpr u32 kCreditOf[] = {{{}kNoCredit}};", credit);
    line("static constexpr u32 kFirstRange[] = {{{}0}};", first);
    line("static constexpr i64 kRangeLo[] = {{{}0}}, kRangeHi[] = {{{}0}};", lo, hi);
    string names;
    const auto spell = [&names](const string& name) {
      for (char c : name) names += fmt::format("{},", static_cast<int>(c));
      names += "0,";
    };
    spell(net_.name);
    for (const Param& p : net_.params) spell(p.name);
    for (const Place& p : declared_.places) spell(p.name);
    for (const Transition& t : net_.transitions) spell(t.name);
    for (const Place& p : declared_.places) {
      for (const Field& f : net_[p.type].fields) spell(f.name);
    }
    line("static constexpr char kNames[] = {{{}0}};", names);
  }

  // What the outside may take tokens from: nothing in the net reads it.
  bool outlet(size_t p) const { return p < declared_.places.size() && consumers_[p].empty(); }
  // Keeps when its tokens arrived, when asked to.
  bool stamped(size_t p) const {
    return outlet(p) || (mixed() && plan_.passage[p] == Passage::kOutOf);
  }

  void members() {
    for (size_t k = 0; k < net_.params.size(); ++k) line("i64 P{} = 0;", k);
    line("i64 net_done_target = -1;");
    // A transition's own state lies beside its first input place, to share cache lines.
    std::vector<bool> placed(net_.places.size());
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      if (!infos_[k].arcs.empty()) place_members(infos_[k].arcs[0].place, placed);
      transition_members(k);
    }
    for (size_t p = 0; p < net_.places.size(); ++p) place_members(p, placed);
    line("LPNRT_IF_STATS(PlaceMeter place_meters[{}];)", declared_.places.size() + 1);
  }

  void place_members(size_t p, std::vector<bool>& placed) {
    if (placed[p]) return;
    placed[p] = true;
    const Place& place = net_.places[p];
    const size_t width = net_[place.type].fields.size();
    line("u64 f{} = 0;", p);
    always_or_stats(locked_[p], fmt::format("u64 l{} = 0;", p));
    if (width > 0) line("Rows<{}> p{};", width, p);
    if (place.capacity) line("i64 cap{} = 0;", p);
    if (stamped(p)) line("Stamps s{};", p);
    if (!contests_[p].rivals.empty()) {
      line("Set<{}> parked{};", contests_[p].rivals.size(), p);
      line("LPNRT_IF_STATS(bool had{} = false;)", p);
    }
    if (p < declared_.places.size()) line("LPNRT_IF_TRACE(IdRuns ids{0}; u64 external{0} = 0;)", p);
    if (!consumers_[p].empty()) {
      line("LPNRT_IF_PATH(Origins origins{0}; u32 taken_by{0} = 0, changed_by{0} = 0;)", p);
    }
  }

  void transition_members(size_t k) {
    const Transition& t = net_.transitions[k];
    const TransitionInfo& info = infos_[k];
    if (t.servers && !is_const(*t.servers)) line("i64 servers{} = 0;", k);
    if (t.clock) line("i64 period{0} = 1, phase{0} = 0;", k);
    if (t.interval) line("i64 next{} = 0;", k);
    if (timed(t)) line("i64 wake{} = -1;", k);
    if (t.ordered) line("i64 last{} = 0;", k);
    line("LPNRT_IF_TRACE(u64 started{} = 0;)", k);
    line("LPNRT_IF_PATH(u32 begun{0} = 0, ended{0} = 0, freed{0} = 0; bool full{0} = false;)", k);
    if (info.keep == Keep::kCount) {
      line("#if LPNRT_TRACE || LPNRT_PATH");
      record(k);
      line("Ring<R{0}> q{0};", k);
      line("#endif");
      line("u64 c{} = 0;", k);
      return;
    }
    record(k);
    switch (info.keep) {
      case Keep::kCount: break;
      case Keep::kSingle: line("R{0} r{0}; bool busy{0} = false;", k); break;
      case Keep::kFifo: line("Ring<R{0}> q{0};", k); break;
      case Keep::kPool:
        line("Pool<R{0}> q{0}; std::vector<u32> batch{0}; u64 c{0} = 0; u64 number{0} = 0;", k);
        break;
    }
    if (has_rows(t) && info.keep != Keep::kPool) line("Ring<i64> values{};", k);
  }

  // Whether some emission's rows are not just one.
  bool has_rows(const Transition& t) const {
    for (const OutputArc& arc : t.outputs) {
      for (const Emission& e : arc.emissions) {
        if (rows(arc, e)) return true;
      }
    }
    return false;
  }
  bool rows(const OutputArc& arc, const Emission& e) const {
    if (is_unit(arc) || one_row(e)) return false;
    if (const_count(e) && const_of(e.count) == 0) return false;
    return std::any_of(e.fields.begin(), e.fields.end(),
                       [&](const Formula& f) { return !is_const(f); });
  }

  // The record of a firing: what its commit must be told.
  void record(size_t k) {
    const Transition& t = net_.transitions[k];
    const TransitionInfo& info = infos_[k];
    line("struct R{} {{", k);
    if (info.keep == Keep::kFifo) line("i64 due;");
    if (info.keep == Keep::kPool) line("u64 number;");
    for (size_t o = 0; o < t.outputs.size(); ++o) {
      for (size_t e = 0; e < t.outputs[o].emissions.size(); ++e) {
        const Emission& emission = t.outputs[o].emissions[e];
        if (!const_count(emission)) line("i64 c{}_{};", o, e);
        if (is_unit(t.outputs[o]) || !one_row(emission)) continue;
        for (size_t f = 0; f < emission.fields.size(); ++f) {
          if (!is_const(emission.fields[f])) line("i64 v{}_{}_{};", o, e, f);
        }
      }
    }
    for (size_t a = 0; a < info.arcs.size(); ++a) {
      if (info.arcs[a].weight >= 0 || t.inputs[a].inhibit) continue;
      always_or_stats(locked_[info.arcs[a].place], fmt::format("i64 w{};", a));
    }
    if (has_rows(t) && info.keep == Keep::kPool) line("std::vector<i64> values;");
    line("LPNRT_IF_TRACE(u64 firing; i64 start; std::vector<lpn_token_run> taken;)");
    line("LPNRT_IF_PATH(u32 me = 0;)");
    line("}};");
  }

  // ---- initial state ----------------------------------------------------------------------

  string param_expr(const Formula& f) const { return printer_.of_params(f); }

  void configure() {
    line("int32_t configure(const i64* given) {{");
    line("(void)given;");
    for (size_t k = 0; k < net_.params.size(); ++k) {
      line("P{0} = given[{0}];", k);
      if (net_.params[k].range) {
        line("if (P{0} < {1} || P{0} > {2}) return LPN_BAD_PARAM;", k,
             literal(net_.params[k].range->lo), literal(net_.params[k].range->hi));
      }
    }
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      const Transition& t = net_.transitions[k];
      if (t.servers && !is_const(*t.servers)) {
        line("servers{0} = {1}; if (servers{0} < 1) return LPN_BAD_PARAM;", k,
             param_expr(*t.servers));
      }
      if (t.clock) {
        line(
            "period{0} = {1}; phase{0} = {2}; if (period{0} < 1 || phase{0} < 0) return "
            "LPN_BAD_PARAM;",
            k, param_expr(t.clock->period), param_expr(t.clock->phase));
      }
    }
    for (size_t p = 0; p < declared_.places.size(); ++p) {
      const Place& place = net_.places[p];
      if (place.capacity) {
        line("cap{0} = {1}; if (cap{0} < 0) return LPN_BAD_PARAM;", p, param_expr(*place.capacity));
      }
      const auto& fields = net_[place.type].fields;
      for (const Initial& initial : place.initial) {
        line("{{ const i64 n = {}; if (n < 0 || n > kMaxTokens) return LPN_BAD_PARAM;",
             param_expr(initial.count));
        if (fields.empty()) {
          line("load({}, static_cast<u64>(n), nullptr); }}", p);
          continue;
        }
        line("for (i64 i = 0; i < n; ++i) {{ (void)i; i64 row[{}];", fields.size());
        for (size_t f = 0; f < fields.size(); ++f) {
          line("row[{}] = {};", f, param_expr(initial.fields[f]));
        }
        line("if (load({}, 1, row) != LPN_OK) return LPN_BAD_PARAM; }} }}", p);
      }
    }
    if (net_.done_count) {
      line("net_done_target = {}; if (net_done_target < 0) return LPN_BAD_PARAM;",
           param_expr(*net_.done_count));
      line("done_target = net_done_target;");
    }
    line("return LPN_OK;");
    line("}}");

    line("bool begin() {{");
    for (size_t c = 0; c < net_.places.size(); ++c) {
      if (!net_.places[c].credit_of) continue;
      const auto p = static_cast<size_t>(*net_.places[c].credit_of);
      // Slots that the outside took before are what is missing from zero credits.
      line("{{ const u64 used = f{} - f{}; if (static_cast<u64>(cap{}) < used) return false;", p, c,
           p);
      line("f{} = static_cast<u64>(cap{}) - used; }}", c, p);
    }
    for (size_t p = 0; p < declared_.places.size(); ++p) {
      line("LPNRT_IF_STATS(place_meters[{0}].peak = f{0};)", p);
    }
    for (size_t p = 0; p < net_.places.size(); ++p) {
      if (!consumers_[p].empty()) line("LPNRT_IF_PATH(origins{0}.push(0, f{0});)", p);
    }
    line("return true;");
    line("}}");
  }

  // ---- starts -----------------------------------------------------------------------------

  string in_flight(size_t k) const {
    switch (infos_[k].keep) {
      case Keep::kCount:
      case Keep::kPool: return fmt::format("c{}", k);
      case Keep::kSingle: return fmt::format("(busy{} ? 1ull : 0ull)", k);
      case Keep::kFifo: return fmt::format("q{}.size()", k);
    }
    return "";
  }
  string no_server(size_t k) const {
    const Transition& t = net_.transitions[k];
    if (infos_[k].keep == Keep::kSingle) return fmt::format("busy{}", k);
    if (is_const(*t.servers)) {
      return fmt::format("{} >= {}ull", in_flight(k), const_of(*t.servers));
    }
    return fmt::format("{} >= static_cast<u64>(servers{})", in_flight(k), k);
  }

  // Code that leaves through `failed(reason)` at the first arc that is not satisfied. If that is
  // all that a transition lacks, it waits for a contested place, unless the code may change
  // nothing.
  template <typename Failed>
  void arcs(size_t k, const Failed& failed, bool parks) {
    const Transition& t = net_.transitions[k];
    const TransitionInfo& info = infos_[k];
    const size_t safe = safe_arcs(k);
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      const InputArc& arc = t.inputs[a];
      const ArcInfo& ai = info.arcs[a];
      const size_t p = ai.place;
      const char* missing = ai.credit ? "kCredit" : "kToken";
      if (arc.inhibit) {
        line("if (f{0} + l{0} != 0) {1}", p, failed("kInhibited"));
        continue;
      }
      if (ai.reads_head) line("if (f{} == 0) {}", p, failed(missing));
      const bool early_head = ai.reads_head && ai.tokens_read;
      if (early_head) line("const i64* const a{} = p{}.row(0);", a, p);
      if (ai.weight < 0) {
        line("const i64 w{} = {};", a, value(k, arc.weight, site(k, SiteKind::kWeight, a)));
        if (range_of(k, arc.weight).lo < 0) {
          line("if (w{0} < 0) fail(kNegativeWeight, {1}, w{0});", a, site(k, SiteKind::kWeight, a));
        }
      }
      if (ai.need >= 0) {
        if (parks && a < safe && is_rival(p, static_cast<uint32_t>(k)) &&
            ai.need == contests_[p].need) {
          const string rest = counts(static_cast<uint32_t>(k), a + 1);
          line("if (f{} < {}ull) {{ {}{} {} }}", p, ai.need,
               rest.empty() ? "" : fmt::format("if ({}) ", rest), park(p, static_cast<uint32_t>(k)),
               failed(missing));
        } else if (ai.need > 0) {
          line("if (f{} < {}ull) {}", p, ai.need, failed(missing));
        }
      } else {
        if (arc.threshold) {
          line("const i64 k{} = {};", a,
               value(k, *arc.threshold, site(k, SiteKind::kThreshold, a)));
          line("if (k{0} < 0) fail(kNegativeWeight, {1}, k{0});", a,
               site(k, SiteKind::kThreshold, a));
          line("u64 n{0} = static_cast<u64>(lpnrt::max({1}, k{0})); (void)n{0};", a, taken(k, a));
        } else {
          line("u64 n{0} = static_cast<u64>(w{0}); (void)n{0};", a);
        }
        line("if (f{} < n{}) {}", p, a, failed(missing));
        if (ai.reads_head) line("if (n{0} == 0) n{0} = 1;", a);
      }
      if (ai.tokens_read && !early_head)
        line("const i64* const a{0} = p{1}.row(0); (void)a{0};", a, p);
      if (arc.guard) {
        line("if (!{}) {}", value(k, *arc.guard, site(k, SiteKind::kGuard, a)), failed("kGuard"));
      }
    }
  }

  // Waits for the interval and the clock; `late` is what to do when they say later.
  void timing(size_t k, const string& late) {
    const Transition& t = net_.transitions[k];
    if (!t.interval && !t.clock) return;
    string at = t.interval ? fmt::format("lpnrt::max(now, next{})", k) : string("now");
    if (t.clock) at = fmt::format("edge({0}, period{1}, phase{1})", at, k);
    line("if (const i64 at = {}; at > now) {{ {} }}", at, late);
  }

  void try_function(size_t k) {
    const Transition& t = net_.transitions[k];
    const TransitionInfo& info = infos_[k];
    string calls;
    for (const ArcInfo& ai : info.arcs) {
      if (is_rival(ai.place, static_cast<uint32_t>(k))) calls += " " + call_on(ai.place);
    }
    if (calls.empty()) {
      line("void try_{}() {{", k);
    } else {
      line("void try_{0}() {{ look_at_{0}();{1} }}", k, calls);
      line("void look_at_{}() {{", k);
    }
    const bool once = info.one_server;
    line("{}{{", once ? "" : "for (;;) ");
    if (t.servers) line("if ({}) return;", no_server(k));
    arcs(
        k, [](const char*) { return string("return;"); }, true);
    timing(k, fmt::format("wake_at(at, {0}, wake{0}); return;", k));
    firing_times(k);
    progress(k);
    if (timed()) line("++starts_made;");
    line("LPNRT_IF_STATS(meters[{}].start(now);)", k);
    find_cause(k);
    new_record(k);
    line("LPNRT_IF_PATH(r.me = me_;)");
    emissions(k);
    take(k);
    keep(k);
    if (t.servers) line("LPNRT_IF_PATH(freed{0} = 0; full{0} = {1};)", k, no_server(k));
    marks_of_start(k);
    line("}}");
    line("}}");
    (void)t;
  }

  void firing_times(size_t k) {
    const Transition& t = net_.transitions[k];
    const TransitionInfo& info = infos_[k];
    const string where_ = site(k, SiteKind::kDelay);
    if (info.zero_delay) {
      // due is now, also when ordered: no earlier firing can be due later.
    } else {
      line("const i64 delay = LPNRT_DELAY({}, {});", k, value(k, t.delay, where_));
      if (range_of(k, t.delay).lo < 0) {
        line("if (delay < 0) fail(kNegativeDelay, {}, delay);", where_);
      }
      const string ticks = t.clock ? fmt::format("mul(delay, period{}, {})", k, where_) : "delay";
      line("i64 due_at = add({}, now, {});", ticks, where_);
      if (t.ordered) {
        line("LPNRT_IF_PATH(const bool late_ = due_at < last{0};)", k);
        line("if (due_at < last{0}) due_at = last{0}; last{0} = due_at;", k);
      }
    }
    if (t.interval) {
      const string at = site(k, SiteKind::kInterval);
      line("const i64 interval = {};", value(k, *t.interval, at));
      if (range_of(k, *t.interval).lo < 0) {
        line("if (interval < 0) fail(kNegativeInterval, {}, interval);", at);
      }
      const string ticks = t.clock ? fmt::format("mul(interval, period{}, {})", k, at) : "interval";
      line("if (interval > 0) next{} = add({}, now, {});", k, ticks, at);
    }
  }

  void progress(size_t k) {
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

  // What reads the place otherwise than by the tokens it needs: any commit there may let it start.
  bool watched(size_t p) const {
    for (uint32_t k : consumers_[p]) {
      for (uint32_t a = 0; a < infos_[k].arcs.size(); ++a) {
        const ArcInfo& ai = infos_[k].arcs[a];
        const bool looks =
            net_.transitions[k].inputs[a].inhibit || ai.occupancy_read || ai.read_by_arcs;
        if (ai.place == p && looks) return true;
      }
    }
    return false;
  }

  // The node of a firing that starts now: the latest of what it waited for is its parent.
  void find_cause(size_t k) {
    const Transition& t = net_.transitions[k];
    const TransitionInfo& info = infos_[k];
    line("#if LPNRT_PATH");
    line("if (causes.full()) collect_causes();");
    line("Causes::Choice why_;");
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      const ArcInfo& ai = info.arcs[a];
      if (t.inputs[a].inhibit || (ai.need >= 0 && std::max(ai.need, ai.least_need) == 0)) continue;
      line("{}causes.commit_of(why_, origins{}.at({} - 1, f{}), Cause::kToken);",
           ai.need < 0 ? fmt::format("if (n{} != 0) ", a) : "", ai.place, need(k, a), ai.place);
    }
    if (t.servers) line("causes.commit_of(why_, freed{}, Cause::kServer);", k);
    for (const ArcInfo& ai : info.arcs) {
      if (watched(ai.place))
        line("causes.commit_of(why_, changed_by{}, Cause::kChange);", ai.place);
    }
    if (t.interval) {
      line(
          "if (next{0} > causes.start(begun{0})) "
          "causes.start_of(why_, begun{0}, next{0} - causes.start(begun{0}), Cause::kInterval);",
          k);
    }
    line("causes.start_of(why_, begun{}, 0, Cause::kOrder);", k);
    for (const ArcInfo& ai : info.arcs) {
      line("causes.start_of(why_, taken_by{}, 0, Cause::kOrder);", ai.place);
    }
    line(
        "const u32 begun_ = causes.add(now, static_cast<u32>(group), {}, why_.node, {}, "
        "why_.cause);",
        info.zero_delay ? "now" : "due_at", k);
    line("u32 me_ = begun_;");
    if (t.ordered && !info.zero_delay)
      line("if (late_) me_ = causes.add_ordered(ended{0}, {0});", k);
    line("begun{0} = begun_; ended{0} = me_;", k);
    line("#endif");
  }

  void collect_causes() {
    line("#if LPNRT_PATH");
    line("[[gnu::noinline, gnu::cold]] void collect_causes() {{");
    line("causes.collect([this](const auto& visit) {{ visit(done_node); visit(last_node);");
    for (size_t p = 0; p < net_.places.size(); ++p) {
      if (consumers_[p].empty()) continue;
      line("origins{0}.each(visit); visit(taken_by{0}); visit(changed_by{0});", p);
    }
    for (size_t k = 0; k < net_.transitions.size(); ++k) {
      line("visit(begun{0}); visit(ended{0}); visit(freed{0});", k);
      switch (infos_[k].keep) {
        case Keep::kSingle: line("visit(r{}.me);", k); break;
        case Keep::kCount:
        case Keep::kFifo:
          line("for (u64 i = 0; i < q{0}.size(); ++i) visit(q{0}.at(i).me);", k);
          break;
        case Keep::kPool:
          line("for (u32 i = 0; i < q{0}.slots(); ++i) visit(q{0}[i].me);", k);
          break;
      }
    }
    line("}}); }}");
    line("#endif");
  }

  void new_record(size_t k) {
    switch (infos_[k].keep) {
      case Keep::kCount: line("LPNRT_IF_RECORD(R{0}& r = q{0}.push();)", k); break;
      case Keep::kSingle: line("R{0}& r = r{0}; (void)r;", k); break;
      case Keep::kFifo: line("R{0}& r = q{0}.push();", k); break;
      case Keep::kPool:
        line("const u32 slot = q{0}.take(); R{0}& r = q{0}[slot]; r.number = number{0}++;", k);
        if (has_rows(net_.transitions[k])) line("r.values.clear();");
        break;
    }
  }

  // Evaluates what the commit will append, in the order of the definition.
  void emissions(size_t k) {
    const Transition& t = net_.transitions[k];
    const TransitionInfo& info = infos_[k];
    for (size_t o = 0; o < t.outputs.size(); ++o) {
      const OutputArc& arc = t.outputs[o];
      for (size_t e = 0; e < arc.emissions.size(); ++e) {
        const Emission& emission = arc.emissions[e];
        string count;
        if (const_count(emission)) {
          count = literal(const_of(emission.count));
          if (const_of(emission.count) == 0) continue;
        } else {
          const string where_ = site(k, SiteKind::kCount, o, e);
          line("const i64 c{}_{} = {};", o, e, value(k, emission.count, where_));
          count = fmt::format("c{}_{}", o, e);
          line("if ({0} < 0) fail(kNegativeCount, {1}, {0});", count, where_);
          line("if ({0} > kMaxTokens) fail(kTooMany, {1}, {0});", count, where_);
          line("r.{0} = {0};", count);
        }
        if (is_unit(arc)) continue;
        if (one_row(emission)) {
          line("{{ constexpr i64 i = 0; (void)i;");
          fields(
              k, o, e, [&](size_t f) { return fmt::format("r.v{}_{}_{} = x_;", o, e, f); }, false);
          line("}}");
        } else if (rows(arc, emission)) {
          line("for (i64 i = 0; i < {}; ++i) {{", count);
          const string store = info.keep == Keep::kPool ? "r.values.push_back(x_);"
                                                        : fmt::format("values{}.push() = x_;", k);
          fields(
              k, o, e, [&](size_t) { return store; }, false);
          line("}}");
        }
      }
    }
  }

  template <typename Store>
  void fields(size_t k, size_t o, size_t e, const Store& store, bool constants_too) {
    const OutputArc& arc = net_.transitions[k].outputs[o];
    const auto& types = net_.type_of(arc.place).fields;
    for (size_t f = 0; f < types.size(); ++f) {
      const Formula& formula = arc.emissions[e].fields[f];
      if (is_const(formula) && !constants_too) continue;  // verified, and known to the commit
      const string where_ = site(k, SiteKind::kField, o, e, f);
      line("{{ const i64 x_ = {};", value(k, formula, where_));
      if (types[f].range) {
        const Range r = range_of(k, formula);
        if (r.lo < types[f].range->lo || r.hi > types[f].range->hi) {
          line("if (x_ < {} || x_ > {}) fail(kRange, {}, x_);", literal(types[f].range->lo),
               literal(types[f].range->hi), where_);
        }
      }
      line("{} }}", store(f));
    }
  }

  void take(size_t k) {
    const Transition& t = net_.transitions[k];
    const TransitionInfo& info = infos_[k];
    line("LPNRT_IF_TRACE(r.firing = started{}++; r.start = now; r.taken.clear();)", k);
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      const ArcInfo& ai = info.arcs[a];
      if (t.inputs[a].inhibit || ai.weight == 0) continue;
      const string w = fmt::format("static_cast<u64>({})", taken(k, a));
      const size_t p = ai.place;
      if (a < info.declared_inputs) {
        line("LPNRT_IF_TRACE(take_ids(ids{}, {}, {}, r.taken);)", p, w, a);
      }
      line("f{} -= {};", p, w);
      line("LPNRT_IF_PATH(origins{0}.pop({1}); taken_by{0} = begun_;)", p, w);
      always_or_stats(locked_[p], fmt::format("l{} += {};", p, w));
      if (!net_.type_of(t.inputs[a].place).fields.empty()) line("p{}.pop({});", p, w);
      if (ai.weight < 0) always_or_stats(locked_[p], fmt::format("r.w{0} = w{0};", a));
      touch_consumers(p);
    }
  }

  void keep(size_t k) {
    const TransitionInfo& info = infos_[k];
    const string due_now = info.zero_delay ? string("true") : string("due_at == now");
    switch (info.keep) {
      case Keep::kCount: line("++c{0}; zero.insert({0});", k); break;
      case Keep::kSingle:
        line("busy{} = true;", k);
        if (info.zero_delay)
          line("zero.insert({});", k);
        else if (never_zero(k))
          line("schedule(due_at, {});", k);
        else
          line("if (due_at == now) zero.insert({0}); else schedule(due_at, {0});", k);
        break;
      case Keep::kFifo:
        if (info.zero_delay)
          line("r.due = now; zero.insert({});", k);
        else {
          line("r.due = due_at;");
          if (never_zero(k))
            line("if (q{0}.size() == 1) schedule(due_at, {0});", k);
          else
            line(
                "if (due_at == now) zero.insert({0}); else if (q{0}.size() == 1) schedule(due_at, "
                "{0});",
                k);
        }
        break;
      case Keep::kPool:
        line("++c{};", k);
        if (info.zero_delay)
          line("batch{0}.push_back(slot); zero.insert({0});", k);
        else
          line(
              "if (due_at == now) {{ batch{0}.push_back(slot); zero.insert({0}); }} else "
              "schedule_slot(due_at, {0}, slot);",
              k);
        break;
    }
    line("LPNRT_IF_STATS(touch({});)", k);
  }

  bool never_zero(size_t k) const { return range_of(k, net_.transitions[k].delay).lo > 0; }

  void marks_of_start(size_t k) {
    const Transition& t = net_.transitions[k];
    std::set<uint32_t> others;
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      const ArcInfo& ai = infos_[k].arcs[a];
      if (t.inputs[a].inhibit || ai.weight == 0) continue;
      for (uint32_t other : consumers_[ai.place]) {
        if (other == k) continue;
        for (const ArcInfo& theirs : infos_[other].arcs) {
          if (theirs.place == ai.place && theirs.read_by_arcs) others.insert(other);
        }
      }
    }
    mark(others, k);
    if (infos_[k].one_server) return;
    if (!others.empty() && *others.begin() < k) line("dirty.insert({}); return;", k);
  }

  // ---- commits ----------------------------------------------------------------------------

  // The counts that the first arcs from `first` on need, or "". Contested places are left out: who
  // lacks their tokens is not forgotten but waits there.
  string counts(uint32_t k, size_t first = 0) const {
    constexpr size_t kTerms = 4;
    std::vector<string> terms;
    for (size_t a = first; a < safe_arcs(k) && terms.size() < kTerms; ++a) {
      const ArcInfo& ai = infos_[k].arcs[a];
      if (net_.transitions[k].inputs[a].inhibit || ai.need == 0 || is_rival(ai.place, k)) continue;
      terms.push_back(fmt::format("f{} >= {}ull", ai.place, ai.need));
    }
    return fmt::format("{}", fmt::join(terms, " && "));
  }

  // A cheap necessary condition for `k` to start, or "": its server and the counts of its first
  // arcs. Only what the definition checks before anything that can fail may count, else an error
  // could go unnoticed. `own` leaves out the server, which k's own commit is about to free.
  string may_start(uint32_t k, bool own) const {
    const string needs = counts(k);
    if (!net_.transitions[k].servers || own) return needs;
    return fmt::format("!({}){}{}", no_server(k), needs.empty() ? "" : " && ", needs);
  }

  // Has the transitions looked at that may have become ready. Whoever is left out by its condition
  // is marked by the change that makes the condition true.
  void mark(const std::set<uint32_t>& members, size_t own) {
    std::map<uint32_t, std::uint64_t> words;
    for (uint32_t m : members) {
      const string condition = may_start(m, m == own);
      string look;
      for (const ArcInfo& ai : infos_[m].arcs) {
        if (!is_rival(ai.place, m)) continue;
        look += fmt::format("if (f{} < {}ull) {} else ", ai.place, ai.need, park(ai.place, m));
      }
      if (condition.empty() && look.empty()) {
        words[m / 64] |= std::uint64_t{1} << (m % 64);
        continue;
      }
      look += fmt::format("dirty.insert({});", m);
      if (condition.empty())
        line("{}", look);
      else
        line("if ({}) {{ {} }}", condition, look);
    }
    for (const auto& [word, bits] : words) line("dirty.insert_word({}, {:#x}ull);", word, bits);
  }

  void look_at_consumers(size_t p) {
    for (uint32_t k : consumers_[p]) {
      if (!is_rival(p, k)) line("dirty.insert({});", k);
    }
    if (!contests_[p].rivals.empty()) line("{}", call_on(p));
  }

  // Statistics: why these wait has to be asked again at the end of the instant.
  void touch(const std::vector<uint32_t>& members) {
    std::map<uint32_t, std::uint64_t> words;
    for (uint32_t m : members) words[m / 64] |= std::uint64_t{1} << (m % 64);
    for (const auto& [word, bits] : words) {
      line("LPNRT_IF_STATS(touched.insert_word({}, {:#x}ull);)", word, bits);
    }
  }
  // To the rivals for a contested place it matters only whether it has the tokens they need, which
  // touch_rivals compares from instant to instant.
  void touch_consumers(size_t p) {
    std::vector<uint32_t> members;
    for (uint32_t m : consumers_[p]) {
      if (!is_rival(p, m)) members.push_back(m);
    }
    touch(members);
  }
  void touch_rivals_function() {
    line("void touch_rivals() {{");
    for (size_t p = 0; p < contests_.size(); ++p) {
      if (contests_[p].rivals.empty()) continue;
      line("if (const bool has = f{0} >= {1}ull; has != had{0}) {{ had{0} = has;", p,
           contests_[p].need);
      touch(contests_[p].rivals);
      line("}}");
    }
    line("}}");
  }

  void commit_function(size_t k) {
    const TransitionInfo& info = infos_[k];
    line("void commit_{}() {{", k);
    switch (info.keep) {
      case Keep::kCount:
        line("for (; c{0} != 0; --c{0}) {{", k);
        line("LPNRT_IF_RECORD(R{0}& r = q{0}.front();)", k);
        commit_body(k);
        line("LPNRT_IF_RECORD(q{}.pop();)", k);
        line("}}");
        break;
      case Keep::kSingle:
        line("R{0}& r = r{0}; (void)r; busy{0} = false;", k);
        commit_body(k);
        break;
      case Keep::kFifo:
        line("do {{ R{0}& r = q{0}.front(); (void)r;", k);
        commit_body(k);
        line("q{0}.pop(); }} while (q{0}.size() != 0 && q{0}.front().due == now);", k);
        line("if (q{0}.size() != 0) schedule(q{0}.front().due, {0});", k);
        break;
      case Keep::kPool:
        line(
            "if (batch{0}.size() > 1) std::sort(batch{0}.begin(), batch{0}.end(), [this](u32 x, "
            "u32 y) "
            "{{ return q{0}[x].number < q{0}[y].number; }});",
            k);
        line("for (const u32 slot : batch{0}) {{ R{0}& r = q{0}[slot]; (void)r; --c{0};", k);
        commit_body(k);
        line("LPNRT_IF_PATH(r.me = 0;)");
        line("q{}.give(slot); }}", k);
        line("batch{}.clear();", k);
        break;
    }
    line("}}");
  }

  void commit_body(size_t k) {
    const Transition& t = net_.transitions[k];
    const TransitionInfo& info = infos_[k];
    std::set<uint32_t> marks;  // whoever this commit makes ready for certain conditions
    line("++commits;");
    if (info.keep == Keep::kPool && has_rows(t)) line("u64 cursor = 0;");
    line("LPNRT_IF_STATS(meters[{0}].commit(now); touch({0});)", k);
    line("LPNRT_IF_PATH(last_node = r.me;)");
    if (t.servers) line("LPNRT_IF_PATH(if (full{0}) {{ freed{0} = r.me; full{0} = false; }})", k);
    if (t.servers) marks.insert(static_cast<uint32_t>(k));
    for (uint32_t a = 0; a < t.inputs.size(); ++a) unlock(k, a, marks);
    for (size_t o = 0; o < t.outputs.size(); ++o) append(k, o, marks);
    mark(marks, k);
    if (info.declared_outputs == 0) {
      line("LPNRT_IF_TRACE(report({}, r.firing, r.start, r.taken, nullptr);)", k);
      return;
    }
    string produced;
    for (size_t o = 0; o < info.declared_outputs; ++o) produced += total(k, o) + ", ";
    line(
        "LPNRT_IF_TRACE(const u64 produced[] = {{{}}}; report({}, r.firing, r.start, r.taken, "
        "produced);)",
        produced, k);
  }

  void unlock(size_t k, uint32_t a, std::set<uint32_t>& marks) {
    const Transition& t = net_.transitions[k];
    const ArcInfo& ai = infos_[k].arcs[a];
    if (t.inputs[a].inhibit || ai.weight == 0) return;
    const size_t p = ai.place;
    const string w =
        ai.weight > 0 ? fmt::format("{}ull", ai.weight) : fmt::format("static_cast<u64>(r.w{})", a);
    meter(p);
    always_or_stats(locked_[p], fmt::format("l{} -= {};", p, w));
    if (watched(p)) line("LPNRT_IF_PATH(changed_by{} = r.me;)", p);
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
    touch(readers);
  }

  void meter(size_t p) {
    if (p < declared_.places.size()) {
      line("LPNRT_IF_STATS(place_meters[{0}].before(f{0} + l{0}, now);)", p);
    }
  }

  // Tokens that output arc `o` appends, as an expression of type u64 over the record `r`.
  string total(size_t k, size_t o) const {
    std::int64_t known = 0;
    string sum;
    const OutputArc& arc = net_.transitions[k].outputs[o];
    for (size_t e = 0; e < arc.emissions.size(); ++e) {
      if (const_count(arc.emissions[e]))
        known += const_of(arc.emissions[e].count);
      else
        sum += fmt::format("static_cast<u64>(r.c{}_{}) + ", o, e);
    }
    return fmt::format("{}{}ull", sum, known);
  }

  void append(size_t k, size_t o, std::set<uint32_t>& marks) {
    const OutputArc& arc = net_.transitions[k].outputs[o];
    const auto p = static_cast<size_t>(arc.place);
    const string count = total(k, o);
    if (count == "0ull") return;
    const bool always =
        std::any_of(arc.emissions.begin(), arc.emissions.end(),
                    [&](const Emission& e) { return const_count(e) && const_of(e.count) > 0; });
    const bool declared = p < declared_.places.size();
    if (!always)
      line("if (const u64 total = {}; total != 0) {{", count);
    else
      line("{{ const u64 total = {};", count);
    meter(p);
    if (declared) {
      line("LPNRT_IF_TRACE(ids{}.push() = {{0, 0, {}, {}, r.firing, 0, total}};)", p, k, o);
    }
    for (size_t e = 0; !is_unit(arc) && e < arc.emissions.size(); ++e) append_rows(k, o, e);
    line("f{} += total;", p);
    if (!consumers_[p].empty()) {
      line("LPNRT_IF_PATH(origins{0}.push(r.me, total); changed_by{0} = r.me;)", p);
    }
    if (declared)
      line(
          "LPNRT_IF_STATS(if (f{0} + l{0} > place_meters[{0}].peak) place_meters[{0}].peak = f{0} "
          "+ l{0};)",
          p);
    if (net_.places[p].done) {
      line("done_tokens += total; latency = now; LPNRT_IF_PATH(done_node = r.me;)");
    }
    if (stamped(p)) line("if (s{0}.on) s{0}.add(now, group, total);", p);
    touch_consumers(p);
    if (!contests_[p].rivals.empty()) line("{}", call_on(p));
    std::set<uint32_t> woken;
    for (uint32_t other : consumers_[p]) {
      if (is_rival(p, other)) continue;
      const Transition& theirs = net_.transitions[other];
      for (uint32_t b = 0; b < theirs.inputs.size(); ++b) {
        // More tokens never satisfy an inhibitor, unless another arc reads that occupancy.
        const ArcInfo& bi = infos_[other].arcs[b];
        if (bi.place == p && (!theirs.inputs[b].inhibit || bi.occupancy_read || bi.read_by_arcs)) {
          woken.insert(other);
        }
      }
    }
    if (always)
      marks.insert(woken.begin(), woken.end());
    else
      mark(woken, k);
    line("}}");
  }

  void append_rows(size_t k, size_t o, size_t e) {
    const OutputArc& arc = net_.transitions[k].outputs[o];
    const Emission& emission = arc.emissions[e];
    const auto p = static_cast<size_t>(arc.place);
    if (const_count(emission) && const_of(emission.count) == 0) return;
    const bool one = one_row(emission);
    const string count =
        const_count(emission) ? literal(const_of(emission.count)) : fmt::format("r.c{}_{}", o, e);
    const bool pool = infos_[k].keep == Keep::kPool;
    if (!one) {
      line("for (i64 i = 0; i < {}; ++i) {{", count);
    }
    line("{{ i64* const x = p{}.push();", p);
    for (size_t f = 0; f < emission.fields.size(); ++f) {
      const Formula& formula = emission.fields[f];
      if (is_const(formula))
        line("x[{}] = {};", f, literal(const_of(formula)));
      else if (one)
        line("x[{}] = r.v{}_{}_{};", f, o, e, f);
      else if (pool)
        line("x[{}] = r.values[cursor++];", f);
      else
        line("x[{0}] = values{1}.front(); values{1}.pop();", f, k);
    }
    line("}}");
    if (!one) line("}}");
  }
  // ---- the rest ---------------------------------------------------------------------------

  static bool timed(const Transition& t) { return t.interval || t.clock; }
  bool timed() const {
    return std::any_of(net_.transitions.begin(), net_.transitions.end(),
                       [](const Transition& t) { return timed(t); });
  }

  void waiting_function(size_t k) {
    const Transition& t = net_.transitions[k];
    if (!timed(t)) return;
    line("bool waiting_{}() {{", k);
    if (t.servers) line("if ({}) return false;", no_server(k));
    arcs(
        k, [](const char*) { return string("return false;"); }, true);
    line("return true;");
    line("}}");
  }

  void why_function(size_t k) {
    const Transition& t = net_.transitions[k];
    line("#if LPNRT_STATS");
    line("u32 why_{}() {{", k);
    line("try {{");
    arcs(
        k, [](const char* reason) { return fmt::format("return {};", reason); }, false);
    line("}} catch (const Failure&) {{ return kGuard; }}");
    if (t.servers) line("if ({}) return kServer;", no_server(k));
    timing(k, t.interval ? "return kInterval;" : "return kClock;");
    line("return kReady;");
    line("}}");
    line("#endif");
  }

  bool mixed() const { return plan_.mixed(); }
  // In which variants whole runs can be order-free, for the preprocessor.
  const char* flow_condition() const {
    if (!plan_.whole()) return "!LPNRT_STATS && !LPNRT_PATH";
    return metered_ ? "1" : "!LPNRT_STATS";
  }
  // In the event-driven part of a mixed run the other transitions only deliver their tokens.
  string mixed_case(const string& verb) const {
    if (!mixed()) return "";
    if (verb == "start") return "if (feeder != nullptr && !kEvent[k]) return;";
    return "if (feeder != nullptr && !kEvent[k] && deliver(k)) return;";
  }
  bool flows() const { return plan_.whole() || mixed(); }

  void dispatch() {
    const auto each = [this](const string& head, const string& verb, const char* body) {
      line("{} {{ {} switch (k) {{", head, mixed_case(verb));
      for (size_t k = 0; k < net_.transitions.size(); ++k) line(fmt::runtime(body), k);
      // A net without transitions has an engine that believes in one.
      line("default: {} }} }}", net_.transitions.empty() ? "break;" : "__builtin_unreachable();");
    };
    const bool small = net_.transitions.size() <= kSmall;
    for (const char* verb : {"start", "commit"}) {
      const char* call =
          verb[0] == 's' ? "case {0}: try_{0}(); break;" : "case {0}: commit_{0}(); break;";
      if (small) {
        // Twice, once for the engine's innermost loop.
        each(fmt::format("[[gnu::always_inline]] void {}_here(u32 k)", verb), verb, call);
        line("[[gnu::noinline]] void {0}(u32 k) {{ {0}_here(k); }}", verb);
        continue;
      }
      line("void {0}_here(u32 k) {{ {0}(k); }}", verb);
      if (net_.transitions.size() <= kInlined) {
        each(fmt::format("void {}(u32 k)", verb), verb, call);
        continue;
      }
      // One function each: all of them inlined into one switch take minutes to compile.
      line("template <void (Net::*F)()> static void {}_step(Net& net) {{ (net.*F)(); }}", verb);
      line("void {}(u32 k) {{ {}", verb, mixed_case(verb));
      line("static constexpr void (*kSteps[])(Net&) = {{");
      for (size_t k = 0; k < net_.transitions.size(); ++k) {
        line("{}_step<&Net::{}_{}>,", verb, verb[0] == 's' ? "try" : verb, k);
      }
      line("}}; kSteps[k](*this); }}");
    }
    line("void overtaken(u32 k, u32 slot) {{ (void)slot; switch (k) {{");
    for (size_t k = 0; k < infos_.size(); ++k) {
      if (infos_[k].keep == Keep::kPool) line("case {0}: batch{0}.push_back(slot); break;", k);
    }
    line("default: break; }} }}");
    line("bool waiting(u32 k, bool ask) {{ (void)ask; switch (k) {{");
    for (size_t k = 0; k < infos_.size(); ++k) {
      if (timed(net_.transitions[k])) {
        line("case {0}: wake{0} = -1; return !ask || waiting_{0}();", k);
      }
    }
    line("default: return false; }} }}");
    line("bool any_waiting() {{ return false");
    for (size_t k = 0; k < infos_.size(); ++k) {
      if (timed(net_.transitions[k])) line("|| (wake{0} > now && waiting_{0}())", k);
    }
    line("; }}");
    line("#if LPNRT_STATS");
    line("u32 why(u32 k) {{ switch (k) {{");
    for (size_t k = 0; k < infos_.size(); ++k) line("case {0}: return why_{0}();", k);
    line("default: return kReady; }} }}");
    touch_rivals_function();
    line("u64 occupancy_of(u32 p) const {{ switch (p) {{");
    for (size_t p = 0; p < declared_.places.size(); ++p) line("case {0}: return f{0} + l{0};", p);
    line("default: return 0; }} }}");
    line("#endif");
    line("#if LPNRT_TRACE");
    line(
        "void report(u32 k, u64 firing, i64 start, const std::vector<lpn_token_run>& taken, const "
        "u64* "
        "produced) {{ const lpn_commit c = {{now, group, k, firing, start, "
        "taken.data(), taken.size(), produced}};");
    if (mixed()) {
      line("static constexpr u32 kOutputs[] = {{");
      for (const Transition& t : declared_.transitions) line("{},", t.outputs.size());
      line("0}}; if (feeder != nullptr) return log(c, kOutputs[k]);");
    }
    line("if (observer != nullptr) observer(observer_user, &c); }}");
    line("#endif");
  }

  // A token, or slots, from outside are nobody's firing.
  void arrived(size_t p, const char* count) {
    if (consumers_[p].empty()) return;
    line(
        "LPNRT_IF_PATH(if (causes.full()) collect_causes(); const u32 me = "
        "causes.add_pushed(now, {0}); origins{0}.push(me, {1}); changed_by{0} = me;)",
        p, count);
  }

  void access() {
    line("bool undrained() const {{ return false");
    for (size_t p = 0; p < declared_.places.size(); ++p) {
      if (must_drain(declared_.places[p])) line("|| f{} != 0", p);
    }
    line("; }}");

    line("int32_t load(u32 place, u64 count, const i64* values) {{ (void)values;");
    line("if (count > static_cast<u64>(kMaxTokens)) return LPN_BAD_VALUE;");
    line("switch (place) {{");
    for (size_t p = 0; p < declared_.places.size(); ++p) {
      const size_t width = net_[net_.places[p].type].fields.size();
      line("case {}:", p);
      if (width > 0) {
        line(
            "for (u64 k = 0; k < count; ++k) if (!in_range({0}, values + k * {1})) return "
            "LPN_BAD_VALUE;",
            p, width);
        line("p{}.append(count, values);", p);
      }
      line(
          "LPNRT_IF_TRACE(if (count != 0) {{ ids{0}.push() = {{0, 1, {0}, 0, 0, external{0}, "
          "count}}; "
          "external{0} += count; }})",
          p);
      if (outlet(p)) line("if (s{0}.on && count != 0) s{0}.add(now, group, count);", p);
      line("f{} += count; break;", p);
    }
    line("default: return LPN_BAD_CALL; }}");
    line("return LPN_OK; }}");

    line("void arrive(u32 place, const i64* values) {{ switch (place) {{");
    for (size_t p = 0; p < declared_.places.size(); ++p) {
      line("case {}: {{", p);
      meter(p);
      line("load({}, 1, values);", p);
      line(
          "LPNRT_IF_STATS(if (f{0} + l{0} > place_meters[{0}].peak) place_meters[{0}].peak = f{0} "
          "+ l{0};)",
          p);
      arrived(p, "1");
      look_at_consumers(p);
      touch_consumers(p);
      line("break; }}");
    }
    for (size_t c = declared_.places.size(); c < net_.places.size(); ++c) {
      line("case {0}: {{ f{0} += static_cast<u64>(values[0]);", c);
      arrived(c, "static_cast<u64>(values[0])");
      look_at_consumers(c);
      touch_consumers(c);
      line("break; }}");
    }
    line("default: break; }} }}");
    outside();

    line("u64 tokens(u32 place, i64* values) const {{ (void)values; switch (place) {{");
    for (size_t p = 0; p < declared_.places.size(); ++p) {
      const size_t width = net_[net_.places[p].type].fields.size();
      line("case {}:", p);
      if (width > 0) {
        if (outlet(p)) line("if (rows_lost && values != nullptr) return 0;");
        line("if (values != nullptr) p{0}.copy(f{0}, values);", p);
      }
      line("return f{};", p);
    }
    line("default: return 0; }} }}");
  }

  // Slots and tokens as a host sees them (abi.h).
  void outside() {
    line("u64* credits(u32 place) {{ switch (place) {{");
    for (size_t p = 0; p < declared_.places.size(); ++p) {
      if (declared_.places[p].capacity) line("case {}: return &f{};", p, credits_[p]);
    }
    line("default: return nullptr; }} }}");
    line("i64 room(u32 place) const {{ switch (place) {{");
    for (size_t p = 0; p < declared_.places.size(); ++p) {
      if (!declared_.places[p].capacity) continue;
      line(
          "case {0}: return begun ? static_cast<i64>(f{1}) : lpnrt::max(0, cap{0} - "
          "static_cast<i64>(f{0} - f{1}));",
          p, credits_[p]);
    }
    line("default: return kForever; }} }}");
    line("Stamps* stamps(u32 place) {{ switch (place) {{");
    for (size_t p = 0; p < declared_.places.size(); ++p) {
      if (outlet(p)) line("case {0}: return &s{0};", p);
    }
    line("default: return nullptr; }} }}");
    line("u64 take(u32 place, u64 most, i64* values, lpn_instant* when) {{");
    line("(void)most, (void)values, (void)when; switch (place) {{");
    for (size_t p = 0; p < declared_.places.size(); ++p) {
      if (!outlet(p)) continue;
      line("case {0}: {{ const u64 count = std::min(most, f{0});", p);
      meter(p);
      if (!net_[net_.places[p].type].fields.empty()) {
        line("if (values != nullptr) p{0}.copy(count, values); p{0}.pop(count);", p);
      }
      line("if (s{0}.on) s{0}.take(count, when);", p);
      line("LPNRT_IF_TRACE(std::vector<lpn_token_run> gone; take_ids(ids{}, count, 0, gone);)", p);
      line("f{} -= count; return count; }}", p);
    }
    line("default: return 0; }} }}");
  }

  Net declared_;
  Net net_;
  Plan plan_;
  bool metered_;  // statistics of order-free runs
  ExprPrinter printer_;
  string space_;
  size_t contested_;
  string out_;
  std::vector<TransitionInfo> infos_;
  std::vector<size_t> credits_;                   // per place with a capacity: its credit place
  std::vector<std::vector<uint32_t>> consumers_;  // per place: transitions with an input arc
  std::vector<bool> locked_;                      // per place: its locked tokens are counted
  std::vector<Contest> contests_;                 // per place; no rivals: not contested
};

}  // namespace

string generate(const Net& net, const GenerateOptions& options) {
  return "#include \"lpnrt/static.h\"\n" + Generator(net, options).run() +
         fmt::format(
             "extern \"C\" __attribute__((visibility(\"default\"))) const lpn_sim_api* "
             "lpn_sim_entry{0}() {{ return &lpn_net{0}::kApi; }}\n",
             options.suffix);
}

}  // namespace lpn::sim

#include "write/event_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lpn::sim {

using std::size_t;
using std::string;

void EventMembers::constants() {
  line("static constexpr u32 kParams = {}, kDeclaredPlaces = {}, kTransitions = {};",
       net_.params.size(), declared_.places.size(), net_.transitions.size());
  const bool pools = std::any_of(infos_.begin(), infos_.end(),
                                 [](const TransitionInfo& i) { return i.keep == Keep::kPool; });
  line("static constexpr bool kHasDone = {}, kTimed = {}, kPools = {};", facts_.has_done(),
       facts_.timed(), pools);
  if (facts_.flows()) {
    line("static constexpr bool kFlow = {};", facts_.flow_condition());
    line("int run_flow();");
    line("static u32 lanes();  // instances that go in lock step");
    line("static u64 prepare_lanes(Net* const* all, u32 count);");
    if (facts_.mixed()) {
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
  string param_lo, param_hi;
  for (const Param& p : net_.params) {
    const Range range = p.range.value_or(Range{});
    defaults += literal(p.value) + ", ";
    param_lo += literal(range.lo) + ", ";
    param_hi += literal(range.hi) + ", ";
  }
  for (size_t k = 0; k < declared_.places.size(); ++k) {
    const Place& p = declared_.places[k];
    fields += fmt::format("{}, ", net_[p.type].fields.size());
    flags += fmt::format("{}, ", (consumers_[k].empty() ? 0 : 1) | (fed[k] ? 2 : 0) |
                                     (p.capacity ? 4 : 0) | (p.start ? 8 : 0) | (p.done ? 16 : 0) |
                                     (p.sink ? 32 : 0));
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
  line("static constexpr i64 kFrequency = {};", facts_.net.frequency.value_or(0));
  line("static constexpr i64 kParamLo[] = {{{}0}}, kParamHi[] = {{{}0}};", param_lo, param_hi);
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

void EventMembers::members() {
  for (size_t k = 0; k < net_.params.size(); ++k) declare("", "i64", "param", k, "0");
  line("i64 net_done_target = -1;");
  // A transition's own state lies beside its first input place, to share cache lines.
  std::vector<bool> placed(net_.places.size());
  for (size_t k = 0; k < net_.transitions.size(); ++k) {
    if (!infos_[k].arcs.empty()) place_members(infos_[k].arcs[0].place, placed);
    transition_members(k);
  }
  for (size_t p = 0; p < net_.places.size(); ++p) place_members(p, placed);
  members_.go_to({});
  out_.add(members_.arrays_text("Net"));
  std::map<string, size_t> briefs;
  for (size_t k = 0; k < net_.transitions.size(); ++k) {
    if (facts_.brief(k)) ++briefs[members_.type(static_cast<std::uint32_t>(k))];
  }
  string bytes;
  for (const auto& [type, count] : briefs) bytes += fmt::format("{} * kBrief<{}> + ", count, type);
  if (!bytes.empty()) line("Briefs<{}0> briefs;", bytes);
  line("LPNRT_IF_STATS(PlaceMeter place_meters[{}];)", declared_.places.size() + 1);
  fluxes();
}

void EventMembers::fluxes() {
  string rows;
  size_t count = 0;
  const auto add = [&](size_t p, size_t k, std::int64_t tokens) {
    if (p >= declared_.places.size() || tokens == 0) return;
    rows += fmt::format("{{{}, {}, {}ll}},", p, k, tokens);
    ++count;
  };
  for (size_t k = 0; k < net_.transitions.size(); ++k) {
    const Transition& t = net_.transitions[k];
    for (size_t a = 0; a < t.inputs.size(); ++a) {
      const ArcInfo& ai = infos_[k].arcs[a];
      if (!t.inputs[a].inhibit && ai.weight > 0) add(ai.place, k, -ai.weight);
    }
    for (const OutputArc& arc : t.outputs) {
      if (!facts_.const_total(arc)) continue;
      std::int64_t total = 0;
      for (const Emission& e : arc.emissions) total += facts_.const_of(e.count);
      add(static_cast<size_t>(arc.place), k, total);
    }
  }
  line("#if LPNRT_STATS");
  line("static constexpr u32 kFluxCount = {};", count);
  line("static constexpr Flux kFluxes[] = {{{}{{}}}};", rows);
  string waits;
  for (const WaitInfo& of : facts_.waits) {
    waits += of.how == Waiting::kAsked ? "kAskedWhy, "
             : of.how == Waiting::kOne ? fmt::format("{}, ", of.groups[0].reason)
                                       : string("kByTimes, ");
  }
  line("static constexpr unsigned char kWaits[] = {{{}0}};", waits);
  line("#endif");
}

void EventMembers::configure() {
  line("int32_t configure(const i64* given) {{");
  line("(void)given;");
  for (size_t k = 0; k < net_.params.size(); ++k) {
    line("@param{0} = given[{0}];", k);
    if (net_.params[k].range) {
      line("if (@param{0} < {1} || @param{0} > {2}) return LPN_BAD_PARAM;", k,
           literal(net_.params[k].range->lo), literal(net_.params[k].range->hi));
    }
  }
  for (size_t k = 0; k < net_.transitions.size(); ++k) {
    const Transition& t = net_.transitions[k];
    if (t.servers && !facts_.is_const(*t.servers)) {
      line("@servers{0} = {1}; if (@servers{0} < 1) return LPN_BAD_PARAM;", k,
           names_.param_expr(*t.servers));
    }
    if (t.clock) {
      line(
          "@period{0} = {1}; @phase{0} = {2}; if (@period{0} < 1 || @phase{0} < 0) return "
          "LPN_BAD_PARAM;",
          k, names_.param_expr(t.clock->period), names_.param_expr(t.clock->phase));
    }
  }
  for (size_t p = 0; p < declared_.places.size(); ++p) {
    const Place& place = net_.places[p];
    if (place.capacity) {
      line("@cap{0} = {1}; if (@cap{0} < 0) return LPN_BAD_PARAM;", p,
           names_.param_expr(*place.capacity));
    }
    const auto& fields = net_[place.type].fields;
    for (const Initial& initial : place.initial) {
      line("{{ const i64 n = {}; if (n < 0 || n > kMaxTokens) return LPN_BAD_PARAM;",
           names_.param_expr(initial.count));
      line("placed(static_cast<u64>(n));");
      if (fields.empty()) {
        line("load({}, static_cast<u64>(n), nullptr); }}", p);
        continue;
      }
      line("for (i64 i = 0; i < n; ++i) {{ (void)i; step(); i64 row[{}];", fields.size());
      for (size_t f = 0; f < fields.size(); ++f) {
        line("row[{}] = {};", f, names_.param_expr(initial.fields[f]));
      }
      line("if (load({}, 1, row) != LPN_OK) return LPN_BAD_PARAM; }} }}", p);
    }
  }
  if (net_.done_count) {
    line("net_done_target = {}; if (net_done_target < 0) return LPN_BAD_PARAM;",
         names_.param_expr(*net_.done_count));
    line("done_target = net_done_target;");
  }
  line("return LPN_OK;");
  line("}}");

  line("bool begin() {{");
  for (size_t c = 0; c < net_.places.size(); ++c) {
    if (!net_.places[c].credit_of) continue;
    const auto p = static_cast<size_t>(*net_.places[c].credit_of);
    // Slots that the outside took before are what is missing from zero credits.
    line("if (static_cast<u64>(@cap{0}) < @f{0} - @f{1}) return too_full({0});", p, c);
  }
  for (size_t c = 0; c < net_.places.size(); ++c) {
    if (!net_.places[c].credit_of) continue;
    const auto p = static_cast<size_t>(*net_.places[c].credit_of);
    line("@f{1} = static_cast<u64>(@cap{0}) - (@f{0} - @f{1});", p, c);
  }
  for (size_t p = 0; p < declared_.places.size(); ++p) {
    line("LPNRT_IF_STATS(place_meters[{0}].peak = @f{0};)", p);
  }
  for (size_t p = 0; p < net_.places.size(); ++p) {
    if (facts_.asked_whose(p)) line("LPNRT_IF_PATH(@origins{0}.push(0, @f{0});)", p);
  }
  line("return true;");
  line("}}");
}

void EventMembers::declare(const char* variant, const string& type, const char* name, size_t id,
                           const char* initial) {
  out_.add(members_.declare(variant, type, name, id, initial) + "\n");
}

void EventMembers::place_members(size_t p, std::vector<bool>& placed) {
  if (placed[p]) return;
  placed[p] = true;
  const Place& place = net_.places[p];
  const size_t width = net_[place.type].fields.size();
  members_.go_to(facts_.copies.places[p]);
  if (width > 0 && members_.arrays()) {
    declare("", fmt::format("Held<{}>", width), "p", p);
    members_.declare_within("p", "free", "f", p);
  } else {
    declare("", "u64", "f", p, "0");
    if (width > 0) declare("", fmt::format("Rows<{}>", width), "p", p);
  }
  if (locked_[p]) declare("", "u64", "l", p, "0");
  if (facts_.level_kept(p)) declare("LPNRT_IF_STATS", "u64", "level", p, "0");
  if (facts_.came_kept(p)) declare("LPNRT_IF_STATS", "i64", "came", p, "0");
  if (place.capacity) declare("", "i64", "cap", p, "0");
  if (facts_.stamped(p)) declare("", "Stamps", "s", p);
  if (!contests_[p].rivals.empty()) {
    declare("", fmt::format("Set<{}>", contests_[p].rivals.size()), "parked", p);
    declare("LPNRT_IF_STATS", "bool", "had", p, "false");
  }
  if (p < declared_.places.size()) {
    declare("LPNRT_IF_TRACE", "IdRuns", "ids", p);
    declare("LPNRT_IF_TRACE", "u64", "external", p, "0");
  }
  if (facts_.asked_what_came(p)) declare("LPNRT_IF_PATH", "Arrived", "arrived", p);
  if (facts_.asked_whose(p)) declare("LPNRT_IF_PATH", "Origins", "origins", p);
  if (facts_.asked_who_took(p)) declare("LPNRT_IF_PATH", "Moment", "taken_by", p);
  if (facts_.watched(p)) declare("LPNRT_IF_PATH", "Moment", "changed_by", p);
}

void EventMembers::transition_members(size_t k) {
  const Transition& t = net_.transitions[k];
  const TransitionInfo& info = infos_[k];
  members_.go_to(facts_.copies.transitions[k]);
  if (t.servers && !facts_.is_const(*t.servers)) declare("", "i64", "servers", k, "0");
  if (t.clock) {
    declare("", "i64", "period", k, "1");
    declare("", "i64", "phase", k, "0");
  }
  if (t.interval) declare("", "i64", "next", k, "0");
  if (facts_.timed(t)) declare("", "i64", "wake", k, "-1");
  if (t.ordered) declare("", "i64", "last", k, "0");
  declare("LPNRT_IF_TRACE", "u64", "started", k, "0");
  if (facts_.by_starts(k)) declare("LPNRT_IF_PATH", "Moment", "begun", k);
  if (t.ordered) declare("LPNRT_IF_PATH", "u32", "ended", k, "0");
  if (t.servers) declare("LPNRT_IF_PATH", "Moment", "freed", k);
  if (t.servers && !info.one_server) declare("LPNRT_IF_PATH", "bool", "full", k, "false");
  record(k);
  const string type = members_.type(static_cast<std::uint32_t>(k));
  const auto of = [&type](const char* container) { return fmt::format("{}<{}>", container, type); };
  switch (info.keep) {
    case Keep::kCount:
      declare("LPNRT_IF_RECORD", info.one_server ? type : of("Ring"), info.one_server ? "r" : "q",
              k);
      declare("", "u64", "c", k, "0");
      return;
    case Keep::kSingle:
      declare("", facts_.brief(k) ? of("Brief") : type, "r", k);
      declare("", "bool", "busy", k, "false");
      break;
    case Keep::kFifo: declare("", of("Ring"), "q", k); break;
    case Keep::kPool:
      declare("", of("Pool"), "q", k);
      declare("", "Slots", "batch", k);
      declare("", "u64", "c", k, "0");
      declare("", "u64", "number", k, "0");
      break;
  }
  if (facts_.has_rows(t) && info.keep != Keep::kPool) declare("", "Ring<i64>", "values", k);
}

void EventMembers::record(size_t k) {
  const Transition& t = net_.transitions[k];
  const TransitionInfo& info = infos_[k];
  Writer body;
  std::map<string, string> by_type;
  if (info.keep == Keep::kFifo) body.line("i64 due;");
  if (info.keep == Keep::kPool) body.line("u64 number;");
  for (size_t o = 0; o < t.outputs.size(); ++o) {
    for (size_t e = 0; e < t.outputs[o].emissions.size(); ++e) {
      const Emission& emission = t.outputs[o].emissions[e];
      if (!facts_.const_count(emission)) body.line("i64 c{}_{};", o, e);
      if (facts_.is_unit(t.outputs[o]) ||
          !(facts_.one_row(emission) || facts_.row_or_none(emission)))
        continue;
      const auto& types = net_.type_of(t.outputs[o].place).fields;
      for (size_t f = 0; f < emission.fields.size(); ++f) {
        if (facts_.is_const(emission.fields[f])) continue;
        by_type[number_type(types[f].range.value_or(Range{}))] +=
            fmt::format(" v{}_{}_{},", o, e, f);
      }
    }
  }
  for (auto& [type, names] : by_type) {
    names.back() = ';';
    body.line("{}{}", type, names);
  }
  for (size_t a = 0; a < info.arcs.size(); ++a) {
    if (info.arcs[a].weight >= 0 || t.inputs[a].inhibit) continue;
    const string taken = fmt::format("i64 w{};", a);
    body.line("{}", locked_[info.arcs[a].place] ? taken : fmt::format("LPNRT_IF_STATS({})", taken));
  }
  if (facts_.has_rows(t) && info.keep == Keep::kPool) body.line("Ring<i64> values;");
  body.line("LPNRT_IF_TRACE(u64 firing; i64 start; std::vector<lpn_token_run> taken;)");
  body.line("LPNRT_IF_PATH(u32 me = 0;)");
  out_.add(members_.record(k, body.take()));
}

}  // namespace lpn::sim

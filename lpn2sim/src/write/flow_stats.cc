#include "write/flow_stats.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/base/error.h"
#include "lpn/net/facts.h"

namespace lpn::sim {

using std::int64_t;
using std::size_t;
using std::string;
using std::uint32_t;

namespace {

template <typename... Args>
void put(string& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  text += '\n';
}

string if_stats(const string& text) { return "LPNRT_IF_STATS(" + text + ")\n"; }

}  // namespace

FlowStats::FlowStats(const Net& net, size_t declared, const Plan& plan, bool apart)
    : net_(net),
      declared_(declared),
      plan_(plan),
      apart_(apart),
      possible_(plan.whole() && !plan.assumes() && find_possible()) {}

// ---- what is known of the net -------------------------------------------------------------

FlowStats::Arc FlowStats::arc(uint32_t k, uint32_t i) const {
  const Transition& t = net_.transitions[k];
  const ArcFacts facts = arc_facts(net_, t, i);
  Arc about;
  about.place = static_cast<size_t>(t.inputs[i].place);
  if (facts.weight) about.weight = *facts.weight;
  if (facts.need) about.need = *facts.need;
  return about;
}
bool FlowStats::is_credit(uint32_t k, uint32_t i) const {
  return net_[net_.transitions[k].inputs[i].place].credit_of.has_value();
}
const char* FlowStats::reason(uint32_t k, uint32_t i) const {
  return is_credit(k, i) ? "kCredit" : "kToken";
}
bool FlowStats::several(uint32_t k) const {
  return plan_.actors[plan_.actor_of[k]].members.size() > 1;
}
bool FlowStats::one_at_a_time(uint32_t k) const { return one_server(net_, net_.transitions[k]); }
uint32_t FlowStats::route_arc(uint32_t k) const {
  const Actor& actor = plan_.actors[plan_.actor_of[k]];
  const auto& inputs = net_.transitions[k].inputs;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (actor.route && static_cast<size_t>(inputs[i].place) == *actor.route) return i;
  }
  return Plan::kNone;
}
bool FlowStats::metered(size_t p) const {
  return p < declared_ && plan_.passage[p] == Passage::kFifo;
}
std::vector<uint32_t> FlowStats::takers(size_t p) const {
  std::vector<uint32_t> all;
  for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
    if (weight_from(k, p) != 0) all.push_back(k);
  }
  return all;
}
std::vector<uint32_t> FlowStats::producers(size_t p) const {
  std::vector<uint32_t> all;
  for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
    const auto& outputs = net_.transitions[k].outputs;
    if (std::any_of(outputs.begin(), outputs.end(),
                    [p](const OutputArc& out) { return static_cast<size_t>(out.place) == p; })) {
      all.push_back(k);
    }
  }
  return all;
}
int64_t FlowStats::weight_from(uint32_t k, size_t p) const {
  const auto& inputs = net_.transitions[k].inputs;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (static_cast<size_t>(inputs[i].place) == p) return arc(k, i).weight;
  }
  return 0;
}
// The metered places whose tokens the commits of `k` release, a constant number each.
std::vector<size_t> FlowStats::released_by(uint32_t k) const {
  std::vector<size_t> all;
  for (uint32_t i = 0; i < net_.transitions[k].inputs.size(); ++i) {
    const Arc about = arc(k, i);
    if (metered(about.place) && about.weight > 0) all.push_back(about.place);
  }
  return all;
}
string FlowStats::ring(uint32_t k, size_t p) const {
  return weight_from(k, p) > 0 ? fmt::format("@run_rel{}", k) : fmt::format("rel{}_{}", p, k);
}

bool FlowStats::leaves_first(size_t p) const {
  bool known = true;
  return leaves_first(p, known);
}
bool FlowStats::leaves_first(size_t p, bool& known) const {
  const auto out = takers(p), in = producers(p);
  known = true;
  if (out.empty() || in.empty()) return true;
  if (out.back() < in.front()) return true;
  if (in.back() < out.front()) return false;
  // One firing after the other: what meets is one commit, which releases before it appends.
  const auto& single = plan_.single_token;
  const bool serial = std::find(single.begin(), single.end(), p) != single.end() ||
                      (out.size() == 1 && in == out && one_at_a_time(out[0]));
  known = out == in && serial;
  return true;
}

bool FlowStats::find_possible() const {
  for (size_t p = 0; p < net_.places.size(); ++p) {
    bool known = true;
    if (metered(p)) leaves_first(p, known);
    if (!known) return false;
  }
  // Among members that take turns, the others must be known to wait for the token that decides or
  // by their guards.
  for (const Actor& actor : plan_.actors) {
    if (actor.members.size() == 1) continue;
    int64_t need = -1;
    for (uint32_t k : actor.members) {
      const uint32_t route = route_arc(k);
      if (route == Plan::kNone) return false;
      const Arc at = arc(k, route);
      if (at.need < 1 || (need >= 0 && at.need != need)) return false;
      need = at.need;
      for (uint32_t i = 0; i < route; ++i) {
        const Arc before = arc(k, i);
        if (before.need < 0 || plan_.passage[before.place] != Passage::kSource ||
            takers(before.place) != std::vector{k} || net_.transitions[k].inputs[i].guard) {
          return false;
        }
      }
    }
  }
  return true;
}

// ---- code ---------------------------------------------------------------------------------

string FlowStats::called(const char* function, char kind, size_t number) const {
  return apart_ ? fmt::format("{}_on(@{}{}", function, kind, number)
                : fmt::format("{}_{}(", function, number);
}

string FlowStats::by_number(const char* function, const char* argument,
                            const std::vector<size_t>& numbers) const {
  if (!apart_) return "";
  string text;
  const string type = argument[0] == 0 ? "" : fmt::format(", u64 {}", argument);
  put(text, "void {}_on(u32 n{}) {{ switch (n) {{", function, type);
  for (const size_t n : numbers) put(text, "case {0}: return {1}_{0}({2});", n, function, argument);
  put(text, "default: break; }} }}");
  return text;
}

string FlowStats::members(Members& members) const {
  if (!possible_) return "";
  constexpr const char* kStats = "LPNRT_IF_STATS";
  string text;
  const auto declare = [&](const char* type, const char* name, size_t id,
                           const char* initial = "") {
    text += members.declare(kStats, type, name, id, initial) + "\n";
  };
  for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
    declare("Seen", "run_seen", k);
    if (!released_by(k).empty()) declare("Releases<false>", "run_rel", k);
  }
  for (size_t a = 0; a < plan_.actors.size(); ++a) {
    if (plan_.actors[a].members.size() == 1) continue;
    declare("i64", "run_for_token", a, "0");
    declare("i64", "run_guarded", a, "0");
  }
  for (size_t p = 0; p < declared_; ++p) {
    declare("u128", "run_area", p, "0");
    if (metered(p)) declare("Level", "run_level", p);
  }
  text += "#if LPNRT_STATS\n";
  std::vector<size_t> all_metered, releasing;
  for (size_t p = 0; p < declared_; ++p) {
    if (!metered(p)) continue;
    all_metered.push_back(p);
    const auto out = takers(p);
    string all;
    for (uint32_t k : out) {
      put(text, "u64 left{}_{} = 0;", p, k);
      if (weight_from(k, p) < 0) put(text, "Releases<true> rel{}_{};", p, k);
      put(all,
          "for (; left{0}_{1} != {2}.end() && {2}.instant(left{0}_{1}) {3} at; ++left{0}_{1}) "
          "@run_level{0}.released += {4};",
          p, k, ring(k, p), leaves_first(p) ? "<=" : "<",
          weight_from(k, p) > 0 ? fmt::format("{}ull", weight_from(k, p))
                                : fmt::format("rel{0}_{1}.count(left{0}_{1})", p, k));
    }
    put(text, "void gone_{}(u64 at) {{ (void)at; {} }}", p, all);
    // The next `count` tokens, which stand at the front of the FIFO and are counted already.
    put(text, "void peak_{}(u64 count) {{ for (u64 i = 0; i < count; ++i) {{", p);
    put(text, "gone_{0}(@run_q{0}.instant(i));", p);
    put(text, "const u64 there = @run_level{0}.taken - count + i + 1 - @run_level{0}.released;", p);
    put(text, "if (there > @run_level{0}.peak) @run_level{0}.peak = there; }}", p);
    put(text, "@run_level{0}.limit = @run_level{0}.peak + @run_level{0}.released; }}", p);
    // So that releases can be forgotten although the peak is far away.
    put(text,
        "void forget_{0}() {{ if (@run_q{0}.size() == 0) return; gone_{0}(@run_q{0}.instant(0)); "
        "@run_level{0}.limit = @run_level{0}.peak + @run_level{0}.released; }}",
        p);
  }
  for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
    const auto places = released_by(k);
    if (places.empty()) continue;
    releasing.push_back(k);
    put(text, "[[gnu::noinline, gnu::cold]] void room_{}() {{ u64 first = ~u64{{0}};", k);
    for (size_t p : places) put(text, "forget_{0}(); first = std::min(first, left{0}_{1});", p, k);
    put(text, "@run_rel{}.make_room(first); }}", k);
  }
  text += by_number("peak", "count", all_metered) + by_number("forget", "", all_metered) +
          by_number("room", "", releasing);
  return text + "#endif\n";
}

string FlowStats::begin() const {
  if (!possible_) return "";
  string text = "#if LPNRT_STATS\n";
  for (size_t p = 0; p < declared_; ++p) {
    if (metered(p)) put(text, "@run_level{0}.peak = @run_level{0}.limit = net.@f{0};", p);
  }
  return text + "#endif\n";
}

string FlowStats::before_arcs(uint32_t) const {
  if (!possible_) return "";
  return if_stats("const i64 since_ = Instant::ticks(start);");
}
// The maximum so far, where another reason follows or the head decides who may start.
string FlowStats::after_arc(uint32_t k, uint32_t i) const {
  if (!possible_) return "";
  const auto& inputs = net_.transitions[k].inputs;
  string text;
  if (several(k) && i == route_arc(k)) text = if_stats("const i64 head_ = Instant::ticks(start);");
  if (i + 1 == inputs.size() || is_credit(k, i) != is_credit(k, i + 1)) {
    text += if_stats(fmt::format("const i64 upto{}_ = Instant::ticks(start);", i));
  }
  return text;
}
string FlowStats::after_server(uint32_t k) const {
  if (!possible_ || !net_.transitions[k].servers) return "";
  return if_stats("const i64 served_ = Instant::ticks(start);");
}

string FlowStats::after_interval(uint32_t k) const {
  if (!possible_ || !net_.transitions[k].interval) return "";
  return if_stats("const i64 paced_ = Instant::ticks(start);");
}

string FlowStats::fired(uint32_t k, const Weight& weight, const Count& count) const {
  if (!possible_) return "";
  const Transition& t = net_.transitions[k];
  string text = "#if LPNRT_STATS\n{\n";
  put(text, "Seen& seen_ = @run_seen{};", k);
  put(text, "const i64 begun_ = Instant::ticks(start), ended_ = Instant::ticks(commit);");
  string from = "since_";
  for (uint32_t i = 0; i < t.inputs.size(); ++i) {
    if (i + 1 != t.inputs.size() && is_credit(k, i) == is_credit(k, i + 1)) continue;
    const string upto = fmt::format("upto{}_", i);
    put(text, "seen_.waited[{}] += {} - {};", reason(k, i), upto, from);
    from = upto;
  }
  if (t.servers) {
    put(text, "seen_.waited[kServer] += served_ - {};", from);
    from = "served_";
  }
  if (t.interval) {
    put(text, "seen_.waited[kInterval] += paced_ - {};", from);
    from = "paced_";
  }
  if (t.clock) put(text, "seen_.waited[kClock] += begun_ - {};", from);
  if (one_at_a_time(k)) {
    put(text, "seen_.busy += ended_ - begun_;");
  } else {
    put(text, "seen_.busy += ended_ - lpnrt::max(begun_, seen_.busy_until);");
    put(text, "seen_.busy_until = ended_;");
  }
  put(text, "seen_.commits += static_cast<u64>(ended_);");
  if (several(k)) {
    // While others had their turns it waited for the deciding token, then by its guard.
    const uint32_t a = plan_.actor_of[k];
    put(text, "seen_.waited[kToken] += @run_for_token{} - seen_.for_token;", a);
    put(text, "@run_seen{0}.waited[kGuard] += @run_guarded{1} - @run_seen{0}.guarded;", k, a);
    put(text, "@run_seen{1}.for_token = @run_for_token{0} += head_ - since_;", a, k);
    put(text, "@run_seen{1}.guarded = @run_guarded{0} += begun_ - head_;", a, k);
    put(text, "@run_seen{}.own = static_cast<u64>(begun_);", k);
  }
  for (uint32_t i = 0; i < t.inputs.size(); ++i) {
    const Arc about = arc(k, i);
    const size_t p = about.place;
    if (p >= declared_ || about.weight == 0) continue;
    const string w = fmt::format("static_cast<u64>({})", weight(i));
    if (about.weight < 0) {
      put(text, "@run_area{} += static_cast<u128>({}) * static_cast<u64>(ended_);", p, w);
    }
    if (!metered(p)) continue;
    string unless;
    if (about.weight > 0 && takers(p).size() == 1) {
      // Enough had left when the first of these tokens came: no more than ever before.
      const char* const before = leaves_first(p) ? "" : " - 1";
      unless = fmt::format(
          " && !@run_rel{0}.gone((@run_level{1}.taken - @run_level{1}.peak - 1) / {2}ull, "
          "@run_q{1}.instant(0){3})",
          k, p, about.weight, before);
    }
    put(text, "if ((@run_level{0}.taken += {1}) > @run_level{0}.limit{2}) {3}{4}{1});", p, w,
        unless, called("peak", 'P', p), apart_ ? ", " : "");
    if (about.weight > 0) continue;
    put(text,
        "if (rel{0}_{1}.full()) [[unlikely]] {{ {2}); rel{0}_{1}.make_room(left{0}_{1}); "
        "}}",
        p, k, called("forget", 'P', p));
    put(text, "rel{}_{}.push(commit, {});", p, k, w);
  }
  if (!released_by(k).empty()) {
    put(text, "if (@run_rel{0}.full()) [[unlikely]] {1});", k, called("room", 'T', k));
    put(text, "@run_rel{}.push(commit);", k);
  }
  for (size_t o = 0; o < t.outputs.size(); ++o) {
    const auto p = static_cast<size_t>(t.outputs[o].place);
    for (size_t e = 0; p < declared_ && e < t.outputs[o].emissions.size(); ++e) {
      if (net_.exprs.is_const(t.outputs[o].emissions[e].count.id)) continue;
      put(text, "@run_area{} -= static_cast<u128>({}) * static_cast<u64>(ended_);", p, count(o, e));
    }
  }
  return text + "}\n#endif\n";
}

string FlowStats::settle(const Chain& chain) const {
  if (!possible_) return "";
  string text = "#if LPNRT_STATS\nvoid settle_stats() {\n";
  put(text, "const i64 end = Instant::ticks(last_instant());");
  for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
    const uint32_t a = plan_.actor_of[k];
    put(text,
        "{{ Seen& seen = @run_seen{}; i64 upto = Instant::ticks(@run_last{}); u32 why = kReady;", k,
        a);
    put(text, "TransitionMeter& meter = net.meters[{}];", k);
    if (several(k)) {
      string missing;
      for (uint32_t i = 0; i < route_arc(k); ++i) {
        put(missing, "@run_s{}.size() < {}ull || ", arc(k, i).place, arc(k, i).need);
      }
      // Without the tokens of its first arcs it does not come to the one that decides.
      put(text, "if ({}false) {{ upto = static_cast<i64>(seen.own); }} else {{", missing);
      put(text, "seen.waited[kToken] += @run_for_token{0} - seen.for_token;", a);
      put(text, "seen.waited[kGuard] += @run_guarded{0} - seen.guarded; }}", a);
    }
    text += "do {\n";
    text += chain(
        k, [](const char* reason) { return fmt::format("{{ why = {}; break; }}", reason); },
        [&](uint32_t i, const string& instant) {
          if (instant.empty()) return string();
          return fmt::format(
              "if (const i64 x_ = Instant::ticks({0}); x_ > upto) {{ seen.waited[{1}] += x_ - "
              "upto; "
              "upto = x_; }}\n",
              instant, reason(k, i));
        });
    put(text, "}} while (false);");
    put(text, "seen.waited[why] += end - upto;");
    put(text, "for (u32 w = 0; w < 8; ++w) meter.waited[w] = seen.waited[w];");
    put(text,
        "if (Net::kWaits[@T{0}] == kAskedWhy) {{ meter.wait = why; meter.waited[why] -= end; }}\n"
        "meter.begun = end; meter.busy = seen.busy; meter.commits = @run_fired{0}; }}",
        k);
  }
  for (size_t p = 0; p < declared_; ++p) {
    put(text, "{{ PlaceMeter& meter = net.place_meters[{}];", p);
    string left;
    switch (plan_.passage[p]) {
      case Passage::kSource: left = fmt::format("@run_s{}.size()", p); break;
      case Passage::kSink: left = fmt::format("net.@f{0} + @run_sunk{0}", p); break;
      case Passage::kEvent: left = fmt::format("net.@f{}", p); break;  // nobody touches it
      default: left = fmt::format("@run_q{}.size()", p);
    }
    put(text, "const u64 left = {}; (void)left;", left);
    for (uint32_t k : takers(p)) {
      if (const int64_t w = weight_from(k, p); w > 0) {
        put(text, "@run_area{} += @run_seen{}.commits * {}ull;", p, k, w);
      }
    }
    for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
      for (const OutputArc& out : net_.transitions[k].outputs) {
        if (static_cast<size_t>(out.place) != p) continue;
        for (const Emission& e : out.emissions) {
          int64_t n = 0;
          if (net_.exprs.is_const(e.count.id, n) && n != 0) {
            put(text, "@run_area{} -= @run_seen{}.commits * {}ull;", p, k, n);
          }
        }
      }
    }
    put(text, "meter.weighted = static_cast<i128>(@run_area{});", p);
    switch (plan_.passage[p]) {
      case Passage::kSource:
      case Passage::kEvent: put(text, "meter.peak = net.@f{};", p); break;
      case Passage::kSink: put(text, "meter.peak = left;"); break;
      default:
        put(text,
            "@run_level{0}.taken += left; if (@run_level{0}.taken > @run_level{0}.limit) "
            "peak_{0}(left);",
            p);
        put(text, "meter.peak = @run_level{}.peak;", p);
    }
    put(text, "}}");
  }
  return text + "}\n#endif\n";
}

}  // namespace lpn::sim

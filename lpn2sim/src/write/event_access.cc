#include "write/event_access.h"

#include <fmt/format.h>

#include <algorithm>

namespace lpn::sim {

using std::size_t;
using std::string;

namespace {

constexpr std::size_t kSmall = 16;  // transitions whose code is part of the engine's loop

}  // namespace

// turn(k, why it waits) for each transition touched, which then is none.
void EventAccess::each_touched(bool small) {
  line("template <typename Turn> [[gnu::always_inline]] void each_touched(const Turn& turn) {{");
  if (small) {
    // One after the other: which comes next is foretold better than the target of a jump.
    line("[[maybe_unused]] const u64 which = touched.take_all();");
    for (size_t k = 0; k < infos_.size(); ++k) {
      if (facts_.waits[k].how != Waiting::kAsked) continue;
      line("if (which >> {0} & 1) turn({0}, {1});", k, equal_.call("why", k).text());
    }
  } else {
    line("while (!touched.empty()) {{ const u32 k = touched.take_least();");
    line("turn(k, why(k)); }}");
  }
  line("}}");
  line("void left(u32 k) const {{ switch (k) {{");
  for (size_t k = 0; k < infos_.size(); ++k) {
    if (facts_.waits[k].how != Waiting::kByTimes) continue;
    line("case {}: {}; break;", k, equal_.call("left", k).text());
  }
  line("default: break; }} }}");
  waited_until();
  if (small) return;
  line("u32 why(u32 k) {{ switch (k) {{");
  for (size_t k = 0; k < infos_.size(); ++k) {
    if (facts_.waits[k].how != Waiting::kAsked) continue;
    line("case {}: return {};", k, equal_.call("why", k).text());
  }
  line("default: return kReady; }} }}");
}

// How long each reason kept a transition waiting until then.
void EventAccess::waited_until() {
  line("void waited_until(u32 k, i64 end, i64 (&out)[8]) const {{ switch (kWaits[k]) {{");
  line("case kAskedWhy: return meters[k].waited_until(end, out);");
  line("case kByTimes: waits_left.begin(meters[k], end, out); return left(k);");
  line("default: std::fill_n(out, 8, 0); out[kWaits[k]] = end; }} }}");
}

void EventAccess::dispatch() {
  const auto each = [this](const string& head, const string& verb, const char* body) {
    line("{} {{ {} switch (k) {{", head, mixed_case(verb));
    for (size_t k = 0; k < net_.transitions.size(); ++k) line(fmt::runtime(body), k);
    // A net without transitions has an engine that believes in one.
    line("default: {} }} }}", net_.transitions.empty() ? "break;" : "__builtin_unreachable();");
  };
  const bool small = !facts_.apart && net_.transitions.size() <= kSmall;
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
    if (!facts_.apart) each(fmt::format("void {}(u32 k)", verb), verb, call);
  }
  // One function each: all of them inlined into one switch take minutes to compile.
  if (facts_.apart) {
    out_.add(equal_.table(
        "Net", {{"start", "try", mixed_case("start")}, {"commit", "commit", mixed_case("commit")}},
        net_.transitions.size()));
  }
  line("bool waiting(u32 k) {{ switch (k) {{");
  for (size_t k = 0; k < infos_.size(); ++k) {
    if (facts_.timed(net_.transitions[k])) {
      line("case {}: return {};", k, equal_.call("waiting", k).text());
    }
  }
  line("default: return false; }} }}");
  line("bool any_waiting() {{ return false");
  for (size_t k = 0; k < infos_.size(); ++k) {
    if (facts_.timed(net_.transitions[k])) {
      line("|| (@wake{0} > now && {1})", k, equal_.call("waiting", k).text());
    }
  }
  line("; }}");
  line("#if LPNRT_STATS");
  each_touched(small);
  wakes_.touch_rivals_function();
  line("#endif");
  line("u64 occupancy_of(u32 p) const {{ switch (p) {{");
  for (size_t p = 0; p < declared_.places.size(); ++p) {
    if (locked_[p]) {
      line("case {0}: return @f{0} + @l{0};", p);
      continue;
    }
    line("case {0}: LPNRT_IF_STATS(return {1};) return @f{0};", p, wakes_.occupancy(p));
  }
  line("default: return 0; }} }}");
  line("#if LPNRT_TRACE");
  line(
      "void report(u32 k, u64 firing, i64 start, const std::vector<lpn_token_run>& taken, const "
      "u64* "
      "produced) {{ const lpn_commit c = {{now, group, k, firing, start, "
      "taken.data(), taken.size(), produced}};");
  if (facts_.mixed()) {
    line("static constexpr u32 kOutputs[] = {{");
    for (const Transition& t : declared_.transitions) line("{},", t.outputs.size());
    line("0}}; if (feeder != nullptr) return log(c, kOutputs[k]);");
  }
  line("if (observer != nullptr) observer(observer_user, &c); }}");
  line("#endif");
}

void EventAccess::access() {
  line("bool undrained() const {{ return false");
  for (size_t p = 0; p < declared_.places.size(); ++p) {
    if (must_drain(declared_.places[p])) line("|| @f{} != 0", p);
  }
  line("; }}");

  come();
  outside();

  line("u64 tokens(u32 place, i64* values) const {{ (void)values; switch (place) {{");
  for (size_t p = 0; p < declared_.places.size(); ++p) {
    const size_t width = net_[net_.places[p].type].fields.size();
    line("case {}:", p);
    if (width > 0) {
      if (facts_.outlet(p)) line("if (rows_lost && values != nullptr) return 0;");
      line("if (values != nullptr) @p{0}.copy(@f{0}, values);", p);
    }
    line("return @f{};", p);
  }
  line("default: return 0; }} }}");
}

void EventAccess::put(size_t p, const char* count) {
  if (!net_[net_.places[p].type].fields.empty()) line("@p{}.append({}, coming);", p, count);
  line(
      "LPNRT_IF_TRACE(@ids{0}.push() = {{0, 1, @P{0}, 0, 0, @external{0}, {1}}}; @external{0} += "
      "{1};)",
      p, count);
  if (facts_.outlet(p)) line("if (@s{0}.on) @s{0}.add(now, group, {1});", p, count);
  if (facts_.level_kept(p)) line("LPNRT_IF_STATS(@level{} += {};)", p, count);
  line("@f{} += {};", p, count);
}

void EventAccess::arrive_function(size_t p) {
  line("void arrive_@N{0}(@A{0}) {{", p);
  if (p < declared_.places.size()) {
    wakes_.meter_outside(p, "1");
    put(p, "1");
    wakes_.peak(p);
    arrived(p, "1");
    wakes_.look_at_consumers(p);
    wakes_.tokens_came(p, fmt::format("@f{} - 1", p));
  } else {
    line("@f{} += static_cast<u64>(coming[0]);", p);
    arrived(p, "static_cast<u64>(coming[0])");
    wakes_.look_at_consumers(p);
    wakes_.touch_consumers(p);
  }
  line("}}");
}

void EventAccess::load_function(size_t p) {
  line("void load_@N{0}(@A{0}) {{", p);
  put(p, "count_coming");
  line("}}");
}

void EventAccess::come() {
  const auto each = [this](const char* verb, size_t places) {
    line("void {}_at(u32 place) {{ switch (place) {{", verb);
    for (size_t p = 0; p < places; ++p)
      line("case {}: {}; break;", p, equal_.call(verb, p).text());
    line("default: break; }} }}");
  };
  each("load", declared_.places.size());
  each("arrive", net_.places.size());
  line("int32_t load(u32 place, u64 count, const i64* values) {{");
  line("if (count > static_cast<u64>(kMaxTokens)) return LPN_BAD_VALUE;");
  line("if (!all_in_range(place, count, values)) return LPN_BAD_VALUE;");
  line("coming = values; count_coming = count; if (count != 0) load_at(place); return LPN_OK; }}");
  line("void arrive(u32 place, const i64* values) {{ coming = values; arrive_at(place); }}");
}

void EventAccess::arrived(size_t p, const char* count) {
  if (consumers_[p].empty()) return;
  line("#if LPNRT_PATH");
  line("if (causes.full()) collect_causes();");
  line("const u32 me = causes.add_pushed(now, @P{}); (void)me;", p);
  line("[[maybe_unused]] const bool behind = phase == Phase::kStarted;");
  if (facts_.asked_what_came(p)) line("recent.pushed(@arrived{}, me, {}, behind);", p, count);
  if (facts_.asked_whose(p)) line("@origins{}.push(me, {});", p, count);
  if (facts_.watched(p)) line("recent.pushed(@changed_by{}, me, behind);", p);
  line("#endif");
}

void EventAccess::outside() {
  line("u64* credits(u32 place) {{ switch (place) {{");
  for (size_t p = 0; p < declared_.places.size(); ++p) {
    if (declared_.places[p].capacity) line("case {}: return &@f{};", p, credits_[p]);
  }
  line("default: return nullptr; }} }}");
  line("i64 room(u32 place) const {{ switch (place) {{");
  for (size_t p = 0; p < declared_.places.size(); ++p) {
    if (!declared_.places[p].capacity) continue;
    line(
        "case {0}: return begun ? static_cast<i64>(@f{1}) : lpnrt::max(0, @cap{0} - "
        "static_cast<i64>(@f{0} - @f{1}));",
        p, credits_[p]);
  }
  line("default: return kForever; }} }}");
  line("Stamps* stamps(u32 place) {{ switch (place) {{");
  for (size_t p = 0; p < declared_.places.size(); ++p) {
    if (facts_.outlet(p)) line("case {0}: return &@s{0};", p);
  }
  line("default: return nullptr; }} }}");
  line("u64 take(u32 place, u64 most, i64* values, lpn_instant* when) {{");
  line("(void)most, (void)values, (void)when; switch (place) {{");
  for (size_t p = 0; p < declared_.places.size(); ++p) {
    if (!facts_.outlet(p)) continue;
    line("case {0}: {{ const u64 count = std::min(most, @f{0});", p);
    wakes_.peak(p);
    wakes_.meter_outside(p, "-static_cast<i64>(count)");
    if (!net_[net_.places[p].type].fields.empty()) {
      line("if (values != nullptr) @p{0}.copy(count, values); @p{0}.pop(count);", p);
    }
    line("if (@s{0}.on) @s{0}.take(count, when);", p);
    line("LPNRT_IF_TRACE(std::vector<lpn_token_run> gone; take_ids(@ids{}, count, 0, gone);)", p);
    line("@f{} -= count; return count; }}", p);
  }
  line("default: return 0; }} }}");
}

string EventAccess::mixed_case(const string& verb) const {
  if (!facts_.mixed()) return "";
  if (verb == "start") return "if (feeder != nullptr && !kEvent[k]) return;";
  return "if (feeder != nullptr && !kEvent[k] && deliver(k)) return;";
}

}  // namespace lpn::sim

#include "write/flow_state.h"

#include <fmt/format.h>

namespace lpn::sim {

using std::size_t;
using std::uint32_t;

void FlowState::members() {
  for (size_t k = 0; k < net_.params.size(); ++k) line("const i64 P{0} = net.@param{0};", k);
  for (size_t p = 0; p < net_.places.size(); ++p) {
    switch (facts_.passage(p)) {
      case Passage::kSource: declare("", "Source", "run_s", p); break;
      case Passage::kFifo:
      case Passage::kOutOf:
        declare("", fmt::format("Chan<{} + LPNRT_PATH>", facts_.kept(p)), "run_q", p);
        break;
      case Passage::kInto:
        for (uint32_t k : facts_.producers(p)) {
          line("Chan<{}> in{}_{};", facts_.width(p), p, k);
          if (p < declared_) line("LPNRT_IF_TRACE(IdRuns idin{}_{};)", p, k);
        }
        break;
      case Passage::kEvent: break;
      case Passage::kSink:
        declare("", "u64", "run_sunk", p, "0");
        if (facts_.unsorted(p)) {
          for (uint32_t k : facts_.producers(p))
            line("Out<{}> out{}_{};", facts_.width(p) + 1, p, k);
        } else if (facts_.width(p) > 0) {
          declare("", fmt::format("Out<{}>", facts_.width(p)), "run_out", p);
        }
        break;
    }
    if (net_.places[p].done) {
      declare("", "u64", "run_done", p, "0");
      declare("", "u64", "run_produced", p, "0");
      // Before `done` is set; of commits at one instant that of the greatest id is the last.
      declare("LPNRT_IF_PATH", "u32", "run_finished", p, "0");
      declare("LPNRT_IF_PATH", "u32", "run_finisher", p, "0");
      line("#if LPNRT_PATH");
      line(
          "void finish_{0}(u64 at, u32 k, u32 node) {{ if (at > @run_done{0} || (at == "
          "@run_done{0} && k >= "
          "@run_finisher{0})) @run_finished{0} = node, @run_finisher{0} = k; }}",
          p);
      line("#endif");
    }
    if (p < declared_ && !facts_.of_events(p)) declare("LPNRT_IF_TRACE", "IdRuns", "run_ids", p);
  }
  for (size_t p = 0; p < net_.places.size(); ++p) {
    // The last commit of those who append, and whose it was.
    if (facts_.merged(p)) {
      declare("", "u64", "run_back", p, "0");
      declare("", "u64", "run_by", p, "0");
    }
    // The last start of those who take turns, and one more; whose it was.
    if (facts_.disputed(p)) {
      declare("", "u64", "run_since", p, "0");
      declare("", "u64", "run_taker", p, "0");
    }
  }
  for (size_t a = 0; a < plan_.actors.size(); ++a) {
    declare("", "u64", "run_last", a, "0");
    declare("LPNRT_IF_PATH", "u32", "run_began", a, "0");
  }
  for (size_t p = 0; p < net_.places.size(); ++p) {
    if (!facts_.contested(p)) continue;
    declare("LPNRT_IF_PATH", "u64", "run_taken_at", p, "0");
    declare("LPNRT_IF_PATH", "u32", "run_taken_by", p, "0");
  }
  for (size_t k = 0; k < net_.transitions.size(); ++k) {
    if (facts_.event(k)) continue;
    declare("", "u64", "run_fired", k, "0");
    declare("", "u64", "run_end", k, "0");
    declare("LPNRT_IF_PATH", "u32", "run_ended", k, "0");
    declare("LPNRT_IF_PATH", "u32", "run_begun", k, "0");
    declare("LPNRT_IF_PATH", "u64", "run_begun_at", k, "0");
    if (facts_.many_servers(k)) declare("", "Chan<LPNRT_PATH>", "run_served", k);
    if (net_.transitions[k].interval) declare("", "u64", "run_next", k, "0");
  }
  line("LPNRT_IF_TRACE(std::vector<FlowCommit> log;)");
  line("std::vector<i64> scratch;");
  out_.add(stats_.members(members_));
  out_.add(members_.arrays_text("Run"));
}

void FlowState::declare(const char* variant, const std::string& type, const char* name, size_t id,
                        const char* initial) {
  out_.add(members_.declare(variant, type, name, id, initial) + "\n");
}

void FlowState::start() {
  line("explicit Run(Net& n) : net(n) {{");
  for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
    if (!facts_.event(k) && facts_.emits_too_many(k)) line("bail();");
  }
  for (uint32_t p : plan_.single_token) line("if (net.@f{} != 1) bail();", p);
  each(net_.places.size(), members_, [this](size_t p) {
    switch (facts_.passage(p)) {
      case Passage::kSource:
        line("@run_s{0}.count = net.@f{0};", p);
        if (facts_.width(p) > 0) line("if (net.@f{0} != 0) @run_s{0}.rows = net.@p{0}.row(0);", p);
        break;
      case Passage::kFifo:
      case Passage::kOutOf:
        line("if (net.@f{0} > u64{{1}} << 24) bail();", p);
        line("@run_q{0}.reserve(net.@f{0});", p);
        if (facts_.refers(p)) {
          line("if (net.@f{} != 0) bail();", p);  // their rows stand where the last ones will
          break;
        }
        line("for (u64 k = 0; k < net.@f{0}; ++k) {{ i64* const x = @run_q{0}.push(0); (void)x;",
             p);
        for (size_t f = 0; f < facts_.width(p); ++f) {
          if (facts_.live()[p][f])
            line("x[{}] = net.@p{}.row(k)[{}];", facts_.column_of(p, f), p, f);
        }
        line("LPNRT_IF_PATH(x[{}] = 0;)", facts_.kept(p));
        line("}}");
        break;
      case Passage::kSink:
      case Passage::kInto:
      case Passage::kEvent: break;
    }
    if (p < declared_ && !facts_.of_events(p)) {
      line(
          "LPNRT_IF_TRACE(for (u64 k = 0; k < net.@ids{0}.size(); ++k) @run_ids{0}.push() = "
          "net.@ids{0}[k];)",
          p);
    }
  });
  if (facts_.mixed()) start_events();
  out_.add(stats_.begin());
  line("}}");
}

void FlowState::start_events() {
  line("const i64 params[] = {{");
  for (size_t k = 0; k < net_.params.size(); ++k) line("P{},", k);
  line("0}};");
  line("net.lend_budget(*ev);");
  line("if (ev->configure(params) != LPN_OK) bail();");
  line("ev->feeder = this; ev->armed = true;");
  for (size_t p = 0; p < net_.places.size(); ++p) {
    if (facts_.width(p) > 0) line("ev->@p{0}.pop(ev->@f{0});", p);
    line("ev->@f{} = 0;", p);
    if (facts_.of_events(p)) {
      if (facts_.width(p) > 0) {
        line(
            "for (u64 k = 0; k < net.@f{0}; ++k) std::memcpy(ev->@p{0}.push(), net.@p{0}.row(k), "
            "{1} * sizeof(i64));",
            p, facts_.width(p));
      }
      line("ev->@f{0} = net.@f{0};", p);
    }
    if (facts_.passage(p) == Passage::kOutOf) line("ev->@s{}.on = true;", p);
    if (p < declared_) {
      line("#if LPNRT_TRACE");
      line("while (ev->@ids{0}.size() != 0) ev->@ids{0}.pop();", p);
      if (facts_.of_events(p)) {
        line("for (u64 k = 0; k < net.@ids{0}.size(); ++k) ev->@ids{0}.push() = net.@ids{0}[k];",
             p);
      }
      line("#endif");
    }
  }
}

}  // namespace lpn::sim

#include "write/flow_exchange.h"

#include <algorithm>
#include <set>

namespace lpn::sim {

using std::size_t;
using std::uint32_t;

void FlowExchange::exchange() {
  const auto each_channel = [this](const auto& with) {
    for (size_t p = 0; p < net_.places.size(); ++p) {
      if (facts_.passage(p) != Passage::kInto) continue;
      for (uint32_t k : facts_.producers(p)) with(p, k);
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
    if (facts_.feeds(k)) deliver(k);
  }
  line("void drain() {{");
  for (size_t p = 0; p < net_.places.size(); ++p) {
    if (facts_.passage(p) != Passage::kOutOf) continue;
    line("if (ev->@f{0} != 0) {{ for (u64 left = ev->@f{0}; left != 0;) {{", p);
    line("const Stamp stamp = ev->@s{0}.runs.front(); ev->@s{0}.runs.pop(); left -= stamp.count;",
         p);
    line("const u64 at = Instant::at(static_cast<u64>(stamp.time)) | stamp.group;");
    line("for (u64 k = 0; k < stamp.count; ++k) {{ i64* const x = @run_q{}.push(at); (void)x;", p);
    for (size_t f = 0; f < facts_.width(p); ++f) {
      if (facts_.live()[p][f]) line("x[{}] = ev->@p{}.row(k)[{}];", facts_.column_of(p, f), p, f);
    }
    line("}}");
    if (facts_.width(p) > 0) line("ev->@p{}.pop(stamp.count);", p);
    line("}}");
    line("ev->@f{} = 0;", p);
    if (p < declared_) {
      line(
          "LPNRT_IF_TRACE(for (; ev->@ids{0}.size() != 0; ev->@ids{0}.pop()) @run_ids{0}.push() = "
          "ev->@ids{0}.front();)",
          p);
    }
    for (uint32_t k : facts_.consumers(p)) line("turn.insert({});", plan_.actor_of[k]);
    line("}}");
  }
  line("}}");
}

void FlowExchange::deliveries() {
  line(
      "bool Net::deliver(u32 k) {{ "
      "const u64 at = Run::Instant::at(static_cast<u64>(now)) | group; (void)at; switch (k) {{");
  for (uint32_t k = 0; k < net_.transitions.size(); ++k) {
    if (facts_.feeds(k)) line("case {0}: feeder->deliver_{0}(at); return true;", k);
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

void FlowExchange::deliver(uint32_t k) {
  line("void deliver_{}(u64 at) {{", k);
  std::set<size_t> places;
  for (const OutputArc& out : net_.transitions[k].outputs) {
    const auto p = static_cast<size_t>(out.place);
    if (facts_.passage(p) != Passage::kInto || !places.insert(p).second) continue;
    line("{{ u64 count = 0;");
    line("for (; in{0}_{1}.size() != 0 && in{0}_{1}.instant(0) == at; in{0}_{1}.pop(1)) {{", p, k);
    if (facts_.width(p) > 0) {
      line("std::memcpy(ev->@p{0}.push(), in{0}_{1}.row(0), {2} * sizeof(i64));", p, k,
           facts_.width(p));
    }
    line("++count; }}");
    line("ev->@f{} += count;", p);
    if (p < declared_) {
      line(
          "LPNRT_IF_TRACE(for (u64 left = count; left != 0;) {{ ev->@ids{0}.push() = "
          "idin{0}_{1}.front(); left -= idin{0}_{1}.front().count; idin{0}_{1}.pop(); }})",
          p, k);
    }
    line("if (count != 0) {{");
    for (uint32_t other = 0; other < net_.transitions.size(); ++other) {
      const auto& inputs = net_.transitions[other].inputs;
      const bool takes = std::any_of(inputs.begin(), inputs.end(), [&](const InputArc& in) {
        return static_cast<size_t>(in.place) == p;
      });
      if (takes && facts_.event(other)) line("ev->dirty.insert({});", other);
    }
    line("}} }}");
  }
  line("}}");
}

}  // namespace lpn::sim

#include "write/lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "write/expr.h"

namespace lpn::sim {

using std::int64_t;
using std::size_t;
using std::string;
using std::uint32_t;

namespace {

// Properties and parameters whose declared ranges do not fit 32 bits are assumed to lie in these;
// their values are looked at before a run.
constexpr Range kAssumedField{0, (int64_t{1} << 30) - 1};
constexpr Range kAssumedParam{0, (int64_t{1} << 20) - 1};
constexpr int64_t kMostInLanes = 256;        // firings of an iteration
constexpr Wide kMostGrowth = Wide{1} << 26;  // ticks that an iteration may add

}  // namespace

Lanes::Lanes(const Net& net, const StaticPart& part, const StaticOptions& options, size_t index)
    : net_(net), part_(part), options_(options), index_(index) {
  for (TokenType& t : net_.types) {
    for (Field& f : t.fields) {
      const Range r = f.range.value_or(Range{});
      assumed_.emplace(&f, assume(r, kAssumedField));
      f.range = assumed_.at(&f).range;
    }
  }
  for (Param& p : net_.params) {
    const auto a = assume(p.range.value_or(Range{}), kAssumedParam);
    if (a.checked) checked_params_.insert(static_cast<uint32_t>(&p - net_.params.data()));
    p.range = a.range;
  }
  iteration_.emplace(net_, part_, options_, nullptr);
}

string Lanes::text() {
  int64_t firings = 0;
  for (int64_t r : part_.repetitions) firings += r;
  if (firings > kMostInLanes) throw NoLanes{"an iteration is long"};
  body_ = iteration_->body();
  if (iteration_->growth() > kMostGrowth) throw NoLanes{"delays are long"};
  slots();
  kernel(16, "LPNRT_AVX512");
  kernel(8, "LPNRT_AVX2");
  load();
  store();
  return take();
}

Lanes::Assumed Lanes::assume(Range declared, Range assumed) {
  if (declared.lo >= -kLongDelay && declared.hi < kLongDelay) return {declared, false};
  return {{std::max(declared.lo, assumed.lo), std::min(declared.hi, assumed.hi)}, true};
}

const Lanes::Assumed& Lanes::assumed(uint32_t p, uint32_t f) const {
  return assumed_.at(&net_.type_of(static_cast<PlaceId>(p)).fields[f]);
}

void Lanes::slots() {
  for (uint32_t k : part_.transitions) {
    for (int64_t n = 1; n <= iteration_->history(k); ++n) slot(fmt::format("h{}_{}", k, n));
    if (net_.transitions[k].interval) slot(fmt::format("next{}", k));
  }
  instants_ = slots_.size();
  for (size_t q = 0; q < part_.queues.size(); ++q) {
    const StaticQueue& queue = part_.queues[q];
    if (queue.place == StaticQueue::kNone || !queue.fixed) continue;
    for (int64_t j = 0; j < queue.initial; ++j) {
      for (uint32_t f : kept_fields(queue, options_)) slot(fmt::format("g{}_{}_{}", q, j, f));
    }
  }
  variable_ = slots_.size();
  for (uint32_t p : iteration_->params()) slot(fmt::format("P{}", p));
}

void Lanes::slot(const string& name) {
  slot_of_.emplace(name, slots_.size());
  slots_.push_back(name);
}

void Lanes::kernel(int lanes, const char* target) {
  line(
      "{} void static_kernel_{}_{}(u32* state, const u32* const* columns, u32* const* rings, "
      "u64* at, u64 n) {{",
      target, index_, lanes);
  line("typedef u32 I __attribute__((vector_size({}), may_alias));", lanes * 4);
  line("typedef std::int32_t S __attribute__((vector_size({}), may_alias));", lanes * 4);
  line("[[maybe_unused]] constexpr int kLanes = {}; (void)columns; (void)rings; (void)at;", lanes);
  line("I* const kept = reinterpret_cast<I*>(state);");
  for (size_t i = 0; i < slots_.size(); ++i) line("I {} = kept[{}];", slots_[i], i);
  size_t c = 0;
  for (const auto& [p, f] : iteration_->columns()) {
    line("const I* x{}_{} = reinterpret_cast<const I*>(columns[{}]);", p, f, c++);
  }
  size_t r = 0, a = 0;
  for (size_t q = 0; q < part_.queues.size(); ++q) {
    if (part_.queues[q].fixed) continue;
    line("const u64 k{0} = at[{1}]; u64 b{0} = at[{1} + 1], e{0} = at[{1} + 2]; (void)k{0};", q, a);
    a += 3;
    line("I* const r{} = reinterpret_cast<I*>(rings[{}]);", q, r++);
    for (uint32_t f : kept_fields(part_.queues[q], options_)) {
      line("I* const r{}_{} = reinterpret_cast<I*>(rings[{}]);", q, f, r++);
    }
  }
  line("for (; n != 0; --n) {{");
  add(body_);
  line("}}");
  for (size_t i = 0; i < variable_; ++i) line("kept[{}] = {};", i, slots_[i]);
  a = 0;
  for (size_t q = 0; q < part_.queues.size(); ++q) {
    if (part_.queues[q].fixed) continue;
    line("at[{1} + 1] = b{0}; at[{1} + 2] = e{0};", q, a);
    a += 3;
  }
  line("}}");
}

void Lanes::produced(uint32_t p, uint32_t k, int64_t count) {
  if (!net_.places[p].done) return;
  line(
      "run.@run_produced{0} += done * {1}; run.@run_done{0} = later(run.@run_done{0}, "
      "run.@run_end{2});",
      p, count, k);
}

int64_t Lanes::rate(const StaticEnd& s) const { return s.count * part_.repetition(s.transition); }

void Lanes::load() {
  line("constexpr LaneSlot kLaneLasts{}[] = {{", index_);
  for (uint32_t k : part_.transitions) {
    line("{{{}, {}}},", slot_of_.at(fmt::format("h{}_1", k)),
         iteration_->longest(k, net_.transitions[k].delay));
  }
  line("}};");
  size_t rings = 0;
  for (const StaticQueue& q : part_.queues)
    rings += q.fixed ? 0 : 1 + kept_fields(q, options_).size();
  line(
      "constexpr LanePart kLanePart{0} = {{{1}, {2}, {3}, {4}ull, {5}ull, kLaneLasts{0}, {6}, "
      "static_kernel_{0}_16, static_kernel_{0}_8}};",
      index_, slots_.size(), instants_, rings, static_cast<std::uint64_t>(iteration_->growth()),
      static_cast<std::uint64_t>(iteration_->zero_delays()), part_.transitions.size());

  line("template <typename R> bool load_lanes_{}(R* const* runs, u32 lanes, LaneBlock& block) {{",
       index_);
  load_conditions();
  load_lengths();
  line("block.begin(kLanePart{}, lanes, n);", index_);
  for (size_t q = 0; q < part_.queues.size(); ++q) {
    const StaticQueue& queue = part_.queues[q];
    if (!queue.fixed)
      line("block.queue(m{0}, {1}, {2});", q, queue.rate, kept_fields(queue, options_).size());
  }
  load_queues();
  load_columns();
  line("return true;");
  line("}}");
}

// Each run alone, and against the first one.
void Lanes::load_conditions() {
  line("u64 n = ~u64{{0}};");
  line("for (u32 lane = 0; lane < lanes; ++lane) {{ R& run = *runs[lane];");
  for (uint32_t k : part_.transitions) line("if (run.@run_fired{} != 0) return false;", k);
  for (const StaticQueue& q : part_.queues) {
    if (q.place == StaticQueue::kNone) continue;
    if (q.fixed)
      line("if (run.@run_q{}.size() != {}) return false;", q.place, q.initial);
    else
      line("if (run.@run_q{0}.size() != runs[0]->@run_q{0}.size()) return false;", q.place);
  }
  for (const StaticQueue& q : part_.queues) {
    if (q.place != StaticQueue::kNone || q.fixed || const_servers(net_, q)) continue;
    line("if (run.net.@servers{0} != runs[0]->net.@servers{0}) return false;", q.producer);
  }
  for (uint32_t p : iteration_->params()) {
    if (checked_params_.count(p)) {
      line("if (run.P{0} < {1} || run.P{0} > {2}) return false;", p,
           literal(net_.params[p].range->lo), literal(net_.params[p].range->hi));
    }
  }
  for (const StaticEnd& s : part_.sources) {
    line("n = fewer(n, iterations(run.@run_s{}.size(), {}, {}));", s.place, rate(s),
         s.needed - s.count);
  }
  line("}}");
}

void Lanes::load_lengths() {
  line("if (n == 0) return false;");
  for (size_t q = 0; q < part_.queues.size(); ++q) {
    const StaticQueue& queue = part_.queues[q];
    if (queue.fixed) continue;
    if (queue.place != StaticQueue::kNone)
      line("const u64 m{} = runs[0]->@run_q{}.size();", q, queue.place);
    else if (const auto servers = const_servers(net_, queue))
      line("const u64 m{} = {};", q, *servers);
    else
      line("const u64 m{} = static_cast<u64>(runs[0]->net.@servers{});", q, queue.producer);
    line("if (m{0} < {1} || m{0} > kMostInRing) return false;", q, queue.initial);
  }
}

void Lanes::load_queues() {
  line("for (u32 lane = 0; lane < lanes; ++lane) {{ R& run = *runs[lane]; (void)run;");
  for (uint32_t p : iteration_->params()) {
    line("block.set({}, lane, run.P{});", slot_of_.at(fmt::format("P{}", p)), p);
  }
  size_t ring = 0;
  for (size_t q = 0; q < part_.queues.size(); ++q) {
    const StaticQueue& queue = part_.queues[q];
    const std::vector<uint32_t> fields = kept_fields(queue, options_);
    if (!queue.fixed) ++ring;
    if (queue.fixed && queue.initial == 0) continue;
    for (size_t c = 0; c < fields.size(); ++c) {
      const string at = queue.fixed ? fmt::to_string(queue.initial) : fmt::format("m{}", q);
      line("for (u64 j = 0; j < {}; ++j) {{ const i64 x = run.@run_q{}.row(j)[{}];", at,
           queue.place, c);
      const Assumed& a = assumed(queue.place, fields[c]);
      if (a.checked) {
        line("if (x < {} || x > {}) return false;", literal(a.range.lo), literal(a.range.hi));
      }
      if (queue.fixed) {
        line("block.set({} + j * {}, lane, x); }}",
             slot_of_.at(fmt::format("g{}_0_{}", q, fields[c])), fields.size());
      } else {
        line("block.put({}, j, lane, x); }}", ring++);
      }
    }
  }
  line("}}");
}

void Lanes::load_columns() {
  for (const auto& [p, f] : iteration_->columns()) {
    const StaticEnd& s = *std::find_if(part_.sources.begin(), part_.sources.end(),
                                       [&, at = p](const StaticEnd& e) { return e.place == at; });
    const Assumed& a = assumed(p, f);
    line("{{ LaneRows rows;");
    line(
        "for (u32 lane = 0; lane < lanes; ++lane) rows.at[lane] = runs[lane]->@run_s{0}.rows + "
        "runs[lane]->@run_s{0}.next * {1} + {2};",
        p, iteration_->width(p), f);
    line("if (!block.column(rows, {}, {}, {}, {}, {}, {})) return false; }}", rate(s),
         s.needed - s.count, iteration_->width(p), a.checked, literal(a.range.lo),
         literal(a.range.hi));
  }
}

void Lanes::store() {
  line("template <typename R> void store_lane_{}(R& run, u32 lane, const LaneBlock& block) {{",
       index_);
  line("const u64 done = block.done(); if (done == 0) return;");
  line("const u64 group = block.group() & R::kMask; (void)group;");
  store_queues();
  for (size_t i = 0; i < part_.transitions.size(); ++i) {
    const uint32_t k = part_.transitions[i];
    line("run.@run_fired{0} += done * {1}; run.made += done * {1}; run.@run_end{0} = {2};", k,
         part_.repetitions[i], instant(fmt::format("h{}_1", k)));
    if (net_.transitions[k].interval) {
      line("run.@run_next{} = {};", k, instant(fmt::format("next{}", k)));
    }
  }
  for (const StaticEnd& s : part_.sinks) {
    line("run.@run_sunk{} += done * {};", s.place, rate(s));
    if (const auto from = iteration_->copied_from(s.place)) {
      line("run.@run_out{0}.borrow(run.@run_s{1}.rows + run.@run_s{1}.next * {2}, done * {3});",
           s.place, *from, iteration_->width(*from), rate(s));
    }
    produced(s.place, s.transition, rate(s));
  }
  for (const StaticEnd& s : part_.sources) {
    line("run.@run_s{}.next += done * {};", s.place, rate(s));
  }
  for (const StaticQueue& q : part_.queues) {
    if (q.place != StaticQueue::kNone) produced(q.place, q.producer, q.rate);
  }
  line("}}");
}

string Lanes::instant(const string& name) const {
  return fmt::format("R::at(block.instant({}, lane)) + group", slot_of_.at(name));
}

void Lanes::store_queues() {
  size_t ring = 0, queue_number = 0;
  for (size_t q = 0; q < part_.queues.size(); ++q) {
    const StaticQueue& queue = part_.queues[q];
    const std::vector<uint32_t> fields = kept_fields(queue, options_);
    const size_t first = ring;
    if (!queue.fixed) ring += 1 + fields.size();
    const size_t number = queue_number;
    if (!queue.fixed) ++queue_number;
    if (queue.place == StaticQueue::kNone && const_servers(net_, queue) == 1) continue;
    const string to = queue.place == StaticQueue::kNone
                          ? fmt::format("@run_served{}", queue.producer)
                          : fmt::format("@run_q{}", queue.place);
    if (queue.fixed && queue.initial == 0) continue;
    line("run.{0}.pop(run.{0}.size());", to);
    if (queue.fixed) {
      for (int64_t j = 0; j < queue.initial; ++j) {
        line("{{ i64* const x = run.{}.push({}); (void)x;", to,
             instant(fmt::format("h{}_{}", queue.producer, Iteration::firings_ago(queue, j))));
        for (size_t c = 0; c < fields.size(); ++c) {
          line("x[{}] = block.value({}, lane);", c,
               slot_of_.at(fmt::format("g{}_{}_{}", q, j, fields[c])));
        }
        line("}}");
      }
    } else {
      line("for (u64 j = 0; j < block.queued({}); ++j) {{", number);
      line(
          "i64* const x = run.{}.push(R::at(block.ring_instant({}, {}, j, lane)) + group); "
          "(void)x;",
          to, number, first);
      for (size_t c = 0; c < fields.size(); ++c) {
        line("x[{}] = block.ring_value({}, {}, j, lane);", c, number, first + 1 + c);
      }
      line("}}");
    }
  }
}

}  // namespace lpn::sim

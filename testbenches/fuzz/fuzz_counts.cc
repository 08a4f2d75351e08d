#include "fuzz_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace lpn::bench {
namespace {

enum Feature {
  kInhibit,
  kCapacity,
  kLoop,
  kThreshold,
  kGuarded,
  kDynamicWeight,
  kHeadWeight,
  kServers,
  kInterval,
  kDynamicInterval,
  kOrdered,
  kClock,
  kZero,
  kDynamicDelay,
  kDynamicCount,
  kManyEmissions,
  kTwoArcs,
  kAggregates,
  kLookups,
  kAssumes,
  kOccupancies,
  kDoneCount,
  kTimers,
  kParams,
};
constexpr const char* kFeatureNames[] = {"inhibitor",
                                         "capacity",
                                         "self-loop",
                                         "threshold",
                                         "guard",
                                         "weight computed",
                                         "weight from head",
                                         "servers",
                                         "interval",
                                         "interval computed",
                                         "ordered",
                                         "clock",
                                         "delay 0",
                                         "delay computed",
                                         "count computed",
                                         "several emissions",
                                         "place on two arcs",
                                         "aggregate",
                                         "lookup",
                                         "assume",
                                         "occupancy/free/taken",
                                         "done count",
                                         "takes nothing",
                                         "parameter"};

}  // namespace

void add(Counts& to, const Counts& from) {
  auto* x = reinterpret_cast<std::uint64_t*>(&to);
  const auto* y = reinterpret_cast<const std::uint64_t*>(&from);
  for (std::size_t k = 0; k < offsetof(Counts, compiling) / sizeof(std::uint64_t); ++k)
    x[k] += y[k];
  to.compiling += from.compiling;
  to.running += from.running;
}

void count_features(const Net& net, Counts& counts) {
  bool has[std::size(kFeatureNames)] = {};
  const ExprPool& pool = net.exprs;
  std::int64_t value = 0;
  for (const Place& p : net.places) has[kCapacity] |= p.capacity.has_value();
  for (const Transition& t : net.transitions) {
    has[kServers] |= t.servers.has_value();
    has[kInterval] |= t.interval.has_value();
    has[kDynamicInterval] |= t.interval && !pool.is_const(t.interval->id);
    has[kOrdered] |= t.ordered;
    has[kClock] |= t.clock.has_value();
    has[kZero] |= pool.is_const(t.delay.id, value) && value == 0;
    has[kDynamicDelay] |= !pool.is_const(t.delay.id);
    bool takes = false;
    for (const InputArc& a : t.inputs) {
      has[kInhibit] |= a.inhibit;
      has[kThreshold] |= a.threshold.has_value();
      has[kGuarded] |= a.guard.has_value();
      if (a.inhibit) continue;
      has[kDynamicWeight] |= !pool.is_const(a.weight.id);
      has[kHeadWeight] |= !pool.reads(a.weight.id).tokens.empty();
      takes |= !pool.is_const(a.weight.id, value) || value > 0;
    }
    has[kTimers] |= !takes;
    std::set<PlaceId> seen;
    for (const OutputArc& o : t.outputs) {
      has[kTwoArcs] |= !seen.insert(o.place).second;
      has[kManyEmissions] |= o.emissions.size() > 1;
      for (const Emission& e : o.emissions) has[kDynamicCount] |= !pool.is_const(e.count.id);
      for (const InputArc& a : t.inputs) has[kLoop] |= a.place == o.place && !a.inhibit;
    }
  }
  for (std::size_t k = 0; k < pool.size(); ++k) {
    const Op op = pool[static_cast<ExprId>(k)].op;
    has[kAggregates] |= op == Op::kSum || op == Op::kMinOf || op == Op::kMaxOf;
    has[kLookups] |= op == Op::kLookup;
    has[kAssumes] |= op == Op::kAssume;
    has[kOccupancies] |= op == Op::kOccupancy || op == Op::kFree || op == Op::kTaken;
    has[kParams] |= op == Op::kParam;
  }
  has[kDoneCount] = net.done_count.has_value();
  for (std::size_t k = 0; k < std::size(has); ++k) counts.features[k] += has[k];
}

void count_outcome(const Case& c, const Outcome& o, Counts& counts) {
  ++counts.cases;
  if (!o.error.empty()) {
    ++counts.refused;
    return;
  }
  counts.commits += o.commits.size();
  counts.longer += o.commits.size() > 20;
  counts.silent += o.commits.empty();
  bool groups = false, overtaken = false, pushed = false, late = false;
  std::map<TransitionId, std::uint64_t> newest;
  for (const Commit& commit : o.commits) {
    groups |= commit.group > 0;
    const auto [it, first] = newest.try_emplace(commit.transition, commit.firing);
    overtaken |= !first && commit.firing < it->second;
    it->second = std::max(it->second, commit.firing);
  }
  std::size_t runs = 0;
  for (std::size_t k = 0; k < o.steps.size(); ++k) {
    runs += !c.steps[k].push;
    pushed |= c.steps[k].push && o.steps[k].error.empty();
    late |= c.steps[k].push && !o.steps[k].error.empty();
  }
  counts.groups += groups;
  counts.overtaken += overtaken;
  counts.pushes += pushed;
  counts.late += late;
  counts.stepped += runs > 1;
  const StepOutcome& last = o.steps.back();
  if (last.fault) ++counts.faults[static_cast<int>(last.fault->fault)];
  if (!last.result) return;
  ++counts.endings[static_cast<int>(last.result->ending)];
  counts.stalled += last.result->stalled;
  for (const Blocked& b : last.result->blocked) ++counts.waits[static_cast<int>(b.wait)];
}

void print_counts(const Counts& n) {
  const auto share = [&](std::uint64_t k) {
    return 100.0 * static_cast<double>(k) /
           static_cast<double>(std::max<std::uint64_t>(n.cases, 1));
  };
  fmt::print(
      "runs: {} on {} nets ({} discarded as endless), {} commits, {:.0f} per run\n", n.cases,
      n.nets, n.discarded, n.commits,
      static_cast<double>(n.commits) / static_cast<double>(std::max<std::uint64_t>(n.cases, 1)));
  fmt::print(
      "of the runs: {:.1f} % with more than 20 commits, {:.1f} % without any, {:.1f} % with "
      "zero-delay groups, {:.1f} % with overtaking, {:.1f} % step by step, {:.1f} % with pushed "
      "tokens, {:.1f} % with a refused push\n",
      share(n.longer), share(n.silent), share(n.groups), share(n.overtaken), share(n.stepped),
      share(n.pushes), share(n.late));
  fmt::print(
      "order-free runs: {}; attempted, then event-driven: {}; inputs in batches: {}; out of "
      "memory: "
      "{}\n",
      n.free_runs, n.fallen_back, n.batched, n.too_big);
  std::uint64_t faults = 0;
  for (std::uint64_t k : n.faults) faults += k;
  fmt::print(
      "ends: {:.1f} % quiet ({:.1f} % stalled), {:.1f} % done, {:.1f} % limit, {:.1f} % errors, "
      "{:.1f} % refused at the start\n",
      share(n.endings[0]), share(n.stalled), share(n.endings[1]), share(n.endings[2]),
      share(faults), share(n.refused));
  fmt::print("errors:");
  for (std::size_t k = 0; k < std::size(n.faults); ++k) {
    fmt::print(" {} {}", fault_code(static_cast<Fault>(k)), n.faults[k]);
  }
  fmt::print("\nblocked transitions of stalled runs:");
  for (int w = 0; w < kWaits; ++w)
    fmt::print(" {} {},", wait_name(static_cast<Wait>(w)), n.waits[w]);
  fmt::print("\nnets with:");
  for (std::size_t k = 0; k < std::size(kFeatureNames); ++k) {
    fmt::print(" {} {:.0f} %,", kFeatureNames[k],
               100.0 * static_cast<double>(n.features[k]) /
                   static_cast<double>(std::max<std::uint64_t>(n.nets, 1)));
  }
  fmt::print("\n");
}

}  // namespace lpn::bench

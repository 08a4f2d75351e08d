// Random nets over small random input spaces: no bound by reachable states may be passed by any
// input of the space, run by the interpreter, and whatever happens to some input must be held
// possible. Greatest and least latencies, completions, commits and busy times, with states joined
// early, late and never. How often a bound is the extreme itself is counted, too.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "case.h"
#include "lpn/reach/reach.h"
#include "lpn/text/text.h"
#include "measured_runs.h"
#include "random_net.h"
#include "random_space.h"
#include "static_net.h"

namespace lpn::bench {
namespace {

using What = ReachQuestion::What;

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t cases = 300;  // nets of which some input ends
  std::int64_t only = -1;
  bool print = false;
};

struct Tally {
  std::uint64_t compared = 0, inputs = 0, endless = 0, refused = 0, differences = 0;
  std::uint64_t bounds = 0, open = 0, loose = 0;
  std::uint64_t stalls = 0, false_stalls = 0, failures = 0, false_failures = 0;
  std::map<std::string, std::uint64_t> exact;  // per way of joining
  std::map<std::string, std::uint64_t> reasons;
};

bool ended(const Ran& ran) {
  return !ran.endless && (ran.outcome == Outcome::kLatency || ran.outcome == Outcome::kNone);
}

// What a run has, from its commits alone.
std::optional<std::int64_t> value_of(const Net& net, const Ran& ran, const ReachQuestion& asked) {
  if (asked.what == What::kLatency) return ran.latency;
  if (asked.what == What::kBusy) {
    return measured(net, ran.history,
                    {.what = Asked::What::kBusy, .transition = asked.transition, .place = {}});
  }
  std::int64_t commits = 0;
  std::map<Time, std::uint64_t> done;
  std::map<std::uint32_t, std::uint64_t> starts;
  for (const History::Firing& firing : ran.history.firings) {
    const auto k = static_cast<std::uint32_t>(firing.transition);
    const auto it = ran.recorder.times.find({k, starts[k]++});
    if (it == ran.recorder.times.end()) continue;  // the run was over before its commit
    commits += firing.transition == asked.transition;
    for (std::size_t o = 0; o < firing.produced.size(); ++o) {
      if (net[net[firing.transition].outputs[o].place].done) {
        done[it->second.second] += firing.produced[o];
      }
    }
  }
  if (asked.what == What::kCommits) return commits;
  std::uint64_t seen = 0;
  for (const auto& [time, count] : done) {
    seen += count;
    if (seen >= asked.k) return time;
  }
  return std::nullopt;
}

std::vector<ReachQuestion> questions(const Net& net, Random& random) {
  const TransitionId t{
      static_cast<std::uint32_t>(random.below(static_cast<std::int64_t>(net.transitions.size())))};
  std::vector<ReachQuestion> all;
  for (const bool maximum : {true, false}) {
    all.push_back({.what = What::kLatency, .maximum = maximum});
    all.push_back({.what = What::kCompletion,
                   .k = static_cast<std::uint64_t>(random.between(1, 3)),
                   .maximum = maximum});
    all.push_back({.what = What::kCommits, .transition = t, .maximum = maximum});
    all.push_back({.what = What::kBusy, .transition = t, .maximum = maximum});
  }
  return all;
}

std::string check(const Net& net, const InputSpace& space, Random& random, Tally& tally) {
  try {
    check_space(net, space);
  } catch (const Error&) {
    ++tally.refused;
    return "";
  }
  std::vector<std::pair<Assignment, Ran>> runs;
  bool stalls = false, fails = false, ends = false;
  each_input(space, [&](const Assignment& input) {
    runs.emplace_back(input, run(net, space, input));
    const Ran& ran = runs.back().second;
    if (ran.endless) {
      ++tally.endless;
    } else {
      stalls = stalls || ran.outcome == Outcome::kStalled;
      fails = fails || ran.outcome == Outcome::kError;
      ends = ends || ended(ran);
    }
    return true;
  });
  if (!ends) return "";
  ++tally.compared;
  tally.inputs += runs.size();
  tally.stalls += stalls;
  tally.failures += fails;
  for (const ReachQuestion& asked : questions(net, random)) {
    std::optional<std::int64_t> truth;
    for (const auto& [input, ran] : runs) {
      if (!ended(ran)) continue;
      const auto value = value_of(net, ran, asked);
      if (value && (!truth || (asked.maximum ? *value > *truth : *value < *truth))) truth = value;
    }
    const std::string name =
        fmt::format("{} {}", asked.maximum ? "greatest" : "least",
                    asked.what == What::kLatency   ? "latency"
                    : asked.what == What::kCommits ? "commits of " + net[asked.transition].name
                    : asked.what == What::kBusy    ? "busy of " + net[asked.transition].name
                                                   : fmt::format("completion({})", asked.k));
    for (const std::size_t zones : {1, 3, 0}) {
      for (const std::uint64_t values : {1, 2, 64}) {
        if (zones == 3 && values != 2) continue;
        ReachOptions options{.zones = zones,
                             .values = values,
                             .states = 3000,
                             .memory = 256 << 20,
                             .enough = {},
                             .go_on = {}};
        std::string how = fmt::format("{} zones, {} values", zones, values);
        // What is enough may be met, or passed, or no value at all, and the work may end before.
        if (random.chance(50)) {
          options.enough = truth.value_or(0) + random.between(-4, 4);
          if (random.chance(50)) options.states = static_cast<std::uint64_t>(random.below(40) + 1);
          how += ", enough";
        }
        const Reached r = bound_by_states(net, space, asked, options);
        if (!r.complete && !options.enough) ++tally.reasons[r.why];
        if ((stalls && !r.may_stall) || (fails && !r.may_fail)) {
          return fmt::format("{} ({}): an input {} and none is held to", name, how,
                             stalls && !r.may_stall ? "stalls" : "fails");
        }
        if (!r.bound) {
          if (!r.complete) {
            ++tally.open;
            continue;
          }
          if (truth) return fmt::format("{} ({}): none, it is {}", name, how, *truth);
          continue;
        }
        ++tally.bounds;
        tally.false_stalls += !stalls && r.may_stall;
        tally.false_failures += !fails && r.may_fail;
        if (truth && (asked.maximum ? *r.bound < *truth : *r.bound > *truth)) {
          return fmt::format("{} ({}): bound {}, an input has {}", name, how, *r.bound, *truth);
        }
        if (truth && *truth == *r.bound)
          ++tally.exact[how];
        else
          ++tally.loose;
      }
    }
  }
  return "";
}

// Some tokens come later, at times that one more variable may shift.
void arrivals(const Net& net, InputSpace& space, Random& random) {
  Net& v = space.variables;
  const auto shift = static_cast<std::uint32_t>(v.params.size());
  bool shifted = false;
  for (InputSpace::Tokens& tokens : space.tokens) {
    if (net[tokens.place].capacity || random.chance(50)) continue;
    std::int64_t time = random.between(0, 3);
    bool late = false;
    for (std::size_t k = 0; k < tokens.rows.size(); ++k) {
      late = late || random.chance(30);
      const ExprId base = v.exprs.constant(time);
      tokens.at.push_back(late ? v.exprs.binary(Op::kAdd, base, v.exprs.param(shift)) : base);
      time += random.between(0, 9);
    }
    shifted = shifted || late;
  }
  if (shifted)
    v.params.push_back({.name = "shift", .value = 0, .range = Range{0, 2}, .source = {}});
}

int main_(int argc, char** argv) {
  Options options;
  for (int k = 1; k < argc; ++k) {
    const std::string name = argv[k];
    const auto value = [&] { return k + 1 < argc ? std::strtoll(argv[++k], nullptr, 10) : 0; };
    if (name == "--seed")
      options.seed = static_cast<std::uint64_t>(value());
    else if (name == "--cases")
      options.cases = static_cast<std::uint64_t>(value());
    else if (name == "--only")
      options.only = value();
    else if (name == "--print")
      options.print = true;
    else {
      fmt::print("usage: reach_fuzz [--seed N] [--cases N] [--only N] [--print]\n");
      return 2;
    }
  }
  Tally tally;
  for (std::int64_t k = 0; tally.compared < options.cases; ++k) {
    if (options.only >= 0 && k > options.only) break;
    Random random(options.seed * 0x9E3779B97F4A7C15ull + static_cast<std::uint64_t>(k));
    static constexpr Profile kProfiles[] = {Profile::kUsual, Profile::kTies,   Profile::kClocks,
                                            Profile::kUsual, Profile::kErrors, Profile::kCounts,
                                            Profile::kBits,  Profile::kStatic};
    const Net net = random_net(random, kProfiles[k % 8]);
    Case c = random_inputs(net, random);
    if (random.chance(70)) c.net.done_count.reset();
    InputSpace space = random_space(c, random);
    if (random.chance(40)) arrivals(c.net, space, random);
    if (options.only >= 0 && k != options.only) continue;
    if (options.print) {
      fmt::print("# --only {}\n{}", k, print_net(c.net));
      for (const Load& load : c.loads) {
        fmt::print("# {} x {}: {}\n", c.net[load.place].name, load.count,
                   fmt::join(load.values, " "));
      }
      for (const Param& x : space.variables.params) {
        fmt::print("# {} in {}..{}\n", x.name, x.range->lo, x.range->hi);
      }
      std::fflush(stdout);
    }
    const std::string what = check(c.net, space, random, tally);
    if (what.empty()) continue;
    ++tally.differences;
    fmt::print("--seed {} --only {}: {}\n", options.seed, k, what);
    std::fflush(stdout);
  }
  fmt::print("{} nets compared with {} inputs ({} endless), {} refused: {} differences\n",
             tally.compared, tally.inputs, tally.endless, tally.refused, tally.differences);
  fmt::print("{} bounds, {} of them loose; {} without an answer\n", tally.bounds, tally.loose,
             tally.open);
  for (const auto& [how, count] : tally.exact) fmt::print("  {:7} exact with {}\n", count, how);
  fmt::print(
      "{} nets stall and {} fail for some input; held possible without one for {} and {} "
      "bounds\n",
      tally.stalls, tally.failures, tally.false_stalls, tally.false_failures);
  for (const auto& [reason, count] : tally.reasons) fmt::print("  {:7} {}\n", count, reason);
  return tally.differences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) { return lpn::bench::main_(argc, argv); }

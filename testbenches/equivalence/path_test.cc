// The critical path, checked against what the interpreter did: every step starts at the instant of
// its cause, and the cause is one that the commits of the run show; the rows add up to the latency;
// twice as fast a transition changes the run as it does in a net with its delay and interval
// halved.
//
// path_test NETS_FOLDER [--nets N] [--seed S] [--profile NAME]: the golden nets, then random ones;
// with `-` for the folder, random ones alone, of which no least number of events is asked.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "case.h"
#include "engines.h"
#include "lpn/base/error.h"
#include "lpn/expr/build.h"
#include "lpn/run/interp.h"
#include "lpn/sim/interpreted_path.h"
#include "lpn/text/text.h"
#include "many.h"
#include "outcome.h"
#include "random_net.h"

namespace lpn::bench {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMostCommits = 3000;
constexpr std::uint64_t kGroups = 64;

struct Counts {
  std::uint64_t cases = 0, free = 0, steps = 0, causes[8] = {}, halved = 0, gained = 0, faults = 0,
                other_ties = 0;
};

struct Taken {
  RunResult result;
  sim::CriticalPath path;
  bool order_free = false;
};

// The first run of `c` on a library with causes; none when it ends by an error.
std::optional<Taken> take(const Case& c, const sim::Library& library, sim::Mode mode,
                          std::optional<TransitionId> halve = {}) {
  sim::Simulator simulator(library, c.params, marking_of(c));
  simulator.set_mode(mode);
  if (halve) simulator.halve(*halve);
  Taken taken;
  try {
    for (const Step& step : c.steps) {
      if (step.push) {
        try {
          simulator.push(step.place, step.values, step.time);
        } catch (const RunError&) {
          throw;
        } catch (const Error&) {  // refused, as by the interpreter
        }
      } else {
        taken.result = simulator.run(step.time);
      }
    }
  } catch (const RunError&) {
    return std::nullopt;
  }
  taken.order_free = simulator.was_order_free();
  taken.path = simulator.path();
  return taken;
}

// The same by the interpreter.
std::optional<Taken> interpret(const Case& c, std::optional<TransitionId> halve = {}) {
  InterpOptions options;
  options.group_limit = c.group_limit;
  options.halved = halve;
  Interp interp(c.net, c.params, marking_of(c), options);
  sim::InterpretedPath path(c.net, interp);
  Taken taken;
  try {
    for (const Step& step : c.steps) {
      if (step.push) {
        try {
          interp.push(step.place, step.values, step.time);
        } catch (const RunError&) {
          throw;
        } catch (const Error&) {  // refused
        }
      } else {
        taken.result = interp.run(step.time);
      }
    }
  } catch (const RunError&) {
    return std::nullopt;
  }
  taken.path = path.path();
  return taken;
}

bool has_done(const Net& net) {
  return std::any_of(net.places.begin(), net.places.end(), [](const Place& p) { return p.done; });
}

// Whether a slot that `from` gives back may be one that `to` waits for.
bool passes_slots(const Net& net, std::uint32_t from, std::uint32_t to) {
  for (const InputArc& in : net.transitions[from].inputs) {
    if (!net[in.place].capacity) continue;
    for (const OutputArc& out : net.transitions[to].outputs) {
      if (out.place == in.place) return true;
    }
  }
  return false;
}

class Checker {
 public:
  Checker(const Case& c, const Outcome& defined, const Taken& taken, Counts& counts)
      : net_(c.net), commits_(defined.commits), path_(taken.path), counts_(counts) {
    for (auto step = defined.steps.rbegin(); step != defined.steps.rend() && !last_; ++step) {
      if (step->result) last_ = &*step->result;
    }
    for (const Commit& commit : commits_) {
      by_[static_cast<std::uint32_t>(commit.transition)].push_back(&commit);
    }
  }

  std::string run() {
    if (last_ == nullptr) return "";
    const Time target = has_done(net_) ? last_->latency.value_or(0) : last_->last_commit;
    Time sum = 0;
    for (const auto& row : path_.rows) sum += row.cycles;
    if (sum != target) return fmt::format("the rows add up to {}, not to {}", sum, target);
    if (target == 0 && path_.steps.empty()) return "";
    if (path_.steps.empty()) return "there are no steps";
    const auto& first = path_.steps[0];
    if (!first.to_commit || first.commit != target) {
      return fmt::format("the path ends at {}, not at {}", first.commit, target);
    }
    for (std::size_t k = 0; k < path_.steps.size(); ++k) {
      const std::string what = step(k);
      if (!what.empty()) return fmt::format("step {}: {}", k, what);
    }
    return rows();
  }

 private:
  using Path = sim::CriticalPath;

  std::string name(std::uint32_t k) const { return net_.transitions[k].name; }

  // The commits that a step may be.
  std::vector<const Commit*> of(const Path::Step& s) const {
    std::vector<const Commit*> all;
    const auto found = by_.find(s.index);
    if (found == by_.end()) return all;
    for (const Commit* c : found->second) {
      if (c->time == s.commit && c->start == s.start) all.push_back(c);
    }
    return all;
  }

  std::string step(std::size_t k) {
    const Path::Step& s = path_.steps[k];
    ++counts_.steps;
    ++counts_.causes[s.cause];
    const bool last = k + 1 == path_.steps.size();
    if (s.cause == LPN_BY_PUSH) {
      if (!last) return "something before a token from outside";
      return s.start == s.commit ? "" : "an arrival that lasts";
    }
    // A firing whose start alone counts may commit later than the run goes, or (ordered) later.
    if (s.to_commit && of(s).empty()) {
      return fmt::format("no commit of '{}' from {} to {}", name(s.index), s.start, s.commit);
    }
    const bool clocked = net_.transitions[s.index].clock.has_value();
    if (s.cause == LPN_BY_NOTHING) {
      if (!last) return "something before a start without a cause";
      return s.start == 0 || clocked ? "" : fmt::format("starts at {} without a cause", s.start);
    }
    if (last) return "the cause is missing";
    const Path::Step& by = path_.steps[k + 1];
    const bool start = s.cause == LPN_BY_INTERVAL || s.cause == LPN_BY_ORDER;
    if (by.to_commit == start) return "the path leaves its cause at the wrong end";
    const Time at = start ? by.start : by.commit;
    if (s.cause == LPN_BY_INTERVAL) {
      if (by.index != s.index) return "another's interval";
      if (!net_.transitions[s.index].interval) return "there is no interval";
      return s.start >= at ? "" : "starts before the interval began";
    }
    if (s.cause == LPN_BY_ORDERED) {
      if (s.commit != at) return fmt::format("'{}' is late, but not with its cause", name(s.index));
    } else if (clocked ? s.start < at : s.start != at) {
      return fmt::format("'{}' starts at {}, its cause '{}' is at {}", name(s.index), s.start,
                         s.cause == LPN_BY_PUSH ? "" : name(by.index), at);
    }
    if (by.cause == LPN_BY_PUSH) return "";
    switch (s.cause) {
      case LPN_BY_TOKEN: return token(s, by);
      case LPN_BY_SERVER:
        if (by.index != s.index) return "another's server";
        return net_.transitions[s.index].servers ? "" : "there are no servers";
      case LPN_BY_ORDERED:
        if (by.index != s.index) return "ordered behind another";
        return net_.transitions[s.index].ordered ? "" : "it is not ordered";
      case LPN_BY_CHANGE:
      case LPN_BY_ORDER: return meets(s.index, by.index);
      default: return "an unknown cause";
    }
  }

  // A token of `by` was taken, or needed, or its slot.
  std::string token(const Path::Step& s, const Path::Step& by) const {
    if (passes_slots(net_, by.index, s.index)) return "";
    std::set<std::pair<std::uint32_t, std::uint64_t>> from;
    for (const Commit* c : of(by)) from.insert({by.index, c->firing});
    for (const Commit* c : of(s)) {
      for (const auto& arc : c->taken) {
        for (const TokenId& id : arc) {
          if (!id.initial && from.count({id.source, id.firing}) != 0) return "";
        }
      }
    }
    // More needed than taken: it is still there.
    for (const InputArc& in : net_.transitions[s.index].inputs) {
      std::int64_t weight = 0;
      const bool all_taken = !in.threshold && !in.inhibit;
      if (all_taken && (!net_.exprs.is_const(in.weight.id, weight) || weight > 0)) continue;
      for (const OutputArc& out : net_.transitions[by.index].outputs) {
        if (out.place == in.place) return "";
      }
    }
    // The path leaves at the start of a firing that was still under way at the end.
    if (of(s).empty() && !s.to_commit) return "";
    return fmt::format("'{}' took nothing of '{}' at {}", name(s.index), name(by.index), s.start);
  }

  // Whether one touches a place that the other reads.
  std::string meets(std::uint32_t reader, std::uint32_t by) const {
    if (reader == by) return "";
    for (const InputArc& in : net_.transitions[reader].inputs) {
      for (const InputArc& other : net_.transitions[by].inputs) {
        if (other.place == in.place) return "";
      }
      for (const OutputArc& other : net_.transitions[by].outputs) {
        if (other.place == in.place) return "";
      }
    }
    if (passes_slots(net_, by, reader)) return "";
    for (const OutputArc& out : net_.transitions[reader].outputs) {  // the same free slots
      if (!net_[out.place].capacity) continue;
      for (const OutputArc& other : net_.transitions[by].outputs) {
        if (other.place == out.place) return "";
      }
    }
    return fmt::format("'{}' and '{}' share no place", name(reader), name(by));
  }

  // The rows are the steps, counted again.
  std::string rows() const {
    std::map<std::pair<int, std::uint32_t>, std::pair<std::uint64_t, Time>> sums;
    for (std::size_t k = 0; k < path_.steps.size(); ++k) {
      const Path::Step& s = path_.steps[k];
      const bool arrival = s.cause == LPN_BY_PUSH;
      const auto add = [&](Path::Kind kind, Time cycles) {
        auto& sum = sums[{static_cast<int>(kind), s.index}];
        ++sum.first;
        sum.second += cycles;
      };
      const bool late = s.cause == LPN_BY_ORDERED;
      if (s.to_commit && !arrival) add(Path::Kind::kDelay, late ? 0 : s.commit - s.start);
      Time from = 0;
      if (k + 1 < path_.steps.size()) {
        const bool start = s.cause == LPN_BY_INTERVAL || s.cause == LPN_BY_ORDER;
        from = start ? path_.steps[k + 1].start : path_.steps[k + 1].commit;
      }
      if (s.start == from || late) continue;
      add(arrival                      ? Path::Kind::kPushed
          : s.cause == LPN_BY_INTERVAL ? Path::Kind::kInterval
                                       : Path::Kind::kClock,
          s.start - from);
    }
    if (sums.size() != path_.rows.size()) return "rows and steps differ";
    for (const Path::Row& row : path_.rows) {
      const auto found = sums.find({static_cast<int>(row.kind), row.index});
      if (found == sums.end() || found->second.first != row.count ||
          found->second.second != row.cycles) {
        return "rows and steps differ";
      }
    }
    return "";
  }

  const Net& net_;
  const std::vector<Commit>& commits_;
  const sim::CriticalPath& path_;
  Counts& counts_;
  const RunResult* last_ = nullptr;
  std::map<std::uint32_t, std::vector<const Commit*>> by_;
};

// Whether two engines name the same firings as the causes of the same firings.
bool same_steps(const sim::CriticalPath& a, const sim::CriticalPath& b) {
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const sim::CriticalPath::Step& x, const sim::CriticalPath::Step& y) {
                      return x.index == y.index && x.cause == y.cause &&
                             x.to_commit == y.to_commit && x.start == y.start &&
                             x.commit == y.commit;
                    });
}

bool same_rows(const sim::CriticalPath& a, const sim::CriticalPath& b) {
  if (a.rows.size() != b.rows.size()) return false;
  for (std::size_t k = 0; k < a.rows.size(); ++k) {
    const auto &x = a.rows[k], &y = b.rows[k];
    if (x.kind != y.kind || x.index != y.index || x.count != y.count || x.cycles != y.cycles) {
      return false;
    }
  }
  return true;
}

Case halved(Case c, TransitionId transition) {
  Transition& t = c.net.transitions[static_cast<std::size_t>(transition)];
  ExprBuilder build(c.net.exprs);
  const auto constant = [&](std::int64_t v) { return c.net.exprs.constant(v); };
  t.delay.id = build.floor_div(build.add(t.delay.id, constant(1)), constant(2));
  if (t.interval) {
    t.interval->id = build.floor_div(build.add(t.interval->id, constant(1)), constant(2));
  }
  return c;
}

std::string check(const Case& c, const sim::Library& whole, const sim::Library& tight,
                  Random& random, Counts& counts) {
  Outcome defined;
  try {
    defined = play(c, {.observe = true, .most_commits = kMostCommits});
  } catch (const TooLong&) {
    return "";
  }
  if (!defined.error.empty()) return "";
  ++counts.cases;
  std::optional<sim::CriticalPath> first;
  for (const sim::Mode mode : {sim::Mode::kAuto, sim::Mode::kEvents}) {
    const char* const how = mode == sim::Mode::kAuto ? "as can be" : "by events";
    const auto taken = take(c, whole, mode);
    const bool fault = std::any_of(defined.steps.begin(), defined.steps.end(),
                                   [](const StepOutcome& s) { return s.fault.has_value(); });
    if (!taken.has_value() || fault) {
      ++counts.faults;
      if (taken.has_value() == fault) return "an error in one engine only";
      return "";
    }
    counts.free += taken->order_free;
    for (auto step = defined.steps.rbegin(); step != defined.steps.rend(); ++step) {
      if (!step->result) continue;
      if (!(*step->result == taken->result)) return fmt::format("{}: another result", how);
      break;
    }
    std::string what = Checker(c, defined, *taken, counts).run();
    if (!what.empty()) return fmt::format("{}: {}", how, what);
    const auto read = interpret(c);
    const bool same = read && same_rows(read->path, taken->path);
    if (mode == sim::Mode::kEvents && !(same && same_steps(read->path, taken->path))) {
      return "the interpreter finds another path";
    }
    counts.other_ties += !same;
    const auto small = take(c, tight, mode);
    if (!small || !same_rows(small->path, taken->path)) {
      return fmt::format("{}: folded early, the rows differ", how);
    }
    if (c.net.transitions.empty()) continue;
    const auto k = static_cast<TransitionId>(
        random.below(static_cast<std::int64_t>(c.net.transitions.size())));
    Case faster = halved(c, k);
    Outcome expected;
    try {
      expected = play(faster, {.observe = true, .most_commits = kMostCommits});
    } catch (const TooLong&) {
      continue;
    }
    const auto gained = take(c, whole, mode, k);
    const auto again = interpret(c, k);
    if (gained.has_value() != again.has_value() || (gained && !(gained->result == again->result))) {
      return fmt::format("{}: '{}' halved: not as by the interpreter", how, c.net[k].name);
    }
    if (!gained) continue;  // an error: which one, the value says
    for (auto step = expected.steps.rbegin(); step != expected.steps.rend(); ++step) {
      if (!step->result) continue;
      ++counts.halved;
      counts.gained += !(step->result->last_commit == taken->result.last_commit);
      if (!(*step->result == gained->result)) {
        return fmt::format("{}: '{}' halved: last commit {}, by the interpreter {}", how,
                           c.net[k].name, gained->result.last_commit, step->result->last_commit);
      }
      break;
    }
  }
  return "";
}

std::vector<sim::Library> build(const std::vector<Net>& nets, const char* nodes, bool often) {
  sim::CompileOptions options = quick_options(kGroups);
  options.flags += std::string(" -DLPNRT_PATH_NODES=") + nodes;
  if (std::string(nodes).size() == 1)
    options.flags += " -DLPNRT_STREAM_BLOCK=3 -DLPNRT_READ_BACK=1";
  if (often) options.flags += " -DLPNRT_ONLY_RUNS=1";
  return build_many(nets, {.path = true}, options, often);
}

// Without a folder, random nets alone.
int run(const fs::path& folder, std::uint64_t seed, std::uint64_t nets, Profile profile) {
  std::vector<Case> cases;
  std::vector<std::string> names;
  Random random(seed);
  std::vector<fs::path> files;
  const bool golden = folder != "-";
  if (golden) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".lpn") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    cases.push_back(load_case(file));
    names.push_back(file.stem().string());
  }
  for (std::uint64_t k = 0; k < nets; ++k) {
    const Net net = random_net(random, profile);
    cases.push_back(random_inputs(net, random));
    names.push_back(fmt::format("random net {} of seed {}", k, seed));
  }
  Counts counts;
  int failures = 0;
  constexpr std::size_t kBatch = 60;
  for (std::size_t from = 0; from < cases.size(); from += kBatch) {
    const std::size_t to = std::min(cases.size(), from + kBatch);
    std::vector<Net> some;
    for (std::size_t k = from; k < to; ++k) some.push_back(cases[k].net);
    const auto whole = build(some, "8192", !golden), tight = build(some, "6", !golden);
    for (std::size_t k = from; k < to; ++k) {
      cases[k].group_limit = kGroups;
      const std::string what = check(cases[k], whole[k - from], tight[k - from], random, counts);
      if (what.empty()) continue;
      ++failures;
      fmt::print("{}: {}\n", names[k], what);
      if (std::getenv("LPN_SHOW") != nullptr) {
        fmt::print("{}\n{}", print_net(cases[k].net), print_inputs(cases[k]));
      }
    }
  }
  fmt::print("{} cases, {} runs order-free, {} ended by errors; {} steps\n", counts.cases,
             counts.free, counts.faults, counts.steps);
  const char* const causes[] = {"nothing",  "token", "server", "change",
                                "interval", "order", "push",   "ordered"};
  for (int k = 0; k < 8; ++k) fmt::print("  {} {}\n", counts.causes[k], causes[k]);
  fmt::print("{} runs with a delay halved, {} of them ended at another time\n", counts.halved,
             counts.gained);
  fmt::print("{} order-free paths chose another of causes at one instant\n", counts.other_ties);
  fmt::print("{} different\n", failures);
  if (golden && (counts.free == 0 || counts.gained == 0 || counts.steps < 100)) {
    fmt::print("too little was tested\n");
    return 1;
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: path_test NETS_FOLDER|- [--nets N] [--seed S] [--profile NAME]\n");
    return 2;
  }
  std::uint64_t seed = 1, nets = 200;
  auto profile = lpn::bench::Profile::kUsual;
  for (int k = 2; k + 1 < argc; k += 2) {
    const std::string word = argv[k];
    if (word == "--nets") nets = std::strtoull(argv[k + 1], nullptr, 10);
    if (word == "--seed") seed = std::strtoull(argv[k + 1], nullptr, 10);
    if (word == "--profile") profile = lpn::bench::profile_named(argv[k + 1]);
  }
  return lpn::bench::run(argv[1], seed, nets, profile);
}

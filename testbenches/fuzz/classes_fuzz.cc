// Random nets over small random input spaces: every input of the space, run by the interpreter,
// must be in exactly one path of the partition, with the same outcome and every commit at the time
// that the path gives it; every class that is said to have inputs must have one. Greatest and least
// latencies, busy times, stalls, commits and completions against all inputs (measured_runs.h).

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "case.h"
#include "lpn/classes/check_partition.h"
#include "lpn/classes/partition.h"
#include "lpn/expr/build.h"
#include "lpn/net/lower.h"
#include "lpn/run/interp.h"
#include "lpn/smt/measured_path.h"
#include "lpn/smt/search.h"
#include "lpn/smt/z3_feasibility.h"
#include "lpn/text/text.h"
#include "measured_runs.h"
#include "random_net.h"
#include "random_space.h"

namespace lpn::bench {
namespace {

constexpr int kQuestions = 4;  // about a net, beside its latency

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t cases = 300;  // nets that end, in spaces that fit them
  std::int64_t only = -1;
  bool print = false;
};

struct Tally {
  std::uint64_t compared = 0, inputs = 0, paths = 0, classes = 0, endless = 0, refused = 0;
  std::uint64_t unresolved = 0, differences = 0, proved = 0;
  std::uint64_t bounds = 0, exact = 0, refuted = 0;
  std::uint64_t refused_measures = 0, unanswered = 0, far = 0;
  std::map<std::string, std::uint64_t> measures;  // per quantity
  std::map<std::string, std::uint64_t> reasons;
};

std::string compare(const Path& path, const InputSpace& space, const Assignment& input,
                    const Ran& ran) {
  if (path.outcome != ran.outcome) {
    return fmt::format("outcome {} instead of {}", static_cast<int>(path.outcome),
                       static_cast<int>(ran.outcome));
  }
  if (path.outcome == Outcome::kError) return "";
  const std::vector<Time> times = evaluate(path.timing, space, input);
  if (std::getenv("LPN_DEBUG") != nullptr) {
    for (const TimedFiring& firing : path.firings) {
      fmt::print("  path: t{} #{} {}..{}\n", static_cast<std::uint32_t>(firing.transition),
                 firing.number, times[static_cast<std::size_t>(firing.start)],
                 times[static_cast<std::size_t>(firing.commit)]);
    }
    for (const auto& [key, when] : ran.recorder.times) {
      fmt::print("  run: t{} #{} {}..{}\n", key.first, key.second, when.first, when.second);
    }
  }
  if (path.firings.size() != ran.recorder.times.size()) {
    return fmt::format("{} firings instead of {}", path.firings.size(), ran.recorder.times.size());
  }
  for (const TimedFiring& firing : path.firings) {
    const auto it =
        ran.recorder.times.find({static_cast<std::uint32_t>(firing.transition), firing.number});
    if (it == ran.recorder.times.end()) return "a firing that did not happen";
    const Time start = times[static_cast<std::size_t>(firing.start)];
    const Time commit = times[static_cast<std::size_t>(firing.commit)];
    if (std::pair{start, commit} != it->second) {
      return fmt::format("firing {} of transition {}: {}..{} instead of {}..{}", firing.number,
                         static_cast<std::uint32_t>(firing.transition), start, commit,
                         it->second.first, it->second.second);
    }
  }
  if (path.outcome == Outcome::kLatency &&
      times[static_cast<std::size_t>(path.latency)] != *ran.latency) {
    return fmt::format("latency {} instead of {}", times[static_cast<std::size_t>(path.latency)],
                       *ran.latency);
  }
  return "";
}

std::size_t paths_of(const Partition& p) {
  std::size_t count = 0;
  for (const InputClass& one : p.classes) count += one.paths.size();
  return count;
}

// Stopped as soon as something waits, the rest done branch by branch: the same paths.
std::string in_parts(const Net& net, const InputSpace& space, const PartitionOptions& options,
                     const Partition& whole) {
  PartitionOptions some = options;
  some.max_open = 2;
  some.seconds = 0;
  some.max_paths = 10'000;
  some.exact = whole.exact;
  std::size_t paths = 0;
  Partition part = partition(net, space, some);
  for (int round = 0; round < 3000; ++round) {
    paths += paths_of(part);
    if (part.open.empty()) break;
    some.branches = part.open;
    some.max_open = 0;
    part = partition(net, space, some);
    if (part.restart) return "branches of an exact partition want to begin again";
  }
  return paths == paths_of(whole)
             ? ""
             : fmt::format("{} paths in parts, {} at once", paths, paths_of(whole));
}

// A quantity of every input, where it has one.
struct Quantity {
  std::string name;
  std::vector<smt::Target> targets;
  std::vector<std::optional<Time>> values;                   // per run
  std::function<std::optional<Time>(const Assignment&)> of;  // by another run
  bool unordered = false;  // a stall that depends on tokens in any order
};

std::string check_certificates(const InputSpace& space, const Quantity& q, bool maximum, Time best,
                               const smt::BoundResult& r, Tally& tally) {
  for (const smt::PathCertificate& certificate : r.certificates) {
    // What Z3 said to the search is asked again by whoever checks; here it is believed.
    const smt::Trusted believed{.solver = [] { return std::make_unique<smt::Z3Feasibility>(); },
                                .unsatisfiable = [](const std::string&) { return true; }};
    const auto reason = smt::check(space, q.targets[certificate.path], certificate, believed);
    if (reason) return fmt::format("certificate: {}", *reason);
    if (maximum ? certificate.bound > *r.proved : certificate.bound < *r.proved) {
      return fmt::format("a certificate for {} only", certificate.bound);
    }
    smt::PathCertificate wrong = certificate;
    wrong.bound = maximum ? best - 1 : best + 1;
    const bool holds = !smt::check(space, q.targets[certificate.path], wrong, believed);
    // Some other path may have the extreme; one path's certificate must then be refused.
    tally.refuted += holds ? 0 : 1;
    if (holds && q.targets.size() == 1) return "a wrong certificate passes";
  }
  return "";
}

// The greatest and the least of a quantity, against all inputs; certificates, and witnesses by
// replay.
std::string check_bounds(const InputSpace& space, const Quantity& q, Tally& tally) {
  for (const bool maximum : {true, false}) {
    std::optional<Time> best;
    for (const std::optional<Time>& value : q.values) {
      if (value && (!best || (maximum ? *value > *best : *value < *best))) best = value;
    }
    smt::BoundOptions options;
    options.seconds = 5;
    options.solver = [] { return std::make_unique<smt::Z3Feasibility>(); };
    const smt::BoundResult r = maximum ? smt::maximize(space, q.targets, options)
                                       : smt::minimize(space, q.targets, options);
    const std::string name = (maximum ? "greatest " : "least ") + q.name;
    if (!best) {
      if (r.found) return fmt::format("{}: {} found, no input has one", name, *r.found);
      continue;
    }
    if ((!r.proved || !r.found) && r.seconds >= options.seconds) {
      ++tally.unanswered;
      continue;
    }
    const auto too_large = [](const std::string& note) {
      return note.starts_with("the bounds of classes compute with numbers up to");
    };
    if (!r.proved && std::any_of(r.notes.begin(), r.notes.end(), too_large)) {
      ++tally.far;  // bounds compute with numbers up to 2^44
      continue;
    }
    if (!r.proved || !r.found) return fmt::format("{}: no answer, it is {}", name, *best);
    if (maximum ? *r.proved < *best : *r.proved > *best) {
      return fmt::format("{}: {} proved, {} is possible", name, *r.proved, *best);
    }
    if (r.exact && *r.found != *best) {
      return fmt::format("{}: {} instead of {}", name, *r.found, *best);
    }
    tally.exact += r.exact ? 1 : 0;
    ++tally.bounds;
    ++tally.measures[q.name.substr(0, q.name.find('('))];
    if (q.unordered) ++tally.measures["stall, of tokens in any order"];
    if (!contains(space, r.witness) || q.of(r.witness) != r.found) {
      return fmt::format("{}: the witness {} does not have {}", name, show(r.witness), *r.found);
    }
    if (std::string why = check_certificates(space, q, maximum, *best, r, tally); !why.empty()) {
      return name + ": " + why;
    }
  }
  return "";
}

using Runs = std::vector<std::pair<Assignment, Ran>>;

std::string check_latency(const Net& net, const Partition& p, const Runs& runs, Tally& tally) {
  std::vector<const Path*> paths;
  for (const InputClass& one : p.classes) {
    for (const Path& path : one.paths) paths.push_back(&path);
  }
  Quantity q{.name = "latency",
             .targets = smt::latencies(paths),
             .values = {},
             .of = {},
             .unordered = false};
  for (const auto& [input, ran] : runs) {
    q.values.push_back(ran.outcome == Outcome::kLatency ? ran.latency : std::nullopt);
  }
  q.of = [&](const Assignment& input) { return run(net, p.space, input).latency; };
  return check_bounds(p.space, q, tally);
}

bool ends(Outcome outcome) { return outcome == Outcome::kLatency || outcome == Outcome::kNone; }

// What may be asked of a net: everything, once.
std::vector<Asked> questions(const Net& net) {
  std::vector<Asked> all{{.what = Asked::What::kCompletion, .k = 1},
                         {.what = Asked::What::kCompletion, .k = 2}};
  for (std::size_t n = 0; n < net.transitions.size(); ++n) {
    const auto id = static_cast<TransitionId>(n);
    all.push_back({.what = Asked::What::kBusy, .transition = id});
    all.push_back({.what = Asked::What::kCommits, .transition = id});
    std::set<PlaceId> places;
    for (const InputArc& arc : net[id].inputs) {
      if (!arc.inhibit) places.insert(arc.place);
    }
    for (const OutputArc& arc : net[id].outputs) {
      if (net[arc.place].capacity) places.insert(arc.place);
    }
    for (const PlaceId place : places) {
      all.push_back({.what = Asked::What::kStall, .transition = id, .place = place});
    }
  }
  return all;
}

smt::Measure measure_of(smt::Measures& measures, const Asked& asked) {
  switch (asked.what) {
    case Asked::What::kBusy: return measures.busy(asked.transition);
    case Asked::What::kStall: return measures.stall(asked.transition, asked.place);
    case Asked::What::kCommits: return measures.commits(asked.transition);
    case Asked::What::kCompletion: return measures.completion(asked.k);
  }
  return {};
}

// One quantity: of each input by its path, and over all inputs.
std::string check_measure(const Net& net, Partition& p, const Runs& runs, const Asked& asked,
                          Tally& tally) {
  Quantity q{
      .name = text_of(net, asked), .targets = {}, .values = {}, .of = {}, .unordered = false};
  std::vector<std::unique_ptr<smt::MeasuredPath>> paths;
  try {
    for (const InputClass& one : p.classes) {
      for (const Path& path : one.paths) {
        if (!ends(path.outcome)) continue;
        paths.push_back(std::make_unique<smt::MeasuredPath>(net, p.space, path));
        q.targets.push_back({.path = &paths.back()->path(),
                             .instant = {},
                             .measure = measure_of(paths.back()->measures(), asked)});
      }
    }
  } catch (const Error& error) {
    ++tally.refused_measures;
    const bool refused = error.code() == "E-measure" || error.code() == "E-partition";
    return refused ? "" : fmt::format("{}: {}", q.name, error.what());
  }
  bool known = true;
  for (const auto& [input, ran] : runs) {
    q.values.push_back(ends(ran.outcome) ? measured(net, ran.history, asked) : std::nullopt);
    if (!ends(ran.outcome)) continue;
    for (std::size_t k = 0; k < paths.size(); ++k) {
      if (!follows(paths[k]->path(), p.space, input)) continue;
      const Time by_path =
          smt::value(*q.targets[k].measure, evaluate(paths[k]->path().timing, p.space, input));
      // What is not computed of a run here is compared with how witnesses are replayed.
      if (asked.what == Asked::What::kStall) {
        const Time replayed = paths[k]->measures().stall_of(asked.transition, asked.place, input);
        known = known && q.values.back().has_value();
        if (!q.values.back()) q.values.back() = replayed;
        if (replayed != *q.values.back()) {
          return fmt::format("{} of {}: {} replayed, {} by its run", q.name, show(input), replayed,
                             *q.values.back());
        }
      }
      if (by_path != q.values.back()) {
        return fmt::format("{} of {}: {} by its path, {} by its run", q.name, show(input), by_path,
                           q.values.back().value_or(-1));
      }
    }
  }
  if (asked.what == Asked::What::kStall) {
    const Net lowered = lower(net);
    for (const auto& path : paths) {
      for (const InputArc& arc : lowered[asked.transition].inputs) {
        q.unordered |= path->path().unordered[static_cast<std::size_t>(arc.place)];
      }
    }
  }
  q.of = [&](const Assignment& input) -> std::optional<Time> {
    if (known) return measured(net, run(net, p.space, input).history, asked);
    for (std::size_t n = 0; n < runs.size(); ++n) {
      if (runs[n].first == input) return q.values[n];
    }
    return std::nullopt;
  };
  return check_bounds(p.space, q, tally);
}

std::string check(const Net& net, const InputSpace& space, bool solver, Random& random,
                  Tally& tally) {
  Runs runs;
  bool endless = false;
  each_input(space, [&](const Assignment& input) {
    runs.emplace_back(input, run(net, space, input));
    endless = runs.back().second.endless;
    return !endless;
  });
  if (endless) {
    ++tally.endless;
    return "";
  }
  PartitionOptions options;
  options.solver = [] { return std::make_unique<smt::Z3Feasibility>(); };
  options.max_firings = 4 * kMaxCommits;
  options.max_paths = 200;  // nets whose orders explode are left out
  options.seconds = 3;
  if (solver) options.enumerate = 0;
  Partition p;
  try {
    p = partition(net, space, options);
  } catch (const Error& error) {
    if (error.code() != "E-partition" && error.code() != "E-space")
      return fmt::format("{}: {}", error.code(), error.what());
    ++tally.refused;
    std::string reason = error.what();
    if (const auto colon = reason.rfind(": "); colon != std::string::npos) reason.erase(0, colon);
    ++tally.reasons[error.code() == "E-space" ? "not a space of the net" : reason];
    return "";
  }
  if (!p.complete) {
    ++tally.refused;
    ++tally.reasons[": too many paths"];
    return "";
  }
  ++tally.compared;
  tally.inputs += runs.size();
  tally.classes += p.classes.size();
  tally.unresolved += p.unresolved;
  if (const std::string what = in_parts(net, space, options, p); !what.empty()) return what;
  if (solver && p.classes.size() > 1 && paths_of(p) <= 12) {  // one question per pair
    const PartitionCheck checked = check_partition(p, options);
    if (checked.overlap == Answer::kSat) return "the solver has an input in two paths";
    if (checked.gap == Answer::kSat) return "the solver has an input in no path";
    tally.proved += checked.overlap == Answer::kUnsat && checked.gap == Answer::kUnsat ? 1 : 0;
  }
  std::map<const Path*, int> used;
  for (const InputClass& one : p.classes) {
    tally.paths += one.paths.size();
    for (const Path& path : one.paths) used[&path] = 0;
  }
  if (std::getenv("LPN_DEBUG") != nullptr) {
    for (const auto& [path, count] : used) {
      fmt::print("path {} {}\n", static_cast<int>(path->outcome), path->trouble);
      for (const ExprId c : path->conditions) {
        fmt::print("  if {}\n", print_expr(p.space.variables, nullptr, c));
      }
      if (path->fault)
        fmt::print("  fails {}\n", print_expr(p.space.variables, nullptr, *path->fault));
      for (const Order& o : path->orders) {
        fmt::print("  {} {} {}\n", static_cast<int>(o.before),
                   o.strict ? "<" : "<=", static_cast<int>(o.after));
      }
    }
  }
  for (const auto& [input, ran] : runs) {
    const Path* found = nullptr;
    for (auto& [path, count] : used) {
      if (!follows(*path, p.space, input)) continue;
      if (found != nullptr) return show(input) + " is in two paths";
      found = path;
      ++count;
    }
    if (found == nullptr) return show(input) + " is in no path";
    if (const std::string what = compare(*found, p.space, input, ran); !what.empty()) {
      return show(input) + ": " + what;
    }
  }
  for (const auto& [path, count] : used) {
    if (count == 0 && !path->samples.empty()) return "a path without inputs claims one";
    if (count == 0 && p.unresolved == 0) return "a path without inputs";
    for (const Assignment& sample : path->samples) {
      if (!contains(p.space, sample) || !follows(*path, p.space, sample)) {
        return "a sample that is not of its path";
      }
    }
  }
  if (const std::string what = check_latency(net, p, runs, tally); !what.empty()) return what;
  std::vector<Asked> all = questions(net);
  for (int k = 0; k < kQuestions && !all.empty(); ++k) {
    const auto which =
        static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(all.size()) - 1));
    const std::string what = check_measure(net, p, runs, all[which], tally);
    if (!what.empty()) return what;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(which));
  }
  return "";
}

int main_(int argc, char** argv) {
  Options options;
  for (int k = 1; k < argc; ++k) {
    const auto number = [&] { return std::atoll(argv[++k]); };
    if (std::strcmp(argv[k], "--seed") == 0 && k + 1 < argc)
      options.seed = static_cast<std::uint64_t>(number());
    else if (std::strcmp(argv[k], "--cases") == 0 && k + 1 < argc)
      options.cases = static_cast<std::uint64_t>(number());
    else if (std::strcmp(argv[k], "--only") == 0 && k + 1 < argc)
      options.only = number();
    else if (std::strcmp(argv[k], "--print") == 0)
      options.print = true;
    else {
      fmt::print(stderr, "usage: classes_fuzz [--seed S] [--cases N] [--only K [--print]]\n");
      return 2;
    }
  }
  Tally tally;
  const std::int64_t first = options.only >= 0 ? options.only : 0;
  const auto more = [&](std::int64_t k) {
    return options.only >= 0 ? k == options.only : tally.compared < options.cases;
  };
  for (std::int64_t k = first; more(k); ++k) {
    Random random(options.seed * 1'000'003 + static_cast<std::uint64_t>(k));
    Net net = random_net(random);
    Case c = random_inputs(net, random);
    c.net.done_count.reset();
    const InputSpace space = random_space(c, random);
    if (options.print) {
      fmt::print("{}", print_net(c.net));
      for (const Load& load : c.loads) {
        fmt::print("# {} x {}: {}\n", c.net[load.place].name, load.count,
                   fmt::join(load.values, " "));
      }
      for (const Param& x : space.variables.params) {
        fmt::print("# {} in {}..{}\n", x.name, x.range->lo, x.range->hi);
      }
      std::fflush(stdout);
    }
    const std::string what = check(c.net, space, k % 2 == 1, random, tally);
    if (what.empty()) continue;
    ++tally.differences;
    fmt::print("--seed {} --only {}: {}\n", options.seed, k, what);
    std::fflush(stdout);
  }
  fmt::print(
      "{} nets compared with {} inputs: {} classes, {} paths, {} unresolved; {} without an "
      "end, {} refused; {} times the solver agrees that paths are disjoint and complete; {} "
      "differences\n",
      tally.compared, tally.inputs, tally.classes, tally.paths, tally.unresolved, tally.endless,
      tally.refused, tally.proved, tally.differences);
  fmt::print("{} greatest and least values, {} of them exact; {} wrong certificates refused\n",
             tally.bounds, tally.exact, tally.refuted);
  for (const auto& [name, count] : tally.measures) fmt::print("  {:5} {}\n", count, name);
  fmt::print("  {:5} quantities refused, {} without an answer in time\n", tally.refused_measures,
             tally.unanswered);
  for (const auto& [reason, count] : tally.reasons) fmt::print("  {:5} {}\n", count, reason);
  return tally.differences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) { return lpn::bench::main_(argc, argv); }

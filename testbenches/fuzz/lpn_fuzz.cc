// Model-based fuzzing: random nets on all engines, compared commit for commit (README.md).
//
// Nets are made in batches; a batch is one translation unit per variant and one forked process, so
// that a crash or a hang of generated code is a finding and not the end. Everything follows from
// (seed, number of the net), so `--only N` repeats one net.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "case.h"
#include "engines.h"
#include "lpn/net/verify.h"
#include "lpn/sim/ways.h"
#include "lpn/text/text.h"
#include "outcome.h"
#include "random_net.h"
#include "shrink.h"

namespace lpn::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kGroups = 40;        // a zero-delay loop is found after so many groups
constexpr std::size_t kMostCommits = 400;    // of a scouted run; its time limit follows from it
constexpr std::size_t kMostObserved = 4000;  // with what is pushed from outside
constexpr int kCasesPerNet = 3;
constexpr int kSecondsPerCase = 20;
constexpr auto kShrinkTime = std::chrono::minutes(5);

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t nets = 300;
  std::uint64_t batch = 100;
  std::int64_t only = -1;
  int jobs = 1;
  double seconds = 0;    // stop making new batches after so long; 0: no limit
  std::size_t stop = 5;  // findings
  std::string flags = "-O0";
  bool plain = false;  // compile the variant without identities in every batch, not in every third
  fs::path found;      // where shrunken findings go
  bool shrink = true;
  bool order_free = false;  // only nets some or all of whose transitions need no clock
  bool print = false;       // with --only: the net and what the interpreter does
  std::int64_t first = -1;  // of the nets to be written out (--export), not run
};

// ---- what was covered -------------------------------------------------------------------------

struct Counts {
  std::uint64_t nets, illegal, cases, discarded, refused, commits, longer, silent;
  std::uint64_t endings[3], stalled, faults[kFaults], groups, overtaken, pushes, late, stepped,
      waits[kWaits], free_runs, fallen_back;
  std::uint64_t features[24];
  double compiling, running;
};
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
  fmt::print("order-free runs: {}; attempted, then event-driven: {}\n", n.free_runs, n.fallen_back);
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

// ---- making cases -----------------------------------------------------------------------------

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  Random r(a * 0x9e3779b97f4a7c15ull ^ (b + 0x632be59bd9b4e019ull));
  r.next();
  return r.next();
}

Net net_number(const Options& options, std::uint64_t number) {
  Random random(mix(options.seed, number));
  Net net = random_net(random);
  const sim::Runs wanted = number % 3 == 0 ? sim::Runs::kFree : sim::Runs::kMixed;
  while (options.order_free && sim::runs(net) != wanted) net = random_net(random);
  return net;
}

// How far the interpreter gets within the commits allowed; none: not even through one instant.
std::optional<Time> scout(Case& c) {
  Time limit = 64;
  for (;;) {
    c.steps.assign(1, Step{});
    c.steps[0].time = limit;
    std::vector<Commit> commits;
    struct Counter : Observer {
      Time time = -1;
      std::size_t count = 0;
      void on_commit(const Commit& commit) override {
        time = commit.time;
        if (++count > kMostCommits) throw TooLong{};
      }
    } counter;
    try {
      InterpOptions how;
      how.trace = true;
      how.group_limit = c.group_limit;
      Interp engine(c.net, c.params, marking_of(c), how);
      const RunResult result = engine.run(limit, &counter);
      if (result.ending != Ending::kLimit) return kForever;
    } catch (const TooLong&) {
      return counter.time == 0 ? std::nullopt : std::optional<Time>(counter.time - 1);
    } catch (const Error&) {
      return kForever;  // an error ends a run, too
    }
    if (limit >= 65536) return limit;
    limit *= 16;
  }
}

// The j-th case on a net; none when it runs for ever at one instant.
std::optional<Case> case_number(const Net& net, const Options& options, std::uint64_t number,
                                int j) {
  Random random(mix(mix(options.seed, number), static_cast<std::uint64_t>(j) + 1));
  Case c = random_inputs(net, random);
  c.group_limit = kGroups;
  const std::optional<Time> horizon = scout(c);
  if (!horizon) return std::nullopt;
  c.steps = random_steps(c, *horizon, random);
  // Only a run to the end can be order-free.
  if (options.order_free && j < 2 && *horizon == kForever) c.steps.assign(1, Step{});
  // What is pushed may keep an otherwise finite run going.
  try {
    const Outcome o = play(c, {.observe = true, .most_commits = kMostObserved});
    (void)o;
  } catch (const TooLong&) {
    return std::nullopt;
  }
  return c;
}

// What must hold of a net before any engine sees it.
std::string text_disagreement(const Net& net) {
  if (const auto violations = verify(net); !violations.empty())
    return "verify: " + violations[0].message;
  const std::string text = print_net(net);
  try {
    const std::string again = print_net(parse_net(text));
    if (again != text) return "print(parse(text)) differs:\n" + again;
  } catch (const Error& error) {
    return std::string("the printed net does not parse: ") + error.what();
  }
  return "";
}

// ---- a batch, in a process of its own ---------------------------------------------------------

struct Finding {
  std::uint64_t net;
  int which;
  char text[1500];
};
struct Shared {
  Counts counts;
  std::int64_t at_net;  // what is being done, for the parent to know when this process dies
  int at_case;
  int stage;  // 0 making, 1 compiling, 2 running
  int findings;
  Finding found[16];
  char artefacts[8][300];
  int artefact_count;
};

void note(Shared& shared, std::uint64_t net, int which, const std::string& text) {
  if (shared.findings == 16) return;
  Finding& f = shared.found[shared.findings++];
  f.net = net;
  f.which = which;
  std::snprintf(f.text, sizeof f.text, "%s", text.c_str());
}

sim::CompileOptions compile_options(const Options& options) {
  sim::CompileOptions how;
  how.flags = fmt::format("{} -DLPNRT_GROUP_LIMIT={}", options.flags, kGroups);
  return how;
}

struct Libraries {
  std::optional<sim::Library> plain, free, traced;
};
const sim::Library* get(const std::optional<sim::Library>& library) {
  return library ? &*library : nullptr;
}

// Builds the nets; those that do not compile become findings and are left out.
void build(const std::vector<Net>& nets, const std::vector<std::uint64_t>& numbers,
           const Options& options, Shared& shared, std::map<std::uint64_t, Libraries>& into) {
  if (nets.empty()) return;
  try {
    const std::uint64_t turn = numbers[0] / options.batch % 3;
    const bool plain = options.plain || turn == 0;
    // Order-free, each variant sees every commit, or the result of the fastest code.
    const bool free = options.order_free ? turn == 1 : turn != 0;
    const bool traced = !options.order_free || turn == 2;
    Engines engines = build_engines(nets, compile_options(options), plain, free, traced);
    shared.counts.compiling += engines.seconds;
    for (std::size_t k = 0; k < nets.size(); ++k) {
      Libraries all;
      if (traced) all.traced = engines.traced[k];
      if (plain) all.plain = engines.plain[k];
      if (free) all.free = engines.free[k];
      into.insert_or_assign(numbers[k], std::move(all));
    }
    for (const fs::path& artefact : engines.artefacts) {
      if (shared.artefact_count < 8) {
        std::snprintf(shared.artefacts[shared.artefact_count++], 300, "%s", artefact.c_str());
      }
    }
  } catch (const Error& error) {
    if (nets.size() == 1) {
      note(shared, numbers[0], 0, error.code() + ": " + error.what());
      return;
    }
    const auto half = static_cast<std::ptrdiff_t>(nets.size() / 2);
    build({nets.begin(), nets.begin() + half}, {numbers.begin(), numbers.begin() + half}, options,
          shared, into);
    build({nets.begin() + half, nets.end()}, {numbers.begin() + half, numbers.end()}, options,
          shared, into);
  }
}

using Skipped = std::set<std::pair<std::uint64_t, int>>;

// How many runs were order-free.
bool count_ways(const Case& c, const sim::Library* free, Counts& counts) {
  if (free == nullptr || (free->api().variant & 4) == 0) return false;
  try {
    const Outcome outcome = play(c, *free, {.mode = sim::Mode::kOrderFree});
    counts.free_runs += outcome.order_free;
    counts.fallen_back += outcome.fell_back;
  } catch (const Error&) {
  }
  return true;
}

void run_batch(const Options& options, const std::vector<std::uint64_t>& numbers,
               const Skipped& skipped, Shared& shared) {
  const rlimit memory{rlim_t{6} << 30, rlim_t{6} << 30};
  setrlimit(RLIMIT_AS, &memory);
  std::vector<Net> nets;
  std::vector<std::uint64_t> compiled;
  std::map<std::uint64_t, std::vector<std::pair<int, Case>>> cases;
  for (std::uint64_t number : numbers) {
    shared.at_net = static_cast<std::int64_t>(number);
    shared.stage = 0;
    const Net net = net_number(options, number);
    ++shared.counts.nets;
    count_features(net, shared.counts);
    if (const std::string what = text_disagreement(net); !what.empty()) {
      ++shared.counts.illegal;
      note(shared, number, -1, what);
      continue;
    }
    for (int j = 0; j < kCasesPerNet; ++j) {
      if (skipped.count({number, j})) continue;
      shared.at_case = j;
      alarm(kSecondsPerCase);
      if (auto c = case_number(net, options, number, j))
        cases[number].emplace_back(j, *c);
      else
        ++shared.counts.discarded;
      alarm(0);
    }
    nets.push_back(net);
    compiled.push_back(number);
  }
  shared.stage = 1;
  std::map<std::uint64_t, Libraries> libraries;
  build(nets, compiled, options, shared, libraries);
  shared.stage = 2;
  const auto begin = Clock::now();
  for (std::size_t k = 0; k < nets.size(); ++k) {
    const std::uint64_t number = compiled[k];
    const auto it = libraries.find(number);
    if (it == libraries.end()) continue;
    const Net parsed = parse_net(print_net(nets[k]));
    for (auto& [j, c] : cases[number]) {
      shared.at_net = static_cast<std::int64_t>(number);
      shared.at_case = j;
      alarm(kSecondsPerCase);
      if (j == 1) c.net = parsed;  // the engines were compiled from the net before printing
      Outcome outcome;
      const std::string what = disagreement(c, get(it->second.plain), get(it->second.traced),
                                            get(it->second.free), &outcome);
      count_outcome(c, outcome, shared.counts);
      for (const auto* library : {&it->second.plain, &it->second.free, &it->second.traced}) {
        if (count_ways(c, get(*library), shared.counts)) break;
      }
      if (!what.empty()) note(shared, number, j, what);
      alarm(0);
    }
  }
  shared.counts.running += std::chrono::duration<double>(Clock::now() - begin).count();
}

Shared* share() {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<Shared*>(memory);
}

struct Job {
  std::vector<std::uint64_t> numbers;
  Skipped skipped;
  std::vector<Finding> deaths;
  Shared* shared = share();
  pid_t pid = 0;

  ~Job() { munmap(shared, sizeof(Shared)); }
  void start(const Options& options) {
    std::memset(static_cast<void*>(shared), 0, sizeof(Shared));
    std::fflush(stdout);
    pid = fork();
    if (pid == 0) {
      run_batch(options, numbers, skipped, *shared);
      _exit(0);
    }
  }
  // False when it must run again without what killed it.
  bool finish(int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    const std::string how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "left";
    if (shared->stage == 2 || !(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)) {
      Finding f{static_cast<std::uint64_t>(shared->at_net), shared->at_case, {}};
      std::snprintf(f.text, sizeof f.text, "the process died in stage %d: %s", shared->stage,
                    how.c_str());
      deaths.push_back(f);
    }
    skipped.insert({static_cast<std::uint64_t>(shared->at_net), shared->at_case});
    return deaths.size() > 8 || shared->stage == 1;
  }
};

// ---- findings ---------------------------------------------------------------------------------

// Whether each case fails on freshly compiled engines; a death counts.
std::vector<bool> failing(const std::vector<Case>& cases, const Options& options,
                          std::vector<std::string>* why = nullptr) {
  struct Answers {
    std::size_t at;
    int state[256];
    char text[256][1500];
  };
  auto* answers = static_cast<Answers*>(
      mmap(nullptr, sizeof(Answers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (std::size_t from = 0; from < cases.size();) {
    const pid_t pid = fork();
    if (pid == 0) {
      const rlimit memory{rlim_t{6} << 30, rlim_t{6} << 30};
      setrlimit(RLIMIT_AS, &memory);
      std::vector<Net> nets;
      for (const Case& c : cases) nets.push_back(c.net);
      Engines engines;
      try {
        engines = build_engines(nets, compile_options(options));
      } catch (const Error& error) {
        // Which of them does not compile: one by one.
        for (std::size_t k = 0; k < cases.size(); ++k) {
          try {
            build_engines({cases[k].net}, compile_options(options));
          } catch (const Error& one) {
            answers->state[k] = 1;
            std::snprintf(answers->text[k], 1500, "%s", one.what());
          }
        }
        _exit(0);
      }
      for (std::size_t k = from; k < cases.size(); ++k) {
        answers->at = k;
        alarm(kSecondsPerCase);
        std::string what = text_disagreement(cases[k].net);
        if (what.empty())
          what = disagreement(cases[k], &engines.plain[k], &engines.traced[k], &engines.free[k]);
        alarm(0);
        answers->state[k] = !what.empty();
        std::snprintf(answers->text[k], 1500, "%s", what.c_str());
      }
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    const bool hang = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    answers->state[answers->at] = hang ? 0 : 1;  // smaller cases may be endless by themselves
    std::snprintf(answers->text[answers->at], 1500, "the process died");
    from = answers->at + 1;
  }
  std::vector<bool> result;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    result.push_back(answers->state[k] == 1);
    if (why != nullptr) why->push_back(answers->text[k]);
  }
  munmap(answers, sizeof(Answers));
  return result;
}

fs::path free_name(const fs::path& folder) {
  fs::create_directories(folder);
  for (int k = 1;; ++k) {
    const fs::path file = folder / fmt::format("regr_{:03}.lpn", k);
    if (!fs::exists(file)) return file;
  }
}

void report(const Finding& f, const Options& options) {
  fmt::print("\nDIFFERENCE: seed {} net {} case {}\n{}\n", options.seed, f.net, f.which, f.text);
  std::fflush(stdout);
  if (f.which < 0) {
    fmt::print("{}\n", print_net(net_number(options, f.net)));
    return;
  }
  const std::optional<Case> c = case_number(net_number(options, f.net), options, f.net, f.which);
  if (!c) return;
  Case small = *c;
  if (options.shrink) {
    const auto begin = Clock::now();
    const auto fails = [&](const std::vector<Case>& cases) {
      // Out of time, what is there is kept.
      if (Clock::now() - begin > kShrinkTime) return std::vector<bool>(cases.size());
      return failing(cases, options);
    };
    if (fails({small})[0])
      small = shrink(small, fails);
    else
      fmt::print("(not repeated by itself)\n");
  }
  std::vector<std::string> why;
  failing({small}, options, &why);
  const std::string comment = fmt::format("Found by lpn_fuzz --seed {} --only {}. Differed:\n{}",
                                          options.seed, f.net, why[0]);
  fmt::print("{}\n{}\n{}", comment, print_net(small.net), print_inputs(small));
  if (!options.found.empty()) {
    const fs::path file = free_name(options.found);
    save_case(small, file, comment);
    fmt::print("saved as {}\n", file.filename().string());
  }
  std::fflush(stdout);
}

// An interrupted run finishes its batches and prints what it has.
volatile std::sig_atomic_t interrupted = 0;

// ---- the program ------------------------------------------------------------------------------

int fuzz(const Options& options) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  Counts total{};
  std::vector<Finding> findings;
  std::map<pid_t, std::unique_ptr<Job>> running;
  std::uint64_t next = options.only >= 0 ? static_cast<std::uint64_t>(options.only) : 0;
  const std::uint64_t end = options.only >= 0 ? next + 1 : options.nets;
  for (;;) {
    const bool more = next < end && interrupted == 0 && findings.size() < options.stop &&
                      (options.seconds == 0 || elapsed() < options.seconds);
    if (more && running.size() < static_cast<std::size_t>(options.jobs)) {
      auto job = std::make_unique<Job>();
      for (; job->numbers.size() < options.batch && next < end; ++next)
        job->numbers.push_back(next);
      job->start(options);
      const pid_t pid = job->pid;
      running.emplace(pid, std::move(job));
      continue;
    }
    if (running.empty()) break;
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    const auto it = running.find(pid);
    if (it == running.end()) continue;
    std::unique_ptr<Job> job = std::move(it->second);
    running.erase(it);
    if (!job->finish(status)) {
      job->start(options);
      const pid_t again = job->pid;
      running.emplace(again, std::move(job));
      continue;
    }
    add(total, job->shared->counts);
    for (int k = 0; k < job->shared->findings; ++k) findings.push_back(job->shared->found[k]);
    findings.insert(findings.end(), job->deaths.begin(), job->deaths.end());
    std::error_code ignored;
    for (int k = 0; k < job->shared->artefact_count; ++k) {
      fs::path artefact = job->shared->artefacts[k];
      fs::remove(artefact, ignored);
      fs::remove(artefact.replace_extension(".cc"), ignored);
    }
    fmt::print(stderr, "\r{} nets, {} runs, {} differences, {:.0f} s ", total.nets, total.cases,
               findings.size(), elapsed());
  }
  fmt::print(stderr, "\n");
  const double seconds = elapsed();
  fmt::print(
      "seed {}, nets {}, jobs {}, flags '{}', {:.0f} s: {:.1f} nets/s (compiling {:.0f} s, "
      "running {:.0f} s of all processes)\n",
      options.seed, total.nets, options.jobs, options.flags, seconds,
      static_cast<double>(total.nets) / seconds, total.compiling, total.running);
  print_counts(total);
  fmt::print("{} differences\n", findings.size());
  std::fflush(stdout);
  for (std::size_t k = 0; k < std::min(findings.size(), options.stop); ++k)
    report(findings[k], options);
  return findings.empty() ? 0 : 1;
}

int show(const Options& options) {
  const auto number = static_cast<std::uint64_t>(options.only);
  const Net net = net_number(options, number);
  fmt::print("{}", print_net(net));
  for (int j = 0; j < kCasesPerNet; ++j) {
    const std::optional<Case> c = case_number(net, options, number, j);
    fmt::print("---- case {}\n", j);
    if (!c) continue;
    fmt::print("{}", print_inputs(*c));
    fmt::print("{}", print_outcome(*c, play(*c, {.observe = true})));
  }
  return 0;
}

// The cases of nets first..nets as testbenches/second reads them.
int export_cases(const Options& options) {
  for (auto number = static_cast<std::uint64_t>(options.first); number < options.nets; ++number) {
    const Net net = net_number(options, number);
    for (int j = 0; j < kCasesPerNet; ++j) {
      const std::optional<Case> c = case_number(net, options, number, j);
      if (c)
        fmt::print("case {} {}\nnet\n{}inputs\n{}go\n", number, j, print_net(net),
                   print_inputs(*c));
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  Options options;
  const auto usage = [] {
    fmt::print(stderr,
               "usage: lpn_fuzz [--seed S] [--nets N] [--jobs J] [--time SECONDS] [--batch NETS]\n"
               "                [--only NET [--print]] [--stop FINDINGS] [--flags '-O0'] [--found "
               "FOLDER]\n"
               "                [--no-shrink] [--plain] [--order-free] [--export FIRST]\n");
    return 2;
  };
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--no-shrink")
      options.shrink = false;
    else if (word == "--print")
      options.print = true;
    else if (word == "--plain")
      options.plain = true;
    else if (word == "--order-free")
      options.order_free = true;
    else if (k + 1 == argc)
      return usage();
    else if (word == "--seed")
      options.seed = std::stoull(argv[++k]);
    else if (word == "--nets")
      options.nets = std::stoull(argv[++k]);
    else if (word == "--jobs")
      options.jobs = std::stoi(argv[++k]);
    else if (word == "--time")
      options.seconds = std::stod(argv[++k]);
    else if (word == "--batch")
      options.batch = std::stoull(argv[++k]);
    else if (word == "--export")
      options.first = std::stoll(argv[++k]);
    else if (word == "--only")
      options.only = std::stoll(argv[++k]);
    else if (word == "--stop")
      options.stop = std::stoull(argv[++k]);
    else if (word == "--flags")
      options.flags = argv[++k];
    else if (word == "--found")
      options.found = argv[++k];
    else
      return usage();
  }
  if (options.only >= 0 && options.print) return show(options);
  if (options.first >= 0) return export_cases(options);
  fmt::print("lpn_fuzz: seed {}, compiler {}, text form {}, simulator ABI {}\n", options.seed,
             __VERSION__, kTextVersion, LPN_SIM_ABI);
  return fuzz(options);
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) { return lpn::bench::main(argc, argv); }

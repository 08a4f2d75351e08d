// Model-based fuzzing: random nets on all engines, compared commit for commit (README.md).
//
// Nets are made in batches; a batch is one translation unit per variant and one forked process, so
// that a crash or a hang of generated code is a finding and not the end. Everything follows from
// (seed, number of the net), so `--only N` repeats one net.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "case.h"
#include "engines.h"
#include "fuzz_counts.h"
#include "lpn/base/error.h"
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
constexpr std::uint64_t kStreamBlock = 3;    // iterations after which straight-line code is judged
constexpr std::size_t kMostCommits = 400;    // of a scouted run; its time limit follows from it
constexpr std::size_t kMostStarts = 4000;    // likewise
constexpr std::size_t kMostObserved = 4000;  // with what is pushed from outside
constexpr int kCasesPerNet = 3;
constexpr int kSecondsPerCase = 20;      // of processor time: the machine may be busy with others
constexpr unsigned kWaitPerCase = 1800;  // by the clock: threads that wait for each other
constexpr auto kShrinkTime = std::chrono::minutes(5);

constexpr int kCasesPerBatch = 9;

// Which engines a net is compiled for; the interpreter's ways are compared in every mode.
enum class Mode {
  kTurns,     // the others in turn, several variants a net
  kInterp,    // none: nothing is compiled
  kObserved,  // with identities and statistics, by events and order-free
  kPlain,     // the fastest code, by what can be had and by events
  kFree,      // with identities: order-free and mixed runs
  kBatch,     // many inputs at once, through lock step where the net allows it
  kMetered,   // with statistics alone: by events, order-free, straight-line code
};
constexpr const char* kModeNames[] = {"turns", "interp", "observed", "plain",
                                      "free",  "batch",  "metered"};

struct Options {
  Mode mode = Mode::kTurns;
  std::optional<Profile> profile = Profile::kUsual;  // none: one after the other
  std::uint64_t seed = 1;
  std::uint64_t nets = 300;
  std::uint64_t batch = 100;
  std::int64_t only = -1;
  int jobs = 1;
  double seconds = 0;           // stop making new batches after so long; 0: no limit
  std::size_t stop = 5;         // findings
  std::uint64_t memory = 3072;  // MiB, of a process
  std::string flags = "-O0";
  bool plain = false;  // compile the variant without identities in every batch, not in every third
  fs::path found;      // where shrunken findings go
  bool shrink = true;
  bool order_free = false;  // only nets some or all of whose transitions need no clock
  bool assumed = false;     // only those of which none does as long as they do not meet
  bool print = false;       // with --only: the net and what the interpreter does
  std::int64_t first = -1;  // of the nets to be written out (--export), not run
};

// ---- limits of a case ---------------------------------------------------------------------------

// While it lives, the process ends by a signal when what it does takes too long.
class Limited {
 public:
  Limited() { set(kSecondsPerCase, kWaitPerCase); }
  ~Limited() { set(0, 0); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  static void set(time_t processor, unsigned clock) {
    const itimerval timer{{}, {processor, 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);
    alarm(clock);
  }
};

void limit_memory([[maybe_unused]] const Options& options) {
#ifndef __SANITIZE_ADDRESS__  // it reserves more address space than that
  const auto most = static_cast<rlim_t>(options.memory) << 20;
  const rlimit memory{most, most};
  setrlimit(RLIMIT_AS, &memory);
#endif
}

bool took_too_long(int status) {
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM);
}

// ---- making cases -----------------------------------------------------------------------------

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  Random r(a * 0x9e3779b97f4a7c15ull ^ (b + 0x632be59bd9b4e019ull));
  r.next();
  return r.next();
}

std::string name_of(const std::optional<Profile>& profile) {
  return profile ? profile_name(*profile) : "all";
}

Profile profile_of(const Options& options, std::uint64_t number) {
  return options.profile.value_or(static_cast<Profile>(number % kProfiles));
}

Net net_number(const Options& options, std::uint64_t number) {
  Random random(mix(options.seed, number));
  const Profile profile = profile_of(options, number);
  Net net = random_net(random, profile);
  for (int tries = 0; options.assumed && !sim::assumes(net, sim::Assume::kAnything); ++tries) {
    net = random_net(random, tries < 200 ? profile : Profile::kUsual);
  }
  if (options.assumed) return net;
  const sim::Runs wanted = number % 3 == 0 ? sim::Runs::kFree : sim::Runs::kMixed;
  // Some profiles have next to none of a kind.
  for (int tries = 0; options.order_free && sim::runs(net) != wanted; ++tries) {
    net = random_net(random, tries < 200 ? profile : Profile::kUsual);
  }
  return net;
}

// How far the interpreter gets within the commits allowed; none: not even through one instant.
std::optional<Time> scout(Case& c) {
  struct Steps : Patience {
    Steps() : Patience(kMostStarts) {}
    Time time = -1;
    std::size_t commits = 0;
    void on_start(const Started& firing) override {
      time = firing.start;
      Patience::on_start(firing);
    }
    void on_commit(const Started& firing) override {
      time = firing.due;
      if (++commits > kMostCommits) throw TooLong{};
    }
  };
  for (Time limit = 64;; limit = limit < 65536 ? limit * 16 : kForever) {
    Steps steps;
    try {
      InterpOptions how;
      how.group_limit = c.group_limit;
      Interp engine(c.net, c.params, marking_of(c), how);
      engine.watch(&steps);
      if (engine.run(limit).ending != Ending::kLimit || limit == kForever) return kForever;
    } catch (const TooLong&) {
      return steps.time == 0 ? std::nullopt : std::optional<Time>(steps.time - 1);
    } catch (const Error&) {
      return kForever;  // an error ends a run, too
    }
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
  c.steps = random_steps(c, *horizon, random, profile_of(options, number));
  if (options.mode == Mode::kBatch) {
    if (*horizon != kForever) return std::nullopt;
    c.steps.assign(1, Step{});
  }
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
  how.flags = fmt::format(
      "{} -DLPNRT_GROUP_LIMIT={} -DLPNRT_ONLY_RUNS={} -DLPNRT_STREAM_BLOCK={} "
      "-DLPNRT_READ_BACK=1",
      options.flags, kGroups, options.mode == Mode::kBatch ? 0 : 1, kStreamBlock);
  return how;
}

struct Libraries {
  std::optional<sim::Library> plain, free, traced, metered;
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
    Variants which = {.plain = options.mode == Mode::kPlain || options.mode == Mode::kBatch,
                      .free = options.mode == Mode::kFree,
                      .traced = options.mode == Mode::kObserved,
                      .metered = options.mode == Mode::kMetered};
    if (options.mode == Mode::kTurns) {
      which.plain = options.plain || turn == 0;
      // Order-free, each variant sees every commit, or the result of the fastest code.
      which.free = options.order_free ? turn == 1 : turn != 0;
      which.traced = !options.order_free || turn == 2;
      which.metered = turn == 2;
    }
    const bool often = options.only < 0 && options.nets > 2 * options.batch;
    Engines engines = build_engines(nets, compile_options(options), which, often);
    shared.counts.compiling += engines.seconds;
    for (std::size_t k = 0; k < nets.size(); ++k) {
      Libraries all;
      if (which.traced) all.traced = engines.traced[k];
      if (which.plain) all.plain = engines.plain[k];
      if (which.free) all.free = engines.free[k];
      if (which.metered) all.metered = engines.metered[k];
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

// The runs of one net.
void run_cases(const Net& net, std::uint64_t number, const Libraries& libraries,
               std::vector<std::pair<int, Case>>& cases, const Options& options, Shared& shared) {
  const Net parsed = parse_net(print_net(net));
  std::vector<Case> together;
  for (auto& [j, c] : cases) {
    shared.at_net = static_cast<std::int64_t>(number);
    shared.at_case = j;
    const Limited limited;
    if (j == 1) c.net = parsed;  // the engines were compiled from the net before printing
    try {
      Outcome outcome;
      const std::string what = disagreement(c,
                                            {get(libraries.plain), get(libraries.traced),
                                             get(libraries.free), get(libraries.metered)},
                                            &outcome);
      count_outcome(c, outcome, shared.counts);
      for (const auto* library :
           {&libraries.plain, &libraries.free, &libraries.traced, &libraries.metered}) {
        if (count_ways(c, get(*library), shared.counts)) break;
      }
      if (!what.empty()) note(shared, number, j, what);
    } catch (const std::bad_alloc&) {
      ++shared.counts.too_big;
    }
    together.push_back(c);
  }
  if (options.mode != Mode::kBatch) return;
  const Limited limited;
  const unsigned threads = number % 4 == 0 ? 2 : 1;
  const std::string what = batch_disagreement(together, *libraries.plain, threads);
  if (!what.empty()) note(shared, number, 0, what);
  shared.counts.batched += together.size();
}

void run_batch(const Options& options, const std::vector<std::uint64_t>& numbers,
               const Skipped& skipped, Shared& shared) {
  limit_memory(options);
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
    const int some = options.mode == Mode::kBatch ? kCasesPerBatch : kCasesPerNet;
    for (int j = 0; j < some; ++j) {
      if (skipped.count({number, j})) continue;
      shared.at_case = j;
      const Limited limited;
      try {
        if (auto c = case_number(net, options, number, j))
          cases[number].emplace_back(j, *c);
        else
          ++shared.counts.discarded;
      } catch (const std::bad_alloc&) {
        ++shared.counts.too_big;
      }
    }
    nets.push_back(net);
    compiled.push_back(number);
  }
  shared.stage = 1;
  std::map<std::uint64_t, Libraries> libraries;
  if (options.mode == Mode::kInterp) {
    for (std::uint64_t number : compiled) libraries[number] = {};
  } else {
    build(nets, compiled, options, shared, libraries);
  }
  shared.stage = 2;
  const auto begin = Clock::now();
  for (std::size_t k = 0; k < nets.size(); ++k) {
    const std::uint64_t number = compiled[k];
    const auto it = libraries.find(number);
    if (it == libraries.end()) continue;
    run_cases(nets[k], number, it->second, cases[number], options, shared);
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
    if (shared->stage == 2 || !took_too_long(status)) {
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

// An interrupted run finishes its batches and prints what it has; what is being shrunk is kept as
// it is.
volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t shrinking = 0;  // the process group that is asked about smaller cases

void interrupt(int) {
  interrupted = 1;
  if (shrinking != 0) kill(-shrinking, SIGKILL);
}

constexpr std::size_t kAskedAtOnce = 256;
struct Answers {
  std::size_t at;
  int state[kAskedAtOnce];
  char text[kAskedAtOnce][1500];
};

// Whether the cases from `from` on fail, in a process of its own.
void answer(const std::vector<Case>& cases, std::size_t from, const Options& options,
            Clock::time_point until, Answers& answers) {
  limit_memory(options);
  std::vector<Net> nets;
  for (const Case& c : cases) nets.push_back(c.net);
  Engines engines;
  try {
    engines = build_engines(nets, compile_options(options));
  } catch (const Error& error) {
    // Which of them does not compile: one by one.
    for (std::size_t k = 0; k < cases.size() && Clock::now() < until; ++k) {
      try {
        build_engines({cases[k].net}, compile_options(options));
      } catch (const Error& one) {
        answers.state[k] = 1;
        std::snprintf(answers.text[k], 1500, "%s", one.what());
      }
    }
    return;
  }
  for (std::size_t k = from; k < cases.size() && Clock::now() < until; ++k) {
    answers.at = k;
    const Limited limited;
    try {
      std::string what = text_disagreement(cases[k].net);
      if (what.empty()) what = disagreement(cases[k], compiled(engines, k));
      if (what.empty() && options.mode == Mode::kBatch) {
        what = batch_disagreement(std::vector<Case>(kCasesPerBatch, cases[k]), engines.plain[k], 1);
      }
      answers.state[k] = !what.empty();
      std::snprintf(answers.text[k], 1500, "%s", what.c_str());
    } catch (const std::bad_alloc&) {
      std::snprintf(answers.text[k], 1500, "out of memory");  // no difference, as in a batch
    }
  }
}

// Whether each case fails on freshly compiled engines; a death counts. In a batch each is all of
// its inputs. Interrupted, or after `until`, those that were not run do not.
std::vector<bool> failing(const std::vector<Case>& cases, const Options& options,
                          Clock::time_point until, std::vector<std::string>* why = nullptr) {
  auto* answers = static_cast<Answers*>(
      mmap(nullptr, sizeof(Answers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (std::size_t from = 0; from < cases.size() && interrupted == 0;) {
    const pid_t pid = fork();
    if (pid == 0) {
      setpgid(0, 0);
      std::signal(SIGINT, SIG_DFL);
      std::signal(SIGTERM, SIG_DFL);
      try {
        answer(cases, from, options, until, *answers);
      } catch (const std::bad_alloc&) {  // not even compiled
      }
      _exit(0);
    }
    setpgid(pid, pid);  // whoever of the two comes first
    shrinking = pid;
    if (interrupted != 0) kill(-pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    shrinking = 0;
    if (interrupted != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) break;
    answers->state[answers->at] =
        took_too_long(status) ? 0 : 1;  // smaller cases may be endless by themselves
    std::snprintf(answers->text[answers->at], 1500, "the process died");
    from = answers->at + 1;
  }
  std::vector<bool> result;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    result.push_back(interrupted == 0 && answers->state[k] == 1);
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

// Of the inputs of a batch that differed, one that differs beside its likes; else the given one.
Case culprit(const Case& given, const Finding& f, const Options& options) {
  std::vector<Case> cases;
  const Net net = net_number(options, f.net);
  for (int j = 0; j < kCasesPerBatch; ++j) {
    if (auto c = case_number(net, options, f.net, j)) cases.push_back(*c);
  }
  const std::vector<bool> fails = failing(cases, options, Clock::now() + kShrinkTime);
  const auto found = std::find(fails.begin(), fails.end(), true);
  return found == fails.end() ? given : cases[static_cast<std::size_t>(found - fails.begin())];
}

void report(const Finding& f, const Options& options) {
  fmt::print("\nDIFFERENCE: seed {} net {} case {}\n{}\n", options.seed, f.net, f.which, f.text);
  std::fflush(stdout);
  if (f.which < 0) {
    fmt::print("{}\n", print_net(net_number(options, f.net)));
    return;
  }
  std::optional<Case> c = case_number(net_number(options, f.net), options, f.net, f.which);
  if (!c) return;
  if (options.mode == Mode::kBatch && options.shrink) c = culprit(*c, f, options);
  Case small = *c;
  if (options.shrink && interrupted == 0) {
    const auto until = Clock::now() + kShrinkTime;
    const auto fails = [&](const std::vector<Case>& some) {
      // Out of time, what is there is kept.
      if (Clock::now() > until || interrupted != 0) return std::vector<bool>(some.size());
      return failing(some, options, until);
    };
    if (fails({small})[0])
      small = shrink(small, fails);
    else if (interrupted == 0)
      fmt::print("(not repeated by itself)\n");
  }
  std::vector<std::string> why;
  failing({small}, options, Clock::now() + kShrinkTime, &why);
  if (why[0].empty()) why[0] = f.text;
  const std::string comment =
      fmt::format("Found by lpn_fuzz --mode {} --profile {}{} --seed {} --only {}. Differed:\n{}",
                  kModeNames[static_cast<int>(options.mode)], name_of(options.profile),
                  options.assumed      ? " --assumed"
                  : options.order_free ? " --order-free"
                                       : "",
                  options.seed, f.net, why[0]);
  fmt::print("{}\n{}\n{}", comment, print_net(small.net), print_inputs(small));
  if (!options.found.empty()) {
    const fs::path file = free_name(options.found);
    save_case(small, file, comment);
    fmt::print("saved as {}\n", file.filename().string());
  }
  std::fflush(stdout);
}

// ---- the program ------------------------------------------------------------------------------

int fuzz(const Options& options) {
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
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
      "seed {}, mode {}, profile {}, nets {}, jobs {}, flags '{}', {:.0f} s: {:.1f} nets/s "
      "(compiling {:.0f} s, running {:.0f} s of all processes)\n",
      options.seed, kModeNames[static_cast<int>(options.mode)], name_of(options.profile),
      total.nets, options.jobs, options.flags, seconds, static_cast<double>(total.nets) / seconds,
      total.compiling, total.running);
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
               "                [--no-shrink] [--plain] [--order-free] [--assumed] [--export "
               "FIRST] [--memory "
               "MIB]\n"
               "                [--mode turns|interp|observed|plain|free|batch|metered] [--profile "
               "NAME|all]\n");
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
    else if (word == "--assumed")
      options.order_free = options.assumed = true;
    else if (k + 1 == argc)
      return usage();
    else if (word == "--profile") {
      const std::string name = argv[++k];
      options.profile = name == "all" ? std::nullopt : std::optional(profile_named(name));
    } else if (word == "--mode") {
      const auto* const mode =
          std::find(std::begin(kModeNames), std::end(kModeNames), std::string_view(argv[++k]));
      if (mode == std::end(kModeNames)) return usage();
      options.mode = static_cast<Mode>(mode - kModeNames);
    } else if (word == "--seed")
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
    else if (word == "--memory")
      options.memory = std::stoull(argv[++k]);
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

int main(int argc, char** argv) {
  try {
    return lpn::bench::main(argc, argv);
  } catch (const lpn::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}

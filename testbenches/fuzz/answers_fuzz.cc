// Nets that what is outside them answers while they run (system_net.h), as systems have them:
//
// - by a host that steps a compiled net from one instant to the next, or group by group, and
//   answers in the same cycle, the next, or much later, against the interpreter on the one net in
//   which the host is transitions;
// - stepped to random times, with answers, arrivals that are known beforehand and pushed tokens,
//   against the interpreter driven in the same way.
//
//     answers_fuzz [--seed S] [--nets N] [--batch B]

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <tuple>

#include "engines.h"
#include "lpn/base/error.h"
#include "lpn/net/verify.h"
#include "lpn/text/text.h"
#include "lpnrt/embed.h"
#include "system_net.h"

namespace lpn::bench {
namespace {

constexpr int kRuns = 4;  // of each kind a net: compiling is what takes the time
constexpr std::size_t kNumbers = 8;

struct Options {
  std::uint64_t seed = 1, nets = 80, batch = 40;
};

struct Tally {
  std::uint64_t hosted = 0, stepped = 0, commits = 0, later_groups = 0, answers = 0, at_once = 0;
};

// How a port is answered: after a time that the request's `n` decides.
struct Answering {
  std::array<std::int64_t, kNumbers> delays{};
  std::int64_t factor = 1, plus = 0;  // of the answer's `n`
  bool ordered = false;

  std::vector<std::int64_t> answer(const std::vector<std::int64_t>& request) const {
    return {request[0], (request[1] * factor + plus) % static_cast<std::int64_t>(kNumbers)};
  }
  Time delay(const std::vector<std::int64_t>& request) const {
    return delays[static_cast<std::size_t>(request[1])];
  }
};

Answering random_answering(Random& r, bool at_once) {
  static constexpr std::int64_t kDelays[] = {0, 1, 1, 2, 3, 17, 64, 1100};
  Answering a;
  const bool far = r.chance(30);
  for (auto& d : a.delays) d = kDelays[r.between(at_once ? 0 : 1, far ? 7 : 4)];
  a.factor = r.between(1, 3);
  a.plus = r.between(0, 7);
  a.ordered = r.chance(30);
  return a;
}

Net joined_net(const SystemNet& system, const std::vector<Answering>& answering) {
  Net all = system.net;
  ExprPool& pool = all.exprs;
  for (std::size_t k = 0; k < system.ports.size(); ++k) {
    const Answering& how = answering[k];
    const auto read = [&](std::uint32_t field) { return pool.token(0, field, pool.constant(0)); };
    Transition t;
    t.name = fmt::format("answer{}", k);
    InputArc arc;
    arc.name = "request";
    arc.place = system.ports[k].requests;
    arc.weight = {pool.constant(1), {}};
    t.inputs.push_back(arc);
    t.delay = {pool.lookup({how.delays.begin(), how.delays.end()}, read(1)), {}};
    t.ordered = how.ordered;
    const ExprId n =
        pool.binary(Op::kMod,
                    pool.binary(Op::kAdd, pool.binary(Op::kMul, read(1), pool.constant(how.factor)),
                                pool.constant(how.plus)),
                    pool.constant(kNumbers));
    OutputArc out;
    out.place = system.ports[k].answers;
    out.emissions.push_back({{pool.constant(1), {}}, {{read(0), {}}, {n, {}}}});
    t.outputs.push_back(out);
    all.transitions.push_back(t);
  }
  return all;
}

// ---- a host against the joined net --------------------------------------------------------------

struct Keeps : Observer {
  std::vector<Commit> commits;
  void on_commit(const Commit& commit) override { commits.push_back(commit); }
};

class Host {
 public:
  Host(const SystemNet& system, const std::vector<Answering>& answering,
       const sim::Library& library)
      : system_(system),
        answering_(answering),
        sim_(embed::Library(library.api())),
        pushed_(system.ports.size()),
        asked_(system.ports.size()),
        last_(system.ports.size()) {
    sim_.set_done(-2);
    for (const Port& port : system.ports) sim_.collect(id(port.requests));
  }

  void observe() { sim_.observe(see, this); }

  void run(Time limit) {
    for (Time now = 0; now <= limit; now = sim_.next()) {
      sim_.run(now);
      answer(now);
    }
  }

  void run_by_groups(Time limit) {
    for (Time now = 0; now <= limit; now = sim_.next()) {
      sim_.enter(now);
      for (bool more = true; more || !due_now_.empty();) {
        sim_.commit();
        for (const Due& due : std::exchange(due_now_, {})) push(due, now);
        more = sim_.start();
        answer(now);
      }
    }
  }

  embed::Instance& sim() { return sim_; }
  std::vector<Commit> commits;
  std::uint64_t answers = 0, at_once = 0;

 private:
  struct Due {
    std::size_t port;
    std::uint64_t number;
    std::vector<std::int64_t> values;
  };

  static embed::Place id(PlaceId p) { return static_cast<embed::Place>(p); }

  void answer(Time now) {
    for (std::size_t k = 0; k < system_.ports.size(); ++k) {
      for (const embed::Token& token : sim_.take(id(system_.ports[k].requests))) {
        Time due = now + answering_[k].delay(token.values);
        if (answering_[k].ordered) due = last_[k] = std::max(due, last_[k]);
        const Due what{k, asked_[k]++, answering_[k].answer(token.values)};
        ++answers;
        if (due > now) {
          push(what, due);
        } else {
          due_now_.push_back(what);
          ++at_once;
        }
      }
    }
  }
  void push(const Due& what, Time time) {
    const Port& port = system_.ports[what.port];
    sim_.push(id(port.answers), what.values, time);
    auto& before = pushed_[what.port];
    const std::pair<Time, std::uint64_t> last{time, std::numeric_limits<std::uint64_t>::max()};
    const auto later = std::upper_bound(before.begin(), before.end(), last);
    before.insert(later, {time, what.number});
    if (system_.net[port.requests].capacity) sim_.release(id(port.requests), 1, time);
  }

  static void see(void* user, const lpn_commit* c) { static_cast<Host*>(user)->add(*c); }
  void add(const lpn_commit& c) {
    const Transition& t = system_.net.transitions[c.transition];
    Commit commit;
    commit.time = c.time;
    commit.group = c.group;
    commit.transition = static_cast<TransitionId>(c.transition);
    commit.firing = c.firing;
    commit.start = c.start;
    commit.taken.resize(t.inputs.size());
    for (std::uint64_t k = 0; k < c.taken_runs; ++k) {
      const lpn_token_run& run = c.taken[k];
      for (std::uint64_t i = 0; i < run.count; ++i) {
        commit.taken[run.input].push_back(
            joined({run.source, run.initial != 0, run.arc, run.firing, run.index + i}));
      }
    }
    commit.produced.assign(c.produced, c.produced + t.outputs.size());
    commits.push_back(std::move(commit));
  }
  // What a token is called in the joined net.
  TokenId joined(const TokenId& token) const {
    for (std::size_t k = 0; token.initial && k < system_.ports.size(); ++k) {
      if (static_cast<std::uint32_t>(system_.ports[k].answers) != token.source) continue;
      const auto answer = static_cast<std::uint32_t>(system_.net.transitions.size() + k);
      return {answer, false, 0, pushed_[k].at(token.index).second, 0};
    }
    return token;
  }

  const SystemNet& system_;
  const std::vector<Answering>& answering_;
  embed::Instance sim_;
  // Per port: when each answer comes, in that order, and which request it is of.
  std::vector<std::vector<std::pair<Time, std::uint64_t>>> pushed_;
  std::vector<std::uint64_t> asked_;
  std::vector<Time> last_;
  std::vector<Due> due_now_;
};

// The first difference in words, or "".
std::string hosted_difference(const SystemNet& system, const sim::Library& library, bool traced,
                              Random& r, Tally& tally) {
  const bool by_groups = r.chance(50);
  std::vector<Answering> answering;
  for (std::size_t k = 0; k < system.ports.size(); ++k) {
    answering.push_back(random_answering(r, by_groups));
  }
  const Time limit = r.chance(50) ? r.between(20, 120) : r.between(300, 4000);
  const Net all = joined_net(system, answering);
  InterpOptions how;
  how.trace = true;
  Interp joined(all, bind_params(all), Marking(all), how);
  Keeps keeps;
  // The net's places of done tokens end nothing here, as they end nothing for a host.
  joined.run(limit, &keeps);

  Host host(system, answering, library);
  if (traced) host.observe();
  try {
    if (by_groups)
      host.run_by_groups(limit);
    else
      host.run(limit);
  } catch (const embed::Error& error) {
    return fmt::format("only in the host: {}", error.what());
  }
  std::erase_if(keeps.commits, [&](const Commit& c) {
    return static_cast<std::size_t>(c.transition) >= system.net.transitions.size();
  });
  ++tally.hosted;
  tally.commits += keeps.commits.size();
  for (const Commit& c : keeps.commits) tally.later_groups += c.group != 0 ? 1 : 0;
  tally.answers += host.answers;
  tally.at_once += host.at_once;
  const char* ways = by_groups ? "group by group" : "by instants";
  if (traced) {
    for (std::size_t k = 0; k < std::min(keeps.commits.size(), host.commits.size()); ++k) {
      if (keeps.commits[k] == host.commits[k]) continue;
      return fmt::format("commit {}, {}:\n  joined   {}\n  answered {}", k, ways,
                         print_commit(all, keeps.commits[k]), print_commit(all, host.commits[k]));
    }
    if (keeps.commits.size() != host.commits.size()) {
      return fmt::format("{}: {} commits joined, {} answered", ways, keeps.commits.size(),
                         host.commits.size());
    }
  }
  for (std::size_t p = 0; p < system.net.places.size(); ++p) {
    const auto place = static_cast<PlaceId>(p);
    if (host.sim().count(static_cast<embed::Place>(p)) != joined.free_tokens(place) ||
        host.sim().values(static_cast<embed::Place>(p)) != joined.tokens(place)) {
      return fmt::format("{}: other tokens are left in {} at {}", ways, system.net[place].name,
                         limit);
    }
  }
  return "";
}

// ---- stepped to random times --------------------------------------------------------------------

// What is done to a net from outside is decided by what it did so far and by `dice`, which are the
// same for every engine that does the same.
template <typename Engine>
std::string stepped(const SystemNet& system, const std::vector<Answering>& answering, Random dice,
                    Engine& engine, bool traced, bool stats, Tally* tally) {
  std::string seen;
  Keeps keeps;
  std::size_t told = 0;
  for (const Port& port : system.ports) engine.collect(port.requests);
  for (const Port& port : system.ports) {
    if (dice.chance(70)) continue;
    std::vector<std::int64_t> values;
    std::vector<Time> times;
    Time at = 0;
    for (std::int64_t n = dice.between(1, 9); n > 0; --n) {
      times.push_back(at += dice.below(12));
      values.insert(values.end(), {n, n % 8});
    }
    engine.feed(port.answers, values, times);
  }
  std::vector<Collected> got(system.ports.size());
  Time limit = -1;
  for (std::int64_t steps = dice.between(3, 40); steps > 0; --steps) {
    limit += dice.chance(60) ? dice.between(0, 3) : dice.between(0, 60);
    if (steps == 1) limit += 5000;
    const RunResult result = engine.run(limit, traced ? &keeps : nullptr);
    seen += fmt::format("run {}: ending {}, latency {}, last {}, commits {}, done {}, stalled {}\n",
                        limit, static_cast<int>(result.ending), result.latency.value_or(-1),
                        result.last_commit, result.commits, result.done_tokens, result.stalled);
    for (const Blocked& b : result.blocked) {
      seen += fmt::format("blocked {} {} {}\n", static_cast<int>(b.transition),
                          static_cast<int>(b.wait), b.arc);
    }
    for (; told < keeps.commits.size(); ++told) {
      seen += print_commit(system.net, keeps.commits[told]) + "\n";
    }
    if (stats) {
      const Stats all = engine.stats();
      for (const TransitionStats& t : all.transitions) {
        seen += fmt::format("{}/{}: {}\n", t.commits, t.busy, fmt::join(t.waited, " "));
      }
      for (const PlaceStats& p : all.places) seen += fmt::format("{}/{}\n", p.mean, p.peak);
    }
    for (std::size_t p = 0; p < system.net.places.size(); ++p) {
      const auto place = static_cast<PlaceId>(p);
      seen += fmt::format("{} {}: {}\n", system.net[place].name, engine.free_tokens(place),
                          fmt::join(engine.tokens(place), " "));
    }
    if (dice.chance(25)) continue;  // nobody looks, and what came is answered later
    for (std::size_t k = 0; k < system.ports.size(); ++k) {
      const Collected came = engine.take(system.ports[k].requests);
      for (std::size_t n = 0; n < came.times.size(); ++n) {
        const std::vector<std::int64_t> request(
            came.values.begin() + static_cast<std::ptrdiff_t>(2 * n),
            came.values.begin() + static_cast<std::ptrdiff_t>(2 * n + 2));
        seen += fmt::format("asked {} at {}: {}\n", k, came.times[n], fmt::join(request, " "));
        const Time due = std::max(came.times[n] + answering[k].delay(request), limit + 1);
        engine.push(system.ports[k].answers, answering[k].answer(request), due);
        if (tally != nullptr) ++tally->answers;
      }
    }
    if (dice.chance(20)) {
      const auto p =
          static_cast<PlaceId>(dice.below(static_cast<std::int64_t>(system.net.places.size())));
      std::vector<std::int64_t> values;
      for (const Field& f : system.net.type_of(p).fields)
        values.push_back(dice.between(0, f.range->hi));
      const Time time = limit + dice.between(0, 5);  // too late at times, or no place to push into
      try {
        engine.push(p, values, time);
      } catch (const Error& error) {
        seen += fmt::format("push: {}\n", error.what());
      }
    }
  }
  if (tally != nullptr) {
    ++tally->stepped;
    tally->commits += keeps.commits.size();
    for (const Commit& c : keeps.commits) tally->later_groups += c.group != 0 ? 1 : 0;
  }
  return seen;
}

// The line in which two texts begin to differ.
std::string first_difference(const std::string& a, const std::string& b) {
  if (a == b) return "";
  const auto at = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const auto line = [at](const std::string& text) {
    const std::size_t from = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return text.substr(std::min(from, text.size()), text.find('\n', at) - from);
  };
  const std::size_t run = a.rfind("\nrun ", at);
  const std::string within = run == std::string::npos
                                 ? "in the first run"
                                 : a.substr(run + 1, a.find('\n', run + 1) - run - 1);
  return fmt::format("{}\n  interpreter {}\n  compiled    {}", within, line(a), line(b));
}

std::string stepped_difference(const SystemNet& system, const Compiled& libraries, Random& r,
                               Tally& tally) {
  std::vector<Answering> answering;
  for (std::size_t k = 0; k < system.ports.size(); ++k) {
    answering.push_back(random_answering(r, true));
  }
  const Random dice(r.next());
  const Marking marking(system.net);
  const ParamValues params = bind_params(system.net);
  for (const bool traced : {true, false}) {
    InterpOptions how;
    how.trace = how.stats = traced;
    Interp interp(system.net, params, marking, how);
    const std::string defined =
        stepped(system, answering, dice, interp, traced, traced, traced ? &tally : nullptr);
    sim::Simulator compiled(traced ? *libraries.traced : *libraries.plain, params, marking);
    const std::string other = stepped(system, answering, dice, compiled, traced, traced, nullptr);
    if (const std::string what = first_difference(defined, other); !what.empty()) {
      return (traced ? "stepped: " : "stepped, without identities: ") + what;
    }
  }
  return "";
}

bool any_bounded(const SystemNet& system) {
  return std::any_of(system.ports.begin(), system.ports.end(), [&](const Port& port) {
    return system.net[port.requests].capacity.has_value();
  });
}

std::string difference_of(const SystemNet& system, const Compiled& libraries, std::uint64_t seed,
                          Tally& tally) {
  for (std::uint64_t k = 0; k < kRuns; ++k) {
    Random random(seed * kRuns + k);
    Random again = random;
    Tally other;
    std::string what = hosted_difference(system, *libraries.traced, true, random, tally);
    if (what.empty()) {
      what = hosted_difference(system, *libraries.plain, false, again, other);
      if (!what.empty()) what = "without identities: " + what;
    }
    // A slot whose token is taken belongs to who took it, and only a host gives it back.
    if (what.empty() && !any_bounded(system)) {
      what = stepped_difference(system, libraries, random, tally);
    }
    if (!what.empty()) return what;
  }
  return "";
}

int fuzz(const Options& options) {
  const bool often = options.nets > 2 * options.batch;
  Tally tally;
  std::uint64_t made = 0, different = 0;
  for (std::uint64_t first = 0; first < options.nets; first += options.batch) {
    std::vector<SystemNet> all;
    std::vector<Net> nets;
    for (std::uint64_t k = first; k < std::min(options.nets, first + options.batch); ++k) {
      Random random(options.seed * 1'000'003 + k);
      all.push_back(system_net(random, k % 3 == 0));
      nets.push_back(all.back().net);
      if (const auto wrong = verify(nets.back()); !wrong.empty()) {
        fmt::print("net {} of seed {}: {}\n", k, options.seed, wrong[0].message);
        return 1;
      }
    }
    const Engines engines =
        build_engines(nets, quick_options(), {.free = false, .metered = false}, often);
    for (std::size_t k = 0; k < all.size(); ++k) {
      ++made;
      const std::uint64_t number = first + k;
      const std::string what =
          difference_of(all[k], compiled(engines, k), options.seed * 3'000'017 + number, tally);
      if (what.empty()) continue;
      ++different;
      fmt::print("net {} of seed {}: {}\n", number, options.seed, what);
      std::ofstream(fmt::format("answers_{}_{}.lpn", options.seed, number)) << print_net(nets[k]);
    }
    for (const auto& file : engines.artefacts) {
      std::error_code ignored;
      std::filesystem::remove(file, ignored);
      std::filesystem::remove(std::filesystem::path(file).replace_extension(".cc"), ignored);
    }
  }
  fmt::print(
      "{} runs on {} nets, {} of them by a host, {} stepped to random times; {} commits, {} of "
      "them in later groups\n{} answers, {} of them at once; {} different\n",
      tally.hosted + tally.stepped, made, tally.hosted, tally.stepped, tally.commits,
      tally.later_groups, tally.answers, tally.at_once, different);
  return different == 0 && tally.at_once > made ? 0 : 1;
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) {
  lpn::bench::Options options;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::uint64_t value = std::strtoull(argv[k + 1], nullptr, 10);
    if (std::strcmp(argv[k], "--seed") == 0) {
      options.seed = value;
    } else if (std::strcmp(argv[k], "--nets") == 0) {
      options.nets = value;
    } else if (std::strcmp(argv[k], "--batch") == 0 && value > 0) {
      options.batch = value;
    } else {
      fmt::print(stderr, "unknown option {}; there are --seed, --nets and --batch\n", argv[k]);
      return 2;
    }
  }
  return lpn::bench::fuzz(options);
}

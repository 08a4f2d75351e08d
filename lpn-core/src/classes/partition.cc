// The search: a path is executed from the beginning along the choices made so far; where it splits
// again, the other sides wait with the choices that lead there. Execution is cheap beside the
// solver, which is asked once per choice, and a prefix of choices is a job for any machine.

#include "lpn/classes/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "classes/symbolic_run.h"
#include "lpn/base/error.h"
#include "lpn/expr/build.h"
#include "lpn/expr/eval.h"
#include "lpn/net/lower.h"

namespace lpn {
namespace {

using Clock = std::chrono::steady_clock;

// Inputs of a path beside those that the next choice needs.
constexpr std::size_t kSamples = 6;
constexpr int kDraws = 400;
// Of a condition, and values of a variable, that are varied one by one before the solver is asked.
constexpr std::size_t kMostVaried = 8;
constexpr std::uint64_t kAllTried = 256;
constexpr std::uint64_t kAllTogether = 4096;

struct Job {
  Choices choices;
  std::vector<Assignment> samples;
};

struct Stopped {};

bool is_true(const Assignment& input, const ExprPool& pool, ExprId condition) {
  try {
    return eval_params(pool, condition, input) != 0;
  } catch (const EvalFault&) {
    return false;
  }
}

class Search {
 public:
  Search(const Net& net, const InputSpace& space, const PartitionOptions& options)
      : net_(net),
        lowered_(lower(net)),
        options_(options),
        total_(partition_.space.variables, nullptr) {
    partition_.space = space;
    started_ = Clock::now();
  }

  Partition operator()() {
    partition_.exact =
        options_.exact || std::any_of(options_.branches.begin(), options_.branches.end(),
                                      [](const Branch& b) { return b.exact; });
    sample();
    try {
      explore();
    } catch (const NeedsGroups&) {
      classes_.clear();
      paths_ = 0;
      partition_.unresolved = 0;
      partition_.complete = true;
      partition_.open.clear();
      if (!options_.branches.empty() && !partition_.exact) {
        partition_.restart = true;
        partition_.complete = false;
        partition_.why = "groups matter: begin again";
        return std::move(partition_);
      }
      try {
        if (partition_.exact) throw;
        partition_.exact = true;
        explore();
      } catch (const NeedsGroups&) {
        throw Error("E-partition",
                    net_.name +
                        ": which of two things at one instant comes first "
                        "depends on the input in a way that is not covered; give one of "
                        "the transitions before them a delay");
      }
    }
    for (auto& [key, one] : classes_) partition_.classes.push_back(std::move(one));
    return std::move(partition_);
  }

  // ---- what the oracle asks ------------------------------------------------------------------

  InputSpace& space() { return partition_.space; }
  const PartitionOptions& options() const { return options_; }
  bool enumerated() const { return enumerated_; }
  Totality& total() { return total_; }
  std::map<ExprId, std::vector<std::uint32_t>> reads;  // variables of conditions
  void add(Job job) { open_.push_back(std::move(job)); }
  void tick() {
    if (options_.seconds > 0 &&
        std::chrono::duration<double>(Clock::now() - started_).count() > options_.seconds) {
      stop(fmt::format("the limit of {:g} s", options_.seconds));
    }
    if (options_.progress && !options_.progress(paths_, open_.size() + 1))
      stop("a request to stop");
  }

 private:
  [[noreturn]] void stop(std::string why) {
    partition_.complete = false;
    partition_.why = std::move(why);
    throw Stopped{};
  }

  // All inputs of a small space; else some, corners first.
  void sample() {
    std::set<Assignment> found(options_.samples.begin(), options_.samples.end());
    if (assignments(space(), options_.enumerate)) {
      enumerated_ = true;
      each_input(space(), [&](const Assignment& input) {
        samples_.push_back(input);
        return true;
      });
      return;
    }
    for (const Assignment& input : found) LPN_ASSERT(contains(space(), input));
    std::mt19937_64 random(options_.seed);
    const auto& variables = space().variables.params;
    for (int draw = 0; draw < kDraws && found.size() < 2 * kSamples; ++draw) {
      Assignment input;
      // Mostly all at one part of their ranges, so that sums are met now and then.
      const double part = std::uniform_real_distribution<>(0, 1)(random);
      for (const Param& variable : variables) {
        const double width =
            static_cast<double>(variable.range->hi) - static_cast<double>(variable.range->lo);
        double at = part;
        if (draw % 2 == 1) at = std::uniform_real_distribution<>(0, std::max(part, 1e-3))(random);
        if (draw < 2) at = draw;
        const auto value = static_cast<double>(variable.range->lo) + std::floor(at * width + 0.5);
        input.push_back(std::clamp(static_cast<std::int64_t>(std::clamp(value, -9e18, 9e18)),
                                   variable.range->lo, variable.range->hi));
      }
      if (contains(space(), input)) found.insert(std::move(input));
    }
    samples_.assign(found.begin(), found.end());
    if (samples_.empty() && options_.solver) {
      if (const auto input = find_input({}, {}, {}, nullptr)) samples_.push_back(*input);
    }
  }

  void explore();
  void keep(Path path, bool unresolved);

 public:
  // An input of the space with these conditions and orders; nullopt: none, or `unknown` is set.
  std::optional<Assignment> find_input(const std::vector<ExprId>& conditions,
                                       std::optional<ExprId> fault,
                                       const std::vector<Order>& orders, const Timing* timing,
                                       Differences* differences = nullptr, bool* unknown = nullptr);

 private:
  const Net& net_;
  Net lowered_;
  const PartitionOptions& options_;
  Partition partition_;
  Totality total_;
  std::vector<Assignment> samples_;
  std::vector<Job> open_;
  std::map<std::string, InputClass> classes_;
  std::uint64_t paths_ = 0;
  bool enumerated_ = false;
  Clock::time_point started_;
};

// The terms of a space in a solver's pool.
class Translation {
 public:
  Translation(const InputSpace& space, Feasibility& solver) : space_(space), solver_(solver) {
    for (const Param& variable : space.variables.params) {
      params_.push_back(solver.term(solver.integer(variable.name, *variable.range)));
    }
  }
  // Before terms of another path's instants.
  void forget_instants() { instants_.clear(); }
  ExprId operator()(ExprId term) {
    return substitute(space_.variables.exprs, term, solver_.pool(), params_);
  }
  // A variable per instant that has more than one thing to wait for.
  ExprId operator()(InstantId id, const Timing& timing, Differences& differences) {
    std::vector<InstantId> needed{id};
    for (std::size_t k = 0; k < needed.size(); ++k) {
      if (instants_.count(needed[k])) continue;
      for (const Timing::Arc& arc : timing[needed[k]].after) {
        if (std::find(needed.begin(), needed.end(), arc.from) == needed.end()) {
          needed.push_back(arc.from);
        }
      }
    }
    std::sort(needed.begin(), needed.end());
    for (const InstantId v : needed) define(v, timing, differences);
    return instants_.at(id);
  }

 private:
  void define(InstantId v, const Timing& timing, Differences& differences) {
    if (instants_.count(v)) return;
    ExprBuilder build(solver_.pool());
    const Timing::Node& node = timing[v];
    const auto of = [&](const Timing::Arc& arc) {
      return build.add(instants_.at(arc.from), (*this)(arc.delay));
    };
    if (node.after.empty()) {
      instants_[v] = solver_.pool().constant(0);
      return;
    }
    if (node.kind == Timing::Kind::kMax && node.after.size() == 1) {
      const ExprId direct = of(node.after[0]);
      if (solver_.pool().depth(direct) < 60) {
        instants_[v] = direct;
        return;
      }
    }
    const VarId var = solver_.integer(fmt::format("t{}", static_cast<std::uint32_t>(v)),
                                      {differences.earliest(v), differences.latest(v)});
    const ExprId t = solver_.term(var);
    solver_.require(build.eq(t, instant_term(node, solver_.pool(), of)));
    instants_[v] = t;
  }

  const InputSpace& space_;
  Feasibility& solver_;
  std::vector<ExprId> params_;
  std::map<InstantId, ExprId> instants_;
};

std::optional<Assignment> Search::find_input(const std::vector<ExprId>& conditions,
                                             std::optional<ExprId> fault,
                                             const std::vector<Order>& orders, const Timing* timing,
                                             Differences* differences, bool* unknown) {
  if (unknown != nullptr) *unknown = false;
  if (!options_.solver) {
    if (unknown != nullptr) *unknown = true;
    return std::nullopt;
  }
  const std::unique_ptr<Feasibility> solver = options_.solver();
  Answer answer = Answer::kUnknown;
  try {
    Translation in_solver(space(), *solver);
    for (const ExprId constraint : space().constraints) solver->require(in_solver(constraint));
    for (const ExprId condition : conditions) solver->require(in_solver(condition));
    if (fault) solver->require_fault(in_solver(*fault));
    ExprBuilder build(solver->pool());
    for (const Order& order : orders) {
      const ExprId a = in_solver(order.before, *timing, *differences);
      const ExprId b = in_solver(order.after, *timing, *differences);
      solver->require(order.strict ? build.lt(a, b) : build.le(a, b));
    }
    answer = solver->check(options_.question);
  } catch (const Error& error) {
    if (error.code() != "E-expr") throw;  // too large for the solver: not known
  }
  if (answer == Answer::kUnknown && unknown != nullptr) *unknown = true;
  if (answer != Answer::kSat) return std::nullopt;
  Assignment input(
      solver->model().begin(),
      solver->model().begin() + static_cast<std::ptrdiff_t>(space().variables.params.size()));
  LPN_ASSERT(contains(space(), input));
  return input;
}

// Answers from the choices of a job, then from samples and the solver, putting aside what differs.
class Chooser final : public Oracle {
 public:
  Chooser(Search& search, Job job, Path& path, Differences& differences)
      : search_(search), job_(std::move(job)), path_(path), differences_(differences) {
    samples_ = std::move(job_.samples);
    times_.assign(samples_.size(), {0});
  }

  bool holds(ExprId condition) override {
    const auto test = [&](std::size_t k) {
      return is_true(samples_[k], search_.space().variables.exprs, condition);
    };
    ExprBuilder build(search_.space().variables.exprs);
    const ExprId otherwise = build.logical_not(condition);
    return choose(test, [&](bool side, Question& question) {
      question.conditions.push_back(side ? condition : otherwise);
    });
  }

  bool holds(const Order& order) override {
    const auto test = [&](std::size_t k) {
      const Time a = times_[k][static_cast<std::size_t>(order.before)];
      const Time b = times_[k][static_cast<std::size_t>(order.after)];
      return order.strict ? a < b : a <= b;
    };
    const Order reverse{order.after, order.before, !order.strict};
    return choose(test, [&](bool side, Question& question) {
      question.orders.push_back(side ? order : reverse);
    });
  }

  bool fails(ExprId term) override {
    ExprPool& pool = search_.space().variables.exprs;
    const auto test = [&](std::size_t k) {
      try {
        eval_params(pool, term, samples_[k]);
        return false;
      } catch (const EvalFault&) {
        return true;
      }
    };
    // Not simplified, so that the term stays in it.
    const bool boolean = pool[term].type == Type::kBool;
    const ExprId evaluates =
        boolean
            ? pool.binary(Op::kOr, term, pool.boolean(true))
            : pool.binary(Op::kLe, pool.constant(std::numeric_limits<std::int64_t>::min()), term);
    return choose(test, [&](bool side, Question& question) {
      if (side)
        question.fault = term;
      else
        question.conditions.push_back(evaluates);
    });
  }

  std::int64_t value(ExprId term) override {
    ExprPool& pool = search_.space().variables.exprs;
    for (;;) {
      std::int64_t guess = 0;
      if (next_ < job_.choices.size()) {
        guess = job_.choices[next_++];
      } else {
        const Range range = search_.total().range(term);
        guess = samples_.empty() ? range.lo : eval_params(pool, term, samples_.front());
        if (samples_.empty() && !search_.enumerated()) {
          bool unknown = false;
          const auto input = search_.find_input(path_.conditions, path_.fault, path_.orders,
                                                &path_.timing, &differences_, &unknown);
          if (!input) throw Empty{};
          guess = eval_params(pool, term, *input);
        }
        job_.choices.push_back(guess);
        ++next_;
      }
      if (holds(ExprBuilder(pool).eq(term, pool.constant(guess)))) return guess;
    }
  }

  void added(InstantId instant) override {
    for (std::size_t k = 0; k < samples_.size(); ++k) extend(k, instant);
  }

  // Depends on the samples at hand, so it is a choice too: a path must be the same again.
  std::size_t probably_first(const std::vector<InstantId>& instants) override {
    if (next_ < job_.choices.size()) return static_cast<std::size_t>(job_.choices[next_++]);
    const auto time = [&](InstantId instant) {
      return samples_.empty() ? differences_.earliest(instant)
                              : times_[0][static_cast<std::size_t>(instant)];
    };
    std::size_t first = 0;
    for (std::size_t k = 1; k < instants.size(); ++k) {
      if (time(instants[k]) < time(instants[first])) first = k;
    }
    job_.choices.push_back(static_cast<std::int64_t>(first));
    ++next_;
    return first;
  }

  struct Empty {};  // the path has no inputs

  const Choices& choices() const { return job_.choices; }
  const std::vector<Assignment>& samples() const { return samples_; }
  std::vector<Assignment> take_samples() {
    if (samples_.size() > kSamples) samples_.resize(kSamples);
    return std::move(samples_);
  }

 private:
  struct Question {
    std::vector<ExprId> conditions;
    std::optional<ExprId> fault;
    std::vector<Order> orders;
  };

  void extend(std::size_t k, InstantId instant) {
    times_[k].push_back(lpn::instant(path_.timing, instant, times_[k], [&](ExprId term) {
      return eval_params(search_.space().variables.exprs, term, samples_[k]);
    }));
  }

  template <typename Test, typename Side>
  bool choose(const Test& test, const Side& side) {
    search_.tick();
    bool answer = false;
    if (next_ < job_.choices.size()) {
      answer = job_.choices[next_++] != 0;
    } else {
      std::vector<Assignment> yes, no;
      for (std::size_t k = 0; k < samples_.size(); ++k) (test(k) ? yes : no).push_back(samples_[k]);
      bool maybe_yes = !yes.empty(), maybe_no = !no.empty();
      if (!search_.enumerated()) {
        if (!maybe_yes) maybe_yes = ask(true, side, yes);
        if (!maybe_no) maybe_no = ask(false, side, no);
      }
      if (!maybe_yes && !maybe_no) throw Empty{};
      // The side with known inputs first.
      answer = maybe_yes && (!yes.empty() || no.empty());
      if (maybe_yes && maybe_no) {
        Job other{job_.choices, std::move(answer ? no : yes)};
        other.choices.push_back(answer ? 0 : 1);
        search_.add(std::move(other));
      }
      // An input that the solver found has no times yet.
      for (Assignment& input : answer ? yes : no) {
        if (std::find(samples_.begin(), samples_.end(), input) == samples_.end()) learn(input);
      }
      job_.choices.push_back(answer ? 1 : 0);
      ++next_;
    }
    Question question;
    side(answer, question);
    for (const ExprId condition : question.conditions) path_.conditions.push_back(condition);
    if (question.fault) path_.fault = question.fault;
    for (const Order& order : question.orders) path_.orders.push_back(order);
    for (std::size_t k = samples_.size(); k-- > 0;) {
      if (test(k) == answer) continue;
      samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(k));
      times_.erase(times_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    if (search_.enumerated() && samples_.empty()) throw Empty{};
    return answer;
  }

  // Whether some input of the path is on a side of which none is known.
  template <typename Side>
  bool ask(bool answer, const Side& side, std::vector<Assignment>& found) {
    Question question{path_.conditions, path_.fault, path_.orders};
    side(answer, question);
    if (question.conditions.size() > path_.conditions.size()) {
      if (auto input = nearby(question)) {
        found.push_back(std::move(*input));
        return true;
      }
      if (impossible(question)) return false;
    }
    bool unknown = false;
    const auto input = search_.find_input(question.conditions, question.fault, question.orders,
                                          &path_.timing, &differences_, &unknown);
    if (input) found.push_back(*input);
    return input || unknown;
  }

  // An input on the other side of the last condition that differs from a known one in one of the
  // variables that it reads. Most are found so, without the solver.
  std::optional<Assignment> nearby(const Question& question) {
    const InputSpace& space = search_.space();
    const ExprPool& pool = space.variables.exprs;
    const ExprId condition = question.conditions.back();
    const std::vector<std::uint32_t> read = pool.reads(condition).params;
    if (read.size() > kMostVaried) return std::nullopt;
    for (std::size_t k = 0; k < samples_.size() && k < 2; ++k) {
      for (const std::uint32_t variable : read) {
        const Range range = *space.variables.params[variable].range;
        Assignment input = samples_[k];
        const std::int64_t here = input[variable];
        std::vector<std::int64_t> tried{range.lo, range.hi};
        if (static_cast<std::uint64_t>(range.hi) - static_cast<std::uint64_t>(range.lo) <
            kAllTried) {
          for (std::int64_t x = range.lo + 1; x < range.hi; ++x) tried.push_back(x);
        } else {
          if (here > range.lo) tried.push_back(here - 1);
          if (here < range.hi) tried.push_back(here + 1);
        }
        for (const std::int64_t x : tried) {
          input[variable] = x;
          if (!is_true(input, pool, condition) || !contains(space, input)) continue;
          const auto holds = [&](ExprId other) { return is_true(input, pool, other); };
          if (!std::all_of(question.conditions.begin(), question.conditions.end(), holds)) continue;
          // Fault and orders as of the path so far, which follows() knows.
          if ((path_.fault || !path_.orders.empty()) && !follows(path_, space, input)) continue;
          return input;
        }
      }
    }
    return std::nullopt;
  }

  // Tried out: no values of the variables that the last condition reads meet it and all else that
  // reads no others.
  bool impossible(const Question& question) {
    const InputSpace& space = search_.space();
    const ExprPool& pool = space.variables.exprs;
    const std::vector<std::uint32_t> read = pool.reads(question.conditions.back()).params;
    Assignment input;
    for (const Param& variable : space.variables.params) input.push_back(variable.range->lo);
    std::uint64_t combinations = 1;
    for (const std::uint32_t variable : read) {
      const Range range = *space.variables.params[variable].range;
      const std::uint64_t width =
          static_cast<std::uint64_t>(range.hi) - static_cast<std::uint64_t>(range.lo);
      if (width >= kAllTried || (combinations *= width + 1) > kAllTogether) return false;
    }
    std::vector<ExprId> relevant{question.conditions.back()};
    for (const std::vector<ExprId>* some :
         std::initializer_list<const std::vector<ExprId>*>{&path_.conditions, &space.constraints}) {
      for (const ExprId condition : *some) {
        const auto& params = reads(condition);
        if (std::includes(read.begin(), read.end(), params.begin(), params.end())) {
          relevant.push_back(condition);
        }
      }
    }
    for (std::uint64_t n = 0; n < combinations; ++n) {
      const auto holds = [&](ExprId condition) { return is_true(input, pool, condition); };
      if (std::all_of(relevant.begin(), relevant.end(), holds)) return false;
      for (const std::uint32_t variable : read) {
        const Range range = *space.variables.params[variable].range;
        if (input[variable]++ < range.hi) break;
        input[variable] = range.lo;
      }
    }
    return true;
  }

  const std::vector<std::uint32_t>& reads(ExprId condition) {
    const auto [it, fresh] = search_.reads.try_emplace(condition);
    if (fresh) it->second = search_.space().variables.exprs.reads(condition).params;
    return it->second;
  }

  void learn(const Assignment& input) {
    samples_.push_back(input);
    times_.push_back({0});
    for (std::size_t v = 1; v < path_.timing.size(); ++v) {
      extend(samples_.size() - 1, static_cast<InstantId>(v));
    }
  }

  Search& search_;
  Job job_;
  Path& path_;
  Differences& differences_;
  std::size_t next_ = 0;
  std::vector<Assignment> samples_;
  std::vector<std::vector<Time>> times_;
};

void Search::explore() {
  open_.clear();
  std::vector<Branch> branches = options_.branches;
  if (branches.empty()) branches.push_back({{}, samples_, partition_.exact});
  for (Branch& branch : branches) {
    open_.push_back({std::move(branch.choices), std::move(branch.samples)});
  }
  try {
    while (!open_.empty()) {
      if (paths_ >= options_.max_paths) {
        stop(fmt::format("the limit of {} paths", options_.max_paths));
      }
      if (options_.max_open > 0 && open_.size() >= options_.max_open) {
        stop("enough branches to share out");
      }
      tick();
      Job job = std::move(open_.back());
      open_.pop_back();
      Path path;
      Differences differences(path.timing, space());
      Chooser chooser(*this, std::move(job), path, differences);
      try {
        execute(net_, lowered_, space(), chooser, total_, partition_.exact, options_.max_firings,
                path, differences);
      } catch (const Chooser::Empty&) {
        continue;
      } catch (const Stopped&) {
        open_.push_back({chooser.choices(), chooser.samples()});
        throw;
      } catch (const Error& error) {
        if (error.code() != "E-expr") throw;
        throw Error("E-partition", fmt::format("{}: a property becomes too large a term of the "
                                               "input ({}); make it concrete",
                                               net_.name, error.what()));
      }
      path.choices = chooser.choices();
      path.samples = chooser.take_samples();
      if (path.samples.empty()) {
        if (enumerated_) continue;
        bool unknown = false;
        const auto input = find_input(path.conditions, path.fault, path.orders, &path.timing,
                                      &differences, &unknown);
        if (!input && !unknown) continue;
        if (input) path.samples.push_back(*input);
      }
      const bool unresolved = path.samples.empty();
      keep(std::move(path), unresolved);
    }
  } catch (const Stopped&) {
    for (Job& job : open_) {
      partition_.open.push_back({std::move(job.choices), std::move(job.samples), partition_.exact});
    }
  }
}

void Search::keep(Path path, bool unresolved) {
  ++paths_;
  partition_.unresolved += unresolved ? 1 : 0;
  InputClass one;
  one.outcome = path.outcome;
  one.commits.assign(net_.transitions.size(), 0);
  std::vector<const TimedFiring*> firings;
  for (const TimedFiring& firing : path.firings) {
    ++one.commits[static_cast<std::size_t>(firing.transition)];
    firings.push_back(&firing);
  }
  std::stable_sort(firings.begin(), firings.end(), [](const TimedFiring* a, const TimedFiring* b) {
    return a->transition < b->transition;
  });
  std::string key = fmt::format("{}|{}|", static_cast<int>(path.outcome), path.trouble);
  for (const TimedFiring* firing : firings) {
    key += fmt::format("{}:", static_cast<std::uint32_t>(firing->transition));
    for (const std::uint64_t n : firing->taken) key += fmt::format("{},", n);
    for (const std::uint64_t n : firing->produced) key += fmt::format("{};", n);
  }
  InputClass& merged = classes_.try_emplace(std::move(key), std::move(one)).first->second;
  merged.paths.push_back(std::move(path));
}

}  // namespace

PartitionCheck check_partition(const Partition& partition, const PartitionOptions& options) {
  PartitionCheck result;
  std::vector<const Path*> paths;
  for (const InputClass& one : partition.classes) {
    for (const Path& path : one.paths) paths.push_back(&path);
  }
  const InputSpace& space = partition.space;
  // What it means to follow a path: each of its conditions, and its orders between instants that
  // are the path's own.
  const auto follows_path = [&](const Path& path, Feasibility& solver, Translation& in_solver) {
    ExprBuilder build(solver.pool());
    Differences differences(path.timing, space);
    in_solver.forget_instants();
    ExprId holds = solver.pool().boolean(true);
    for (const ExprId condition : path.conditions) {
      holds = build.logical_and(holds, in_solver(condition));
    }
    for (const Order& order : path.orders) {
      const ExprId a = in_solver(order.before, path.timing, differences);
      const ExprId b = in_solver(order.after, path.timing, differences);
      holds = build.logical_and(holds, order.strict ? build.lt(a, b) : build.le(a, b));
    }
    return holds;
  };
  const auto ask = [&](const auto& require) {
    const std::unique_ptr<Feasibility> solver = options.solver();
    Translation in_solver(space, *solver);
    Answer answer = Answer::kUnknown;
    try {
      for (const ExprId constraint : space.constraints) solver->require(in_solver(constraint));
      require(*solver, in_solver);
      answer = solver->check(options.question);
    } catch (const Error& error) {
      if (error.code() != "E-expr") throw;  // too large for the solver: not known
    }
    if (answer == Answer::kSat) {
      result.witness.assign(
          solver->model().begin(),
          solver->model().begin() + static_cast<std::ptrdiff_t>(space.variables.params.size()));
    }
    return answer;
  };
  if (!options.solver) return result;
  result.overlap = Answer::kUnsat;
  for (std::size_t k = 0; k < paths.size() && result.overlap != Answer::kSat; ++k) {
    for (std::size_t n = 0; n < k && result.overlap != Answer::kSat; ++n) {
      const Answer answer = ask([&](Feasibility& solver, Translation& in_solver) {
        solver.require(follows_path(*paths[k], solver, in_solver));
        solver.require(follows_path(*paths[n], solver, in_solver));
        for (const Path* path : {paths[k], paths[n]}) {
          if (path->fault) solver.require_fault(in_solver(*path->fault));
        }
      });
      if (answer != Answer::kUnsat) result.overlap = answer;
    }
  }
  // A path that ends in an error has a condition, that something fails, without a term.
  const bool faults = std::any_of(paths.begin(), paths.end(),
                                  [](const Path* path) { return path->fault.has_value(); });
  if (partition.complete && !faults) {
    result.gap = ask([&](Feasibility& solver, Translation& in_solver) {
      ExprBuilder build(solver.pool());
      for (const Path* path : paths) {
        solver.require(build.logical_not(follows_path(*path, solver, in_solver)));
      }
    });
  }
  return result;
}

Partition partition(const Net& net, const InputSpace& space, const PartitionOptions& options) {
  check_space(net, space);
  return Search(net, space, options)();
}

}  // namespace lpn

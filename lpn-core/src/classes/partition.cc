// The search: a path is executed from the beginning along the choices made so far; where it splits
// again, the other sides wait with the choices that lead there. Execution is cheap beside the
// solver, which is asked once per choice, and a prefix of choices is a job for any machine.

#include "lpn/classes/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "classes/chooser.h"
#include "classes/symbolic_run.h"
#include "classes/translation.h"
#include "lpn/base/error.h"
#include "lpn/net/bounds.h"
#include "lpn/net/lower.h"

namespace lpn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kDraws = 400;

struct Stopped {};

class Search final : public PathSearch {
 public:
  Search(const Net& net, const InputSpace& space, const PartitionOptions& options)
      : net_(net),
        lowered_(lower(net)),
        options_(options),
        bounds_(partition_.space.variables, nullptr),
        total_(bounds_) {
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

  // ---- what a path asks ----------------------------------------------------------------------

  InputSpace& space() override { return partition_.space; }
  Totality& total() override { return total_; }
  bool enumerated() const override { return enumerated_; }
  const std::vector<std::uint32_t>& reads(ExprId condition) override {
    const auto [it, fresh] = reads_.try_emplace(condition);
    if (fresh) it->second = space().variables.exprs.reads(condition).params;
    return it->second;
  }
  Found find_input(const Question& question, const Path& path, Differences& differences) override;
  void add(Job job) override { open_.push_back(std::move(job)); }
  void tick() override {
    if (options_.seconds > 0 &&
        std::chrono::duration<double>(Clock::now() - started_).count() > options_.seconds) {
      stop(fmt::format("the limit of {:.4g} s", options_.seconds));
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
    for (int draw = 0; draw < kDraws && found.size() < 2 * Chooser::kSamples; ++draw) {
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
      const Path none;
      Differences no_instants(none.timing, space());
      if (const Found some = find_input({}, none, no_instants); some.input) {
        samples_.push_back(*some.input);
      }
    }
  }

  void explore();
  void follow(Job job);
  void keep(Path path, bool unresolved);

  const Net& net_;
  Net lowered_;
  const PartitionOptions& options_;
  Partition partition_;
  NetBounds bounds_;  // of the terms of the space
  Totality total_;
  std::vector<Assignment> samples_;
  std::vector<Job> open_;
  std::map<std::string, InputClass> classes_;
  std::uint64_t paths_ = 0;
  std::map<ExprId, std::vector<std::uint32_t>> reads_;  // variables of conditions
  bool enumerated_ = false;
  Clock::time_point started_;
};

Found Search::find_input(const Question& question, const Path& path, Differences& differences) {
  if (!options_.solver) return {std::nullopt, true};
  const std::unique_ptr<Feasibility> solver = options_.solver();
  Answer answer = Answer::kUnknown;
  try {
    Translation in_solver(space(), *solver);
    for (const ExprId constraint : space().constraints) solver->require(in_solver(constraint));
    for (const ExprId condition : question.conditions) solver->require(in_solver(condition));
    if (question.fault) solver->require_fault(in_solver(*question.fault));
    for (const Order& order : question.orders) {
      solver->require(in_solver(order, path.timing, differences));
    }
    answer = solver->check(options_.question);
  } catch (const Error& error) {
    if (error.code() != "E-expr") throw;  // too large for the solver: not known
  }
  if (answer != Answer::kSat) return {std::nullopt, answer == Answer::kUnknown};
  Assignment input = input_of_model(space(), *solver);
  LPN_ASSERT(contains(space(), input));
  return {std::move(input), false};
}

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
      follow(std::move(job));
    }
  } catch (const Stopped&) {
    for (Job& job : open_) {
      partition_.open.push_back({std::move(job.choices), std::move(job.samples), partition_.exact});
    }
  }
}

void Search::follow(Job job) {
  Path path;
  Differences differences(path.timing, space());
  Chooser chooser(*this, std::move(job), path, differences);
  try {
    SymbolicRun(net_, lowered_, space(), chooser, total_, partition_.exact, options_.max_firings,
                path, differences)();
  } catch (const Chooser::Empty&) {
    return;
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
    if (enumerated_) return;
    const Found found = find_input({path.conditions, path.fault, path.orders}, path, differences);
    if (!found.input && !found.unknown) return;
    if (found.input) path.samples.push_back(*found.input);
  }
  const bool unresolved = path.samples.empty();
  keep(std::move(path), unresolved);
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

Partition partition(const Net& net, const InputSpace& space, const PartitionOptions& options) {
  check_space(net, space);
  for (const InputSpace::Tokens& tokens : space.tokens) {
    if (tokens.at.empty()) continue;
    throw Error("E-partition",
                fmt::format("{}: tokens of place '{}' arrive later than 0, which classes do not "
                            "have; runs of every input and reachable states do",
                            net.name, net[tokens.place].name));
  }
  return Search(net, space, options)();
}

Answer has_input(const InputSpace& space, Feasibility& solver, const FeasibilityLimits& limits) {
  try {
    Translation in_solver(space, solver);
    for (const ExprId constraint : space.constraints) solver.require(in_solver(constraint));
    return solver.check(limits);
  } catch (const Error& error) {
    if (error.code() != "E-expr") throw;  // too large for the solver: not known
    return Answer::kUnknown;
  }
}

}  // namespace lpn

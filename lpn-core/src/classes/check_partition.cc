#include "lpn/classes/check_partition.h"

#include <algorithm>

#include "classes/translation.h"
#include "lpn/base/error.h"
#include "lpn/expr/build.h"

namespace lpn {
namespace {

class Checker {
 public:
  Checker(const Partition& partition, const PartitionOptions& options)
      : partition_(partition), options_(options), space_(partition.space) {
    for (const InputClass& one : partition.classes) {
      for (const Path& path : one.paths) paths_.push_back(&path);
    }
  }

  PartitionCheck operator()() {
    if (!options_.solver) return result_;
    look_for_overlap();
    // A path that ends in an error has a condition, that something fails, without a term.
    const bool faults = std::any_of(paths_.begin(), paths_.end(),
                                    [](const Path* path) { return path->fault.has_value(); });
    if (partition_.complete && !faults) look_for_gap();
    return result_;
  }

 private:
  void look_for_overlap() {
    result_.overlap = Answer::kUnsat;
    for (std::size_t k = 0; k < paths_.size(); ++k) {
      for (std::size_t n = 0; n < k; ++n) {
        const Answer answer = ask([&](Feasibility& solver, Translation& in_solver) {
          solver.require(follows(*paths_[k], solver, in_solver));
          solver.require(follows(*paths_[n], solver, in_solver));
          for (const Path* path : {paths_[k], paths_[n]}) {
            if (path->fault) solver.require_fault(in_solver(*path->fault));
          }
        });
        if (answer != Answer::kUnsat) result_.overlap = answer;
        if (answer == Answer::kSat) return;
      }
    }
  }

  void look_for_gap() {
    result_.gap = ask([&](Feasibility& solver, Translation& in_solver) {
      ExprBuilder build(solver.pool());
      for (const Path* path : paths_) {
        solver.require(build.logical_not(follows(*path, solver, in_solver)));
      }
    });
  }

  // What it means to follow a path: each of its conditions, and its orders between instants that
  // are the path's own.
  ExprId follows(const Path& path, Feasibility& solver, Translation& in_solver) const {
    ExprBuilder build(solver.pool());
    Differences differences(path.timing, space_);
    in_solver.forget_instants();
    ExprId holds = solver.pool().boolean(true);
    for (const ExprId condition : path.conditions) {
      holds = build.logical_and(holds, in_solver(condition));
    }
    for (const Order& order : path.orders) {
      holds = build.logical_and(holds, in_solver(order, path.timing, differences));
    }
    return holds;
  }

  template <typename Require>
  Answer ask(const Require& require) {
    const std::unique_ptr<Feasibility> solver = options_.solver();
    Translation in_solver(space_, *solver);
    Answer answer = Answer::kUnknown;
    try {
      for (const ExprId constraint : space_.constraints) solver->require(in_solver(constraint));
      require(*solver, in_solver);
      answer = solver->check(options_.question);
    } catch (const Error& error) {
      if (error.code() != "E-expr") throw;  // too large for the solver: not known
    }
    if (answer == Answer::kSat) result_.witness = input_of_model(space_, *solver);
    return answer;
  }

  const Partition& partition_;
  const PartitionOptions& options_;
  const InputSpace& space_;
  std::vector<const Path*> paths_;
  PartitionCheck result_;
};

}  // namespace

PartitionCheck check_partition(const Partition& partition, const PartitionOptions& options) {
  return Checker(partition, options)();
}

}  // namespace lpn

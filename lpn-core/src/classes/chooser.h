// The choices of one path: which side it takes where inputs differ, and what is left for other
// paths.
#pragma once

#include <optional>
#include <vector>

#include "classes/oracle.h"
#include "lpn/classes/differences.h"
#include "lpn/classes/input_space.h"
#include "lpn/classes/timing.h"
#include "lpn/expr/total.h"

namespace lpn {

// A path to execute: its first choices, and inputs of it that are known.
struct Job {
  Choices choices;
  std::vector<Assignment> samples;
};

// What all hold for an input; `fault`, when given, ends in an error for it.
struct Question {
  std::vector<ExprId> conditions;
  std::optional<ExprId> fault;
  std::vector<Order> orders;
};

struct Found {
  std::optional<Assignment> input;
  bool unknown = false;  // whether there is one could not be said
};

// What a path needs of the search that it is a part of.
class PathSearch {
 public:
  virtual ~PathSearch() = default;
  virtual InputSpace& space() = 0;
  virtual Totality& total() = 0;
  // The samples of all paths together are all inputs of the space.
  virtual bool enumerated() const = 0;
  // The variables that a condition reads, ascending.
  virtual const std::vector<std::uint32_t>& reads(ExprId condition) = 0;
  // An input of the space; the orders are between instants of `path`.
  virtual Found find_input(const Question& question, const Path& path,
                           Differences& differences) = 0;
  virtual void add(Job other) = 0;
  virtual void tick() = 0;  // called now and then; throws when the search has to stop
};

// Whether the condition evaluates without error, and is true.
bool is_true(const Assignment& input, const ExprPool& pool, ExprId condition);

// Answers from the choices of a job, then from samples and the solver, putting aside what differs.
class Chooser final : public Oracle {
 public:
  // Inputs of a path beside those that the next choice needs.
  static constexpr std::size_t kSamples = 6;

  Chooser(PathSearch& search, Job job, Path& path, Differences& differences);

  struct Empty {};  // thrown when the path has no inputs

  bool holds(ExprId condition) override;
  bool holds(const Order& order) override;
  bool fails(ExprId term) override;
  std::int64_t value(ExprId term) override;
  void added(InstantId instant) override;
  std::size_t probably_first(const std::vector<InstantId>& instants) override;

  const Choices& choices() const { return job_.choices; }
  const std::vector<Assignment>& samples() const { return samples_; }
  std::vector<Assignment> take_samples();

 private:
  Question so_far() const { return {path_.conditions, path_.fault, path_.orders}; }
  void extend(std::size_t k, InstantId instant);
  template <typename Test, typename Side>
  bool choose(const Test& test, const Side& side);
  template <typename Test, typename Side>
  bool decide(const Test& test, const Side& side);
  template <typename Side>
  bool ask(bool answer, const Side& side, std::vector<Assignment>& found);
  std::optional<Assignment> nearby(const Question& question);
  bool impossible(const Question& question);
  void learn(const Assignment& input);

  PathSearch& search_;
  Job job_;
  Path& path_;
  Differences& differences_;
  std::size_t next_ = 0;
  std::vector<Assignment> samples_;
  std::vector<std::vector<Time>> times_;  // of each sample, per instant of the path
};

}  // namespace lpn

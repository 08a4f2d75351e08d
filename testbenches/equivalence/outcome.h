// What can be observed of a case on one engine, as data to compare and as text to read.
#pragma once

#include <string>
#include <vector>

#include "case.h"
#include "lpn/run/interp.h"
#include "lpn/run/run.h"
#include "lpn/sim/simulator.h"

namespace lpn::bench {

struct StepOutcome {
  std::string error;  // of a push, or of anything that is not a RunError
  std::optional<RunFault> fault;
  std::string message;              // of the fault
  std::optional<RunResult> result;  // of a run without fault
  Time now = 0;
  std::vector<std::uint64_t> counts;  // free tokens per place, without a fault
  std::vector<std::vector<std::int64_t>> tokens;
  std::optional<Stats> stats;
  std::size_t commits = 0;  // observed up to here
};

struct Outcome {
  std::string error;  // there was no engine: parameters or initial tokens are wrong
  bool observed = false;
  std::vector<Commit> commits;
  std::vector<StepOutcome> steps;
  bool order_free = false;  // the first run was
  bool fell_back = false;   // it was attempted, and left to the event-driven engine
};

// Thrown by a run that goes on for too long to be a test.
struct TooLong {};

// Throws TooLong out of an interpreter that started so often: a net may start and never commit.
class Patience : public Watcher {
 public:
  explicit Patience(std::size_t most) : left_(most) {}
  void on_start(const Started&) override {
    if (left_-- == 0) throw TooLong{};
  }
  void on_commit(const Started&) override {}
  void on_arrival(Time, PlaceId, std::span<const std::int64_t>) override {}
  void on_wait(Time, const Blocked&) override {}

 private:
  std::size_t left_;
};

struct PlayOptions {
  bool observe = false;
  bool stats = false;
  bool full_scan = false;                      // interpreter only
  sim::Mode mode = sim::Mode::kAuto;           // simulators only
  std::size_t most_commits = ~std::size_t{0};  // TooLong beyond; needs observe
};
Outcome play(const Case& c, PlayOptions options);
Outcome play(const Case& c, const sim::Library& library, PlayOptions options);

// The first difference in words, or "" when all that both have is equal.
std::string difference(const Case& c, const Outcome& a, const Outcome& b);

// The trace format of testbenches/nets/README.md.
std::string print_commit(const Net& net, const Commit& commit);
// over [0, END] · waits TRANSITION commits N busy TICKS, REASON TICKS... · holds PLACE mean X peak
// N
std::string print_stats(const Net& net, const Stats& stats);
// With `metered`, also `now` after each step and the statistics after each run that has them.
std::string print_outcome(const Case& c, const Outcome& outcome, bool metered = false);

}  // namespace lpn::bench

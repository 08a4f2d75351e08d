#include "lpn/sim/sliced.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace lpn::sim {
namespace {

using Clock = std::chrono::steady_clock;

// Small at first: in a wide net thousands of firings share an instant.
constexpr Time kFirstSlice = 16;
constexpr double kSliceSeconds = 0.05;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// An engine must not be left by an exception of its observer: the first one is kept, later commits
// are not handed on, and the runner throws it after the slice.
class Guarded : public Observer {
 public:
  explicit Guarded(Observer& inner) : inner_(inner) {}
  void on_commit(const Commit& commit) override {
    if (failure_) return;
    try {
      inner_.on_commit(commit);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  Observer& inner_;
  std::exception_ptr failure_;
};

SlicedRun run_free(Simulator& engine, const Slices& slices) {
  bool stop = false;
  std::exception_ptr failure;
  auto asked = Clock::now();
  engine.set_poll([&](Time time, std::uint64_t commits) {
    if (stop || !slices.keep_on || seconds_since(asked) < kSliceSeconds) return false;
    asked = Clock::now();
    try {
      stop = !slices.keep_on(time, commits);
    } catch (...) {  // must not pass through the compiled code
      failure = std::current_exception();
      stop = true;
    }
    return stop;
  });
  const auto begin = Clock::now();
  const RunResult result = engine.run();
  const double seconds = seconds_since(begin);
  engine.set_poll({});
  if (failure) std::rethrow_exception(failure);
  if (result.ending != Ending::kStopped) return {result, seconds, false, kForever};
  // Order-free runs stop between instants, others in the midst of one.
  const Time until = engine.was_order_free() ? engine.now() : engine.now() - 1;
  return {result, seconds, result.stop == Stop::kAsked, until};
}

// Looks at an instant that takes longer than a slice should: then even its midst is a place to
// stop.
class Impatience {
 public:
  explicit Impatience(const Slices& slices) : slices_(slices) {}
  void begin_slice(double spent) {
    began_ = asked_ = Clock::now();
    spent_ = spent;
  }
  // Must not throw: it is called from compiled code.
  bool stop(Time time, std::uint64_t commits) {
    if (stopped_) return true;
    if (seconds_since(asked_) < 5 * kSliceSeconds) return false;
    asked_ = Clock::now();
    const bool midst = time == std::exchange(at_, time);
    if (!midst && seconds_since(began_) < 15 * kSliceSeconds) return false;
    over_ = slices_.budget > 0 && spent_ + seconds_since(began_) > slices_.budget;
    try {
      stopped_ = over_ || (slices_.keep_on && !slices_.keep_on(time, commits));
    } catch (...) {
      failure_ = std::current_exception();
      stopped_ = true;
    }
    return stopped_;
  }
  bool over() const { return over_; }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const Slices& slices_;
  Clock::time_point began_, asked_;
  double spent_ = 0;
  Time at_ = -1;  // when asked last
  bool stopped_ = false, over_ = false;
  std::exception_ptr failure_;
};

// Slices grow until each takes about kSliceSeconds.
template <typename Engine>
SlicedRun run_events(Engine& engine, const Slices& slices) {
  Impatience impatience(slices);
  engine.set_poll([&](Time time, std::uint64_t commits) { return impatience.stop(time, commits); });
  struct Release {
    Engine& engine;
    ~Release() { engine.set_poll({}); }
  } const release{engine};
  std::optional<Guarded> guarded;
  if (slices.observer != nullptr) guarded.emplace(*slices.observer);
  const Time limit = slices.limit;
  double total = 0;
  Time slice = kFirstSlice;
  Time until = std::max<Time>(engine.now(), 0);
  for (;;) {
    until = limit - until <= slice ? limit : until + slice;
    const auto begin = Clock::now();
    impatience.begin_slice(total);
    const RunResult result = engine.run(until, guarded ? &*guarded : nullptr);
    const double took = seconds_since(begin);
    total += took;
    if (guarded) guarded->rethrow();
    impatience.rethrow();
    if (impatience.over()) return {std::nullopt, total, false, engine.now() - 1};
    if (result.ending == Ending::kStopped) {
      return {result, total, result.stop == Stop::kAsked, engine.now() - 1};
    }
    if (result.ending == Ending::kCondition) return {result, total, false, engine.now()};
    if (result.ending != Ending::kLimit || until == limit) return {result, total, false, until};
    if (slices.keep_on && !slices.keep_on(until, result.commits)) {
      return {result, total, true, until};
    }
    if (slices.budget > 0 && total > slices.budget) return {std::nullopt, total, false, until};
    if (took < kSliceSeconds / 2 && slice < kForever / 16) slice *= took < 1e-3 ? 8 : 2;
    if (took > kSliceSeconds * 2) slice = std::max<Time>(slice / 2, 1);
  }
}

}  // namespace

SlicedRun run_sliced(Interp& engine, const Slices& slices) { return run_events(engine, slices); }

SlicedRun run_sliced(Simulator& engine, const Slices& slices) {
  const bool whole = slices.limit == kForever && slices.observer == nullptr;
  if (whole && engine.will_run_order_free()) return run_free(engine, slices);
  return run_events(engine, slices);
}

}  // namespace lpn::sim

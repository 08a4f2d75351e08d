// Runs of a compiled net.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lpn/net/marking.h"
#include "lpn/net/net.h"
#include "lpn/run/run.h"
#include "lpn/sim/library.h"

namespace lpn::sim {

// The chain of firings that decided when the last done token came or, in a net without done places,
// the last commit.
struct CriticalPath {
  // What cycles passed with; of the transition of that number, of the place for kPushed.
  enum class Kind : std::uint8_t { kDelay, kInterval, kClock, kPushed };
  struct Row {
    Kind kind{};
    std::uint32_t index = 0;
    std::uint64_t count = 0;  // firings of the chain, or waits
    Time cycles = 0;
  };
  struct Step {
    std::uint32_t index = 0;
    std::int32_t cause = 0;  // enum lpn_cause
    bool to_commit = false;  // else the path leaves the firing at its start
    Time start = 0, commit = 0;
  };
  std::vector<Row> rows;    // they add up to the latency
  std::vector<Step> steps;  // from the last one back; of a long path only the last ones
};

// How runs are made; the results are the same (docs/architecture.md).
enum class Mode : std::uint8_t {
  kAuto,       // order-free where the net and the run allow it
  kEvents,     // event-driven only
  kOrderFree,  // order-free also with an observer, whose commits are then kept until the end
};

// Bytes that a run may use unless somebody says otherwise: three quarters of the machine's memory.
std::uint64_t sane_memory();

// The same run as Interp (interp.h): same results, same commits, same errors.
class Simulator {
 public:
  // Within `budget`; `poll` is asked already while the tokens are placed. A run that is stopped
  // then or later has ending kStopped, and so have all runs after it.
  Simulator(Library library, const ParamValues& params, const Marking& marking,
            const Budget& budget = {}, Poll poll = {});
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  void push(PlaceId place, std::span<const std::int64_t> values, Time time);
  void feed(PlaceId place, std::span<const std::int64_t> values, std::span<const Time> times);
  // Throws RunError; Error "E-call" for an observer of a library without `trace`, and in a run.
  RunResult run(Time limit = kForever, Observer* observer = nullptr);
  // Runs simulators of one library to their ends or to `limit`, on so many threads (0: one per
  // processor), and hands each result, or its error, to `each` afterwards, in order. Inputs of a
  // net that is static go in lock step through vector registers; see docs/architecture.md. Returns
  // the seconds, of all threads together, that laying inputs side by side took. Tokens of places
  // that nothing takes from may then have no values.
  static double run_batch(
      std::span<Simulator> simulators, unsigned threads,
      const std::function<void(std::size_t, const RunResult*, const RunError*)>& each,
      Time limit = kForever);
  // Before the first run.
  void set_mode(Mode mode);
  // Who may stop the runs to come; nothing: nobody.
  void set_poll(Poll poll);
  // Whether run(kForever) will be attempted without a queue of events.
  bool will_run_order_free() const;
  // Whether the last run was order-free; if not, whether it was attempted (a run that meets an
  // error, a stall or times beyond 2^42 is repeated by the event-driven engine).
  bool was_order_free() const;
  bool fell_back() const;
  Time now() const;
  std::vector<std::int64_t> tokens(PlaceId place) const;
  std::uint64_t free_tokens(PlaceId place) const;
  // Before the first run: a place that the net does not read keeps when each token arrived, and
  // the run is event-driven. `take` then removes what has arrived since the last call.
  void collect(PlaceId place);
  Collected take(PlaceId place);
  void take(PlaceId place, Collected& into);  // in the place of what is there
  Stats stats() const;                        // Error "E-call" of a library built without `stats`

  // With a library built with `path`, else Error "E-call". Before the first run: the delays and
  // intervals of a transition halved, rounded up; and the bytes that the path may use.
  void halve(TransitionId transition);
  void set_path_budget(std::uint64_t bytes);
  // After a run: the chain of firings that decided the latency. Throws Error "E-path-memory" when
  // the budget was not enough.
  CriticalPath path() const;

 private:
  RunResult finish(std::int32_t status, const lpn_result& raw);
  std::vector<std::int64_t> legal_tokens(PlaceId place) const;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lpn::sim

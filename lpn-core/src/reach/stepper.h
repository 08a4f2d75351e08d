// Steps of a run over sets of inputs: docs/semantics.md, "Behaviour", with a branch wherever what
// happens next depends on a variable or on which of several events comes first.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lpn/reach/reach.h"
#include "state.h"
#include "sums.h"

namespace lpn::reach {

// The work was asked to end.
struct Ended {};

class Stepper {
 public:
  Stepper(const Net& net, const InputSpace& space, const ReachQuestion& question,
          const ReachOptions& options);
  ~Stepper();

  // Called every few thousand steps; may throw.
  std::function<void()> now_and_then;

  // The states before the first starts; settle() each.
  void begin(std::vector<State>& out);
  // The states after all starts of a group.
  void settle(State state, std::vector<State>& out);
  // Those after the next group of commits and the starts that follow it.
  void next(const State& state, std::vector<State>& out);
  // Bytes that whoever has the states holds, of those that the options allow.
  std::size_t held = 0;

  // How long the oldest request that is there has been under way at most; for a response.
  Time longest_under_way(const State& state);
  // What tells a state from others, but for times.
  std::string key(const State& state);

  // Of all inputs seen so far.
  std::optional<std::int64_t> best;
  bool may_stall = false, may_fail = false;

  const Net& net() const { return net_; }  // lowered
  // Whether states do not know how late it may be.
  bool forgets_most() const { return !remembers_times() && !question_.maximum; }
  bool has_done() const { return has_done_; }  // some place is done
  TermSets& sets() { return sets_; }
  const ParamValues& params(const State& state) const { return setups_[state.setup].params; }

 private:
  struct Env;
  struct Undecided {
    ExprId term;
  };
  struct TimeSplit {
    std::vector<Range> since_start;
  };
  struct Arc {
    std::size_t place = 0;
    bool inhibit = false, reads_head = false;
  };
  // What depends on parameters.
  struct Setup {
    ParamValues params;
    std::vector<std::uint64_t> servers;  // 0: any number
    std::vector<Time> period, phase;     // period 0: no clock
    std::optional<std::uint64_t> done;
  };

  bool remembers_times() const {
    return clocked_ || question_.what == ReachQuestion::What::kCommits;
  }
  void find_live();
  void find_births();
  void read_differences(ExprId constraint);
  bool schedule(State& state);
  void arrive(State state, std::size_t from, std::vector<State>& out);
  void prepare(State state, std::vector<State>& out);
  // Throws NotCovered unless there is room for so many bytes beside all that is held.
  void require_room(std::size_t bytes) const;
  // For so many states like this one.
  void require_room(const State& state, std::size_t count) const;
  std::size_t add_event(State& state, Range after_now) const;
  void place(State& state, std::size_t place, std::vector<Value> row, std::uint64_t count);
  void check(const State& state, std::size_t place, std::vector<Value>& row);

  bool attempt(State& state, std::size_t k, std::vector<State>& started);
  bool arcs_hold(State& state, Env& env, std::size_t k);
  bool on_edge(State& state, std::size_t k);
  void start(State& state, std::size_t k, Env& env, std::vector<State>& started);
  Range delay_of(State& state, Env& env, const Formula& formula, bool positive,
                 std::uint32_t& read);
  void emit(State& state, std::size_t k, Env& env, Firing& firing);
  bool read_elsewhere(const State& state, const Env& env, const Firing& firing,
                      std::uint32_t variable);
  Value evaluate(State& state, Env& env, const Formula& formula);
  std::int64_t number(State& state, Env& env, const Formula& formula);

  void split(const State& state, ExprId term, std::vector<State>& out);
  void split_time(const State& state, std::size_t k, const TimeSplit& parts,
                  std::vector<State>& out);
  bool restrict(State& state, std::uint32_t variable, DomainId domain);
  void substitute_in(State& state, std::uint32_t variable, std::int64_t number);
  Value resolved(const State& state, ExprId term);

  void ties(const State& state, const Zone& zone, std::size_t first, std::size_t other,
            std::vector<std::size_t>& together, std::vector<State>& out);
  void commit(const State& state, const Zone& zone, const std::vector<std::size_t>& together,
              std::vector<State>& out);
  void commit_one(State& state, const State::Flight& flight);
  void come(State& state, const State::Arrival& arrival);
  void append(State& state, std::size_t place, const Value* rows, std::uint64_t count);
  Time since(const State& state, const Value& born);
  void respond(const State& state, const Value* rows, std::uint64_t count);
  template <typename Visit>
  static void each_value(const State& state, Visit&& visit);
  void record(std::int64_t least, std::int64_t most);
  void finish(const State& state, bool quiet);
  void rest(State& state);
  void arrange(State& state);
  void mark(State& state, std::size_t place);
  static void insert(std::vector<std::uint32_t>& sorted, std::uint32_t k);
  void tick();

  Net declared_, net_;  // lowered
  const InputSpace& space_;
  ReachQuestion question_;
  ReachOptions options_;
  ExprPool pool_;
  TermSets sets_;
  std::vector<DomainId> domains_;  // at first
  Sums sums_;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<std::vector<std::uint32_t>> neighbours_;
  std::vector<std::vector<bool>> live_;  // per place and field
  std::vector<std::vector<std::vector<std::vector<bool>>>>
      safe_;  // emission fields that cannot fail
  std::vector<std::size_t> width_;
  // Of the space's conditions: variable `more` is at most `by` after `less`.
  struct Difference {
    std::uint32_t more = 0, less = 0;
    std::int64_t by = 0;
  };
  std::vector<Difference> differences_;
  // For a response: which property of a place's tokens says when they were born, where it matters.
  std::vector<std::optional<std::size_t>> born_;
  std::deque<Setup> setups_;
  bool clocked_ = false, has_done_ = false, needs_done_ = false;
  std::uint64_t steps_ = 0, branches_ = 0;
  std::size_t open_ = 0;  // bytes of states that are not settled
};

// Calls visit(value) for what the tokens of a state hold, those in flight and to come as well.
template <typename Visit>
void Stepper::each_value(const State& state, Visit&& visit) {
  for (const Queue& queue : state.queues) {
    for (std::size_t k = queue.head; queue.rows && k < queue.rows->size(); ++k) {
      visit((*queue.rows)[k]);
    }
  }
  for (const State::Flight& flight : state.flights) {
    for (const Value& value : flight.firing->values) visit(value);
  }
  for (const State::Arrival& arrival : state.arrivals) {
    for (const Value& value : *arrival.row) visit(value);
  }
}

}  // namespace lpn::reach

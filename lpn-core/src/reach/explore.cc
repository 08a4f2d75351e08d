// All states, those with the fewest commits first, so that what may be joined waits for each other.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "lpn/base/error.h"
#include "remaining.h"
#include "stepper.h"

namespace lpn {
namespace {

using namespace reach;  // NOLINT: this is its front
using Clock = std::chrono::steady_clock;

Remaining::What remains_of(const ReachQuestion& question) {
  switch (question.what) {
    case ReachQuestion::What::kCommits: return Remaining::What::kCommits;
    case ReachQuestion::What::kBusy: return Remaining::What::kBusy;
    default: return Remaining::What::kTime;
  }
}

struct Zones {
  struct One {
    Zone zone;
    Time last = 0;              // State::last
    std::uint64_t counted = 0;  // State::counted, of which more is more for a maximum
    bool maximum = true;
    bool includes(const One& other) const {
      return last <= other.last &&
             (maximum ? counted >= other.counted : counted <= other.counted) &&
             zone.includes(other.zone);
    }
    void join(const One& other) {
      last = std::min(last, other.last);
      counted = maximum ? std::max(counted, other.counted) : std::min(counted, other.counted);
      zone.join(other.zone);
    }
  };
  bool include(const One& one) const {
    return std::any_of(all.begin(), all.end(),
                       [&](const One& other) { return other.includes(one); });
  }

  std::vector<One> all;
  std::uint64_t commits = 0;  // of the first
  std::int64_t waiting = -1;  // the node of the last one, until it is looked at
};

class Explorer {
 public:
  Explorer(const Net& net, const InputSpace& space, const ReachQuestion& question,
           const ReachOptions& options)
      : question_(question), options_(options), stepper_(net, space, question, options) {
    stepper_.now_and_then = [this] { poll(); };
  }

  Reached run() {
    Reached result;
    try {
      begin();
      while (!open_.empty()) {
        poll();
        if (options_.states != 0 && looked_ >= options_.states) {
          result.why = fmt::format("stopped at {} states", options_.states);
          break;
        }
        expand();
      }
      result.complete = open_.empty();
    } catch (const Ended&) {
      result.why = "the work was ended";
    } catch (const NotCovered& reason) {
      result.why = reason.what();
    } catch (const std::bad_alloc&) {
      result.why = "stopped at the memory there is";
    } catch (const Error& error) {
      result.why = error.what();  // a term became too large
    }
    result.states = looked_;
    if (result.complete) {
      result.bound = stepper_.best;
    } else if (begun_) {
      result.bound = rough();
    }
    result.may_stall = stepper_.may_stall || !result.complete;
    result.may_fail = stepper_.may_fail || may_loop_ || !result.complete;
    return result;
  }

 private:
  using Known = std::unordered_map<std::string, Zones>;
  struct Node {
    State state;
    Zones* zones = nullptr;
    std::size_t which = 0;
  };
  struct Order {
    bool late;
    std::uint64_t commits, number;
    bool operator<(const Order& other) const {
      return std::tie(late, commits, number) > std::tie(other.late, other.commits, other.number);
    }
  };

  void poll() {
    const auto now = Clock::now();
    if (!options_.go_on || now - asked_ < std::chrono::milliseconds(50)) return;
    asked_ = now;
    if (!options_.go_on(looked_, open_.size(), met_)) throw Ended{};
  }

  // The bounds of the runs that go through states that were not looked at.
  std::optional<std::int64_t> rough() {
    std::optional<std::int64_t> bound = stepper_.best;
    const auto see = [&](std::optional<std::int64_t> other) {
      if (!other) return false;
      if (!bound || (question_.maximum ? *other > *bound : *other < *bound)) bound = other;
      return true;
    };
    for (const State& state : unsettled_) {
      if (!see(after(state))) return std::nullopt;
    }
    for (auto& [number, node] : nodes_) {
      restore(node.state, node.zones->all[node.which]);
      if (!see(after(node.state))) return std::nullopt;
    }
    return bound;
  }

  // What was joined with the state of a node.
  static void restore(State& state, const Zones::One& one) {
    state.zone = one.zone;
    state.last = one.last;
    state.counted = one.counted;
  }

  // What runs through a state have.
  std::optional<std::int64_t> after(const State& state) {
    using What = ReachQuestion::What;
    const bool counts = question_.what == What::kCommits || question_.what == What::kBusy;
    if (!question_.maximum) {
      if (counts) return static_cast<std::int64_t>(state.counted);
      // Without done places a run may be over that still waits for an arrival or an edge.
      if (question_.what == What::kLatency && (state.produced || !stepper_.has_done())) {
        return state.last;
      }
      return std::max<Time>(state.zone.least(Zone::kNow, Zone::kStart), 0);
    }
    if (question_.what == What::kBacklog) return std::nullopt;
    const std::optional<std::int64_t> left = remaining_[state.setup].of(state);
    if (!left) return std::nullopt;
    // Who comes later is born later.
    if (question_.what == What::kResponse) return *left + stepper_.longest_under_way(state);
    return *left + (counts ? static_cast<std::int64_t>(state.counted)
                           : state.zone.most(Zone::kNow, Zone::kStart));
  }

  void begin() {
    using What = ReachQuestion::What;
    const bool largest = question_.what == What::kResponse || question_.what == What::kBacklog;
    if (largest && !question_.maximum) {
      throw NotCovered("the least response or backlog needs a space whose inputs can all be run");
    }
    stepper_.begin(unsettled_);
    for (const State& state : unsettled_) {
      stepper_.held += bytes_of(state);
      if (remaining_.size() > state.setup) continue;  // tokens that come later may come at first
      remaining_.emplace_back(stepper_.net(), stepper_.params(state), stepper_.sets(), state,
                              remains_of(question_), question_.transition);
    }
    begun_ = true;
    while (!unsettled_.empty()) {
      std::vector<State> found;
      stepper_.settle(unsettled_.back(), found);
      for (State& each : found) meet(std::move(each));
      unsettled_.pop_back();
    }
  }

  void expand() {
    const std::uint64_t number = open_.top().number;
    met_ = open_.top().late;
    open_.pop();
    Node node = std::move(nodes_.at(number));
    nodes_.erase(number);
    stepper_.held -= bytes_of(node.state);
    if (node.zones->waiting == static_cast<std::int64_t>(number)) node.zones->waiting = -1;
    restore(node.state, node.zones->all[node.which]);
    State& state = node.state;
    ++looked_;
    std::vector<State> found;
    unsettled_.push_back(state);  // what is known if the work ends here
    stepper_.next(state, found);
    for (State& each : found) meet(std::move(each));
    unsettled_.pop_back();
  }

  // Whether nothing that runs through a state have is beyond what is enough.
  bool no_more(const State& state) {
    if (!options_.enough) return false;
    const std::optional<std::int64_t> most = after(state);
    return most && (question_.maximum ? *most <= *options_.enough : *most >= *options_.enough);
  }

  void meet(State state) {
    const std::string key = stepper_.key(state);
    const Zones::One one{state.zone, question_.maximum ? 0 : state.last, state.counted,
                         question_.maximum};
    const bool late = no_more(state);
    if (late) {
      // What is looked at anyway may have it.
      const auto at = known_.find(key);
      if (at != known_.end() && at->second.include(one)) return see_again(at->second, state);
      if (add(late_, key, state, one, true)) return;
    }
    add(known_, key, state, one, false);
  }

  // The same tokens after more firings: a run may go round for ever, unless time passes and is
  // remembered, for then it would not be the same.
  void see_again(const Zones& zones, const State& state) {
    if (zones.commits == state.commits) return;
    if (state.same_instant || stepper_.forgets_most()) may_loop_ = true;
  }

  // False: it would be joined with another, and then more could come of both than is enough.
  bool add(Known& known, const std::string& key, State& state, const Zones::One& one, bool late) {
    const auto [at, added] = known.try_emplace(key);
    Zones& zones = at->second;
    if (added)
      zones.commits = state.commits, stepper_.held += at->first.size() + sizeof(Zones) + 96;
    see_again(zones, state);
    if (zones.include(one)) return true;
    poll();
    std::size_t which = zones.all.size();
    if (options_.zones != 0 && which >= options_.zones) {
      const bool waits = zones.waiting >= 0;  // it was not looked at yet: it may as well be more
      which = waits ? nodes_.at(static_cast<std::uint64_t>(zones.waiting)).which : which - 1;
      Zones::One joined = zones.all[which];
      joined.join(one);
      if (late) {
        State both = state;
        restore(both, joined);
        if (!no_more(both)) return false;
      }
      zones.all[which] = std::move(joined);
      if (waits) return true;
    } else {
      stepper_.held += one.zone.size() * one.zone.size() * sizeof(Time) + sizeof(one);
      zones.all.push_back(one);
    }
    const std::uint64_t number = numbers_++;
    zones.waiting = static_cast<std::int64_t>(number);
    open_.push({late, state.commits, number});
    stepper_.held += bytes_of(state);
    nodes_.emplace(number, Node{std::move(state), &zones, which});
    return true;
  }

  ReachQuestion question_;
  ReachOptions options_;
  Stepper stepper_;
  Known known_, late_;  // addresses of values stay
  std::unordered_map<std::uint64_t, Node> nodes_;
  std::priority_queue<Order> open_;
  std::vector<State> unsettled_;     // whose successors are not all known
  std::deque<Remaining> remaining_;  // per setup
  bool begun_ = false;
  bool may_loop_ = false;
  bool met_ = false;  // what is looked at cannot pass what is enough
  std::uint64_t numbers_ = 0, looked_ = 0;
  Clock::time_point asked_ = Clock::now();
};

}  // namespace

Reached bound_by_states(const Net& net, const InputSpace& space, const ReachQuestion& question,
                        const ReachOptions& options) {
  return Explorer(net, space, question, options).run();
}

std::optional<std::uint64_t> most_done_tokens(const Net& net, const InputSpace& space) {
  std::optional<std::uint64_t> most;
  try {
    Stepper stepper(net, space, {}, {});
    std::vector<State> first;
    stepper.begin(first);
    for (const State& state : first) {
      const Remaining remaining(stepper.net(), stepper.params(state), stepper.sets(), state,
                                Remaining::What::kDone);
      const std::optional<std::int64_t> here = remaining.of(state);
      if (!here) return std::nullopt;
      most = std::max(most.value_or(0), static_cast<std::uint64_t>(*here));
    }
  } catch (const NotCovered&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
  return most;
}

}  // namespace lpn

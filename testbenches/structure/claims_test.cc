// Soundness of invariants.h: random nets are run in the interpreter, and no state that they reach
// may break a bound or an exclusion that was claimed, for the markings that the claim allows.
//
//   claims_test [--nets N] [--seed S]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "case.h"
#include "lpn/expr/eval.h"
#include "lpn/net/lower.h"
#include "lpn/run/interp.h"
#include "lpn/smt/z3_feasibility.h"
#include "lpn/structure/invariants.h"
#include "lpn/text/text.h"
#include "random_net.h"

namespace lpn::bench {
namespace {

struct Enough {};
constexpr std::size_t kMostCommits = 2'000;

struct Claims {
  std::map<std::uint32_t, TokenBound> bounds;
  struct Pair {
    std::uint32_t a = 0, b = 0;
    std::vector<PlaceId> relies_on;
  };
  std::vector<Pair> exclusive, apart;
};

struct Totals {
  std::uint64_t bounds = 0, ones = 0, reached = 0, exclusive = 0, apart = 0;  // claims in use
  std::uint64_t states = 0, runs = 0, by_solver = 0;
};

Claims claims_of(const Net& lowered, Feasibility* solver) {
  const Invariants invariants(lowered, solver);
  Claims claims;
  for (std::uint32_t p = 0; p < lowered.places.size(); ++p) {
    if (auto bound = invariants.bound(static_cast<PlaceId>(p))) claims.bounds.emplace(p, *bound);
  }
  for (std::uint32_t a = 0; a < lowered.transitions.size(); ++a) {
    for (std::uint32_t b = a; b < lowered.transitions.size(); ++b) {
      const std::vector<TransitionId> pair{static_cast<TransitionId>(a),
                                           static_cast<TransitionId>(b)};
      std::vector<PlaceId> relies_on;
      if (a != b && invariants.mutually_exclusive(pair, &relies_on))
        claims.exclusive.push_back({a, b, relies_on});
      if (invariants.never_overlap(pair[0], pair[1], &relies_on))
        claims.apart.push_back({a, b, relies_on});
    }
  }
  return claims;
}

// One run, watched commit by commit.
class Watch : public Observer {
 public:
  Watch(const Net& net, const Net& lowered, const Case& c, const Claims& claims)
      : lowered_(lowered), tokens_(lowered.places.size()), peak_(lowered.places.size()) {
    std::set<PlaceId> loaded;
    for (const Load& load : c.loads) {
      tokens_[static_cast<std::size_t>(load.place)] += static_cast<std::int64_t>(load.count);
      if (load.count > 0) loaded.insert(load.place);
    }
    for (std::size_t p = 0; p < net.places.size(); ++p) {
      for (const Initial& initial : net.places[p].initial)
        tokens_[p] += eval_params(net.exprs, initial.count.id, c.params);
    }
    for (std::size_t p = 0; p < lowered.places.size(); ++p) {
      if (const auto of = lowered.places[p].credit_of) {
        capacity_[p] = eval_params(net.exprs, net[*of].capacity->id, c.params);
        tokens_[p] = capacity_[p] - tokens_[static_cast<std::size_t>(*of)];
      }
    }
    const auto allowed = [&](const std::vector<PlaceId>& relies_on) {
      return std::none_of(relies_on.begin(), relies_on.end(),
                          [&](PlaceId p) { return loaded.contains(p); });
    };
    for (const auto& [p, bound] : claims.bounds) {
      if (allowed(bound.because->relies_on)) bounds_.emplace(p, bound.tokens);
    }
    for (const auto& pair : claims.exclusive) {
      if (allowed(pair.relies_on)) exclusive_.push_back(pair);
    }
    for (const auto& pair : claims.apart) {
      if (allowed(pair.relies_on)) apart_.push_back(pair);
    }
    in_flight_.resize(lowered.transitions.size());
    look();
  }

  void on_commit(const Commit& commit) override {
    const auto t = static_cast<std::size_t>(commit.transition);
    const Transition& transition = lowered_.transitions[t];
    for (std::size_t k = 0; k < commit.taken.size(); ++k)
      change(transition.inputs[k].place, -static_cast<std::int64_t>(commit.taken[k].size()));
    for (std::size_t k = 0; k < commit.produced.size(); ++k)
      change(transition.outputs[k].place, static_cast<std::int64_t>(commit.produced[k]));
    in_flight_[t].emplace_back(commit.start, commit.time);
    look();
    if (++commits_ > kMostCommits) throw Enough{};
  }

  void end() {
    for (const auto& pair : apart_) {
      const auto& a = in_flight_[pair.a];
      const auto& b = in_flight_[pair.b];
      for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = pair.a == pair.b ? i + 1 : 0; j < b.size(); ++j) {
          if (std::max(a[i].first, b[j].first) < std::min(a[i].second, b[j].second)) {
            fail(fmt::format("'{}' and '{}' overlap", lowered_.transitions[pair.a].name,
                             lowered_.transitions[pair.b].name));
          }
        }
      }
    }
  }

  const std::string& failure() const { return failure_; }
  void count(Totals& totals) const {
    totals.bounds += bounds_.size();
    for (const auto& [p, most] : bounds_) {
      totals.ones += most <= 1;
      totals.reached += peak_[p] == most;
    }
    totals.exclusive += exclusive_.size();
    totals.apart += apart_.size();
    totals.states += commits_ + 1;
    ++totals.runs;
  }

 private:
  void fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }
  void change(PlaceId place, std::int64_t n) {
    const auto p = static_cast<std::size_t>(place);
    tokens_[p] += n;
    for (const auto& [credit, capacity] : capacity_) {
      if (*lowered_.places[credit].credit_of == place) tokens_[credit] -= n;
    }
  }
  void look() {
    for (std::size_t p = 0; p < tokens_.size(); ++p) peak_[p] = std::max(peak_[p], tokens_[p]);
    for (const auto& [p, most] : bounds_) {
      if (tokens_[p] > most)
        fail(fmt::format("'{}' has {} tokens, at most {} were claimed", lowered_.places[p].name,
                         tokens_[p], most));
    }
    for (const auto& pair : exclusive_) {
      if (may_start(pair.a) && may_start(pair.b))
        fail(fmt::format("'{}' and '{}' both have their tokens", lowered_.transitions[pair.a].name,
                         lowered_.transitions[pair.b].name));
    }
  }
  // As far as counts go; only said of transitions whose needs are constant.
  bool may_start(std::uint32_t t) const {
    for (const InputArc& arc : lowered_.transitions[t].inputs) {
      const std::int64_t present = tokens_[static_cast<std::size_t>(arc.place)];
      if (arc.inhibit) {
        if (present != 0) return false;
        continue;
      }
      std::int64_t weight = 0, threshold = 0;
      if (!lowered_.exprs.is_const(arc.weight.id, weight)) return false;
      if (arc.threshold && !lowered_.exprs.is_const(arc.threshold->id, threshold)) return false;
      if (present < std::max(weight, threshold)) return false;
    }
    return true;
  }

  const Net& lowered_;
  std::vector<std::int64_t> tokens_, peak_;
  std::map<std::size_t, std::int64_t> capacity_;  // of credit places
  std::map<std::uint32_t, std::int64_t> bounds_;
  std::vector<Claims::Pair> exclusive_, apart_;
  std::vector<std::vector<std::pair<Time, Time>>> in_flight_;
  std::size_t commits_ = 0;
  std::string failure_;
};

std::string run(const Case& c, const Net& lowered, const Claims& claims, Totals& totals) {
  Watch watch(c.net, lowered, c, claims);
  try {
    InterpOptions options;
    options.trace = true;
    options.group_limit = 40;
    Interp interp(c.net, c.params, marking_of(c), options);
    interp.run(100'000, &watch);
  } catch (const Enough&) {
  } catch (const RunError&) {  // what was seen before it counts
  }
  watch.end();
  watch.count(totals);
  return watch.failure();
}

int main(int argc, char** argv) {
  std::uint64_t nets = 200, seed = 1;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (std::strcmp(argv[k], "--nets") == 0) nets = std::strtoull(argv[k + 1], nullptr, 10);
    if (std::strcmp(argv[k], "--seed") == 0) seed = std::strtoull(argv[k + 1], nullptr, 10);
  }
  Totals totals;
  int failures = 0;
  smt::Z3Feasibility solver;
  for (std::uint64_t number = 0; number < nets; ++number) {
    Random random(seed * 1'000'003 + number);
    const Net net = random_net(random);
    const Net lowered = lower(net);
    const Claims plain = claims_of(lowered, nullptr);
    const Claims solved = number % 3 == 0 ? claims_of(lowered, &solver) : plain;
    totals.by_solver += solved.bounds.size() - plain.bounds.size();
    for (int k = 0; k < 6; ++k) {
      Case c = random_inputs(net, random);
      // Most markings of the generator fill many places; claims are about those that do not.
      if (k % 3 != 0) {
        std::erase_if(c.loads, [&](const Load& load) {
          return !net[load.place].start && (k % 3 == 1 || !net[load.place].capacity);
        });
      }
      std::string failure;
      try {
        failure = run(c, lowered, solved, totals);
      } catch (const Error&) {
        continue;  // parameters or initial tokens that no run can have
      } catch (const EvalFault&) {
        continue;
      }
      if (failure.empty()) continue;
      fmt::print("net {} of seed {}, case {}: {}\n{}\n{}\n", number, seed, k, failure,
                 print_net(net), print_inputs(c));
      if (++failures == 3) return 1;
    }
  }
  fmt::print(
      "{} nets, {} runs, {} states; claims watched: {} bounds ({} of one token, {} reached), {} "
      "exclusions, {} pairs that never overlap; {} bounds needed the solver: {} broken\n",
      nets, totals.runs, totals.states, totals.bounds, totals.ones, totals.reached,
      totals.exclusive, totals.apart, totals.by_solver, failures);
  // A test that watches next to nothing is none.
  const bool enough = totals.bounds > nets && totals.ones > nets / 10 &&
                      totals.reached > nets / 2 && totals.exclusive > nets / 20 &&
                      totals.apart > nets / 10;
  if (!enough) fmt::print("too few claims\n");
  return failures == 0 && enough ? 0 : 1;
}

}  // namespace
}  // namespace lpn::bench

int main(int argc, char** argv) { return lpn::bench::main(argc, argv); }

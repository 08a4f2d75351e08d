#include "lpn/sim/every_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"
#include "lpn/expr/eval.h"
#include "lpn/run/interp.h"
#include "lpn/run/latencies.h"
#include "lpn/sim/simulator.h"

namespace lpn::sim {
namespace {

constexpr std::uint64_t kPortion = 64;  // assignments a thread takes at a time

// Of the finished run of one input.
struct Measured {
  RunResult result;
  std::vector<std::uint64_t> commits;                // per transition
  std::vector<Time> busy;                            // per transition
  std::vector<std::pair<Time, std::uint64_t>> done;  // done tokens by time
  std::map<std::uint64_t, Time> response;            // per place that is asked about
  std::vector<PlaceStats> places;
};

class Counter : public Watcher {
 public:
  Counter(const Net& net, Measured& into) : net_(net), into_(into) {}
  void on_start(const Started&) override {}
  void on_arrival(Time, PlaceId, std::span<const std::int64_t>) override {}
  void on_wait(Time, const Blocked&) override {}
  void on_commit(const Started& firing) override {
    const auto k = static_cast<std::size_t>(firing.transition);
    ++into_.commits[k];
    std::uint64_t done = 0;
    for (std::size_t o = 0; o < firing.produced.size(); ++o) {
      if (net_[net_.transitions[k].outputs[o].place].done) done += firing.produced[o];
    }
    if (done > 0) into_.done.emplace_back(firing.due, done);
  }

 private:
  const Net& net_;
  Measured& into_;
};

bool needs(const std::vector<Form>& forms, Quantity::Kind kind) {
  return std::any_of(forms.begin(), forms.end(), [kind](const Form& form) {
    return std::any_of(form.begin(), form.end(),
                       [kind](const auto& each) { return each.first.kind == kind; });
  });
}

// Runs inputs one after the other, for one thread.
class Runner {
 public:
  Runner(const Net& net, const std::vector<Form>& forms, const EveryInputOptions& options)
      : net_(net),
        options_(options),
        stats_(needs(forms, Quantity::Kind::kBusy) || needs(forms, Quantity::Kind::kBacklog)),
        watch_(needs(forms, Quantity::Kind::kCommits) ||
               needs(forms, Quantity::Kind::kCompletion)) {
    for (const Form& form : forms) {
      for (const auto& [quantity, factor] : form) {
        if (quantity.kind == Quantity::Kind::kResponse) ends_.insert(quantity.index);
      }
    }
  }

  Measured run(const ParamValues& params, const Marking& marking) {
    Budget budget;
    budget.memory = options_.memory;
    Measured found;
    if (options_.library != nullptr && !stats_ && !watch_ && ends_.empty()) {
      Simulator engine(*options_.library, params, marking, budget, too_long());
      found.result = engine.run();
      return found;
    }
    found.commits.resize(net_.transitions.size());
    InterpOptions how;
    how.group_limit = options_.group_limit;
    how.stats = stats_;
    how.budget = budget;
    how.poll = too_long();
    Interp engine(net_, params, marking, how);
    Counter counter(net_, found);
    if (watch_) engine.watch(&counter);
    for (const std::uint64_t place : ends_) engine.collect(static_cast<PlaceId>(place));
    found.result = engine.run();
    if (stats_ && found.result.ending != Ending::kStopped) {
      const Stats stats = engine.stats();
      for (const TransitionStats& t : stats.transitions) found.busy.push_back(t.busy);
      found.places = stats.places;
    }
    for (const std::uint64_t place : ends_) {
      longest(static_cast<PlaceId>(place), engine.take(static_cast<PlaceId>(place)), found);
    }
    return found;
  }

 private:
  void longest(PlaceId place, const Collected& came, Measured& found) const {
    const TokenType& type = net_.type_of(place);
    const std::optional<std::size_t> born = birth_field(type);
    LPN_ASSERT(born.has_value());
    Latencies latencies(type.fields.size(), *born, {}, 0);
    latencies.add(came);
    if (latencies.all().count() == 0) return;
    found.response[static_cast<std::uint64_t>(place)] = latencies.all().greatest();
  }

  Poll too_long() const {
    return [most = options_.most_commits](Time, std::uint64_t commits) { return commits > most; };
  }

  const Net& net_;
  const EveryInputOptions& options_;
  bool stats_, watch_;
  std::set<std::uint64_t> ends_;  // places at which requests end
};

// When the k-th done token came, from 1.
std::optional<Time> completion(const Measured& run, std::uint64_t k) {
  std::uint64_t seen = 0;
  for (const auto& [time, count] : run.done) {
    seen += count;
    if (seen >= k) return time;
  }
  return std::nullopt;
}

std::optional<std::int64_t> value_of(const InputSpace& space, Quantity q, const Measured& run,
                                     const Assignment& input) {
  switch (q.kind) {
    case Quantity::Kind::kOne: return 1;
    case Quantity::Kind::kLatency: return run.result.latency;
    case Quantity::Kind::kCompletion: return completion(run, q.index);
    case Quantity::Kind::kBusy: return run.busy[q.index];
    case Quantity::Kind::kCommits: return static_cast<std::int64_t>(run.commits[q.index]);
    case Quantity::Kind::kResponse: {
      const auto found = run.response.find(q.index);
      if (found == run.response.end()) return std::nullopt;
      return found->second;
    }
    case Quantity::Kind::kBacklog: return static_cast<std::int64_t>(run.places[q.index].peak);
    case Quantity::Kind::kTerm:
      try {
        return eval_params(space.variables.exprs, static_cast<ExprId>(q.index), input);
      } catch (const EvalFault& fault) {
        throw Error("E-overflow", fmt::format("the interface has no value for an input ({})",
                                              fault_code(fault.fault)));
      }
  }
  return std::nullopt;
}

std::optional<std::int64_t> value_of(const InputSpace& space, const Form& form, const Measured& run,
                                     const Assignment& input) {
  Wide sum = 0;
  for (const auto& [quantity, coefficient] : form) {
    const std::optional<std::int64_t> value = value_of(space, quantity, run, input);
    if (!value) return std::nullopt;
    sum += Wide{*value} * coefficient;
  }
  const auto narrow = static_cast<std::int64_t>(sum);
  if (narrow != sum) throw Error("E-overflow", "a sum of quantities does not fit in 64 bits");
  return narrow;
}

// Numbered assignments in lexicographic order: a number with mixed bases.
class Numbering {
 public:
  Numbering(const InputSpace& space, const std::vector<Assignment>* listed)
      : space_(space), listed_(listed) {
    if (listed != nullptr) {
      total_ = listed->size();
      return;
    }
    for (const Param& v : space.variables.params) {
      total_ *=
          static_cast<std::uint64_t>(v.range->hi) - static_cast<std::uint64_t>(v.range->lo) + 1;
    }
  }
  std::uint64_t total() const { return total_; }
  void read(std::uint64_t number, Assignment& into) const {
    if (listed_ != nullptr) {
      into = (*listed_)[number];
      return;
    }
    const auto& variables = space_.variables.params;
    into.resize(variables.size());
    for (std::size_t k = variables.size(); k-- > 0;) {
      const Range range = *variables[k].range;
      const std::uint64_t size =
          static_cast<std::uint64_t>(range.hi) - static_cast<std::uint64_t>(range.lo) + 1;
      into[k] = range.lo + static_cast<std::int64_t>(number % size);
      number /= size;
    }
  }

 private:
  const InputSpace& space_;
  const std::vector<Assignment>* listed_;
  std::uint64_t total_ = 1;
};

// What one thread found; numbers of assignments instead of them, so that the first one counts.
struct Part {
  struct Best {
    std::int64_t value;
    std::uint64_t number;
  };
  std::uint64_t looked = 0, inputs = 0, silent = 0;
  std::vector<std::optional<Best>> largest;
  std::vector<std::uint64_t> without;
  std::optional<std::uint64_t> stalled, failed, endless;
};

void keep_first(std::optional<std::uint64_t>& first, std::optional<std::uint64_t> other) {
  if (other && (!first || *other < *first)) first = other;
}

void keep_best(std::optional<Part::Best>& best, const Part::Best& other) {
  if (!best || other.value > best->value ||
      (other.value == best->value && other.number < best->number)) {
    best = other;
  }
}

class Work {
 public:
  Work(const Net& net, const InputSpace& space, const std::vector<Form>& forms,
       const EveryInputOptions& options)
      : net_(net),
        space_(space),
        forms_(forms),
        options_(options),
        numbering_(space, options.listed) {
    first_ = std::min(options.first, numbering_.total());
    end_ = first_ + std::min(options.most, numbering_.total() - first_);
    next_ = first_;
    all_.largest.resize(forms.size());
    all_.without.resize(forms.size());
  }

  EveryInput run() {
    unsigned threads = options_.threads ? options_.threads : std::thread::hardware_concurrency();
    threads = std::max(1u, std::min<unsigned>(threads, 256));
    std::vector<std::thread> others;
    for (unsigned k = 1; k < threads; ++k) others.emplace_back([this] { work(false); });
    work(true);
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
    return result();
  }

 private:
  void work(bool asks) {
    Part mine;
    mine.largest.resize(forms_.size());
    mine.without.resize(forms_.size());
    try {
      portions(mine, asks);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
    const std::lock_guard lock(mutex_);
    merge(mine);
  }

  void portions(Part& mine, bool asks) {
    Runner runner(net_, forms_, options_);
    Assignment input;
    auto asked = std::chrono::steady_clock::now();
    while (!stop_) {
      const std::uint64_t begin = next_.fetch_add(kPortion);
      if (begin >= end_) return;
      for (std::uint64_t k = begin; k < std::min(begin + kPortion, end_) && !stop_; ++k) {
        numbering_.read(k, input);
        ++mine.looked;
        if (contains(space_, input)) one(runner, input, k, mine);
        if (!asks || !options_.go_on) continue;
        const auto now = std::chrono::steady_clock::now();
        if (now - asked < std::chrono::milliseconds(50)) continue;
        asked = now;
        if (!options_.go_on(std::min(next_.load(), end_) - first_)) stop_ = true;
      }
    }
  }

  void one(Runner& runner, const Assignment& input, std::uint64_t number, Part& mine) {
    ++mine.inputs;
    Measured run;
    try {
      run = runner.run(params_of(net_, space_, input), marking_of(net_, space_, input));
    } catch (const Error&) {  // of the run, or of its start: which one, a run of the input tells
      keep_first(mine.failed, number);
      return;
    }
    if (run.result.ending == Ending::kStopped || run.result.commits > options_.most_commits) {
      return keep_first(mine.endless, number);
    }
    if (run.result.stalled) return keep_first(mine.stalled, number);
    mine.silent += !run.result.latency;
    for (std::size_t f = 0; f < forms_.size(); ++f) {
      if (const auto value = value_of(space_, forms_[f], run, input)) {
        keep_best(mine.largest[f], {*value, number});
      } else {
        ++mine.without[f];
      }
    }
  }

  void merge(const Part& part) {
    all_.looked += part.looked;
    all_.inputs += part.inputs;
    all_.silent += part.silent;
    for (std::size_t f = 0; f < forms_.size(); ++f) {
      if (part.largest[f]) keep_best(all_.largest[f], *part.largest[f]);
      all_.without[f] += part.without[f];
    }
    keep_first(all_.stalled, part.stalled);
    keep_first(all_.failed, part.failed);
    keep_first(all_.endless, part.endless);
  }

  EveryInput result() const {
    const auto input = [this](std::uint64_t number) {
      Assignment values;
      numbering_.read(number, values);
      return values;
    };
    const auto given = [&](std::optional<std::uint64_t> number) {
      return number ? std::optional(input(*number)) : std::nullopt;
    };
    EveryInput found{.assignments = all_.looked,
                     .inputs = all_.inputs,
                     .complete = all_.looked == end_ - first_,
                     .largest = {},
                     .without = all_.without,
                     .silent = all_.silent,
                     .stalled = given(all_.stalled),
                     .failed = given(all_.failed),
                     .endless = given(all_.endless)};
    for (const auto& best : all_.largest) {
      found.largest.emplace_back();
      if (best) found.largest.back() = EveryInput::Largest{best->value, input(best->number)};
    }
    return found;
  }

  const Net& net_;
  const InputSpace& space_;
  const std::vector<Form>& forms_;
  const EveryInputOptions& options_;
  Numbering numbering_;
  std::uint64_t first_ = 0, end_ = 0;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  Part all_;
  std::exception_ptr failure_;
};

}  // namespace

EveryInput run_every_input(const Net& net, const InputSpace& space, const std::vector<Form>& forms,
                           const EveryInputOptions& options) {
  return Work(net, space, forms, options).run();
}

}  // namespace lpn::sim

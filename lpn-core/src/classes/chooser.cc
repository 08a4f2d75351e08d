#include "classes/chooser.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include "lpn/expr/build.h"
#include "lpn/expr/eval.h"

namespace lpn {
namespace {

// Of a condition, and values of a variable, that are varied one by one before the solver is asked.
constexpr std::size_t kMostVaried = 8;
constexpr std::uint64_t kAllTried = 256;
constexpr std::uint64_t kAllTogether = 4096;

}  // namespace

bool is_true(const Assignment& input, const ExprPool& pool, ExprId condition) {
  try {
    return eval_params(pool, condition, input) != 0;
  } catch (const EvalFault&) {
    return false;
  }
}

Chooser::Chooser(PathSearch& search, Job job, Path& path, Differences& differences)
    : search_(search), job_(std::move(job)), path_(path), differences_(differences) {
  samples_ = std::move(job_.samples);
  times_.assign(samples_.size(), {0});
}

bool Chooser::holds(ExprId condition) {
  const auto test = [&](std::size_t k) {
    return is_true(samples_[k], search_.space().variables.exprs, condition);
  };
  ExprBuilder build(search_.space().variables.exprs);
  const ExprId otherwise = build.logical_not(condition);
  return choose(test, [&](bool side, Question& question) {
    question.conditions.push_back(side ? condition : otherwise);
  });
}

bool Chooser::holds(const Order& order) {
  const auto test = [&](std::size_t k) {
    const Time a = times_[k][static_cast<std::size_t>(order.before)];
    const Time b = times_[k][static_cast<std::size_t>(order.after)];
    return order.strict ? a < b : a <= b;
  };
  const Order reverse{order.after, order.before, !order.strict};
  return choose(test, [&](bool side, Question& question) {
    question.orders.push_back(side ? order : reverse);
  });
}

bool Chooser::fails(ExprId term) {
  ExprPool& pool = search_.space().variables.exprs;
  const auto test = [&](std::size_t k) {
    try {
      eval_params(pool, term, samples_[k]);
      return false;
    } catch (const EvalFault&) {
      return true;
    }
  };
  // Not simplified, so that the term stays in it.
  const bool boolean = pool[term].type == Type::kBool;
  const ExprId evaluates =
      boolean ? pool.binary(Op::kOr, term, pool.boolean(true))
              : pool.binary(Op::kLe, pool.constant(std::numeric_limits<std::int64_t>::min()), term);
  return choose(test, [&](bool side, Question& question) {
    if (side)
      question.fault = term;
    else
      question.conditions.push_back(evaluates);
  });
}

std::int64_t Chooser::value(ExprId term) {
  ExprPool& pool = search_.space().variables.exprs;
  for (;;) {
    std::int64_t guess = 0;
    if (next_ < job_.choices.size()) {
      guess = job_.choices[next_++];
    } else {
      const Range range = search_.total().range(term);
      guess = samples_.empty() ? range.lo : eval_params(pool, term, samples_.front());
      if (samples_.empty() && !search_.enumerated()) {
        const Found found = search_.find_input(so_far(), path_, differences_);
        if (!found.input) throw Empty{};
        guess = eval_params(pool, term, *found.input);
      }
      job_.choices.push_back(guess);
      ++next_;
    }
    if (holds(ExprBuilder(pool).eq(term, pool.constant(guess)))) return guess;
  }
}

void Chooser::added(InstantId instant) {
  search_.tick();  // a path may grow for ever without a choice
  for (std::size_t k = 0; k < samples_.size(); ++k) extend(k, instant);
}

// Depends on the samples at hand, so it is a choice too: a path must be the same again.
std::size_t Chooser::probably_first(const std::vector<InstantId>& instants) {
  if (next_ < job_.choices.size()) return static_cast<std::size_t>(job_.choices[next_++]);
  const auto time = [&](InstantId instant) {
    return samples_.empty() ? differences_.earliest(instant)
                            : times_[0][static_cast<std::size_t>(instant)];
  };
  std::size_t first = 0;
  for (std::size_t k = 1; k < instants.size(); ++k) {
    if (time(instants[k]) < time(instants[first])) first = k;
  }
  job_.choices.push_back(static_cast<std::int64_t>(first));
  ++next_;
  return first;
}

std::vector<Assignment> Chooser::take_samples() {
  if (samples_.size() > kSamples) samples_.resize(kSamples);
  return std::move(samples_);
}

void Chooser::extend(std::size_t k, InstantId instant) {
  times_[k].push_back(lpn::instant(path_.timing, instant, times_[k], [&](ExprId term) {
    return eval_params(search_.space().variables.exprs, term, samples_[k]);
  }));
}

template <typename Test, typename Side>
bool Chooser::choose(const Test& test, const Side& side) {
  search_.tick();
  bool answer = false;
  if (next_ < job_.choices.size()) {
    answer = job_.choices[next_++] != 0;
  } else {
    answer = decide(test, side);
    job_.choices.push_back(answer ? 1 : 0);
    ++next_;
  }
  Question question;
  side(answer, question);
  for (const ExprId condition : question.conditions) path_.conditions.push_back(condition);
  if (question.fault) path_.fault = question.fault;
  for (const Order& order : question.orders) path_.orders.push_back(order);
  for (std::size_t k = samples_.size(); k-- > 0;) {
    if (test(k) == answer) continue;
    samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(k));
    times_.erase(times_.begin() + static_cast<std::ptrdiff_t>(k));
  }
  if (search_.enumerated() && samples_.empty()) throw Empty{};
  return answer;
}

// A choice that the job does not make: the side with known inputs first; the other, when there may
// be inputs on it, is another job.
template <typename Test, typename Side>
bool Chooser::decide(const Test& test, const Side& side) {
  std::vector<Assignment> yes, no;
  for (std::size_t k = 0; k < samples_.size(); ++k) (test(k) ? yes : no).push_back(samples_[k]);
  bool maybe_yes = !yes.empty(), maybe_no = !no.empty();
  if (!search_.enumerated()) {
    if (!maybe_yes) maybe_yes = ask(true, side, yes);
    if (!maybe_no) maybe_no = ask(false, side, no);
  }
  if (!maybe_yes && !maybe_no) throw Empty{};
  const bool answer = maybe_yes && (!yes.empty() || no.empty());
  if (maybe_yes && maybe_no) {
    Job other{job_.choices, std::move(answer ? no : yes)};
    other.choices.push_back(answer ? 0 : 1);
    search_.add(std::move(other));
  }
  // An input that the solver found has no times yet.
  for (Assignment& input : answer ? yes : no) {
    if (std::find(samples_.begin(), samples_.end(), input) == samples_.end()) learn(input);
  }
  return answer;
}

// Whether some input of the path is on a side of which none is known.
template <typename Side>
bool Chooser::ask(bool answer, const Side& side, std::vector<Assignment>& found) {
  Question question = so_far();
  side(answer, question);
  if (question.conditions.size() > path_.conditions.size()) {
    if (auto input = nearby(question)) {
      found.push_back(std::move(*input));
      return true;
    }
    if (impossible(question)) return false;
  }
  const Found other = search_.find_input(question, path_, differences_);
  if (other.input) found.push_back(*other.input);
  return other.input || other.unknown;
}

// An input on the other side of the last condition that differs from a known one in one of the
// variables that it reads. Most are found so, without the solver.
std::optional<Assignment> Chooser::nearby(const Question& question) {
  const InputSpace& space = search_.space();
  const ExprPool& pool = space.variables.exprs;
  const ExprId condition = question.conditions.back();
  const std::vector<std::uint32_t> read = pool.reads(condition).params;
  if (read.size() > kMostVaried) return std::nullopt;
  for (std::size_t k = 0; k < samples_.size() && k < 2; ++k) {
    for (const std::uint32_t variable : read) {
      const Range range = *space.variables.params[variable].range;
      Assignment input = samples_[k];
      const std::int64_t here = input[variable];
      std::vector<std::int64_t> tried{range.lo, range.hi};
      if (static_cast<std::uint64_t>(range.hi) - static_cast<std::uint64_t>(range.lo) < kAllTried) {
        for (std::int64_t x = range.lo + 1; x < range.hi; ++x) tried.push_back(x);
      } else {
        if (here > range.lo) tried.push_back(here - 1);
        if (here < range.hi) tried.push_back(here + 1);
      }
      for (const std::int64_t x : tried) {
        input[variable] = x;
        if (!is_true(input, pool, condition) || !contains(space, input)) continue;
        const auto holds = [&](ExprId other) { return is_true(input, pool, other); };
        if (!std::all_of(question.conditions.begin(), question.conditions.end(), holds)) continue;
        // Fault and orders as of the path so far, which follows() knows.
        if ((path_.fault || !path_.orders.empty()) && !follows(path_, space, input)) continue;
        return input;
      }
    }
  }
  return std::nullopt;
}

// Tried out: no values of the variables that the last condition reads meet it and all else that
// reads no others.
bool Chooser::impossible(const Question& question) {
  const InputSpace& space = search_.space();
  const ExprPool& pool = space.variables.exprs;
  const std::vector<std::uint32_t> read = pool.reads(question.conditions.back()).params;
  Assignment input;
  for (const Param& variable : space.variables.params) input.push_back(variable.range->lo);
  std::uint64_t combinations = 1;
  for (const std::uint32_t variable : read) {
    const Range range = *space.variables.params[variable].range;
    const std::uint64_t width =
        static_cast<std::uint64_t>(range.hi) - static_cast<std::uint64_t>(range.lo);
    if (width >= kAllTried || (combinations *= width + 1) > kAllTogether) return false;
  }
  std::vector<ExprId> relevant{question.conditions.back()};
  for (const std::vector<ExprId>* some :
       std::initializer_list<const std::vector<ExprId>*>{&path_.conditions, &space.constraints}) {
    for (const ExprId condition : *some) {
      const auto& params = search_.reads(condition);
      if (std::includes(read.begin(), read.end(), params.begin(), params.end())) {
        relevant.push_back(condition);
      }
    }
  }
  for (std::uint64_t n = 0; n < combinations; ++n) {
    const auto holds = [&](ExprId condition) { return is_true(input, pool, condition); };
    if (std::all_of(relevant.begin(), relevant.end(), holds)) return false;
    for (const std::uint32_t variable : read) {
      const Range range = *space.variables.params[variable].range;
      if (input[variable]++ < range.hi) break;
      input[variable] = range.lo;
    }
  }
  return true;
}

void Chooser::learn(const Assignment& input) {
  samples_.push_back(input);
  times_.push_back({0});
  for (std::size_t v = 1; v < path_.timing.size(); ++v) {
    extend(samples_.size() - 1, static_cast<InstantId>(v));
  }
}

}  // namespace lpn

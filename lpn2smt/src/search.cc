#include "lpn/smt/search.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <queue>

#include "branching.h"
#include "linear_programme.h"
#include "lower_bound.h"
#include "lpn/base/error.h"
#include "neighbourhood.h"
#include "path_units.h"
#include "question_formula.h"
#include "sum_bound.h"
#include "upper_bound.h"

namespace lpn::smt {
namespace {

constexpr std::int64_t kMaxBudget = 20'000;        // entries of a table
constexpr std::uint64_t kMaxEntries = 50'000'000;  // of all tables
constexpr std::size_t kKept = 64;                  // targets whose tables stay in memory
constexpr std::size_t kMaxQuestion = 500;          // instants of a question for a solver
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Search {
 public:
  Search(const InputSpace& space, std::span<const Target> targets, const BoundOptions& options,
         bool maximum)
      : space_(space),
        targets_(targets),
        options_(options),
        negated_(!maximum && std::any_of(targets.begin(), targets.end(), is_sum)),
        maximum_(maximum || negated_) {
    for (const Param& param : space.variables.params) {
      if (!param.range) throw Error("E-space", "variable '" + param.name + "' has no range");
    }
  }

  BoundResult run() {
    of_.resize(targets_.size());
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      if (stop()) return finish();
      start(t);
    }
    started_ = true;
    report(true);
    while (!open_.empty() && worth(open_.top().bound) && !stop()) {
      Node node = open_.top();
      open_.pop();
      const std::size_t t = node.target;
      current_ = node.bound;
      if (node.quick) {
        evaluate_root(node);
      } else {
        branch(node);
      }
      current_.reset();
      release(t);
      ++result_.boxes;
      report(false);
    }
    return finish();
  }

 private:
  struct Leaf {
    Step step;
    Time bound = 0;
    bool none = false;                    // no input
    std::uint32_t first = 0, second = 0;  // children when split
    bool is_split = false;
  };
  // What there is of one target; of many targets the tables are made again when they are needed.
  struct OfTarget {
    std::unique_ptr<PathUnits> units;
    std::unique_ptr<UpperBound> upper;
    std::unique_ptr<LowerBound> lower;
    std::unique_ptr<SumBound> sum;
    std::unique_ptr<Neighbourhood> neighbourhood;
    std::vector<Leaf> tree;
    bool unbounded = false;  // numbers too large
    DelayFunctions reads;
  };
  struct Node {
    Time bound = 0;
    std::size_t target = 0;
    std::uint32_t leaf = 0;
    std::uint32_t depth = 0;
    bool quick = false;  // not yet bounded as well as can be
    Split split = {};    // of its box, when it can be
    Box box;
    bool maximum = true;
    // Best bound first, then deepest.
    bool operator<(const Node& o) const {
      if (bound != o.bound) return maximum ? bound < o.bound : bound > o.bound;
      return depth < o.depth;
    }
  };

  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  double left() const { return options_.seconds > 0 ? options_.seconds - elapsed() : 1e9; }
  // A bound like this leaves room for a better input.
  bool worth(Time bound) const {
    return !result_.found || (maximum_ ? bound > *result_.found : bound < *result_.found);
  }
  bool better(Time a, Time b) const { return maximum_ ? a > b : a < b; }

  PathUnits& units(std::size_t t) {
    OfTarget& own = of_[t];
    if (!own.units) {
      own.units =
          std::make_unique<PathUnits>(space_, *targets_[t].path, measure_of(targets_[t], negated_));
    }
    return *own.units;
  }
  // Of many paths the tables are made again when they are looked at again.
  void release(std::size_t t) {
    if (targets_.size() <= kKept) return;
    OfTarget& own = of_[t];
    own.neighbourhood.reset();
    own.upper.reset();
    own.lower.reset();
    own.sum.reset();
    own.units.reset();
  }
  UpperBound& upper(std::size_t t) {
    if (!of_[t].upper) {
      of_[t].upper = std::make_unique<UpperBound>(units(t), units(t).instant().value());
    }
    return *of_[t].upper;
  }
  SumBound& sum(std::size_t t) {
    if (!of_[t].sum) of_[t].sum = std::make_unique<SumBound>(units(t));
    return *of_[t].sum;
  }
  LowerBound& lower(std::size_t t) {
    if (!of_[t].lower) of_[t].lower = std::make_unique<LowerBound>(units(t));
    return *of_[t].lower;
  }
  Neighbourhood& neighbourhood(std::size_t t) {
    if (!of_[t].neighbourhood) {
      of_[t].neighbourhood = std::make_unique<Neighbourhood>(units(t), maximum_, options_.seed + t);
    }
    return *of_[t].neighbourhood;
  }

  void note(const std::string& what) {
    if (std::find(result_.notes.begin(), result_.notes.end(), what) == result_.notes.end()) {
      result_.notes.push_back(what);
    }
  }

  void start(std::size_t t) {
    OfTarget& own = of_[t];
    PathUnits& p = units(t);
    for (const Assignment& sample : targets_[t].path->samples) offer(t, sample);
    own.tree.emplace_back();
    if (p.empty()) {
      own.tree[0].none = true;
      own.tree[0].step.kind = Step::Kind::kNoInput;
      release(t);
      return;
    }
    if (!p.magnitude()) {
      own.unbounded = true;
      note("the bounds of classes compute with numbers up to 2**44, and a delay may be more");
      release(t);
      return;
    }
    for (const std::string& what : p.relaxed()) note(what);
    own.reads = delay_functions(p);
    Node node{.target = t, .quick = true, .box = whole(p), .maximum = maximum_};
    if (!feasible(node)) {
      release(t);
      return;
    }
    if (!p.instant()) {
      Choice middle;
      for (const auto& [first, end] : node.box) middle.push_back(first + (end - first) / 2);
      if (result_.found && result_.path == t) {
        if (const auto choice = p.choice(result_.witness)) middle = *choice;
      }
      SumBound::Result rough = sum(t).solve(node.box, sum(t).first(node.box, middle), 0);
      own.tree[0].step = std::move(rough.step);
      own.tree[0].bound = node.bound = rough.bound;
      for (Choice& choice : rough.choices) try_choice(t, std::move(choice), node.box);
    } else if (maximum_) {
      // Without limits first: enough for a path that is far from the largest.
      Step& step = own.tree[0].step;
      step.multipliers.assign(p.limits().size(), 0);
      const UpperBound::Result free = upper(t).solve(node.box, charge_of(step));
      if (upper(t).split()) note("too many states: delays of an input share less than they could");
      own.tree[0].bound = node.bound = bound_of(step, free);
      try_choice(t, free.choice, node.box);
    }
    open_.push(std::move(node));
    release(t);
  }

  // False, with the reason in the tree, when a limit alone excludes the box.
  bool feasible(const Node& node) {
    const PathUnits& p = units(node.target);
    const std::vector<std::int64_t> least = least_use(p, node.box);
    for (std::size_t l = 0; l < least.size(); ++l) {
      if (least[l] <= p.limits()[l].cap) continue;
      Leaf& leaf = of_[node.target].tree[node.leaf];
      leaf.none = true;
      leaf.step = Step{};
      leaf.step.kind = Step::Kind::kNoInput;
      leaf.step.multipliers.assign(least.size(), 0);
      leaf.step.multipliers[l] = 1;
      return false;
    }
    return true;
  }

  // ---- inputs

  bool offer(std::size_t t, const Assignment& input) {
    const std::optional<Time> value = units(t).value(input);
    if (!value) return false;
    if (!result_.found || better(*value, *result_.found)) {
      result_.found = value;
      result_.witness = input;
      result_.path = t;
      report(true);
    }
    return true;
  }
  void try_choice(std::size_t t, Choice choice, const Box& box) {
    if (!neighbourhood(t).repair(choice, box)) return;
    const PathUnits& p = units(t);
    // Where tables are exact, only what is better is worth the evaluation of all terms.
    if (p.exact() && result_.found && !better(p.estimate(choice), *result_.found)) return;
    offer(t, p.assignment(choice));
  }
  // From a choice, or from the input found so far, moves that better the estimate.
  void polish(std::size_t t, Choice choice, const Box& box, std::size_t moves, Time enough) {
    if (!neighbourhood(t).repair(choice, box)) return;
    const PathUnits& p = units(t);
    std::size_t failed = 0;
    neighbourhood(t).polish(std::move(choice), moves, [&](const Choice& moved, Time estimate) {
      if (result_.found && !better(estimate, *result_.found)) return true;
      if (!offer(t, p.assignment(moved)) && ++failed > 200) return false;
      return !stopped_ && left() > 0 && (!result_.found || better(enough, *result_.found));
    });
  }

  // ---- bounds of a box

  UpperBound::Charge charge_of(const Step& step) const {
    return {.scale = step.denominator,
            .budget = step.budget,
            .quantum = step.quantum,
            .multipliers = step.multipliers,
            .tolls = {}};
  }
  static Time bound_of(const Step& step, const UpperBound::Result& result) {
    const Wide d = step.denominator;
    return static_cast<Time>(result.total >= 0 ? result.total / d : -((-result.total + d - 1) / d));
  }

  // The root of a maximum: which limit to keep exactly, and multipliers for the others.
  void tune(std::size_t t, const Box& box, Step& step, UpperBound::Result& best) {
    PathUnits& p = units(t);
    const std::vector<std::int64_t> least = least_use(p, box);
    std::vector<std::size_t> matter;
    for (std::size_t l = 0; l < least.size(); ++l) {
      if (binding(p, box, l)) matter.push_back(l);
    }
    // The tightest first: with many limits not all are tried.
    const auto room = [&](std::size_t l) {
      Wide most = 0;
      for (const std::uint32_t f : p.limits()[l].functions) most += p.function(f).hi;
      return static_cast<double>(p.limits()[l].cap - least[l]) /
             static_cast<double>(most - least[l]);
    };
    std::sort(matter.begin(), matter.end(), [&](std::size_t a, std::size_t b) {
      const auto size = [&](std::size_t l) { return p.limits()[l].functions.size(); };
      return size(a) != size(b) ? size(a) > size(b) : room(a) < room(b);
    });
    bool coarse = false;
    for (std::size_t k = 0; k < std::min<std::size_t>(matter.size(), 4) && !stop(); ++k) {
      Step tried = step;
      const std::size_t l = matter[k];
      const auto entries = std::clamp<std::int64_t>(
          static_cast<std::int64_t>(kMaxEntries / upper(t).tables()), 16, kMaxBudget);
      tried.budget = static_cast<std::uint32_t>(l);
      tried.quantum = quantum(p, box, l, least[l], entries);
      UpperBound::Result result = upper(t).solve(box, charge_of(tried));
      try_choice(t, result.choice, box);
      if (k == 0 || result.total < best.total) {
        coarse = tried.quantum != quantum(p, box, l, least[l], std::numeric_limits<Time>::max());
        step = std::move(tried), best = std::move(result);
      }
      if (!worth(bound_of(step, best))) return;
    }
    std::erase_if(matter, [&](std::size_t l) { return !coarse && step.budget == l; });
    if (!matter.empty()) multiply(t, box, matter, step, best);
  }

  // Cutting planes for the multipliers: the bound is convex in them.
  void multiply(std::size_t t, const Box& box, const std::vector<std::size_t>& limits, Step& step,
                UpperBound::Result& best) {
    constexpr int kRounds = 40;
    PathUnits& p = units(t);
    double steepest = 1;
    for (const auto& functions : of_[t].reads) {
      for (const std::uint32_t f : functions) {
        steepest += static_cast<double>(p.function(f).hi - p.function(f).lo);
      }
    }
    std::int64_t scale = std::int64_t{1} << 20;
    while (scale > 1 && *p.magnitude() > (std::int64_t{1} << 60) / scale) scale /= 2;
    LinearProgramme lp;
    const int theta = lp.add_column(-kInfinity, kInfinity, 1);
    std::vector<int> columns;
    for (std::size_t k = 0; k < limits.size(); ++k) {
      columns.push_back(lp.add_column(0, steepest, 0));
    }
    UpperBound::Result result = best;
    Step tried = step;
    for (int round = 0; round < kRounds && !stop(); ++round) {
      double length = static_cast<double>(result.total) / static_cast<double>(tried.denominator);
      std::vector<std::pair<int, double>> cut{{theta, 1.0}};
      for (std::size_t k = 0; k < limits.size(); ++k) {
        const auto slack = static_cast<double>(result.slack[limits[k]]);
        length -= slack * static_cast<double>(tried.multipliers[limits[k]]) /
                  static_cast<double>(tried.denominator);
        cut.emplace_back(columns[k], -slack);
      }
      lp.add_row(length, kInfinity, cut);
      const Time bound = bound_of(step, best);
      if (!lp.solve(1) || std::floor(lp.objective() + 1e-6) >= static_cast<double>(bound)) return;
      tried.denominator = scale;
      Wide heaviest = 0;
      for (std::size_t k = 0; k < limits.size(); ++k) {
        const double m = lp.value(columns[k]) * static_cast<double>(scale);
        if (m > 1e17) return;
        tried.multipliers[limits[k]] = std::llround(std::max(0.0, m));
        Wide use = 0;
        for (const std::uint32_t f : p.limits()[limits[k]].functions) {
          use += Wide{p.function(f).hi} - p.function(f).lo;
        }
        heaviest += use * tried.multipliers[limits[k]];
      }
      if (heaviest > (Wide{1} << 60)) return;
      result = upper(t).solve(box, charge_of(tried));
      try_choice(t, result.choice, box);
      if (bound_of(tried, result) < bound) best = result, step = tried;
      if (!worth(bound_of(step, best))) return;
    }
  }

  static bool is_point(const Box& box) {
    return std::all_of(box.begin(), box.end(),
                       [](const auto& run) { return run.second - run.first == 1; });
  }
  void evaluate_root(Node& node) {
    const std::size_t t = node.target;
    if (maximum_ && units(t).instant() && !is_point(node.box)) {
      Step step = of_[t].tree[0].step;
      UpperBound::Result best = upper(t).solve(node.box, charge_of(step));
      tune(t, node.box, step, best);
      of_[t].tree[0].bound = bound_of(step, best);
      of_[t].tree[0].step = std::move(step);
      settle(node, best.choice);
    } else {
      evaluate(node);
    }
  }
  // Of a box whose leaf has the step of the box that it is part of.
  void evaluate(Node& node) {
    const std::size_t t = node.target;
    const PathUnits& p = units(t);
    if (!feasible(node)) return;
    if (is_point(node.box) && p.complete()) {
      decide(node);
      return;
    }
    Leaf& leaf = of_[t].tree[node.leaf];
    if (!p.instant()) {
      SumBound::Result result = sum(t).solve(node.box, leaf.step, node.quick ? 40 : 4);
      leaf.step = std::move(result.step);
      leaf.bound = result.bound;
      for (const Choice& choice : result.choices) try_choice(t, choice, node.box);
      settle(node, result.choices.empty() ? Choice(node.box.size(), kUnset) : result.choices[0]);
      return;
    }
    if (maximum_) {
      const UpperBound::Result result = upper(t).solve(node.box, charge_of(leaf.step));
      leaf.bound = bound_of(leaf.step, result);
      try_choice(t, result.choice, node.box);
      settle(node, result.choice);
      return;
    }
    // The mixed input of each round may be near a good one.
    std::size_t rounds = 0;
    const LowerBound::Result result = lower(t).solve(node.box, [&](const LowerBound::Result& now) {
      ++rounds;
      const bool look = node.quick && std::has_single_bit(rounds);
      if (look || rounds % 16 == 0) {
        const Choice near = rounded(p, of_[t].reads, node.box, now.mixed);
        try_choice(t, near, node.box);
        if (look && worth(*now.bound)) polish(t, near, node.box, kMoves / 16, *now.bound);
      }
      return worth(*now.bound) && !stop();
    });
    leaf.step = result.step;
    if (!result.bound) {
      leaf.none = true;
      return;
    }
    leaf.bound = *result.bound;
    const bool first = node.quick;
    node.bound = leaf.bound;
    node.quick = false;
    const Choice near = rounded(p, of_[t].reads, node.box, result.mixed);
    try_choice(t, near, node.box);
    if (!worth(node.bound)) return;
    if (first) {
      polish(t, near, node.box, kMoves, node.bound);
    } else if (result_.boxes % 16 == 0) {
      polish(t, near, node.box, kMoves / 16, node.bound);
    }
    if (!worth(node.bound)) return;
    node.split = mixed_split(p, of_[t].reads, node.box, result.mixed);
    open_.push(std::move(node));
  }
  void settle(Node& node, const Choice& choice) {
    const bool first = node.quick;
    node.bound = of_[node.target].tree[node.leaf].bound;
    node.quick = false;
    if (!worth(node.bound)) return;
    if (first || result_.boxes % 64 == 63) {
      polish(node.target, choice, node.box, kMoves / (first ? 4 : 16), node.bound);
    }
    if (!worth(node.bound)) return;
    node.split = widest_split(units(node.target), of_[node.target].reads, node.box, choice);
    open_.push(std::move(node));
  }
  // One choice is left.
  void decide(const Node& node) {
    const std::size_t t = node.target;
    Leaf& leaf = of_[t].tree[node.leaf];
    leaf.step = Step{};
    leaf.step.kind = Step::Kind::kPoint;
    Choice choice;
    for (const auto& run : node.box) choice.push_back(run.first);
    const std::optional<Time> value = units(t).value(units(t).assignment(choice));
    leaf.none = !value;
    if (!value) return;
    leaf.bound = *value;
    offer(t, units(t).assignment(choice));
  }

  void branch(Node& node) {
    if (ask(node)) return;
    if (node.split.unit == kUnset) {  // all that is left is what no table has: the bound stays
      stuck_ = stuck_ ? worse(*stuck_, node.bound) : node.bound;
      return;
    }
    OfTarget& own = of_[node.target];
    const auto first = static_cast<std::uint32_t>(own.tree.size());
    Leaf made;
    made.step = own.tree[node.leaf].step;
    made.bound = own.tree[node.leaf].bound;
    own.tree.push_back(made);
    own.tree.push_back(std::move(made));
    Leaf& leaf = own.tree[node.leaf];
    leaf.is_split = true;
    leaf.first = first;
    leaf.second = first + 1;
    leaf.step = Step{};
    leaf.step.kind = Step::Kind::kSplit;
    leaf.step.unit = node.split.unit;
    leaf.step.tuple = node.split.tuple;
    for (std::uint32_t half = 0; half < 2; ++half) {
      Node child{.bound = node.bound,
                 .target = node.target,
                 .leaf = first + half,
                 .depth = node.depth + 1,
                 .box = node.box,
                 .maximum = maximum_};
      (half == 0 ? child.box[node.split.unit].second : child.box[node.split.unit].first) =
          node.split.tuple;
      evaluate(child);
    }
  }

  // Puts the box to the solver when branching is slow. True: it has an answer.
  bool ask(Node& node) {
    if (!options_.solver || !result_.found || result_.boxes < next_question_) return false;
    const PathUnits& p = units(node.target);
    if (p.timing().size() > kMaxQuestion) return false;
    const std::unique_ptr<Feasibility> solver = options_.solver();
    require_beyond(*solver, p, node.box, maximum_, *result_.found);
    FeasibilityLimits limits = options_.question;
    limits.seconds = std::min(limits.seconds > 0 ? limits.seconds : 1e6, std::max(0.1, left()));
    const Answer answer = solver->check(limits);
    if (answer == Answer::kUnknown) {
      next_question_ = 2 * result_.boxes + 64;
      return false;
    }
    if (answer == Answer::kSat) {
      const auto width = static_cast<std::ptrdiff_t>(space_.variables.params.size());
      offer(node.target, Assignment(solver->model().begin(), solver->model().begin() + width));
      if (worth(node.bound)) open_.push(node);
      return true;
    }
    Leaf& leaf = of_[node.target].tree[node.leaf];
    leaf.step = Step{};
    leaf.step.kind = Step::Kind::kSolver;
    leaf.step.threshold = *result_.found;
    // As check() has it: of a solver that was asked nothing yet.
    const std::unique_ptr<Feasibility> fresh = options_.solver();
    require_beyond(*fresh, p, node.box, maximum_, *result_.found);
    leaf.step.smtlib = fresh->smtlib();
    leaf.bound = *result_.found;
    return true;
  }

  // ---- results

  bool stop() {
    if (!stopped_ &&
        (left() <= 0 || (options_.max_boxes > 0 && result_.boxes >= options_.max_boxes))) {
      stopped_ = true;
    }
    report(false);
    return stopped_;
  }
  void report(bool always) {
    if (stopped_) return;
    const auto sign = [&](std::optional<Time> t) { return t && negated_ ? -*t : t; };
    const std::optional<Time> proved = sign(proved_now());
    const double now = elapsed();
    if (!always && proved == reported_ && now < next_report_) return;
    reported_ = proved;
    next_report_ = now + 0.1;
    const Progress progress{.proved = proved,
                            .found = sign(result_.found),
                            .witness = result_.found ? &result_.witness : nullptr,
                            .boxes = result_.boxes,
                            .seconds = now};
    stopped_ = enough(progress) || (options_.progress && !options_.progress(progress));
  }
  // A bound proved, or an input found, that is as good as was asked for.
  bool enough(const Progress& now) const {
    const bool maximum = maximum_ && !negated_;
    const auto reached = [](std::optional<Time> value, std::optional<Time> wanted, bool below) {
      return value && wanted && (below ? *value <= *wanted : *value >= *wanted);
    };
    return reached(now.proved, options_.enough_proved, maximum) ||
           reached(now.found, options_.enough_found, !maximum);
  }
  Time worse(Time a, Time b) const { return maximum_ ? std::max(a, b) : std::min(a, b); }
  // Of all boxes: those that wait, the one that is worked on, those that cannot be split, and those
  // that are done with because of what was found.
  std::optional<Time> proved_now() const {
    if (!started_) return std::nullopt;
    std::optional<Time> proved = result_.found;
    const auto count = [&](Time bound) { proved = proved ? worse(*proved, bound) : bound; };
    if (!open_.empty()) count(open_.top().bound);
    if (current_) count(*current_);
    if (stuck_) count(*stuck_);
    return proved;
  }

  BoundResult finish() {
    result_.seconds = elapsed();
    bool unbounded = !started_;
    for (const OfTarget& own : of_) unbounded = unbounded || own.unbounded;
    if (unbounded) {
      if (negated_ && result_.found) result_.found = -*result_.found;
      return std::move(result_);
    }
    result_.no_input = true;
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      PathCertificate certificate{.path = t, .maximum = maximum_, .bound = 0, .steps = {}};
      std::optional<Time> bound;
      std::vector<std::uint32_t> stack{0};
      while (!stack.empty()) {
        const Leaf& leaf = of_[t].tree[stack.back()];
        stack.pop_back();
        certificate.steps.push_back(leaf.step);
        if (leaf.is_split) {
          stack.push_back(leaf.second);
          stack.push_back(leaf.first);
        } else if (!leaf.none) {
          bound = bound ? worse(*bound, leaf.bound) : leaf.bound;
        }
      }
      if (bound) {
        certificate.bound = *bound;
        result_.no_input = false;
        result_.proved = result_.proved ? worse(*result_.proved, *bound) : *bound;
      }
      result_.certificates.push_back(std::move(certificate));
    }
    result_.exact = result_.found && result_.found == result_.proved;
    LPN_ASSERT(!result_.found || !better(*result_.found, *result_.proved));
    if (negated_) {
      if (result_.found) result_.found = -*result_.found;
      if (result_.proved) result_.proved = -*result_.proved;
      for (PathCertificate& certificate : result_.certificates) {
        certificate.maximum = false;
        certificate.bound = -certificate.bound;
        for (Step& step : certificate.steps) step.threshold = -step.threshold;
      }
    }
    return std::move(result_);
  }

  static constexpr std::size_t kMoves = 20'000;  // tried at a root

  const InputSpace& space_;
  std::span<const Target> targets_;
  const BoundOptions& options_;
  bool negated_;  // least measures are searched as largest negative ones
  bool maximum_;
  std::vector<OfTarget> of_;
  std::priority_queue<Node> open_;
  BoundResult result_;
  bool started_ = false, stopped_ = false;
  std::optional<Time> current_, stuck_;
  std::uint64_t next_question_ = 64;
  std::optional<Time> reported_;
  double next_report_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<Target> latencies(std::span<const Path* const> paths) {
  std::vector<Target> targets;
  for (const Path* path : paths) {
    if (path->outcome == Outcome::kLatency) targets.push_back({path, path->latency});
  }
  return targets;
}

BoundResult maximize(const InputSpace& space, std::span<const Target> targets,
                     const BoundOptions& options) {
  return Search(space, targets, options, true).run();
}

BoundResult minimize(const InputSpace& space, std::span<const Target> targets,
                     const BoundOptions& options) {
  return Search(space, targets, options, false).run();
}

}  // namespace lpn::smt

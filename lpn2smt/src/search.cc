#include "lpn/smt/search.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <random>

#include "linear_programme.h"
#include "lower_bound.h"
#include "lpn/base/error.h"
#include "lpn/expr/eval.h"
#include "lpn/smt/z3_feasibility.h"
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

// ---- inputs near a choice --------------------------------------------------------------------

// Looks for inputs: makes choices keep the limits, and moves to better ones.
class Neighbourhood {
 public:
  Neighbourhood(const Problem& problem, bool maximum, std::uint64_t seed)
      : p_(problem), maximum_(maximum), random_(seed), uses_(problem.units().size()) {
    for (std::size_t l = 0; l < p_.limits().size(); ++l) {
      for (const std::uint32_t f : p_.limits()[l].functions) {
        uses_[p_.function(f).unit].push_back({l, &p_.function(f)});
      }
    }
    for (std::uint32_t u = 0; u < p_.units().size(); ++u) {
      if (p_.units()[u].size > 1) several_.push_back(u);
    }
  }

  // Changes as little as it can until the limits are kept; false: it does not find how. Units that
  // are kUnset may take any tuple of the box; others change where that does not suffice.
  bool repair(Choice& choice, const Box& box) {
    std::vector<bool> free(choice.size(), false);
    for (std::uint32_t u = 0; u < choice.size(); ++u) {
      if (choice[u] != kUnset) continue;
      free[u] = true;
      choice[u] = box[u].first;
    }
    usage(choice);
    for (std::size_t step = 0; step < 4 * choice.size() + 16; ++step) {
      if (excess() == 0) return true;
      if (!improve(choice, box, &free) && !improve(choice, box, nullptr)) return false;
    }
    return excess() == 0;
  }

  // Moves that do not make the estimate worse, from a choice within the limits. Calls `better` with
  // each that makes it better, until that returns false.
  template <typename Better>
  void polish(Choice choice, std::size_t moves, const Better& better) {
    if (several_.empty()) return;
    usage(choice);
    Time now = p_.estimate(choice);
    for (std::size_t done = 0; done < moves; ++done) {
      Choice moved = choice;
      const std::vector<Wide> before = used_;
      const std::uint32_t u = several_[random_() % several_.size()];
      move(moved, u, static_cast<std::uint32_t>(random_() % p_.units()[u].size));
      for (int other = 0; other < 4 && excess() != 0; ++other) {
        const std::uint32_t v = several_[random_() % several_.size()];
        if (v != u) nearest(moved, v);
      }
      bool kept = excess() == 0;
      if (kept) {
        const Time then = p_.estimate(moved);
        kept = maximum_ ? then >= now : then <= now;
        if (kept) {
          choice = std::move(moved);
          if (then != now && !better(choice, then)) return;
          now = then;
        }
      }
      if (!kept) used_ = before;
    }
  }

 private:
  struct Use {
    std::size_t limit;
    const Function* function;
  };

  void usage(const Choice& choice) {
    used_.assign(p_.limits().size(), 0);
    for (std::size_t u = 0; u < choice.size(); ++u) {
      for (const Use& use : uses_[u]) used_[use.limit] += use.function->values[choice[u]];
    }
  }
  void move(Choice& choice, std::uint32_t u, std::uint32_t row) {
    for (const Use& use : uses_[u]) {
      used_[use.limit] += use.function->values[row] - use.function->values[choice[u]];
    }
    choice[u] = row;
  }
  Wide excess() const {
    Wide sum = 0;
    for (std::size_t l = 0; l < used_.size(); ++l) {
      sum += std::max<Wide>(0, used_[l] - p_.limits()[l].cap);
    }
    return sum;
  }
  Wide excess_with(std::uint32_t u, std::uint32_t from, std::uint32_t row, Wide now) const {
    for (const Use& use : uses_[u]) {
      const Wide cap = p_.limits()[use.limit].cap;
      const Wide before = used_[use.limit];
      const Wide after = before + use.function->values[row] - use.function->values[from];
      now += std::max<Wide>(0, after - cap) - std::max<Wide>(0, before - cap);
    }
    return now;
  }
  // The move of one unit that leaves the least excess; among those the least change.
  bool improve(Choice& choice, const Box& box, const std::vector<bool>* only) {
    const Wide now = excess();
    Wide best = now;
    std::uint32_t unit = kUnset, row = 0, distance = 0;
    // Starts anywhere, so that not always the first units give way.
    const auto offset = static_cast<std::uint32_t>(random_() % choice.size());
    for (std::uint32_t k = 0; k < choice.size(); ++k) {
      const std::uint32_t u = (k + offset) % static_cast<std::uint32_t>(choice.size());
      if ((only != nullptr && !(*only)[u]) || uses_[u].empty()) continue;
      for (std::uint32_t r = box[u].first; r < box[u].second; ++r) {
        const Wide then = excess_with(u, choice[u], r, now);
        const std::uint32_t d = r > choice[u] ? r - choice[u] : choice[u] - r;
        if (then < best || (then == best && unit != kUnset && then < now && d < distance)) {
          best = then, unit = u, row = r, distance = d;
        }
      }
    }
    if (unit == kUnset) return false;
    move(choice, unit, row);
    return true;
  }
  void nearest(Choice& choice, std::uint32_t u) {
    const Wide now = excess();
    Wide best = now;
    std::uint32_t row = choice[u], distance = 0;
    for (std::uint32_t r = 0; r < p_.units()[u].size; ++r) {
      const Wide then = excess_with(u, choice[u], r, now);
      const std::uint32_t d = r > choice[u] ? r - choice[u] : choice[u] - r;
      if (then < best || (then == best && then < now && d < distance)) {
        best = then, row = r, distance = d;
      }
    }
    move(choice, u, row);
  }

  const Problem& p_;
  bool maximum_;
  std::mt19937_64 random_;
  std::vector<std::vector<Use>> uses_;
  std::vector<std::uint32_t> several_;
  std::vector<Wide> used_;  // per limit
};

// ---- the search ------------------------------------------------------------------------------

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
    sides_.resize(targets_.size());
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
  struct Side {
    std::unique_ptr<Problem> problem;
    std::unique_ptr<Longest> longest;
    std::unique_ptr<Mix> mix;
    std::unique_ptr<Sums> sums;
    std::unique_ptr<Neighbourhood> neighbourhood;
    std::vector<Leaf> tree;
    bool unbounded = false;                         // numbers too large
    std::vector<std::vector<std::uint32_t>> reads;  // functions of delays, per unit
  };
  struct Node {
    Time bound = 0;
    std::size_t target = 0;
    std::uint32_t leaf = 0;
    std::uint32_t depth = 0;
    bool quick = false;                    // not yet bounded as well as can be
    std::uint32_t unit = kUnset, cut = 0;  // where to split; kUnset: it cannot be
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

  Problem& problem(std::size_t t) {
    Side& side = sides_[t];
    if (!side.problem) {
      side.problem =
          std::make_unique<Problem>(space_, *targets_[t].path, measure_of(targets_[t], negated_));
    }
    return *side.problem;
  }
  // Of many paths the tables are made again when they are looked at again.
  void release(std::size_t t) {
    if (targets_.size() <= kKept) return;
    Side& side = sides_[t];
    side.neighbourhood.reset();
    side.longest.reset();
    side.mix.reset();
    side.sums.reset();
    side.problem.reset();
  }
  Longest& longest(std::size_t t) {
    if (!sides_[t].longest) {
      sides_[t].longest = std::make_unique<Longest>(problem(t), problem(t).instant().value());
    }
    return *sides_[t].longest;
  }
  Sums& sums(std::size_t t) {
    if (!sides_[t].sums) sides_[t].sums = std::make_unique<Sums>(problem(t));
    return *sides_[t].sums;
  }
  Mix& mix(std::size_t t) {
    if (!sides_[t].mix) sides_[t].mix = std::make_unique<Mix>(problem(t));
    return *sides_[t].mix;
  }
  Neighbourhood& neighbourhood(std::size_t t) {
    if (!sides_[t].neighbourhood) {
      sides_[t].neighbourhood =
          std::make_unique<Neighbourhood>(problem(t), maximum_, options_.seed + t);
    }
    return *sides_[t].neighbourhood;
  }

  void note(const std::string& what) {
    if (std::find(result_.notes.begin(), result_.notes.end(), what) == result_.notes.end()) {
      result_.notes.push_back(what);
    }
  }

  void start(std::size_t t) {
    Side& side = sides_[t];
    Problem& p = problem(t);
    for (const Assignment& sample : targets_[t].path->samples) offer(t, sample);
    side.tree.emplace_back();
    if (p.empty()) {
      side.tree[0].none = true;
      side.tree[0].step.kind = Step::Kind::kNoInput;
      release(t);
      return;
    }
    if (!p.magnitude()) {
      side.unbounded = true;
      note("a delay has no bound that fits: give variables ranges");
      release(t);
      return;
    }
    for (const std::string& what : p.relaxed()) note(what);
    side.reads.resize(p.units().size());
    for (std::size_t v = 1; v < p.timing().size(); ++v) {
      for (const TimedArc& arc : p.arcs(v)) {
        for (const std::uint32_t f : arc.delay.functions)
          side.reads[p.function(f).unit].push_back(f);
      }
    }
    for (auto& functions : side.reads) {
      std::sort(functions.begin(), functions.end());
      functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
    }
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
      Sums::Result rough = sums(t).solve(node.box, sums(t).first(node.box, middle), 0);
      side.tree[0].step = std::move(rough.step);
      side.tree[0].bound = node.bound = rough.bound;
      for (Choice& choice : rough.choices) try_choice(t, std::move(choice), node.box);
    } else if (maximum_) {
      // Without limits first: enough for a path that is far from the largest.
      Step& step = side.tree[0].step;
      step.multipliers.assign(p.limits().size(), 0);
      const Longest::Result free = longest(t).solve(node.box, charge_of(step));
      if (longest(t).split())
        note("too many states: delays of an input share less than they could");
      side.tree[0].bound = node.bound = bound_of(step, free);
      try_choice(t, free.choice, node.box);
    }
    open_.push(std::move(node));
    release(t);
  }

  // False, with the reason in the tree, when a limit alone excludes the box.
  bool feasible(const Node& node) {
    const Problem& p = problem(node.target);
    const std::vector<std::int64_t> least = least_use(p, node.box);
    for (std::size_t l = 0; l < least.size(); ++l) {
      if (least[l] <= p.limits()[l].cap) continue;
      Leaf& leaf = sides_[node.target].tree[node.leaf];
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
    const std::optional<Time> value = problem(t).value(input);
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
    const Problem& p = problem(t);
    // Where tables are exact, only what is better is worth the evaluation of all terms.
    if (p.exact() && result_.found && !better(p.estimate(choice), *result_.found)) return;
    offer(t, p.assignment(choice));
  }
  // From a choice, or from the input found so far, moves that better the estimate.
  void polish(std::size_t t, Choice choice, const Box& box, std::size_t moves, Time enough) {
    if (!neighbourhood(t).repair(choice, box)) return;
    const Problem& p = problem(t);
    std::size_t failed = 0;
    neighbourhood(t).polish(std::move(choice), moves, [&](const Choice& moved, Time estimate) {
      if (result_.found && !better(estimate, *result_.found)) return true;
      if (!offer(t, p.assignment(moved)) && ++failed > 200) return false;
      return !stopped_ && left() > 0 && (!result_.found || better(enough, *result_.found));
    });
  }

  // ---- bounds of a box

  Longest::Charge charge_of(const Step& step) const {
    return {.scale = step.denominator,
            .budget = step.budget,
            .quantum = step.quantum,
            .multipliers = step.multipliers,
            .tolls = {}};
  }
  static Time bound_of(const Step& step, const Longest::Result& result) {
    const Wide d = step.denominator;
    return static_cast<Time>(result.total >= 0 ? result.total / d : -((-result.total + d - 1) / d));
  }

  // The root of a maximum: which limit to keep exactly, and multipliers for the others.
  void tune(std::size_t t, const Box& box, Step& step, Longest::Result& best) {
    Problem& p = problem(t);
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
          static_cast<std::int64_t>(kMaxEntries / longest(t).tables()), 16, kMaxBudget);
      tried.budget = static_cast<std::uint32_t>(l);
      tried.quantum = quantum(p, box, l, least[l], entries);
      Longest::Result result = longest(t).solve(box, charge_of(tried));
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
                Longest::Result& best) {
    constexpr int kRounds = 40;
    Problem& p = problem(t);
    double steepest = 1;
    for (const auto& functions : sides_[t].reads) {
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
    Longest::Result result = best;
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
      result = longest(t).solve(box, charge_of(tried));
      try_choice(t, result.choice, box);
      if (bound_of(tried, result) < bound) best = result, step = tried;
      if (!worth(bound_of(step, best))) return;
    }
  }

  // Where a box is best halved: the unit that changes delays the most, read by the longest path.
  void choose_split(Node& node, const Choice& choice) {
    const Problem& p = problem(node.target);
    double best = -1;
    for (std::uint32_t u = 0; u < node.box.size(); ++u) {
      const auto [first, end] = node.box[u];
      if (end - first < 2) continue;
      double spread = 0;
      for (const std::uint32_t f : sides_[node.target].reads[u]) {
        const auto& values = p.function(f).values;
        const auto [lo, hi] = std::minmax_element(values.begin() + first, values.begin() + end);
        spread += static_cast<double>(*hi - *lo);
      }
      if (choice[u] == kUnset) spread /= 8;
      if (spread <= best) continue;
      best = spread;
      node.unit = u;
      node.cut = first + (end - first) / 2;
    }
  }
  // The same for a mixed input: the unit that is mixed the most, between what it is mixed of.
  void choose_split(Node& node,
                    const std::vector<std::vector<std::pair<std::uint32_t, double>>>& mixed) {
    const Problem& p = problem(node.target);
    double best = 1e-6;
    for (std::uint32_t u = 0; u < node.box.size(); ++u) {
      const auto [first, end] = node.box[u];
      if (end - first < 2 || mixed[u].size() < 2) continue;
      double spread = 0, middle = 0;
      for (const auto& [row, share] : mixed[u]) middle += share * row;
      for (const std::uint32_t f : sides_[node.target].reads[u]) {
        const auto& values = p.function(f).values;
        double mean = 0;
        for (const auto& [row, share] : mixed[u]) mean += share * static_cast<double>(values[row]);
        for (const auto& [row, share] : mixed[u]) {
          spread += share * std::abs(static_cast<double>(values[row]) - mean);
        }
      }
      if (spread <= best) continue;
      best = spread;
      node.unit = u;
      node.cut = std::clamp(static_cast<std::uint32_t>(middle) + 1, first + 1, end - 1);
    }
    if (node.unit == kUnset) choose_split(node, Choice(node.box.size(), kUnset));
  }
  // The tuple of each unit that is most like its mix.
  Choice rounded(const Node& node,
                 const std::vector<std::vector<std::pair<std::uint32_t, double>>>& mixed) {
    const Problem& p = problem(node.target);
    std::vector<std::vector<std::uint32_t>> functions = sides_[node.target].reads;
    for (const Limit& limit : p.limits()) {
      for (const std::uint32_t f : limit.functions) functions[p.function(f).unit].push_back(f);
    }
    Choice choice(node.box.size());
    for (std::uint32_t u = 0; u < node.box.size(); ++u) {
      const auto [first, end] = node.box[u];
      choice[u] = first;
      if (mixed[u].empty()) continue;
      choice[u] = mixed[u][0].first;
      if (mixed[u].size() == 1) continue;
      std::vector<double> distance(end - first, 0);
      for (const std::uint32_t f : functions[u]) {
        const auto& values = p.function(f).values;
        const double width =
            std::max(1.0, static_cast<double>(p.function(f).hi - p.function(f).lo));
        double mean = 0;
        for (const auto& [row, share] : mixed[u]) mean += share * static_cast<double>(values[row]);
        for (std::uint32_t row = first; row < end; ++row) {
          distance[row - first] += std::abs(static_cast<double>(values[row]) - mean) / width;
        }
      }
      choice[u] =
          first + static_cast<std::uint32_t>(std::min_element(distance.begin(), distance.end()) -
                                             distance.begin());
    }
    return choice;
  }

  static bool is_point(const Box& box) {
    return std::all_of(box.begin(), box.end(),
                       [](const auto& run) { return run.second - run.first == 1; });
  }
  void evaluate_root(Node& node) {
    const std::size_t t = node.target;
    if (maximum_ && problem(t).instant() && !is_point(node.box)) {
      Step step = sides_[t].tree[0].step;
      Longest::Result best = longest(t).solve(node.box, charge_of(step));
      tune(t, node.box, step, best);
      sides_[t].tree[0].bound = bound_of(step, best);
      sides_[t].tree[0].step = std::move(step);
      settle(node, best.choice);
    } else {
      evaluate(node);
    }
  }
  // Of a box whose leaf has the step of the box that it is part of.
  void evaluate(Node& node) {
    const std::size_t t = node.target;
    const Problem& p = problem(t);
    if (!feasible(node)) return;
    if (is_point(node.box) && p.complete()) {
      decide(node);
      return;
    }
    Leaf& leaf = sides_[t].tree[node.leaf];
    if (!p.instant()) {
      Sums::Result result = sums(t).solve(node.box, leaf.step, node.quick ? 40 : 4);
      leaf.step = std::move(result.step);
      leaf.bound = result.bound;
      for (const Choice& choice : result.choices) try_choice(t, choice, node.box);
      settle(node, result.choices.empty() ? Choice(node.box.size(), kUnset) : result.choices[0]);
      return;
    }
    if (maximum_) {
      const Longest::Result result = longest(t).solve(node.box, charge_of(leaf.step));
      leaf.bound = bound_of(leaf.step, result);
      try_choice(t, result.choice, node.box);
      settle(node, result.choice);
      return;
    }
    // The mixed input of each round may be near a good one.
    std::size_t rounds = 0;
    const Mix::Result result = mix(t).solve(node.box, [&](const Mix::Result& now) {
      ++rounds;
      const bool look = node.quick && std::has_single_bit(rounds);
      if (look || rounds % 16 == 0) {
        const Choice near = rounded(node, now.mixed);
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
    const Choice near = rounded(node, result.mixed);
    try_choice(t, near, node.box);
    if (!worth(node.bound)) return;
    if (first) {
      polish(t, near, node.box, kMoves, node.bound);
    } else if (result_.boxes % 16 == 0) {
      polish(t, near, node.box, kMoves / 16, node.bound);
    }
    if (!worth(node.bound)) return;
    choose_split(node, result.mixed);
    open_.push(std::move(node));
  }
  void settle(Node& node, const Choice& choice) {
    const bool first = node.quick;
    node.bound = sides_[node.target].tree[node.leaf].bound;
    node.quick = false;
    if (!worth(node.bound)) return;
    if (first || result_.boxes % 64 == 63) {
      polish(node.target, choice, node.box, kMoves / (first ? 4 : 16), node.bound);
    }
    if (!worth(node.bound)) return;
    choose_split(node, choice);
    open_.push(std::move(node));
  }
  // One choice is left.
  void decide(const Node& node) {
    const std::size_t t = node.target;
    Leaf& leaf = sides_[t].tree[node.leaf];
    leaf.step = Step{};
    leaf.step.kind = Step::Kind::kPoint;
    Choice choice;
    for (const auto& run : node.box) choice.push_back(run.first);
    const std::optional<Time> value = problem(t).value(problem(t).assignment(choice));
    leaf.none = !value;
    if (!value) return;
    leaf.bound = *value;
    offer(t, problem(t).assignment(choice));
  }

  void branch(Node& node) {
    if (ask(node)) return;
    if (node.unit == kUnset) {  // all that is left is what no table has: the bound stays
      stuck_ = stuck_ ? worse(*stuck_, node.bound) : node.bound;
      return;
    }
    Side& side = sides_[node.target];
    const auto first = static_cast<std::uint32_t>(side.tree.size());
    Leaf made;
    made.step = side.tree[node.leaf].step;
    made.bound = side.tree[node.leaf].bound;
    side.tree.push_back(made);
    side.tree.push_back(std::move(made));
    Leaf& leaf = side.tree[node.leaf];
    leaf.is_split = true;
    leaf.first = first;
    leaf.second = first + 1;
    leaf.step = Step{};
    leaf.step.kind = Step::Kind::kSplit;
    leaf.step.unit = node.unit;
    leaf.step.tuple = node.cut;
    for (std::uint32_t half = 0; half < 2; ++half) {
      Node child{.bound = node.bound,
                 .target = node.target,
                 .leaf = first + half,
                 .depth = node.depth + 1,
                 .box = node.box,
                 .maximum = maximum_};
      (half == 0 ? child.box[node.unit].second : child.box[node.unit].first) = node.cut;
      evaluate(child);
    }
  }

  // Puts the box to the solver when branching is slow. True: it has an answer.
  bool ask(Node& node) {
    if (!options_.solver || !result_.found || result_.boxes < next_question_) return false;
    const Problem& p = problem(node.target);
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
    Leaf& leaf = sides_[node.target].tree[node.leaf];
    leaf.step = Step{};
    leaf.step.kind = Step::Kind::kSolver;
    leaf.step.threshold = *result_.found;
    Z3Feasibility text;
    require_beyond(text, p, node.box, maximum_, *result_.found);
    leaf.step.smtlib = text.smtlib();
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
    if (!options_.progress || stopped_) return;
    const auto sign = [&](std::optional<Time> t) { return t && negated_ ? -*t : t; };
    const std::optional<Time> proved = sign(proved_now());
    const double now = elapsed();
    if (!always && proved == reported_ && now < next_report_) return;
    reported_ = proved;
    next_report_ = now + 0.1;
    if (!options_.progress({.proved = proved,
                            .found = sign(result_.found),
                            .witness = result_.found ? &result_.witness : nullptr,
                            .boxes = result_.boxes,
                            .seconds = now})) {
      stopped_ = true;
    }
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
    for (const Side& side : sides_) unbounded = unbounded || side.unbounded;
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
        const Leaf& leaf = sides_[t].tree[stack.back()];
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
  std::vector<Side> sides_;
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

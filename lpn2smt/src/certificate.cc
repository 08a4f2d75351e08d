// Derives the bounds of certificates again, in the plainest way: nothing of the search is used,
// only how a path is taken apart (path_units.h) and bounds of differences of instants
// (differences.h).
#include "lpn/smt/certificate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "lpn/base/error.h"
#include "lpn/base/exact.h"
#include "lpn/classes/differences.h"
#include "lpn/expr/eval.h"
#include "path_units.h"
#include "question_formula.h"

namespace lpn::smt {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 61;  // of numbers added up in 64 bits
constexpr std::int64_t kMaxTable = std::int64_t{1} << 24;
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

// A certificate may come from anybody: what is computed from it is exact, or it is rejected.
using Big = Exact<Wide>;
using Tick = Exact<std::int64_t>;

// Thrown with the reason.
struct Rejected {
  std::string why;
};

using Runs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using Values = std::vector<Tick>;

class Checker {
 public:
  Checker(const InputSpace& space, const Target& target, const PathCertificate& certificate,
          const Trusted& trusted)
      : negated_(!certificate.maximum &&
                 (is_sum(target) || std::any_of(certificate.steps.begin(), certificate.steps.end(),
                                                [](const Step& s) { return !s.parts.empty(); }))),
        maximum_(certificate.maximum || negated_),
        bound_(negated_ ? -Big{certificate.bound} : Big{certificate.bound}),
        p_(space, *target.path, measure_of(target, negated_)),
        differences_(target.path->timing, space),
        certificate_(certificate),
        trusted_(trusted) {}

  void run() {
    Runs all;
    for (const Unit& unit : p_.units()) all.emplace_back(0, unit.size);
    std::vector<Runs> boxes{std::move(all)};
    for (const Step& step : certificate_.steps) {
      if (boxes.empty()) throw Rejected{"steps that belong to no box"};
      Runs box = std::move(boxes.back());
      boxes.pop_back();
      if (step.kind == Step::Kind::kSplit) {
        if (step.unit >= box.size()) throw Rejected{"a split of a unit that is not there"};
        auto& [first, end] = box[step.unit];
        if (step.tuple <= first || step.tuple >= end) throw Rejected{"a split outside its box"};
        Runs later = box;
        later[step.unit].first = step.tuple;
        end = step.tuple;
        boxes.push_back(std::move(later));
        boxes.push_back(std::move(box));
      } else {
        check_step(box, step);
      }
    }
    if (!boxes.empty()) throw Rejected{"a box is left without a step"};
  }

 private:
  bool within(Big numerator, Big denominator) const {
    const Big claimed = bound_ * denominator;
    // Rounded to whole ticks: total / denominator < bound + 1, or > bound - 1.
    return maximum_ ? numerator < claimed + denominator : numerator > claimed - denominator;
  }

  void check_step(const Runs& box, const Step& step) {
    if (p_.empty()) {
      if (step.kind != Step::Kind::kNoInput) throw Rejected{"a step for a path without inputs"};
      return;
    }
    if (step.denominator <= 0 || step.quantum <= 0)
      throw Rejected{"a divisor that is not positive"};
    if (!step.multipliers.empty() && step.multipliers.size() != p_.limits().size()) {
      throw Rejected{"not one multiplier per limit"};
    }
    if (std::any_of(step.multipliers.begin(), step.multipliers.end(),
                    [](std::int64_t m) { return m < 0; })) {
      throw Rejected{"a negative multiplier"};
    }
    switch (step.kind) {
      case Step::Kind::kSplit: break;
      case Step::Kind::kNoInput: {
        const auto [least, cap] = least_of_units(box, step, {});
        if (least <= cap) throw Rejected{"multipliers that limits can meet"};
        return;
      }
      case Step::Kind::kPoint: {
        Choice choice;
        for (const auto& [first, end] : box) {
          if (end - first != 1) throw Rejected{"more than one choice is left"};
          choice.push_back(first);
        }
        if (!p_.complete()) throw Rejected{"a variable is not decided"};
        const std::optional<Time> value = p_.value(p_.assignment(choice));
        if (value && !within(*value, 1)) throw Rejected{"an input beyond the bound"};
        return;
      }
      case Step::Kind::kRelaxation:
        if (!p_.magnitude()) throw Rejected{"delays without bounds"};
        if (!p_.instant()) {
          check_sum(box, step);
        } else if (maximum_) {
          Part all;
          all.scale = step.denominator;
          all.multipliers = step.multipliers;
          all.budget = step.budget;
          all.quantum = step.quantum;
          const std::optional<Big> total = largest(box, *p_.instant(), all);
          if (total && !within(*total, step.denominator)) {
            throw Rejected{"the longest path is beyond the bound"};
          }
        } else {
          check_chains(box, step);
        }
        return;
      case Step::Kind::kSolver: {
        if (step.threshold == std::numeric_limits<Time>::min()) throw Rejected{"numbers too large"};
        const Time threshold = negated_ ? -step.threshold : step.threshold;
        const bool weaker = maximum_ ? threshold > bound_ : threshold < bound_;
        if (weaker) throw Rejected{"a solver was asked about another bound"};
        const bool vouched = trusted_.solver && trusted_.unsatisfiable;
        if (!vouched) throw Rejected{"a formula not shown unsatisfiable"};
        const std::unique_ptr<Feasibility> solver = trusted_.solver();
        require_beyond(*solver, p_, box, maximum_, threshold);
        if (solver->smtlib() != step.smtlib) throw Rejected{"a formula about something else"};
        if (!trusted_.unsatisfiable(step.smtlib))
          throw Rejected{"a formula not shown unsatisfiable"};
        return;
      }
    }
    throw Rejected{"an unknown step"};
  }

  // Least over the box of multipliers times limits plus weights times functions, and multipliers
  // times caps.
  std::pair<Big, Big> least_of_units(const Runs& box, const Step& step,
                                     const std::map<std::uint32_t, Big>& weights) const {
    std::vector<std::vector<Big>> sums;
    for (const auto& [first, end] : box) sums.emplace_back(end - first, Big{0});
    const auto add = [&](std::uint32_t f, Big factor) {
      const Function& function = p_.function(f);
      const std::uint32_t first = box[function.unit].first;
      auto& sum = sums[function.unit];
      for (std::uint32_t k = 0; k < sum.size(); ++k) sum[k] += factor * function.values[first + k];
    };
    Big cap = 0;
    for (std::size_t l = 0; l < step.multipliers.size(); ++l) {
      cap += Big{step.multipliers[l]} * p_.limits()[l].cap;
      for (const std::uint32_t f : p_.limits()[l].functions) add(f, step.multipliers[l]);
    }
    for (const auto& [f, weight] : weights) add(f, weight);
    Big least = 0;
    for (const auto& sum : sums) least += *std::min_element(sum.begin(), sum.end());
    return {least, cap};
  }

  // ---- the least: chains of delays

  // Greatest (a + delay) - (b + its delay).
  Tick apart(std::uint32_t a, Tick delay, const TimedArc& b) {
    const Time d = differences_.upper(static_cast<InstantId>(a), static_cast<InstantId>(b.from));
    return d == kForever ? Tick{kForever} : d + delay - p_.least(b.delay);
  }

  // What a chain to an instant adds up to at least: a constant, and functions.
  void walk(const Step::Chain& chain, InstantId instant, Big& constant,
            std::map<std::uint32_t, Big>& weights) {
    if (chain.weight < 0) throw Rejected{"a negative weight"};
    std::size_t v = at(instant);
    for (const std::uint32_t number : chain.arcs) {
      const std::vector<TimedArc>& arcs = p_.arcs(v);
      if (number >= arcs.size()) {
        const std::size_t k = number - arcs.size();
        if (k >= p_.path().orders.size()) throw Rejected{"an arc that is not there"};
        const Order& order = p_.path().orders[k];
        if (at(order.after) != v) throw Rejected{"an order of other instants"};
        if (order.before >= order.after) throw Rejected{"a chain that goes back"};
        if (!p_.needed(at(order.before))) throw Rejected{"an order of other instants"};
        constant += order.strict ? Big{chain.weight} : Big{0};
        v = at(order.before);
        continue;
      }
      if (p_.timing()[static_cast<InstantId>(v)].kind == Timing::Kind::kGate && number != 0) {
        if (number == 1 || apart(arcs[1].from, p_.most(arcs[1].delay), arcs[0]) > 0) {
          throw Rejected{"a gate that may be open"};
        }
      }
      const TimedArc& arc = arcs[number];
      constant += Big{chain.weight} * arc.delay.constant;
      for (const std::uint32_t f : arc.delay.functions) weights[f] += chain.weight;
      v = arc.from;
    }
  }

  void check_chains(const Runs& box, const Step& step) {
    Big constant = 0, all = 0;
    std::map<std::uint32_t, Big> weights;
    for (const Step::Chain& chain : step.chains) {
      walk(chain, *p_.instant(), constant, weights);
      all += chain.weight;
    }
    if (all > step.denominator) throw Rejected{"weights that are more than a mean"};
    const auto [least, cap] = least_of_units(box, step, weights);
    if (!within(constant + least - cap, step.denominator)) {
      throw Rejected{"chains that do not reach the bound"};
    }
  }

  // ---- the largest: a longest path in which units are charged once

  using Open = std::map<std::uint32_t, Values>;  // unit: what it adds so far, per tuple
  using Tables = std::map<Open, Values>;         // most by budget used

  // What is the same for all arrivals of one step.
  struct Charge {
    std::int64_t budget = 0;
    Tick denominator = 1;
    bool multiplied = false, once = false;
    std::vector<Values> cost, penalty;  // per unit and tuple of the box
  };

  // A longest path, times `scale`, and what is taken off.
  struct Part {
    std::int64_t scale = 1, quantum = 1;
    std::vector<std::int64_t> multipliers;
    std::optional<std::uint32_t> budget;
    std::map<std::uint32_t, Big> tolls;  // weights of functions
  };

  // Positive instants by longest paths, each as often as it counts; chains to negative ones, not
  // more often than they count, taken off.
  void check_sum(const Runs& box, const Step& step) {
    std::map<InstantId, Big> left;  // weights that are not yet accounted for
    for (const auto& [weight, instant] : p_.measure().instants) {
      left[instant] = Big{weight} * step.denominator;
    }
    Big total = Big{p_.measure().constant} * step.denominator;
    for (const Step::Part& given : step.parts) {
      if (given.weight < 0 || given.quantum <= 0) throw Rejected{"a negative weight"};
      if (!given.multipliers.empty() && given.multipliers.size() != p_.limits().size()) {
        throw Rejected{"not one multiplier per limit"};
      }
      for (const std::int64_t m : given.multipliers) {
        if (m < 0) throw Rejected{"a negative multiplier"};
      }
      if (Big{given.weight} * step.denominator > kMost) throw Rejected{"numbers too large"};
      if (at(given.instant) >= p_.timing().size() || !p_.needed(at(given.instant))) {
        throw Rejected{"an instant that is not there"};
      }
      if (given.instant != kTimeZero) left[given.instant] -= Big{given.weight} * step.denominator;
      if (given.behind) {
        const auto it = left.find(*given.behind);
        const Big weight = Big{given.weight} * step.denominator;
        if (it == left.end() || it->second + weight > 0) {
          throw Rejected{"an instant that does not count so often"};
        }
        it->second += weight;
        const Time apart = differences_.upper(given.instant, *given.behind);
        if (apart == kForever) throw Rejected{"instants that nothing is known of"};
        total += weight * apart;
        continue;
      }
      Part part;
      part.scale = (Tick{step.denominator} * std::max<std::int64_t>(given.weight, 1)).value();
      part.quantum = given.quantum;
      part.multipliers = given.multipliers;
      part.budget = given.budget;
      if (given.weight == 0 && given.instant != kTimeZero) throw Rejected{"a part of no weight"};
      Big constant = 0;
      for (const Step::Toll& toll : given.tolls) {
        const auto it = left.find(toll.instant);
        if (it == left.end() || it->second >= 0) throw Rejected{"a chain that does not count"};
        walk(toll.chain, toll.instant, constant, part.tolls);
        it->second += toll.chain.weight;
        if (it->second > 0) throw Rejected{"chains that count too often"};
      }
      const std::optional<Big> most = largest(box, given.instant, part);
      if (!most) return;  // no input
      total += *most - constant;
    }
    for (const auto& [weight, instant] : p_.measure().instants) {
      if (weight > 0 && left.at(instant) > 0) throw Rejected{"an instant that is left out"};
    }
    if (!within(total, step.denominator)) throw Rejected{"the sum is beyond the bound"};
  }

  // Nullopt: the box has no input.
  std::optional<Big> largest(const Runs& box, InstantId instant, const Part& part) {
    Charge charge;
    charge.denominator = part.scale;
    charge.multiplied = part.scale != 1 || !part.tolls.empty();
    for (const auto& [first, end] : box) {
      charge.cost.emplace_back(end - first, 0);
      charge.penalty.emplace_back(end - first, 0);
    }
    if (part.budget && *part.budget >= p_.limits().size()) throw Rejected{"a budget of no limit"};
    if (!p_.magnitude()) throw Rejected{"delays without bounds"};
    Big constant = 0, size = Big{*p_.magnitude()} * part.scale;
    for (std::size_t l = 0; l < p_.limits().size(); ++l) {
      const std::int64_t multiplier = part.multipliers.empty() ? 0 : part.multipliers[l];
      const bool kept = part.budget == l;
      if (multiplier == 0 && !kept) continue;
      charge.multiplied = charge.multiplied || multiplier != 0;
      Big room = p_.limits()[l].cap;
      for (const std::uint32_t f : p_.limits()[l].functions) {
        const Function& function = p_.function(f);
        const auto [first, end] = box[function.unit];
        const auto begin = function.values.begin();
        const auto [lo, hi] = std::minmax_element(begin + first, begin + end);
        room -= *lo;
        size += Big{multiplier} * (Big{*hi} - *lo);
        if (size > kMost) throw Rejected{"numbers too large"};
        for (std::uint32_t row = first; row < end; ++row) {
          const Tick use = Tick{function.values[row]} - *lo;
          if (kept) charge.cost[function.unit][row - first] = use / part.quantum;
          charge.penalty[function.unit][row - first] += use * multiplier;
        }
      }
      if (room < 0) return std::nullopt;
      constant += Big{multiplier} * room;
      if (!kept) continue;
      // More than all units together can use makes no difference.
      Big all = 0;
      for (const Values& costs : charge.cost) all += *std::max_element(costs.begin(), costs.end());
      const Big most = std::min<Big>(room / part.quantum, all);
      if (most > kMaxTable) throw Rejected{"a budget too large to check"};
      charge.budget = most.narrow();
    }
    for (const auto& [f, weight] : part.tolls) {
      const Function& function = p_.function(f);
      const auto [first, end] = box[function.unit];
      size += weight * std::max(std::abs(function.lo), std::abs(function.hi));
      if (size > kMost) throw Rejected{"numbers too large"};
      for (std::uint32_t row = first; row < end; ++row) {
        charge.penalty[function.unit][row - first] += Tick{weight.narrow()} * function.values[row];
      }
    }
    // What a unit pays at least it pays also where no path reads it.
    for (Values& penalties : charge.penalty) {
      const Tick base = *std::min_element(penalties.begin(), penalties.end());
      constant -= base;
      for (Tick& penalty : penalties) penalty -= base;
    }
    if (size > kMost) throw Rejected{"numbers too large"};
    read_sets(instant);
    charge.once = once_[instant];
    std::optional<Tick> result = fill_tables(instant, box, charge);
    if (!result) {
      charge.once = once_[instant] = true;
      result = fill_tables(instant, box, charge);
    }
    return constant + Big{*result};
  }

  // Which units delays behind (in front of) each instant read, among what `target` depends on.
  void read_sets(InstantId target) {
    if (sets_of_ == target) return;
    sets_of_ = target;
    const std::size_t last = at(target);
    used_.assign(last + 1, false);
    later_.assign(last + 1, std::vector<bool>(p_.units().size(), false));
    earlier_ = later_;
    used_[last] = true;
    for (std::size_t v = last; v > 0; --v) {
      if (!used_[v]) continue;
      for (const TimedArc& arc : p_.arcs(v)) {
        used_[arc.from] = true;
        for (std::size_t u = 0; u < p_.units().size(); ++u) {
          if (later_[v][u]) later_[arc.from][u] = true;
        }
        for (const std::uint32_t f : arc.delay.functions)
          later_[arc.from][p_.function(f).unit] = true;
      }
    }
    for (std::size_t v = 1; v <= last; ++v) {
      if (!used_[v]) continue;
      for (const TimedArc& arc : p_.arcs(v)) {
        for (std::size_t u = 0; u < p_.units().size(); ++u) {
          if (earlier_[arc.from][u]) earlier_[v][u] = true;
        }
        for (const std::uint32_t f : arc.delay.functions) earlier_[v][p_.function(f).unit] = true;
      }
    }
  }

  // The unit takes the tuple that is best for each budget.
  static Values close(const Values& table, const Values& cost, const Values& gain,
                      std::int64_t budget) {
    std::map<std::int64_t, Tick> best;  // by cost
    for (std::size_t k = 0; k < cost.size(); ++k) {
      if (cost[k] > budget) continue;
      const auto [it, fresh] = best.emplace(cost[k].value(), gain[k]);
      if (!fresh) it->second = std::max(it->second, gain[k]);
    }
    Values out(table.size(), kNone);
    Tick most = kNone;
    for (const auto& [c, g] : best) {
      if (g <= most) continue;  // a table's values rise with the budget: a dearer one gains nothing
      most = g;
      const auto shift = static_cast<std::size_t>(c);
      for (std::size_t b = shift; b < out.size(); ++b)
        out[b] = std::max(out[b], table[b - shift] + g);
    }
    return out;
  }

  static void join(Tables& tables, const Open& open, Values table) {
    const auto [it, fresh] = tables.try_emplace(open, table);
    if (fresh) return;
    for (std::size_t b = 0; b < table.size(); ++b)
      it->second[b] = std::max(it->second[b], table[b]);
  }

  // Tables of `from` with delays on top, as they are at v.
  Tables arrive(const Runs& box, const Charge& charge, std::size_t from, std::size_t v,
                const std::vector<const Sum*>& delays, Tick extra) {
    Open added;
    for (const Sum* delay : delays) {
      extra += Tick{delay->constant} + delay->slack;
      for (const std::uint32_t f : delay->functions) {
        const Function& function = p_.function(f);
        const auto [first, end] = box[function.unit];
        Values values(function.values.begin() + first, function.values.begin() + end);
        put(added, function.unit, std::move(values));
      }
    }
    Tables out;
    for (const auto& [open, table] : tables_[from]) {
      ++arrivals_;
      Values t = table;
      for (Tick& x : t) x += extra * charge.denominator;
      Open left = open;
      for (const auto& [u, values] : added) {
        if (charge.once && earlier_[from][u]) {
          const Tick most = *std::max_element(values.begin(), values.end());
          for (Tick& x : t) x += most * charge.denominator;
        } else if (charge.once) {
          t = closed(charge, u, values, t);
        } else {
          put(left, u, values);
        }
      }
      for (auto it = left.begin(); it != left.end();) {
        if (later_[v][it->first]) {
          ++it;
        } else {
          t = closed(charge, it->first, it->second, t);
          it = left.erase(it);
        }
      }
      join(out, left, std::move(t));
    }
    return out;
  }
  static void put(Open& open, std::uint32_t u, Values values) {
    const auto [it, fresh] = open.try_emplace(u, values);
    if (fresh) return;
    for (std::size_t k = 0; k < values.size(); ++k) it->second[k] += values[k];
  }
  static Values closed(const Charge& charge, std::uint32_t u, const Values& values,
                       const Values& table) {
    Values gain(values.size());
    for (std::size_t k = 0; k < gain.size(); ++k) {
      gain[k] = values[k] * charge.denominator - charge.penalty[u][k];
    }
    return close(table, charge.cost[u], gain, charge.budget);
  }

  static void join(Tables& tables, const Tables& more) {
    for (const auto& [open, table] : more) join(tables, open, table);
  }

  // Nullopt: too many tables.
  std::optional<Tick> fill_tables(InstantId target, const Runs& box, const Charge& charge) {
    const std::size_t last = at(target);
    // Tables are dropped after their last use.
    std::vector<std::size_t> until(last + 1, 0);
    for (std::size_t v = 1; v <= last; ++v) {
      if (!used_[v]) continue;
      for (const TimedArc& arc : p_.arcs(v)) {
        until[arc.from] = v;
        // At a gate also what its start depends on.
        if (p_.timing()[static_cast<InstantId>(v)].kind != Timing::Kind::kGate) continue;
        for (const TimedArc& before : p_.arcs(arc.from)) until[before.from] = v;
      }
    }
    std::vector<std::vector<std::size_t>> ends(last + 1);
    for (std::size_t v = 0; v < last; ++v) ends[until[v]].push_back(v);
    tables_.assign(last + 1, {});
    arrivals_ = 0;
    const Values zero(static_cast<std::size_t>(charge.budget) + 1, 0);
    tables_[0].emplace(Open{}, zero);
    for (std::size_t v = 1; v <= last; ++v) {
      if (!used_[v]) continue;
      const Timing::Node& node = p_.timing()[static_cast<InstantId>(v)];
      const std::vector<TimedArc>& arcs = p_.arcs(v);
      Tables& here = tables_[v];
      switch (node.kind) {
        case Timing::Kind::kMax:
          if (arcs.empty()) here.emplace(Open{}, zero);
          for (const TimedArc& arc : arcs) {
            join(here, arrive(box, charge, arc.from, v, {&arc.delay}, 0));
          }
          break;
        case Timing::Kind::kGate: here = gate(box, charge, v); break;
        case Timing::Kind::kEdge:
          for (auto& [open, table] : arrive(box, charge, arcs[0].from, v, {&arcs[0].delay}, 0)) {
            here.emplace(open, edge(charge, node, open, table));
          }
          break;
      }
      if (arrivals_ > most_arrivals(p_) && !charge.once) return std::nullopt;
      for (const std::size_t gone : ends[v]) tables_[gone].clear();
    }
    LPN_ASSERT(tables_[last].size() == 1 && tables_[last].begin()->first.empty());
    return tables_[last].begin()->second.back();
  }

  // Up to the next edge. What an open unit adds must be whole periods apart; else rounding may cost
  // a period less a tick.
  static Values edge(const Charge& charge, const Timing::Node& node, const Open& open,
                     Values table) {
    bool regular = !charge.multiplied;
    Tick rest = 0;
    for (const auto& [u, values] : open) {
      const std::int64_t r = floor_mod(values[0].value(), node.period);
      rest += r;
      for (const Tick x : values) regular = regular && floor_mod(x.value(), node.period) == r;
    }
    for (Tick& t : table) {
      if (!regular) {
        t += Tick{node.period - 1} * charge.denominator;
      } else if (const Time past = floor_mod((t + rest - node.phase).value(), node.period);
                 past != 0) {
        t += node.period - past;
      }
    }
    return table;
  }

  // The most that tables allow, whatever open units add.
  static Tick most(const Charge& charge, const Tables& tables) {
    Tick best = kNone;
    for (const auto& [open, table] : tables) {
      Tick t = table.back();
      for (const auto& [u, values] : open) {
        t += *std::max_element(values.begin(), values.end()) * charge.denominator;
      }
      best = std::max(best, t);
    }
    return best;
  }

  Tables gate(const Runs& box, const Charge& charge, std::size_t v) {
    const std::vector<TimedArc>& arcs = p_.arcs(v);
    const TimedArc &start = arcs[0], &closes = arcs[1], &opens = arcs[2];
    Tables here = arrive(box, charge, start.from, v, {&start.delay}, 0);
    if (apart(start.from, p_.most(start.delay), closes) < 0) return here;
    Tables opened = arrive(box, charge, opens.from, v, {&opens.delay}, 0);
    const Tick closed = apart(opens.from, p_.most(opens.delay), closes);
    if (closed == kForever || closed > *p_.magnitude()) {
      join(here, opened);
      return here;
    }
    // Blocked: the start is at or after the closing, so the latest of what it waits for is.
    Tables late;
    if (start.from != 0 &&
        p_.timing()[static_cast<InstantId>(start.from)].kind == Timing::Kind::kMax) {
      for (const TimedArc& arc : p_.arcs(start.from)) {
        if (apart(arc.from, p_.most(arc.delay) + p_.most(start.delay), closes) < 0) continue;
        join(late, arrive(box, charge, arc.from, v, {&arc.delay, &start.delay}, closed));
      }
      if (late.empty()) return here;
    } else {
      late = arrive(box, charge, start.from, v, {&start.delay}, closed);
    }
    if (late.size() == 1 && opened.size() == 1 && late.begin()->first == opened.begin()->first) {
      Values both = late.begin()->second;
      const Values& other = opened.begin()->second;
      for (std::size_t b = 0; b < both.size(); ++b) both[b] = std::min(both[b], other[b]);
      join(here, late.begin()->first, std::move(both));
    } else {
      join(here, most(charge, opened) <= most(charge, late) ? opened : late);
    }
    return here;
  }

  bool negated_;  // a measure's least is its negative's largest
  bool maximum_;
  Big bound_;
  PathUnits p_;
  Differences differences_;
  const PathCertificate& certificate_;
  const Trusted& trusted_;
  std::vector<bool> used_;
  std::vector<std::vector<bool>> later_, earlier_;
  std::vector<Tables> tables_;
  std::size_t arrivals_ = 0;
  std::optional<InstantId> sets_of_;
  std::map<InstantId, bool> once_;
};

}  // namespace

std::optional<std::string> check(const InputSpace& space, const Target& target,
                                 const PathCertificate& certificate, const Trusted& trusted) {
  for (const Param& param : space.variables.params) {
    if (!param.range) throw Error("E-space", "variable '" + param.name + "' has no range");
  }
  try {
    Checker(space, target, certificate, trusted).run();
  } catch (const Rejected& rejected) {
    return rejected.why;
  } catch (const Inexact&) {
    return "numbers too large";
  }
  return std::nullopt;
}

}  // namespace lpn::smt

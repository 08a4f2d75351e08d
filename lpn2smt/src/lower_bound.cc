#include "lower_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "linear_programme.h"
#include "lpn/base/error.h"

namespace lpn::smt {
namespace {

constexpr double kCalm = 0.8;
constexpr double kTolerance = 1e-7;
constexpr int kMaxRounds = 400;
constexpr double kSeconds = 3;  // of one solution
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Wide ceil_quotient(Wide x, Wide y) { return x / y + (x % y > 0 ? 1 : 0); }

}  // namespace

Mix::Mix(Problem& problem) : p_(problem), arcs_(problem.timing().size()) {
  LPN_ASSERT(!p_.empty() && p_.magnitude());
  Differences differences(p_.timing(), p_.space());
  const auto lo = [&](const Sum& sum) {
    Time t = sum.constant;
    for (const std::uint32_t f : sum.functions) t += p_.function(f).lo;
    return t;
  };
  const auto hi = [&](const Sum& sum) {
    Time t = sum.constant + sum.slack;
    for (const std::uint32_t f : sum.functions) t += p_.function(f).hi;
    return t;
  };
  std::set<std::uint32_t> read;
  for (std::size_t v = 1; v < arcs_.size(); ++v) {
    const std::vector<TimedArc>& arcs = p_.arcs(v);
    bool blocked = true;
    if (p_.timing()[static_cast<InstantId>(v)].kind == Timing::Kind::kGate && !arcs.empty()) {
      const Time ahead = differences.upper(static_cast<InstantId>(arcs[1].from),
                                           static_cast<InstantId>(arcs[0].from));
      blocked = ahead != kForever && ahead + hi(arcs[1].delay) - lo(arcs[0].delay) <= 0;
    }
    for (std::uint32_t k = 0; k < arcs.size(); ++k) {
      if (p_.timing()[static_cast<InstantId>(v)].kind == Timing::Kind::kGate &&
          (k == 1 || (k == 2 && !blocked))) {
        continue;
      }
      arcs_[v].push_back({arcs[k].from, &arcs[k].delay, 0, k});
      read.insert(arcs[k].delay.functions.begin(), arcs[k].delay.functions.end());
    }
  }
  for (std::uint32_t k = 0; k < p_.path().orders.size(); ++k) {
    const Order& order = p_.path().orders[k];
    const std::size_t after = at(order.after);
    if (order.before >= order.after || !p_.needed(after)) continue;
    const auto number = static_cast<std::uint32_t>(p_.arcs(after).size() + k);
    arcs_[after].push_back(
        {static_cast<std::uint32_t>(order.before), nullptr, order.strict ? 1 : 0, number});
  }
  read_.assign(read.begin(), read.end());
}

Mix::Chain Mix::longest(InstantId target, const Choice& choice) {
  std::vector<double> values(read_.empty() ? 0 : read_.back() + 1, 0);
  for (const std::uint32_t f : read_) {
    values[f] = static_cast<double>(p_.function(f).values[choice[p_.function(f).unit]]);
  }
  return longest(target, values).second;
}

std::pair<double, Mix::Chain> Mix::longest(InstantId instant, const std::vector<double>& values) {
  const std::size_t target = at(instant);
  std::vector<double> length(target + 1, 0);
  std::vector<const Arc*> critical(target + 1, nullptr);
  for (std::size_t v = 1; v <= target; ++v) {
    for (const Arc& arc : arcs_[v]) {
      double t = length[arc.from];
      if (arc.delay == nullptr) {
        t += static_cast<double>(arc.constant);
      } else {
        t += static_cast<double>(arc.delay->constant);
        for (const std::uint32_t f : arc.delay->functions) t += values[f];
      }
      if (critical[v] == nullptr || t > length[v]) length[v] = t, critical[v] = &arc;
    }
  }
  Chain chain;
  std::map<std::uint32_t, std::uint32_t> functions;  // by unit
  for (std::size_t v = target; critical[v] != nullptr; v = critical[v]->from) {
    const Arc& arc = *critical[v];
    chain.arcs.push_back(arc.number);
    chain.constant += arc.delay == nullptr ? arc.constant : arc.delay->constant;
    if (arc.delay == nullptr) continue;
    for (const std::uint32_t f : arc.delay->functions) {
      const auto [it, fresh] = functions.emplace(p_.function(f).unit, f);
      if (!fresh) it->second = p_.plus(it->second, f);
    }
  }
  for (const auto& [unit, f] : functions) chain.functions.push_back(f);
  return {length[target], std::move(chain)};
}

Mix::Chain Mix::chain(InstantId target, const std::vector<std::uint32_t>& arcs) const {
  Chain chain{arcs, 0, {}};
  std::size_t v = at(target);
  for (const std::uint32_t number : arcs) {
    const auto arc = std::find_if(arcs_[v].begin(), arcs_[v].end(),
                                  [&](const Arc& each) { return each.number == number; });
    LPN_ASSERT(arc != arcs_[v].end());
    chain.constant += arc->delay == nullptr ? arc->constant : arc->delay->constant;
    if (arc->delay != nullptr) {
      chain.functions.insert(chain.functions.end(), arc->delay->functions.begin(),
                             arc->delay->functions.end());
    }
    v = arc->from;
  }
  return chain;
}

std::size_t Mix::keep(Chain chain) {
  const auto [it, fresh] = known_.try_emplace(chain.arcs, chains_.size());
  if (fresh) chains_.push_back(std::move(chain));
  return it->second;
}

Mix::Result Mix::solve(const Box& box, const std::function<bool(const Result&)>& go_on) {
  const InstantId target = p_.instant().value();
  const std::size_t units = p_.units().size(), limits = p_.limits().size();
  std::vector<std::vector<std::pair<std::size_t, std::uint32_t>>> uses(units);  // limit, function
  double penalty = 1;
  for (std::size_t l = 0; l < limits; ++l) {
    for (const std::uint32_t f : p_.limits()[l].functions)
      uses[p_.function(f).unit].emplace_back(l, f);
  }
  for (const std::uint32_t f : read_) {
    penalty += static_cast<double>(p_.function(f).hi - p_.function(f).lo);
  }

  LinearProgramme lp;
  const int z = lp.add_column(-kInfinity, kInfinity, 1);
  std::vector<int> limit_rows, excess;
  for (std::size_t l = 0; l < limits; ++l) {
    limit_rows.push_back(lp.add_row(-kInfinity, static_cast<double>(p_.limits()[l].cap), {}));
    excess.push_back(lp.add_column(0, kInfinity, penalty, {{limit_rows[l], -1.0}}));
  }
  std::vector<int> unit_rows;
  for (std::size_t u = 0; u < units; ++u) unit_rows.push_back(lp.add_row(1, 1, {}));
  struct Active {
    std::size_t chain;
    int row;
    std::map<std::uint32_t, std::uint32_t> function;  // per unit
  };
  std::vector<Active> active;
  struct Column {
    std::uint32_t row;
    int number;
  };
  std::vector<std::vector<Column>> columns(units);
  const auto add_tuple = [&](std::size_t u, std::uint32_t row) {
    for (const Column& column : columns[u]) {
      if (column.row == row) return false;
    }
    std::vector<std::pair<int, double>> entries{{unit_rows[u], 1.0}};
    for (const auto& [l, f] : uses[u]) {
      entries.emplace_back(limit_rows[l], static_cast<double>(p_.function(f).values[row]));
    }
    for (const Active& a : active) {
      const auto it = a.function.find(static_cast<std::uint32_t>(u));
      if (it == a.function.end()) continue;
      entries.emplace_back(a.row, -static_cast<double>(p_.function(it->second).values[row]));
    }
    columns[u].push_back({row, lp.add_column(0, kInfinity, 0, entries)});
    return true;
  };
  const auto add_chain = [&](std::size_t number) {
    for (const Active& a : active) {
      if (a.chain == number) return false;
    }
    const Chain& chain = chains_[number];
    Active made{number, 0, {}};
    std::vector<std::pair<int, double>> entries{{z, 1.0}};
    for (const std::uint32_t f : chain.functions) {
      const std::uint32_t u = p_.function(f).unit;
      made.function.emplace(u, f);
      for (const Column& column : columns[u]) {
        entries.emplace_back(column.number,
                             -static_cast<double>(p_.function(f).values[column.row]));
      }
    }
    made.row = lp.add_row(static_cast<double>(chain.constant), kInfinity, entries);
    active.push_back(std::move(made));
    return true;
  };
  std::vector<double> values;
  const auto add_longest = [&](const std::function<double(const Function&)>& of) {
    for (const std::uint32_t f : read_) {
      if (f >= values.size()) values.resize(f + 1);
      values[f] = of(p_.function(f));
    }
    auto [length, chain] = longest(target, values);
    const std::size_t number = keep(std::move(chain));
    return std::pair(length, number);
  };

  for (std::uint32_t u = 0; u < units; ++u) {
    const auto [first, end] = box[u];
    add_tuple(u, first);
    add_tuple(u, end - 1);
    for (const auto& [l, f] : uses[u]) {
      const auto& table = p_.function(f).values;
      add_tuple(u,
                static_cast<std::uint32_t>(
                    std::min_element(table.begin() + first, table.begin() + end) - table.begin()));
    }
  }
  for (const std::size_t chain : last_) add_chain(chain);
  add_chain(add_longest([&](const Function& f) {
              return static_cast<double>(f.values[box[f.unit].first]);
            }).second);

  Result best;
  best.step.kind = Step::Kind::kRelaxation;
  best.mixed.resize(units);
  const std::int64_t scale = [&] {
    std::int64_t d = std::int64_t{1} << 20;
    while (d > 1 && *p_.magnitude() > (std::int64_t{1} << 60) / d) d /= 2;
    return d;
  }();
  // The bound of weights and multipliers that are rounded to integers first: exact.
  const auto settle = [&](bool only_limits, double divide) {
    Step step;
    step.kind = only_limits ? Step::Kind::kNoInput : Step::Kind::kRelaxation;
    step.denominator = scale;
    step.multipliers.assign(limits, 0);
    Wide total = 0;
    for (std::size_t l = 0; l < limits; ++l) {
      const double m = std::max(0.0, -lp.dual(limit_rows[l])) / divide * static_cast<double>(scale);
      step.multipliers[l] = m < 1e15 ? std::llround(m) : 0;
      total -= Wide{step.multipliers[l]} * p_.limits()[l].cap;
    }
    std::vector<std::vector<Wide>> sums(units);
    for (std::size_t u = 0; u < units; ++u) {
      sums[u].assign(box[u].second - box[u].first, 0);
      for (const auto& [l, f] : uses[u]) {
        if (step.multipliers[l] == 0) continue;
        for (std::size_t k = 0; k < sums[u].size(); ++k) {
          sums[u][k] += Wide{step.multipliers[l]} * p_.function(f).values[box[u].first + k];
        }
      }
    }
    if (!only_limits) {
      std::int64_t rest = scale;
      for (const Active& a : active) {
        const double y = std::max(0.0, lp.dual(a.row)) * static_cast<double>(scale);
        const std::int64_t w = std::min(rest, static_cast<std::int64_t>(std::llround(y)));
        if (w == 0) continue;
        rest -= w;
        step.chains.push_back({w, chains_[a.chain].arcs});
        total += Wide{w} * chains_[a.chain].constant;
      }
      if (step.chains.empty()) {
        step.chains.push_back({0, chains_[active[0].chain].arcs});
      }
      auto& most = *std::max_element(
          step.chains.begin(), step.chains.end(),
          [](const Step::Chain& a, const Step::Chain& b) { return a.weight < b.weight; });
      most.weight += rest;
      for (const Step::Chain& used : step.chains) {
        const Chain& chain = chains_[known_.at(used.arcs)];
        if (&used == &most) total += Wide{rest} * chain.constant;
        for (const std::uint32_t f : chain.functions) {
          const Function& function = p_.function(f);
          auto& sum = sums[function.unit];
          for (std::size_t k = 0; k < sum.size(); ++k) {
            sum[k] += Wide{used.weight} * function.values[box[function.unit].first + k];
          }
        }
      }
    }
    for (const auto& sum : sums) total += *std::min_element(sum.begin(), sum.end());
    if (only_limits) {
      if (total > 0) best.bound.reset(), best.step = std::move(step);
      return total > 0;
    }
    const Time bound = static_cast<Time>(
        std::clamp<Wide>(ceil_quotient(total, scale), 0, std::numeric_limits<Time>::max() - 1));
    if (!best.bound || bound > *best.bound) best.bound = bound, best.step = std::move(step);
    return false;
  };

  std::map<const Function*, double> centre;
  for (int round = 0; round < kMaxRounds; ++round) {
    if (!lp.solve(kSeconds)) break;
    double outside = 0;
    for (std::size_t l = 0; l < limits; ++l) outside += lp.value(excess[l]);
    settle(false, 1);
    if (outside > 1e-6 && settle(true, penalty)) return best;
    for (std::size_t u = 0; u < units; ++u) {
      best.mixed[u].clear();
      for (const Column& column : columns[u]) {
        const double share = lp.value(column.number);
        if (share > 1e-6) best.mixed[u].emplace_back(column.row, share);
      }
    }
    if (!go_on(best)) break;
    // Tuples that would make the mix shorter.
    bool changed = false;
    std::vector<std::vector<double>> reduced(units);
    for (std::size_t u = 0; u < units; ++u) {
      if (box[u].second - box[u].first <= 2) continue;
      reduced[u].assign(box[u].second - box[u].first, 0);
      for (const auto& [l, f] : uses[u]) {
        const double m = -lp.dual(limit_rows[l]);
        if (m == 0) continue;
        for (std::size_t k = 0; k < reduced[u].size(); ++k) {
          reduced[u][k] += m * static_cast<double>(p_.function(f).values[box[u].first + k]);
        }
      }
    }
    for (const Active& a : active) {
      const double y = lp.dual(a.row);
      if (y == 0) continue;
      for (const auto& [u, f] : a.function) {
        for (std::size_t k = 0; k < reduced[u].size(); ++k) {
          reduced[u][k] += y * static_cast<double>(p_.function(f).values[box[u].first + k]);
        }
      }
    }
    std::vector<std::pair<std::size_t, std::uint32_t>> tuples;
    for (std::size_t u = 0; u < units; ++u) {
      if (reduced[u].empty()) continue;
      const auto least = std::min_element(reduced[u].begin(), reduced[u].end());
      if (*least - lp.dual(unit_rows[u]) < -kTolerance) {
        tuples.emplace_back(u,
                            box[u].first + static_cast<std::uint32_t>(least - reduced[u].begin()));
      }
    }
    // Chains that are longer than the mix: of the mixed input, and of one near it.
    const double now = lp.value(z);
    const auto [length, chain] = add_longest([&](const Function& f) {
      double t = 0;
      for (const auto& [row, share] : best.mixed[f.unit]) {
        t += share * static_cast<double>(f.values[row]);
      }
      return t;
    });
    const bool longer = length > now + 1e-6 * std::max(1.0, now);
    const auto near = add_longest([&](const Function& f) {
      const auto& mixed = best.mixed[f.unit];
      if (mixed.empty()) return 0.0;
      const auto most =
          std::max_element(mixed.begin(), mixed.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      return static_cast<double>(f.values[most->first]);
    });
    // And of one that follows the mixed inputs slowly, since these jump about.
    const auto calm = add_longest([&](const Function& f) {
      double t = 0;
      for (const auto& [row, share] : best.mixed[f.unit]) {
        t += share * static_cast<double>(f.values[row]);
      }
      double& middle = centre[&f];
      return middle = round == 0 ? t : kCalm * middle + (1 - kCalm) * t;
    });
    for (const auto& [u, row] : tuples) changed |= add_tuple(u, row);
    if (longer) {
      changed |= add_chain(chain);
      changed |= add_chain(near.second);
      changed |= add_chain(calm.second);
    }
    if (!changed) break;
  }
  if (!best.bound) best.bound = 0, best.step.chains.clear();
  last_.clear();
  for (const Step::Chain& used : best.step.chains) last_.push_back(known_.at(used.arcs));
  return best;
}

}  // namespace lpn::smt

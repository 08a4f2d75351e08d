#include "chains.h"

#include <algorithm>
#include <set>

#include "lpn/base/error.h"
#include "lpn/classes/differences.h"

namespace lpn::smt {

Chains::Chains(PathUnits& path) : p_(path), arcs_(path.timing().size()) {
  LPN_ASSERT(!p_.empty() && p_.magnitude());
  Differences differences(p_.timing(), p_.space());
  std::set<std::uint32_t> read;
  for (std::size_t v = 1; v < arcs_.size(); ++v) {
    const std::vector<TimedArc>& arcs = p_.arcs(v);
    bool blocked = true;
    if (p_.timing()[static_cast<InstantId>(v)].kind == Timing::Kind::kGate && !arcs.empty()) {
      const Time ahead = differences.upper(static_cast<InstantId>(arcs[1].from),
                                           static_cast<InstantId>(arcs[0].from));
      blocked = ahead != kForever && ahead + p_.most(arcs[1].delay) - p_.least(arcs[0].delay) <= 0;
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

Chains::Chain Chains::longest(InstantId target, const Choice& choice) {
  std::vector<double> values(read_.empty() ? 0 : read_.back() + 1, 0);
  for (const std::uint32_t f : read_) {
    values[f] = static_cast<double>(p_.function(f).values[choice[p_.function(f).unit]]);
  }
  return longest(target, values).second;
}

std::pair<double, Chains::Chain> Chains::longest(InstantId instant,
                                                 const std::vector<double>& values) {
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

Chains::Chain Chains::of(InstantId target, const std::vector<std::uint32_t>& arcs) const {
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

std::size_t Chains::keep(Chain chain) {
  const auto [it, fresh] = number_.try_emplace(chain.arcs, kept_.size());
  if (fresh) kept_.push_back(std::move(chain));
  return it->second;
}

}  // namespace lpn::smt

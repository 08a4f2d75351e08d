#include "lower_bound.h"

#include <algorithm>
#include <utility>

namespace lpn::smt {
namespace {

constexpr double kCalm = 0.8;
constexpr int kMaxRounds = 400;

double mean(const Function& f, const MixedInput& mixed) {
  double t = 0;
  for (const auto& [row, share] : mixed[f.unit]) t += share * static_cast<double>(f.values[row]);
  return t;
}

double at_largest_share(const Function& f, const MixedInput& mixed) {
  const auto& shares = mixed[f.unit];
  if (shares.empty()) return 0;
  const auto most =
      std::max_element(shares.begin(), shares.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return static_cast<double>(f.values[most->first]);
}

}  // namespace

std::pair<double, std::size_t> LowerBound::longest(const Value& of) {
  const std::vector<std::uint32_t>& read = chains_.read();
  std::vector<double> values(read.empty() ? 0 : read.back() + 1, 0);
  for (const std::uint32_t f : read) values[f] = of(p_.function(f));
  auto [length, chain] = chains_.longest(p_.instant().value(), values);
  return {length, chains_.keep(std::move(chain))};
}

LowerBound::Result LowerBound::solve(const Box& box,
                                     const std::function<bool(const Result&)>& go_on) {
  LowerColumns columns(p_, box, chains_);
  for (const std::size_t chain : last_) columns.add_chain(chain);
  const auto at_first = [&](const Function& f) {
    return static_cast<double>(f.values[box[f.unit].first]);
  };
  columns.add_chain(longest(at_first).second);

  Result best;
  best.mixed.resize(box.size());
  Smoothed smoothed;
  for (int round = 0; round < kMaxRounds; ++round) {
    if (!columns.solve()) break;
    auto [bound, step] = columns.bound();
    if (!best.bound || bound > *best.bound) best.bound = bound, best.step = std::move(step);
    if (columns.excess() > 1e-6) {
      if (std::optional<Step> none = columns.no_input()) {
        best.bound.reset();
        best.step = std::move(*none);
        return best;
      }
    }
    columns.mixed(best.mixed);
    if (!go_on(best) || !extend(columns, best.mixed, round == 0, smoothed)) break;
  }
  if (!best.bound) best.bound = 0, best.step.chains.clear();
  last_.clear();
  for (const Step::Chain& used : best.step.chains) last_.push_back(chains_.number(used.arcs));
  return best;
}

// Adds tuples that would make the mix shorter, and chains that are longer than it: of the mixed
// input, of one near it, and of one that follows the mixed inputs slowly, since these jump about.
bool LowerBound::extend(LowerColumns& columns, const MixedInput& mixed, bool first,
                        Smoothed& smoothed) {
  const auto tuples = columns.shorter_tuples();
  const double now = columns.length();
  const auto [length, chain] = longest([&](const Function& f) { return mean(f, mixed); });
  const std::size_t near =
      longest([&](const Function& f) { return at_largest_share(f, mixed); }).second;
  const auto follow = [&](const Function& f) {
    const double t = mean(f, mixed);
    double& middle = smoothed[&f];
    return middle = first ? t : kCalm * middle + (1 - kCalm) * t;
  };
  const std::size_t calm = longest(follow).second;
  bool changed = false;
  for (const auto& [u, row] : tuples) changed |= columns.add_tuple(u, row);
  if (length > now + 1e-6 * std::max(1.0, now)) {
    changed |= columns.add_chain(chain);
    changed |= columns.add_chain(near);
    changed |= columns.add_chain(calm);
  }
  return changed;
}

}  // namespace lpn::smt

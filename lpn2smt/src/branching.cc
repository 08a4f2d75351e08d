#include "branching.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lpn::smt {
namespace {

using Shares = std::vector<std::pair<std::uint32_t, double>>;

double mean(const std::vector<std::int64_t>& values, const Shares& shares) {
  double sum = 0;
  for (const auto& [row, share] : shares) sum += share * static_cast<double>(values[row]);
  return sum;
}

}  // namespace

DelayFunctions delay_functions(const PathUnits& path) {
  DelayFunctions reads(path.units().size());
  for (std::size_t v = 1; v < path.timing().size(); ++v) {
    for (const TimedArc& arc : path.arcs(v)) {
      for (const std::uint32_t f : arc.delay.functions) reads[path.function(f).unit].push_back(f);
    }
  }
  for (auto& functions : reads) {
    std::sort(functions.begin(), functions.end());
    functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
  }
  return reads;
}

Split widest_split(const PathUnits& path, const DelayFunctions& reads, const Box& box,
                   const Choice& choice) {
  Split split;
  double best = -1;
  for (std::uint32_t u = 0; u < box.size(); ++u) {
    const auto [first, end] = box[u];
    if (end - first < 2) continue;
    double spread = 0;
    for (const std::uint32_t f : reads[u]) {
      const auto& values = path.function(f).values;
      const auto [lo, hi] = std::minmax_element(values.begin() + first, values.begin() + end);
      spread += static_cast<double>(*hi - *lo);
    }
    if (choice[u] == kUnset) spread /= 8;
    if (spread <= best) continue;
    best = spread;
    split = {u, first + (end - first) / 2};
  }
  return split;
}

Split mixed_split(const PathUnits& path, const DelayFunctions& reads, const Box& box,
                  const MixedInput& mixed) {
  Split split;
  double best = 1e-6;
  for (std::uint32_t u = 0; u < box.size(); ++u) {
    const auto [first, end] = box[u];
    if (end - first < 2 || mixed[u].size() < 2) continue;
    double spread = 0, middle = 0;
    for (const auto& [row, share] : mixed[u]) middle += share * row;
    for (const std::uint32_t f : reads[u]) {
      const auto& values = path.function(f).values;
      const double about = mean(values, mixed[u]);
      for (const auto& [row, share] : mixed[u]) {
        spread += share * std::abs(static_cast<double>(values[row]) - about);
      }
    }
    if (spread <= best) continue;
    best = spread;
    split = {u, std::clamp(static_cast<std::uint32_t>(middle) + 1, first + 1, end - 1)};
  }
  if (split.unit != kUnset) return split;
  return widest_split(path, reads, box, Choice(box.size(), kUnset));
}

Choice rounded(const PathUnits& path, const DelayFunctions& reads, const Box& box,
               const MixedInput& mixed) {
  DelayFunctions functions = reads;
  for (const Limit& limit : path.limits()) {
    for (const std::uint32_t f : limit.functions) functions[path.function(f).unit].push_back(f);
  }
  Choice choice(box.size());
  for (std::uint32_t u = 0; u < box.size(); ++u) {
    const auto [first, end] = box[u];
    choice[u] = mixed[u].empty() ? first : mixed[u][0].first;
    if (mixed[u].size() < 2) continue;
    std::vector<double> distance(end - first, 0);
    for (const std::uint32_t f : functions[u]) {
      const Function& function = path.function(f);
      const double width = std::max(1.0, static_cast<double>(function.hi - function.lo));
      const double about = mean(function.values, mixed[u]);
      for (std::uint32_t row = first; row < end; ++row) {
        distance[row - first] +=
            std::abs(static_cast<double>(function.values[row]) - about) / width;
      }
    }
    const auto nearest = std::min_element(distance.begin(), distance.end());
    choice[u] = first + static_cast<std::uint32_t>(nearest - distance.begin());
  }
  return choice;
}

}  // namespace lpn::smt

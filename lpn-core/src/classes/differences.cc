#include "lpn/classes/differences.h"

#include <algorithm>

#include "lpn/base/wide.h"

namespace lpn {
namespace {

Time clamp(Wide x) {
  if (x >= kForever) return kForever;
  if (x <= std::numeric_limits<Time>::min() + 1) return std::numeric_limits<Time>::min() + 1;
  return static_cast<Time>(x);
}
// kForever stays.
Time plus(Time a, Time b) { return a == kForever || b == kForever ? kForever : clamp(Wide{a} + b); }

// Instants looked at for one question. What is decided by ancestors some firings back is found.
constexpr int kReach = 400;

}  // namespace

Differences::Differences(const Timing& timing, const InputSpace& space)
    : timing_(timing), bounds_(space.variables, nullptr), ranges_{Range{0, 0}} {}

Range Differences::range(InstantId v) {
  for (std::size_t k = ranges_.size(); k <= static_cast<std::size_t>(v); ++k) {
    const Timing::Node& node = timing_[static_cast<InstantId>(k)];
    const auto of = [&](const Timing::Arc& arc) {
      const Range from = ranges_[static_cast<std::size_t>(arc.from)];
      const Range delay = bounds_.of(arc.delay);
      return Range{clamp(Wide{from.lo} + std::max<Time>(delay.lo, 0)), plus(from.hi, delay.hi)};
    };
    Range r{0, 0};
    switch (node.kind) {
      case Timing::Kind::kMax:
        for (const Timing::Arc& arc : node.after) {
          const Range x = of(arc);
          r = {std::max(r.lo, x.lo), std::max(r.hi, x.hi)};
        }
        break;
      case Timing::Kind::kGate: {
        const Range start = of(node.after[0]), opens = of(node.after[2]);
        r = {start.lo, std::max(start.hi, opens.hi)};
        break;
      }
      case Timing::Kind::kEdge: {
        r = of(node.after[0]);
        r.hi = plus(r.hi, node.period - 1);
        break;
      }
    }
    ranges_.push_back(r);
  }
  return ranges_[static_cast<std::size_t>(v)];
}

// Distances to b of its nearest ancestors: by id downwards, so that every path is complete.
Differences::Target& Differences::target(InstantId b) {
  const auto [it, fresh] = targets_.try_emplace(static_cast<std::uint32_t>(b));
  Target& target = it->second;
  if (!fresh) return target;
  std::vector<std::uint32_t> heap{static_cast<std::uint32_t>(b)};  // ids to look at, largest first
  target.behind[heap.front()] = 0;
  for (int looked = 0; !heap.empty() && looked < kReach; ++looked) {
    std::pop_heap(heap.begin(), heap.end());
    const std::uint32_t v = heap.back();
    heap.pop_back();
    const Time here = target.behind.at(v);
    const Timing::Node& node = timing_[static_cast<InstantId>(v)];
    // A gate surely comes after its start only.
    const std::size_t arcs = node.kind == Timing::Kind::kGate ? 1 : node.after.size();
    const auto reach = [&](InstantId before, Time delay) {
      const auto from = static_cast<std::uint32_t>(before);
      const Time distance = plus(here, delay);
      const auto [at, first] = target.behind.try_emplace(from, distance);
      if (first) {
        heap.push_back(from);
        std::push_heap(heap.begin(), heap.end());
      } else {
        at->second = std::max(at->second, distance);
      }
    };
    for (std::size_t k = 0; k < arcs; ++k) {
      reach(node.after[k].from, std::max<Time>(bounds_.of(node.after[k].delay).lo, 0));
    }
    if (const auto it = facts_.find(v); it != facts_.end()) {
      for (const auto& [before, distance] : it->second) reach(before, distance);
    }
  }
  return target;
}

Time Differences::bound(Target& target, InstantId a, InstantId b, int& budget) {
  const auto id = static_cast<std::uint32_t>(a);
  if (const auto it = target.known.find(id); it != target.known.end()) return it->second;
  Time best = plus(range(a).hi, -range(b).lo);
  if (const auto it = target.behind.find(id); it != target.behind.end()) {
    best = std::min(best, -it->second);
  } else if (--budget > 0) {
    const Timing::Node& node = timing_[a];
    Time through = node.after.empty() ? -range(b).lo : std::numeric_limits<Time>::min() + 1;
    for (std::size_t k = 0; k < node.after.size() && through < best; ++k) {
      if (node.kind == Timing::Kind::kGate && k == 1) continue;
      const Timing::Arc& arc = node.after[k];
      const Time extra =
          plus(bounds_.of(arc.delay).hi, node.kind == Timing::Kind::kEdge ? node.period - 1 : 0);
      through = std::max(through, plus(bound(target, arc.from, b, budget), extra));
    }
    best = std::min(best, through);
  }
  // Beyond the budget a bound is sound and may be worse than it could be: not remembered.
  if (budget > 0) target.known[id] = best;
  return best;
}

void Differences::learn(InstantId before, InstantId after, Time distance) {
  if (before >= after) return;
  facts_[static_cast<std::uint32_t>(after)].emplace_back(before, distance);
  targets_.clear();
}

Time Differences::upper(InstantId a, InstantId b) {
  if (a == b) return 0;
  range(std::max(a, b));
  int budget = kReach;
  return bound(target(b), a, b, budget);
}

}  // namespace lpn

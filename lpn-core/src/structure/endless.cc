#include "lpn/structure/endless.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lpn/base/wide.h"
#include "lpn/graph/components.h"
#include "lpn/net/bounds.h"
#include "lpn/net/facts.h"

namespace lpn {
namespace {

std::size_t index(PlaceId id) { return static_cast<std::size_t>(id); }
std::size_t index(TransitionId id) { return static_cast<std::size_t>(id); }

class Finder {
 public:
  explicit Finder(const Net& net) : net_(net), uses_(place_uses(net)) {
    for (std::size_t p = 0; p < net.places.size(); ++p) lent_.push_back(lent(p));
  }

  std::vector<Endless> run() {
    const std::size_t n = net_.transitions.size();
    goes_on_.resize(n);
    for (std::size_t t = 0; t < n; ++t) goes_on_[t] = unhindered(net_.transitions[t]);
    while (drop_unfed() || drop_unstarted()) {
    }
    return grouped();
  }

 private:
  // What is fed by something that ends, ends.
  bool drop_unfed() {
    bool dropped = false;
    for (std::size_t t = 0; t < goes_on_.size(); ++t) {
      if (!goes_on_[t] || fed(net_.transitions[t])) continue;
      goes_on_[t] = false;
      dropped = true;
    }
    return dropped;
  }

  // What never gets a first token does not begin.
  bool drop_unstarted() {
    std::vector<bool> starts(goes_on_.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t t = 0; t < starts.size(); ++t) {
        if (starts[t] || !goes_on_[t] || !comes(net_.transitions[t], starts)) continue;
        starts[t] = changed = true;
      }
    }
    const bool dropped = starts != goes_on_;
    goes_on_ = std::move(starts);
    return dropped;
  }

  Range range(const Transition& t, const Formula& f) const { return bounds(net_, &t, f.id); }

  bool one(const Transition& t, const InputArc& arc) const {
    return !arc.inhibit && !arc.guard && !arc.threshold && range(t, arc.weight) == Range{1, 1};
  }

  Range given(const Transition& t, PlaceId place) const {
    NetBounds of(net_, &t);
    Range sum{0, 0};
    for (const OutputArc& arc : t.outputs) {
      if (arc.place != place) continue;
      const Range count = emitted(of, arc);
      sum.lo += count.lo;
      sum.hi += count.hi;
    }
    return sum;
  }
  bool gives(const Transition& t, PlaceId place) const { return given(t, place).lo >= 1; }

  // Whoever takes its tokens gives as many back: where nothing is in flight, one is there.
  bool lent(std::size_t p) const {
    const PlaceUse& use = uses_[p];
    const auto id = static_cast<PlaceId>(p);
    if (use.takers.empty() || net_[id].capacity || initial_tokens(net_, net_[id]).lo < 1)
      return false;
    return std::all_of(use.takers.begin(), use.takers.end(), [&](TransitionId taker) {
      const Transition& t = net_[taker];
      Wide taken = 0;
      for (const InputArc& arc : t.inputs) {
        if (arc.place == id && !arc.inhibit) taken += range(t, arc.weight).hi;
      }
      return taken <= given(t, id).lo;
    });
  }

  bool lent(const InputArc& arc) const { return lent_[index(arc.place)]; }

  // Each input is one token of a place of its own.
  bool singly(const Transition& t) const {
    for (auto arc = t.inputs.begin(); arc != t.inputs.end(); ++arc) {
      if (!one(t, *arc)) return false;
      if (std::any_of(t.inputs.begin(), arc,
                      [&](const InputArc& before) { return before.place == arc->place; })) {
        return false;
      }
    }
    return true;
  }

  // A bounded place that is empty wherever no firing is in flight, since another transition takes
  // what comes and needs nothing else; then there is room for what `t` puts.
  bool emptied(const Transition& t, PlaceId place) const {
    const PlaceUse& use = uses_[index(place)];
    if (use.producers.size() != 1 || use.takers.size() != 1) return false;
    if (bounds(net_, nullptr, net_[place].capacity->id).lo < given(t, place).hi) return false;
    const Transition& next = net_[use.takers.front()];
    return &next != &t && singly(next) &&
           std::all_of(next.inputs.begin(), next.inputs.end(),
                       [&](const InputArc& arc) { return arc.place == place || lent(arc); }) &&
           std::none_of(next.outputs.begin(), next.outputs.end(),
                        [&](const OutputArc& arc) { return net_[arc.place].capacity.has_value(); });
  }

  // Nothing but its tokens decides whether it starts.
  bool unhindered(const Transition& t) const {
    return singly(t) &&
           std::all_of(t.inputs.begin(), t.inputs.end(),
                       [&](const InputArc& arc) {
                         const PlaceUse& use = uses_[index(arc.place)];
                         return lent(arc) || (use.takers.size() == 1 && use.producers.size() == 1);
                       }) &&
           std::all_of(t.outputs.begin(), t.outputs.end(), [&](const OutputArc& arc) {
             return !net_[arc.place].capacity || emptied(t, arc.place);
           });
  }

  bool fed(const Transition& t) const {
    return std::all_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
      if (lent(arc)) return true;
      const TransitionId maker = uses_[index(arc.place)].producers.front();
      return goes_on_[index(maker)] && gives(net_[maker], arc.place);
    });
  }

  bool comes(const Transition& t, const std::vector<bool>& starts) const {
    return std::all_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
      return lent(arc) || net_[arc.place].start || initial_tokens(net_, net_[arc.place]).lo >= 1 ||
             starts[index(uses_[index(arc.place)].producers.front())];
    });
  }

  // A source by itself, a loop as one; what they only feed is no cause.
  std::vector<Endless> grouped() const {
    std::vector<std::vector<std::uint32_t>> edges(net_.transitions.size());
    for (std::uint32_t t = 0; t < edges.size(); ++t) {
      if (!goes_on_[t]) continue;
      const auto& inputs = net_.transitions[t].inputs;
      for (const InputArc& arc : inputs) {
        if (!lent(arc)) edges[index(uses_[index(arc.place)].producers.front())].push_back(t);
      }
      const bool only_lent =
          std::all_of(inputs.begin(), inputs.end(), [&](const InputArc& arc) { return lent(arc); });
      if (!inputs.empty() && only_lent) edges[t].push_back(t);  // it feeds itself
    }
    std::vector<Endless> found;
    for (const auto& part : strong_components(edges)) {
      if (!goes_on_[part.front()]) continue;
      const Transition& first = net_.transitions[part.front()];
      const auto& next = edges[part.front()];
      const bool loop =
          part.size() > 1 || std::find(next.begin(), next.end(), part.front()) != next.end();
      if (!loop && !first.inputs.empty()) continue;
      Endless entry{{}, loop};
      for (const std::uint32_t t : part) {
        const Transition& one = net_.transitions[t];
        entry.transitions.push_back(static_cast<TransitionId>(t));
        entry.at_once = entry.at_once && range(one, one.delay).hi == 0 && !one.clock &&
                        (!one.interval || range(one, *one.interval).hi == 0) && !waits(one);
      }
      std::sort(entry.transitions.begin(), entry.transitions.end());
      found.push_back(std::move(entry));
    }
    std::sort(found.begin(), found.end(), [](const Endless& a, const Endless& b) {
      return a.transitions.front() < b.transitions.front();
    });
    return found;
  }

  // For others: for room, or for a token that they hold.
  bool waits(const Transition& t) const {
    return std::any_of(
               t.outputs.begin(), t.outputs.end(),
               [&](const OutputArc& arc) { return net_[arc.place].capacity.has_value(); }) ||
           std::any_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
             return uses_[index(arc.place)].takers.size() > 1;
           });
  }

  const Net& net_;
  std::vector<PlaceUse> uses_;
  std::vector<bool> lent_;  // per place
  std::vector<bool> goes_on_;
};

}  // namespace

std::vector<Endless> endless(const Net& net) { return Finder(net).run(); }

std::vector<std::string> endless_names(const Net& net) {
  std::vector<std::string> names;
  for (const Endless& found : endless(net)) names.push_back(net[found.transitions.front()].name);
  return names;
}

}  // namespace lpn

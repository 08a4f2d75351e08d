#include "endless.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lpn/graph/components.h"
#include "lpn/net/bounds.h"
#include "lpn/net/facts.h"

namespace lpn {
namespace {

std::size_t index(PlaceId id) { return static_cast<std::size_t>(id); }
std::size_t index(TransitionId id) { return static_cast<std::size_t>(id); }

class Finder {
 public:
  explicit Finder(const Net& net) : net_(net), uses_(place_uses(net)) {}

  std::vector<Endless> run() {
    const std::size_t n = net_.transitions.size();
    goes_on_.resize(n);
    for (std::size_t t = 0; t < n; ++t) goes_on_[t] = unhindered(net_.transitions[t]);
    for (bool changed = true; changed;) {  // what is fed by something that ends, ends
      changed = false;
      for (std::size_t t = 0; t < n; ++t) {
        if (!goes_on_[t] || fed(net_.transitions[t], goes_on_)) continue;
        goes_on_[t] = false;
        changed = true;
      }
    }
    std::vector<bool> starts(n);  // of these, those whose first token is there or comes
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t t = 0; t < n; ++t) {
        if (starts[t] || !goes_on_[t] || !comes(net_.transitions[t], starts)) continue;
        starts[t] = changed = true;
      }
    }
    goes_on_ = std::move(starts);
    return grouped();
  }

 private:
  Range range(const Transition& t, const Formula& f) const { return bounds(net_, &t, f.id); }

  bool one(const Transition& t, const InputArc& arc) const {
    return !arc.inhibit && !arc.guard && !arc.threshold && range(t, arc.weight) == Range{1, 1};
  }

  // Nothing but its tokens decides whether it starts.
  bool unhindered(const Transition& t) const {
    for (const InputArc& arc : t.inputs) {
      const PlaceUse& use = uses_[index(arc.place)];
      if (!one(t, arc) || use.takers.size() != 1 || use.producers.size() != 1) return false;
    }
    return std::none_of(t.outputs.begin(), t.outputs.end(),
                        [&](const OutputArc& arc) { return net_[arc.place].capacity.has_value(); });
  }

  bool gives(const Transition& t, PlaceId place) const {
    return std::any_of(t.outputs.begin(), t.outputs.end(), [&](const OutputArc& arc) {
      return arc.place == place &&
             std::any_of(arc.emissions.begin(), arc.emissions.end(),
                         [&](const Emission& e) { return range(t, e.count).lo >= 1; });
    });
  }

  bool fed(const Transition& t, const std::vector<bool>& by) const {
    return std::all_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
      const TransitionId maker = uses_[index(arc.place)].producers.front();
      return by[index(maker)] && gives(net_[maker], arc.place);
    });
  }

  bool comes(const Transition& t, const std::vector<bool>& starts) const {
    return std::all_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
      const auto& initial = net_[arc.place].initial;
      return net_[arc.place].start || starts[index(uses_[index(arc.place)].producers.front())] ||
             std::any_of(initial.begin(), initial.end(), [&](const Initial& group) {
               return bounds(net_, nullptr, group.count.id).lo >= 1;
             });
    });
  }

  // A source by itself, a loop as one; what they only feed is no cause.
  std::vector<Endless> grouped() const {
    std::vector<std::vector<std::uint32_t>> edges(net_.transitions.size());
    for (std::uint32_t t = 0; t < edges.size(); ++t) {
      if (!goes_on_[t]) continue;
      for (const InputArc& arc : net_.transitions[t].inputs) {
        edges[index(uses_[index(arc.place)].producers.front())].push_back(t);
      }
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
                        (!one.interval || range(one, *one.interval).hi == 0);
      }
      std::sort(entry.transitions.begin(), entry.transitions.end());
      found.push_back(std::move(entry));
    }
    std::sort(found.begin(), found.end(), [](const Endless& a, const Endless& b) {
      return a.transitions.front() < b.transitions.front();
    });
    return found;
  }

  const Net& net_;
  std::vector<PlaceUse> uses_;
  std::vector<bool> goes_on_;
};

}  // namespace

std::vector<Endless> endless(const Net& net) { return Finder(net).run(); }

}  // namespace lpn

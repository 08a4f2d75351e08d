#include "unordered.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "lpn/base/wide.h"
#include "lpn/net/bounds.h"
#include "lpn/net/facts.h"
#include "lpn/structure/structure.h"

namespace lpn {
namespace {

const InputArc* arc_from(const Transition& t, PlaceId place) {
  const auto at = std::find_if(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
    return arc.place == place && !arc.inhibit;
  });
  return at == t.inputs.end() ? nullptr : &*at;
}

Range range(const Net& net, const Transition& t, const Formula& f) { return bounds(net, &t, f.id); }

// At most one token can be there.
bool single(const Net& net, const Place& place) {
  if (place.capacity && bounds(net, nullptr, place.capacity->id).hi <= 1) return true;
  Wide tokens = 0;
  for (const Initial& group : place.initial) tokens += bounds(net, nullptr, group.count.id).hi;
  return !place.start && tokens == 1;
}

// Whether both take from another place as well: that may be what lets one start at a time.
bool share_more(const Net& net, PlaceId place, const Transition& a, const Transition& b) {
  return std::any_of(a.inputs.begin(), a.inputs.end(), [&](const InputArc& arc) {
    return arc.place != place && !arc.inhibit && range(net, a, arc.weight).hi >= 1 &&
           arc_from(b, arc.place) != nullptr;
  });
}

bool may_last_as_long(const Net& net, const Transition& a, const Transition& b) {
  const Range x = range(net, a, a.delay), y = range(net, b, b.delay);
  return x.lo <= y.hi && y.lo <= x.hi;
}

std::optional<PlaceId> both_fill(const Net& net, const Transition& a, const Transition& b) {
  for (const OutputArc& out : a.outputs) {
    if (net.type_of(out.place).fields.empty()) continue;
    for (const OutputArc& other : b.outputs) {
      if (other.place == out.place) return out.place;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Unordered> unordered(const Net& net) {
  std::vector<Unordered> found;
  const std::vector<PlaceUse> uses = place_uses(net);
  for (std::size_t p = 0; p < uses.size(); ++p) {
    const auto place = static_cast<PlaceId>(p);
    const auto& takers = uses[p].takers;
    if (takers.size() < 2 || single(net, net[place])) continue;
    const auto pair = [&]() -> std::optional<Unordered> {
      for (std::size_t i = 0; i < takers.size(); ++i) {
        for (std::size_t j = i + 1; j < takers.size(); ++j) {
          const Transition &a = net[takers[i]], &b = net[takers[j]];
          const auto into = both_fill(net, a, b);
          if (into && !share_more(net, place, a, b) && may_last_as_long(net, a, b) &&
              exclude_each_other(net, place, takers[i], takers[j])) {
            return Unordered{place, takers[i], takers[j], *into};
          }
        }
      }
      return std::nullopt;
    }();
    if (pair) found.push_back(*pair);
  }
  return found;
}

}  // namespace lpn

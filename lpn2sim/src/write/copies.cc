#include "write/copies.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>

#include "lpn/graph/union_find.h"

namespace lpn::sim {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

namespace {

constexpr size_t kRounds = 32;  // a chain would need as many as it is long
constexpr size_t kLeast = 4;    // places and transitions of a copy

uint64_t mixed(uint64_t x, uint64_t more) {
  x = (x ^ more) * 0x9e3779b97f4a7c15ull;
  return x ^ x >> 29;
}

// Colours of places (first) and transitions: equal ones look equal as far as kRounds arcs away.
class Colours {
 public:
  Colours(const Net& net, const std::vector<TransitionInfo>& infos)
      : net_(net), infos_(infos), first_(net.places.size()) {
    for (const Place& p : net.places) {
      uint64_t c = mixed(1, net[p.type].fields.size());
      c = mixed(c, p.capacity.has_value() + 2 * p.credit_of.has_value() + 4 * p.start + 8 * p.done);
      all_.push_back(mixed(c, p.drain + 2 * p.sink + 4 * !p.initial.empty()));
    }
    for (size_t k = 0; k < infos.size(); ++k) {
      const Transition& t = net.transitions[k];
      uint64_t c = mixed(2, static_cast<uint64_t>(infos[k].keep) + 8 * infos[k].zero_delay);
      c = mixed(c, t.clock.has_value() + 2 * t.interval.has_value() + 4 * t.ordered);
      all_.push_back(mixed(c, t.inputs.size() + 1024 * t.outputs.size()));
    }
    size_t before = 0;
    for (size_t round = 0; round < kRounds && count() != before; ++round) {
      before = members_.size();
      refine();
    }
    count();
  }
  uint64_t operator[](size_t at) const { return all_[at]; }
  bool alone(size_t at) const { return members_.at(all_[at]) == 1; }

 private:
  size_t count() {
    members_.clear();
    for (const uint64_t c : all_) ++members_[c];
    return members_.size();
  }
  // Sums over arcs: a place has no order of them, and one that takes from all copies has its own.
  void refine() {
    std::vector<uint64_t> next = all_;
    for (size_t k = 0; k < infos_.size(); ++k) {
      const auto arc = [&](size_t place, uint64_t kind) {
        next[first_ + k] += mixed(kind, all_[place]);
        next[place] += mixed(kind, all_[first_ + k]);
      };
      const Transition& t = net_.transitions[k];
      for (size_t a = 0; a < t.inputs.size(); ++a) {
        const ArcInfo& info = infos_[k].arcs[a];
        arc(info.place, 2 * static_cast<uint64_t>(info.weight + 1) + t.inputs[a].inhibit);
      }
      for (const OutputArc& o : t.outputs) arc(static_cast<size_t>(o.place), ~o.emissions.size());
    }
    for (size_t at = 0; at < next.size(); ++at) next[at] = mixed(next[at], all_[at]);
    all_.swap(next);
  }

  const Net& net_;
  const std::vector<TransitionInfo>& infos_;
  size_t first_;
  std::vector<uint64_t> all_;
  std::unordered_map<uint64_t, size_t> members_;
};

}  // namespace

Copies find_copies(const Net& net, const std::vector<TransitionInfo>& infos) {
  const size_t places = net.places.size(), all = places + infos.size();
  const Colours colours(net, infos);
  UnionFind pieces(all);
  for (size_t k = 0; k < infos.size(); ++k) {
    if (colours.alone(places + k)) continue;
    const auto join = [&](size_t p) {
      if (!colours.alone(p)) {
        pieces.join(static_cast<uint32_t>(p), static_cast<uint32_t>(places + k));
      }
    };
    for (const ArcInfo& a : infos[k].arcs) join(a.place);
    for (const OutputArc& o : net.transitions[k].outputs) join(static_cast<size_t>(o.place));
  }
  // In the order of their first members, as they were declared.
  std::map<uint32_t, std::vector<uint64_t>> looks;
  std::vector<uint32_t> order;
  for (uint32_t at = 0; at < all; ++at) {
    if (colours.alone(at)) continue;
    const auto [piece, is_new] = looks.try_emplace(pieces.find(at));
    if (is_new) order.push_back(piece->first);
    piece->second.push_back(colours[at]);
  }
  std::map<std::vector<uint64_t>, std::vector<uint32_t>> alike;
  for (const uint32_t piece : order) {
    std::vector<uint64_t>& look = looks[piece];
    if (look.size() < kLeast) continue;
    std::sort(look.begin(), look.end());
    alike[look].push_back(piece);
  }
  std::map<uint32_t, Copy> copies;
  uint32_t parts = 0;
  for (const uint32_t piece : order) {
    const auto same = alike.find(looks[piece]);
    if (same == alike.end() || same->second.size() < 2 || copies.count(piece) != 0) continue;
    uint32_t number = 0;
    for (const uint32_t other : same->second) copies[other] = {parts, number++};
    ++parts;
  }
  Copies found;
  for (uint32_t at = 0; at < all; ++at) {
    const auto copy = copies.find(pieces.find(at));
    (at < places ? found.places : found.transitions)
        .push_back(copy == copies.end() ? Copy{} : copy->second);
  }
  return found;
}

}  // namespace lpn::sim

#include "lpn/pi/cycles.h"

#include <algorithm>
#include <numeric>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"
#include "lpn/graph/components.h"

namespace lpn::pi {

namespace {

[[noreturn]] void too_large() {
  throw Error("E-pi", "the delays of a loop add up to more than 64 bits hold");
}

std::int64_t narrow(Wide x) {
  if (x > INT64_MAX || x < INT64_MIN) too_large();
  return static_cast<std::int64_t>(x);
}

// Policy iteration in one component: every event keeps the arc that it waits for; the best cycle
// among these arcs gives a ratio, and the distances to it show where another arc would be slower.
class Howard {
 public:
  Howard(const std::vector<EventArc>& arcs, const std::vector<std::uint32_t>& events,
         const std::vector<std::size_t>& inside, const GoOn& go_on)
      : count_(events.size()), go_on_(go_on) {
    std::vector<std::uint32_t>& local = scratch();
    for (std::size_t v = 0; v < count_; ++v) {
      if (local.size() <= events[v]) local.resize(events[v] + 1);
      local[events[v]] = static_cast<std::uint32_t>(v);
    }
    inside_.reserve(inside.size());
    first_in_.assign(count_ + 1, 0);
    for (const std::size_t a : inside) {
      const EventArc& arc = arcs[a];
      inside_.push_back({local[arc.from], local[arc.to], arc.delay, arc.tokens, a});
      ++first_in_[local[arc.to] + 1];
    }
    std::partial_sum(first_in_.begin(), first_in_.end(), first_in_.begin());
    std::vector<std::uint32_t> next(first_in_.begin(), first_in_.end() - 1);
    in_.resize(inside_.size());
    for (std::size_t a = 0; a < inside_.size(); ++a)
      in_[next[inside_[a].to]++] = static_cast<std::uint32_t>(a);
    choose_first();
  }

  Cycle run() {
    for (;;) {
      if (!go_on_()) throw Stopped{};
      find_best();
      if (best_.ratio.den == 0) return best_;
      // Every event's distance is a path of arcs, at most one more in each step of improve().
      const Wide most = largest_weight();
      const Wide room = static_cast<Wide>(inside_.size()) + static_cast<Wide>(count_) + 1;
      if (most <= INT64_MAX / room) {
        settle(narrow_);
        if (!improve(narrow_)) return best_;
      } else {
        if (most > kMostWide / room) too_large();
        settle(wide_);
        if (!improve(wide_)) return best_;
      }
    }
  }

 private:
  static constexpr Wide kMostWide = Wide{INT64_MAX} << 63;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Arc {
    std::uint32_t from, to;
    std::int64_t delay, tokens;
    std::size_t given;  // its number in `arcs_`
  };

  // Numbers within the component; kept between components, for a graph may have many.
  static std::vector<std::uint32_t>& scratch() {
    thread_local std::vector<std::uint32_t> local;
    return local;
  }

  // Of the arcs of an event that hold the fewest tokens, the slowest.
  void choose_first() {
    choice_.assign(count_, kNone);
    for (std::size_t a = 0; a < inside_.size(); ++a) {
      std::uint32_t& choice = choice_[inside_[a].from];
      if (choice == kNone || inside_[a].tokens < inside_[choice].tokens ||
          (inside_[a].tokens == inside_[choice].tokens &&
           inside_[a].delay > inside_[choice].delay)) {
        choice = static_cast<std::uint32_t>(a);
      }
    }
  }

  // The slowest cycle that the choices contain. Where they contain only idle ones, of neither delay
  // nor tokens, one of these, as ratio 0: whatever cycle has delay is then an improvement, and
  // improve() closes no idle one.
  void find_best() {
    mark_.assign(count_, 0);
    bool any = false, idle = false;
    std::uint32_t walk = 0;
    for (std::uint32_t start = 0; start < count_; ++start) {
      ++walk;
      std::uint32_t v = start;
      while (mark_[v] == 0) {
        mark_[v] = walk;
        v = inside_[choice_[v]].to;
      }
      if (mark_[v] != walk) continue;
      Wide delay = 0, tokens = 0;
      std::uint32_t w = v;
      do {
        const Arc& arc = inside_[choice_[w]];
        delay += arc.delay;
        tokens += arc.tokens;
        w = arc.to;
      } while (w != v);
      if (tokens < 0 || (tokens == 0 && delay > 0)) {
        keep_cycle(v, {1, 0});
        return;
      }
      if (tokens == 0) {
        if (!any && !idle) keep_cycle(v, {0, 1});
        idle = true;
        continue;
      }
      const Ratio ratio = make_ratio(narrow(delay), narrow(tokens));
      if (any && !(best_.ratio < ratio)) continue;
      keep_cycle(v, ratio);
      any = true;
    }
  }

  void keep_cycle(std::uint32_t v, Ratio ratio) {
    best_.ratio = ratio;
    best_.arcs.clear();
    anchor_ = v;
    std::uint32_t w = v;
    do {
      best_.arcs.push_back(inside_[choice_[w]].given);
      w = inside_[choice_[w]].to;
    } while (w != v);
  }

  template <typename V>
  V weight(const Arc& arc) const {
    return V{arc.delay} * best_.ratio.den - V{arc.tokens} * best_.ratio.num;
  }

  Wide largest_weight() const {
    const auto size = [](Wide x) { return x < 0 ? -x : x; };
    Wide most = 0;
    for (const Arc& arc : inside_)
      most = std::max(
          most, size(Wide{arc.delay} * best_.ratio.den) + size(Wide{arc.tokens} * best_.ratio.num));
    return most;
  }

  // Every event is led to the best cycle: along its choices, or, where these lead to a slower one,
  // along any arc, which is an improvement whatever its distance. `reached(u, arc)` for each.
  template <typename Reached>
  void lead_to_anchor(const Reached& reached) {
    first_chosen_.assign(count_ + 1, 0);
    for (std::uint32_t v = 0; v < count_; ++v) ++first_chosen_[inside_[choice_[v]].to + 1];
    std::partial_sum(first_chosen_.begin(), first_chosen_.end(), first_chosen_.begin());
    chosen_.resize(count_);
    fill_.assign(first_chosen_.begin(), first_chosen_.end() - 1);
    for (std::uint32_t v = 0; v < count_; ++v) chosen_[fill_[inside_[choice_[v]].to]++] = v;
    mark_.assign(count_, 0);
    order_.clear();
    order_.push_back(anchor_);
    mark_[anchor_] = 1;
    const auto follow = [&](std::uint32_t u, std::uint32_t a) {
      mark_[u] = 1;
      choice_[u] = a;
      reached(u, inside_[a]);
      order_.push_back(u);
    };
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const std::uint32_t v = order_[k];
      for (std::uint32_t i = first_chosen_[v]; i < first_chosen_[v + 1]; ++i)
        if (!mark_[chosen_[i]]) follow(chosen_[i], choice_[chosen_[i]]);
    }
    for (std::size_t k = 0; k < order_.size() && order_.size() < count_; ++k) {
      const std::uint32_t v = order_[k];
      for (std::uint32_t i = first_in_[v]; i < first_in_[v + 1]; ++i)
        if (!mark_[inside_[in_[i]].from]) follow(inside_[in_[i]].from, in_[i]);
    }
  }

  template <typename V>
  void settle(std::vector<V>& distance) {
    distance.resize(count_);
    distance[anchor_] = 0;
    lead_to_anchor(
        [&](std::uint32_t u, const Arc& arc) { distance[u] = weight<V>(arc) + distance[arc.to]; });
  }

  template <typename V>
  bool improve(std::vector<V>& distance) {
    bool better = false;
    for (std::uint32_t a = 0; a < inside_.size(); ++a) {
      const Arc& arc = inside_[a];
      const V longer = weight<V>(arc) + distance[arc.to];
      if (longer <= distance[arc.from]) continue;
      distance[arc.from] = longer;  // at once: what comes behind follows the longest so far
      choice_[arc.from] = a;
      better = true;
    }
    return better;
  }

  std::size_t count_;
  const GoOn& go_on_;
  std::vector<Arc> inside_;
  std::vector<std::uint32_t> first_in_, in_;  // arcs into each event
  std::vector<std::uint32_t> choice_, mark_, order_, first_chosen_, chosen_, fill_;
  std::vector<std::int64_t> narrow_;
  std::vector<Wide> wide_;
  std::uint32_t anchor_ = 0;
  Cycle best_;
};

// Arcs by component, those alone that stay inside one.
struct Parts {
  std::vector<std::vector<std::uint32_t>> members;
  std::vector<std::vector<std::size_t>> inside;

  Parts(std::size_t events, const std::vector<EventArc>& arcs) {
    std::vector<std::vector<std::uint32_t>> next(events);
    for (const EventArc& arc : arcs) next[arc.from].push_back(static_cast<std::uint32_t>(arc.to));
    members = strong_components(next);
    std::vector<std::size_t> of(events);
    for (std::size_t c = 0; c < members.size(); ++c)
      for (const std::uint32_t v : members[c]) of[v] = c;
    inside.resize(members.size());
    for (std::size_t a = 0; a < arcs.size(); ++a)
      if (of[arcs[a].from] == of[arcs[a].to]) inside[of[arcs[a].from]].push_back(a);
  }
};

}  // namespace

Ratio make_ratio(std::int64_t num, std::int64_t den) {
  LPN_ASSERT(den > 0);
  const std::int64_t common = std::gcd(num, den);
  return {num / common, den / common};
}

Ratio divided(Ratio ratio, std::int64_t by) {
  const std::int64_t common = std::gcd(ratio.num, by);
  return {ratio.num / common, narrow(Wide{ratio.den} * (by / common))};
}

bool operator<(const Ratio& a, const Ratio& b) { return Wide{a.num} * b.den < Wide{b.num} * a.den; }

std::optional<Cycle> slowest_cycle(std::size_t events, const std::vector<EventArc>& arcs,
                                   const GoOn& go_on) {
  const Parts parts(events, arcs);
  std::optional<Cycle> slowest;
  for (std::size_t c = 0; c < parts.members.size(); ++c) {
    if (parts.inside[c].empty()) continue;
    Cycle cycle = Howard(arcs, parts.members[c], parts.inside[c], go_on).run();
    if (cycle.ratio.den == 0) return cycle;
    if (cycle.ratio.num > 0 && (!slowest || slowest->ratio < cycle.ratio))
      slowest = std::move(cycle);
  }
  return slowest;
}

}  // namespace lpn::pi

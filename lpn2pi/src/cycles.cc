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

// One component: its events, and the arcs that stay inside it.
class Howard {
 public:
  Howard(const std::vector<EventArc>& arcs, std::vector<std::size_t> events,
         std::vector<std::size_t> inside, std::size_t all)
      : arcs_(arcs),
        events_(std::move(events)),
        inside_(std::move(inside)),
        choice_(all),
        value_(all),
        reached_(all),
        mark_(all) {}

  Cycle run() {
    for (const std::size_t a : inside_) choice_[arcs_[a].from] = a;
    for (;;) {
      evaluate();
      if (!improve()) return best_;
    }
  }

 private:
  // The best cycle that the choices contain, and how far ahead of it every event is (scaled by
  // ratio.den, so that all are integers).
  void evaluate() {
    bool any = false;
    std::fill(mark_.begin(), mark_.end(), 0);
    std::size_t walk = 0;
    for (const std::size_t start : events_) {
      ++walk;
      std::size_t v = start;
      while (mark_[v] == 0) {
        mark_[v] = walk;
        v = arcs_[choice_[v]].to;
      }
      if (mark_[v] != walk) continue;
      Cycle cycle = cycle_at(v);
      if (any && !(best_.ratio < cycle.ratio)) continue;
      best_ = std::move(cycle);
      any = true;
    }
    settle();
  }

  Cycle cycle_at(std::size_t v) const {
    Cycle cycle;
    Wide delay = 0, tokens = 0;
    std::size_t w = v;
    do {
      const EventArc& arc = arcs_[choice_[w]];
      cycle.arcs.push_back(choice_[w]);
      delay += arc.delay;
      tokens += arc.tokens;
      w = arc.to;
    } while (w != v);
    cycle.ratio = make_ratio(narrow(delay), narrow(tokens));
    return cycle;
  }

  Wide weight(const EventArc& arc) const {
    return Wide{arc.delay} * best_.ratio.den - Wide{arc.tokens} * best_.ratio.num;
  }

  // Values from the best cycle backwards: along the choices first; events that choose a slower
  // cycle are led to the best one, which is an improvement whatever their value.
  void settle() {
    const std::size_t anchor = arcs_[best_.arcs.front()].from;
    std::vector<std::vector<std::size_t>> chosen_into(value_.size()), into(value_.size());
    for (const std::size_t v : events_) {
      reached_[v] = false;
      chosen_into[arcs_[choice_[v]].to].push_back(choice_[v]);
    }
    for (const std::size_t a : inside_) into[arcs_[a].to].push_back(a);
    std::vector<std::size_t> order{anchor};
    reached_[anchor] = true;
    value_[anchor] = 0;
    const auto spread = [&](std::size_t from, const auto& arcs_into) {
      for (std::size_t k = from; k < order.size(); ++k) {
        for (const std::size_t a : arcs_into[order[k]]) {
          const std::size_t u = arcs_[a].from;
          if (reached_[u]) continue;
          reached_[u] = true;
          choice_[u] = a;
          value_[u] = weight(arcs_[a]) + value_[order[k]];
          order.push_back(u);
        }
      }
    };
    spread(0, chosen_into);
    spread(0, into);
  }

  bool improve() {
    bool better = false;
    for (const std::size_t a : inside_) {
      const EventArc& arc = arcs_[a];
      const Wide value = weight(arc) + value_[arc.to];
      if (value <= value_[arc.from]) continue;
      // Kept until all arcs were looked at, so that a choice follows the best of them.
      value_[arc.from] = value;
      choice_[arc.from] = a;
      better = true;
    }
    return better;
  }

  const std::vector<EventArc>& arcs_;
  std::vector<std::size_t> events_, inside_, choice_;
  std::vector<Wide> value_;
  std::vector<char> reached_;
  std::vector<std::size_t> mark_;
  Cycle best_;
};

// A cycle of arcs without tokens can never start.
void check_tokens(std::size_t events, const std::vector<EventArc>& arcs) {
  std::vector<std::size_t> before(events, 0), ready;
  std::vector<std::vector<std::size_t>> out(events);
  for (const EventArc& arc : arcs) {
    LPN_ASSERT(arc.from < events && arc.to < events && arc.tokens >= 0);
    if (arc.tokens > 0) continue;
    ++before[arc.to];
    out[arc.from].push_back(arc.to);
  }
  for (std::size_t v = 0; v < events; ++v)
    if (before[v] == 0) ready.push_back(v);
  for (std::size_t k = 0; k < ready.size(); ++k) {
    for (const std::size_t w : out[ready[k]])
      if (--before[w] == 0) ready.push_back(w);
  }
  if (ready.size() < events) throw Error("E-pi", "deadlock: a loop holds no tokens");
}

}  // namespace

Ratio make_ratio(std::int64_t num, std::int64_t den) {
  LPN_ASSERT(den > 0);
  const std::int64_t common = std::gcd(num, den);
  return {num / common, den / common};
}

bool operator<(const Ratio& a, const Ratio& b) { return Wide{a.num} * b.den < Wide{b.num} * a.den; }

Cycles slowest_cycles(std::size_t events, const std::vector<EventArc>& arcs) {
  check_tokens(events, arcs);
  std::vector<std::vector<std::size_t>> out(events);
  std::vector<std::vector<std::uint32_t>> next(events);
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    out[arcs[a].from].push_back(a);
    next[arcs[a].from].push_back(static_cast<std::uint32_t>(arcs[a].to));
  }
  const std::vector<std::vector<std::uint32_t>> members = strong_components(next);
  const std::size_t count = members.size();
  std::vector<std::size_t> of(events);
  for (std::size_t c = 0; c < count; ++c) {
    for (const std::uint32_t v : members[c]) of[v] = c;
  }
  std::vector<std::vector<std::size_t>> inside(count);
  for (std::size_t a = 0; a < arcs.size(); ++a)
    if (of[arcs[a].from] == of[arcs[a].to]) inside[of[arcs[a].from]].push_back(a);

  Cycles result;
  result.of_event.assign(events, kNoCycle);
  result.paced_by.assign(events, kNoCycle);
  const auto slower = [&](std::size_t a, std::size_t b) {
    if (a == kNoCycle || b == kNoCycle) return a == kNoCycle ? b : a;
    return result.cycles[a].ratio < result.cycles[b].ratio ? b : a;
  };
  for (std::size_t c = count; c-- > 0;) {  // sources first
    if (!inside[c].empty()) {
      result.cycles.push_back(
          Howard(arcs, {members[c].begin(), members[c].end()}, inside[c], events).run());
      for (const std::size_t v : members[c]) result.of_event[v] = result.cycles.size() - 1;
    }
    std::size_t pace = kNoCycle;
    for (const std::size_t v : members[c])
      pace = slower(slower(pace, result.of_event[v]), result.paced_by[v]);
    for (const std::size_t v : members[c]) {
      result.paced_by[v] = pace;
      for (const std::size_t a : out[v])
        result.paced_by[arcs[a].to] = slower(result.paced_by[arcs[a].to], pace);
    }
  }
  return result;
}

}  // namespace lpn::pi

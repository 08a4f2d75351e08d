// Which transition starts next: whatever is local, else one that nothing else can come before.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "classes/symbolic_run.h"
#include "lpn/base/error.h"
#include "lpn/net/facts.h"

namespace lpn {
namespace {

constexpr Time kNever = -kForever;

}  // namespace

bool SymbolicRun::step() {
  std::vector<std::uint32_t> contenders;
  while (!dirty_.empty()) {
    const std::uint32_t k = *dirty_.begin();
    dirty_.erase(dirty_.begin());
    transitions_[k].candidate.known = false;
    if (!transitions_[k].local) continue;
    consider(k);
    if (transitions_[k].candidate.ready) {
      fire(k);
      return true;
    }
  }
  for (std::uint32_t k = 0; k < transitions_.size(); ++k) {
    SymbolicTransition& state = transitions_[k];
    if (state.local) continue;
    if (!state.candidate.known) consider(k);
    if (state.candidate.ready) contenders.push_back(k);
  }
  if (contenders.empty()) return false;
  for (const std::uint32_t k : contenders) {
    if (contenders.size() == 1 || settled(k, contenders)) {
      fire(k);
      return true;
    }
  }
  // The first of all: nothing can come before it.
  std::vector<InstantId> starts;
  for (const std::uint32_t k : contenders) starts.push_back(start(k));
  std::uint32_t first = contenders.at(oracle_.probably_first(starts));
  for (bool again = true; again;) {
    again = false;
    for (const std::uint32_t k : contenders) {
      if (k == first || instants_.precedes(start(first), start(k), first < k)) continue;
      first = k;
      again = true;
      break;
    }
  }
  fire(first);
  return true;
}

std::vector<Time> SymbolicRun::lead(InstantId instant, std::uint32_t without,
                                    const std::vector<std::uint32_t>& contenders) {
  std::vector<Time> lead(transitions_.size(), kNever);
  for (const std::uint32_t k : contenders) {
    if (k != without) lead[k] = differences_.upper(instant, start(k));
  }
  const auto less = [](Time x, Time delay) {
    if (x == kForever || x == kNever) return x;
    Time before = 0;
    return __builtin_sub_overflow(x, delay, &before) ? kNever : before;
  };
  const auto arrival = [&](std::uint32_t p) {
    Time best = kNever;
    for (const std::uint32_t y : places_[p].producers) {
      best = std::max(best, less(lead[y], transitions_[y].least_delay));
    }
    return best;
  };
  // Grows to the least fixpoint; what lies before everything that follows stays kNever.
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t k = 0; k < transitions_.size(); ++k) {
      if (k == without) continue;
      const Candidate& c = transitions_[k].candidate;
      Time reach = kForever;
      if (c.ready) {
        // Earlier than it seems, by tokens that go in front of those known, by a rival that takes a
        // head which needs more than the next, or by other counts.
        reach = kNever;
        for (const InputArc& arc : net_.transitions[k].inputs) {
          const auto p = static_cast<std::uint32_t>(arc.place);
          if (places_[p].merged) reach = std::max(reach, arrival(p));
          if (!transitions_[k].needs_by_token) continue;
          for (const std::uint32_t y : places_[p].takers) {
            if (y != k) reach = std::max(reach, lead[y]);
          }
        }
        for (const std::uint32_t p : transitions_[k].counts) {
          reach = std::max(reach, arrival(p));
          for (const std::uint32_t y : places_[p].takers) {
            if (y != k) reach = std::max(reach, less(lead[y], transitions_[y].least_delay));
          }
        }
      } else if (!c.lacking.empty() && (c.firm || transitions_[k].local)) {
        for (const std::uint32_t p : c.lacking) reach = std::min(reach, arrival(p));
      } else {
        // A guard, an inhibitor, a weight: whatever changes one of its places.
        reach = kNever;
        for (const InputArc& arc : net_.transitions[k].inputs) {
          const auto p = static_cast<std::uint32_t>(arc.place);
          reach = std::max(reach, arrival(p));
          for (const std::uint32_t y : places_[p].takers) {
            if (y != k) reach = std::max(reach, lead[y]);
          }
        }
      }
      if (reach > lead[k] && reach >= 0) {
        lead[k] = reach;
        again = true;
      }
    }
  }
  return lead;
}

bool SymbolicRun::settled(std::uint32_t k, const std::vector<std::uint32_t>& contenders) {
  const Candidate& c = transitions_[k].candidate;
  for (const auto& [p, instant] : c.supplies) {
    const std::vector<Time> earlier = lead(instant, k, contenders);
    for (const std::uint32_t y : places_[p].producers) {
      if (y != k && earlier[y] != kNever && earlier[y] > transitions_[y].least_delay) return false;
    }
  }
  const std::vector<Time> earlier = lead(c.start, k, contenders);
  const Transition& t = net_.transitions[k];
  for (const std::uint32_t p : transitions_[k].counts) {
    for (const auto* users : {&places_[p].producers, &places_[p].takers}) {
      for (const std::uint32_t y : *users) {
        if (y != k && earlier[y] != kNever && earlier[y] >= transitions_[y].least_delay)
          return false;
      }
    }
  }
  for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
    const auto p = static_cast<std::uint32_t>(t.inputs[a].place);
    const SymbolicPlace& place = places_[p];
    if (t.inputs[a].inhibit || (place.merged && !place.multiset)) {
      for (const std::uint32_t y : place.producers) {
        if (y != k && earlier[y] != kNever && earlier[y] >= transitions_[y].least_delay) {
          return false;
        }
      }
    }
    if (t.inputs[a].inhibit) {
      for (const std::uint32_t y : place.takers) {
        if (y != k && earlier[y] >= 0) return false;
      }
      continue;
    }
    for (const auto* users : {&place.takers, &place.readers}) {
      for (const std::uint32_t y : *users) {
        if (y == k || earlier[y] < 0 || harmless(y, t)) continue;
        return false;
      }
    }
  }
  return true;
}

bool SymbolicRun::harmless(std::uint32_t rival, const Transition& t) {
  const Candidate& c = transitions_[rival].candidate;
  if (!c.known || !c.refused) return false;
  const Transition& r = net_.transitions[rival];
  for (std::uint32_t a = 0; a <= *c.refused; ++a) {
    const PlaceId p = r.inputs[a].place;
    const SymbolicPlace& place = at(p);
    const bool shared = std::any_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
      return !arc.inhibit && arc.place == p;
    });
    if (!shared || place.merged || r.inputs[a].inhibit) return false;
  }
  return true;
}

}  // namespace lpn

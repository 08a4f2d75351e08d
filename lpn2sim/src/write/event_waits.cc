#include "write/event_waits.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "write/event_facts.h"

namespace lpn::sim {

namespace {

// Whether nobody else takes what an arc of `k` needs: no other arc, nor a host that holds slots.
bool own(const EventFacts& facts, const ArcInfo& arc) {
  return !arc.credit && facts.consumers[arc.place].size() == 1;
}

WaitInfo waits_of(const EventFacts& facts, std::size_t k) {
  const TransitionInfo& info = facts.infos[k];
  WaitInfo waits;
  if (!facts.only_counts(k)) return waits;
  bool all_own = true;
  for (std::uint32_t a = 0; a < info.arcs.size(); ++a) {
    const ArcInfo& arc = info.arcs[a];
    if (arc.need == 0) continue;
    all_own = all_own && own(facts, arc);
    const char* const reason = arc.credit ? "kCredit" : "kToken";
    if (waits.groups.empty() || std::string_view(waits.groups.back().reason) != reason) {
      waits.groups.push_back({reason, {}});
    }
    waits.groups.back().arcs.push_back(a);
  }
  // A firing without delay is over at the end of an instant.
  if (facts.net.transitions[k].servers && !info.zero_delay) waits.groups.push_back({"kServer", {}});
  if (waits.groups.size() == 1)
    waits.how = Waiting::kOne;
  else if (!waits.groups.empty() && all_own)
    waits.how = Waiting::kByTimes;
  return waits;
}

}  // namespace

std::vector<WaitInfo> find_waits(const EventFacts& facts) {
  std::vector<WaitInfo> all;
  for (std::size_t k = 0; k < facts.infos.size(); ++k) all.push_back(waits_of(facts, k));
  return all;
}

}  // namespace lpn::sim

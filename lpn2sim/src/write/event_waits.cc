#include "write/event_waits.h"

#include <cstddef>
#include <string_view>

namespace lpn::sim {

bool only_counts(const Transition& t, const TransitionInfo& info) {
  if (t.interval || t.clock) return false;
  for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
    const ArcInfo& ai = info.arcs[a];
    if (t.inputs[a].inhibit || t.inputs[a].guard || ai.need < 0 || ai.weight < 0) return false;
    if (ai.reads_head && ai.need == 0) return false;
  }
  return true;
}

std::vector<WaitInfo> find_waits(const Net& net, const std::vector<TransitionInfo>& infos,
                                 const std::vector<std::vector<std::uint32_t>>& consumers) {
  std::vector<WaitInfo> all;
  for (std::size_t k = 0; k < infos.size(); ++k) {
    const TransitionInfo& info = infos[k];
    WaitInfo& waits = all.emplace_back();
    if (!only_counts(net.transitions[k], info)) continue;
    bool own = true;  // nobody else takes what it needs: no other arc, nor a host that holds slots
    for (std::uint32_t a = 0; a < info.arcs.size(); ++a) {
      const ArcInfo& arc = info.arcs[a];
      if (arc.need == 0) continue;
      own = own && !arc.credit && consumers[arc.place].size() == 1;
      const char* const reason = arc.credit ? "kCredit" : "kToken";
      if (waits.groups.empty() || std::string_view(waits.groups.back().reason) != reason) {
        waits.groups.push_back({reason, {}});
      }
      waits.groups.back().arcs.push_back(a);
    }
    // A firing without delay is over at the end of an instant.
    if (net.transitions[k].servers && !info.zero_delay) waits.groups.push_back({"kServer", {}});
    if (waits.groups.size() == 1)
      waits.how = Waiting::kOne;
    else if (!waits.groups.empty() && own)
      waits.how = Waiting::kByTimes;
  }
  return all;
}

}  // namespace lpn::sim

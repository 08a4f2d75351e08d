#include "write/part_stats.h"

#include <fmt/format.h>

namespace lpn::sim {

using std::size_t;
using std::string;
using std::uint32_t;

string PartStats::begin() {
  if (!stats_.possible()) return "";
  line("#if LPNRT_STATS");
  line("auto& watch = run.watch{};", index_);
  line("if (!watch.begun()) {{ watch.begin(kStreams{});", index_);
  add(streams_.initial());
  size_t number = 0;
  for (const StaticQueue& q : part_.queues) {
    if (streams_.metered(q)) line("watch.holds({}, run.@run_q{}.size());", number++, q.place);
  }
  line("}}");
  line("#endif");
  return take();
}

string PartStats::leave() {
  if (!stats_.possible()) return "";
  line("#if LPNRT_STATS");
  for (uint32_t k : part_.transitions) {
    line("watch.settle({}, run.@run_seen{}, run.@run_last{});", streams_.number(k), k,
         plan_.actor_of[k]);
  }
  for (uint32_t k : part_.transitions) {
    string each;
    size_t place = 0;
    for (const StaticQueue& q : part_.queues) {
      if (!streams_.metered(q)) continue;
      if (q.consumer == k) {
        each += fmt::format(
            "first = fewer(first, run.left{0}_{1} = watch.settle({2}, run.@run_level{0}));\n",
            q.place, k, place);
      }
      ++place;
    }
    if (each.empty()) continue;
    line("{{ u64 first = ~u64{{0}};");
    add(each);
    line("watch.settle({}, first, run.@run_rel{}); }}", streams_.number(k), k);
  }
  line("#endif");
  return take();
}

}  // namespace lpn::sim

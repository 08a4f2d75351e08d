#include "write/part_path.h"

#include <fmt/format.h>

#include "lpn/base/error.h"

namespace lpn::sim {

using std::size_t;
using std::string;
using std::uint32_t;

string PartPath::begin() {
  line("#if LPNRT_PATH");
  line("auto& watch = run.trace{};", index_);
  line("if (!watch.begun()) {{ watch.begin(kStreams{}, run.net.causes);", index_);
  add(streams_.initial());
  line("}}");
  // Half of a delay is taken away, or nothing.
  for (uint32_t k : part_.transitions) {
    line("const i64 half{0} = kHalved && run.halved[{0}] ? -1 : 0; (void)half{0};", k);
  }
  line("#endif");
  return take();
}

string PartPath::leave() {
  line("#if LPNRT_PATH");
  for (uint32_t k : part_.transitions) {
    const size_t n = streams_.number(k), actor = plan_.actor_of[k];
    line(
        "run.@run_ended{0} = watch.ended({1}); run.@run_begun{0} = run.@run_began{2} = "
        "watch.begun({1});",
        k, n, actor);
    line("run.@run_last{} = run.@run_begun_at{} = watch.last({});", actor, k, n);
  }
  line("#endif");
  return take();
}

string PartPath::token(size_t q, const string& j) const {
  size_t number = 0;
  for (uint32_t k : part_.transitions) {
    for (const PartStreams::Wait& w : streams_.waits_of(k)) {
      if (w.queue == q) {
        return fmt::format("watch.token({}, {}, {})", streams_.number(k), number, j);
      }
      ++number;
    }
  }
  LPN_ASSERT(!"a queue that nobody waits at");
  return "";
}

string PartPath::ended(uint32_t k) const {
  return fmt::format("watch.ended({})", streams_.number(k));
}

}  // namespace lpn::sim

// A host simulator with a compiled net inside: soc scaler.so
//
// The host is a CPU with its own clock of events: it prepares requests, hands them to the scaler
// when there is room, collects finished lines, and sends wide ones through a second time. The net
// is one more component: it says when it wants to be run next, and what comes of it.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <deque>

#include "lpnrt/embed.h"

namespace embed = lpn::embed;

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: soc scaler.so\n");
    return 2;
  }
  const embed::Library library = embed::Library::open(argv[1]);
  embed::Instance scaler(library, {{"slots", 2}});
  const embed::Place queue = scaler.place("queue"), ready = scaler.place("ready");
  scaler.collect(ready);  // with the times of its tokens

  constexpr embed::Time kPrepare = 30, kCopy = 50;  // what the CPU and its copy engine take
  std::deque<std::int64_t> lines = {640, 320, 640, 640, 320};  // pixels; still to be prepared
  embed::Time cpu_free = 0, copy_free = 0, waiting_since = -1;

  for (embed::Time now = 0; now != embed::kForever;) {
    scaler.run(now);  // everything up to and including `now`

    // The copy engine takes a finished line; its slot is free again when it has been copied.
    if (copy_free <= now && scaler.count(ready) > 0) {
      const embed::Token line = scaler.take(ready, 1).front();
      copy_free = now + kCopy;
      scaler.release(ready, 1, copy_free);
      std::printf("%5" PRId64 "  copy %" PRId64 " pixels, finished at %" PRId64 "\n", now,
                  line.values[0], line.time);
      if (line.values[0] > 400) lines.push_back(line.values[0] / 2);  // a second pass
    }

    // The CPU hands over a request as soon as the queue has room: it starts now, and the scaler
    // sees it when it has been prepared.
    while (!lines.empty() && cpu_free <= now) {
      if (!scaler.try_push(queue, {lines.front()}, now + kPrepare)) {
        if (waiting_since < 0) waiting_since = now;
        break;
      }
      if (waiting_since >= 0) {
        std::printf("%5" PRId64 "  cpu waited %" PRId64 " for the queue\n", now,
                    now - waiting_since);
        waiting_since = -1;
      }
      cpu_free = now + kPrepare;
      lines.pop_front();
    }

    // The next instant at which anything can happen, of the net or of the host. A CPU that waits
    // for room, and a copy engine that waits for a line, wait for the net.
    embed::Time next = scaler.next();
    if (!lines.empty() && cpu_free > now) next = std::min(next, cpu_free);
    if (scaler.count(ready) > 0 && copy_free > now) next = std::min(next, copy_free);
    now = next;
  }
  const embed::Result result = scaler.run();
  std::printf("quiet after %" PRId64 ", %" PRIu64 " firings%s\n", scaler.now(), result.commits,
              result.stalled != 0 ? ", stalled" : "");
  return 0;
} catch (const embed::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}

// Two compiled nets, one behind the other: chain scaler.so encoder.so
//
// The scaler's `ready` and the encoder's `lines` are one FIFO of two entries: a scaler that runs
// ahead waits for the encoder, as if both were one net.
#include <cinttypes>
#include <cstdio>

#include "lpnrt/embed.h"

namespace embed = lpn::embed;

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: chain scaler.so encoder.so\n");
    return 2;
  }
  embed::Coupled chip;
  const auto scaler = chip.add(embed::Instance(embed::Library::open(argv[1])));
  const auto encoder = chip.add(embed::Instance(embed::Library::open(argv[2])));
  chip.join(scaler, "ready", encoder, "lines");

  const embed::Place queue = chip[scaler].place("queue");
  for (const std::int64_t pixels : {640, 320}) chip[scaler].load(queue, {pixels});
  embed::Time now = 0;
  for (const std::int64_t pixels : {640, 640, 320}) {  // the queue has two entries
    while (!chip[scaler].try_push(queue, {pixels}, now + 1)) chip.run(now = chip.next());
  }
  const embed::Result result = chip.run();
  std::printf("%" PRIu64 " lines encoded, the last at %" PRId64 "; %" PRIu64 " firings%s\n",
              result.done_tokens, result.latency, result.commits,
              result.stalled != 0 ? ", stalled" : "");
  return 0;
} catch (const embed::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}

// Instances in many threads at once: threads SCALER.so ENCODER.so [THREADS [ROUNDS]]
//
// Every thread makes its own instances of the same two libraries, alone and coupled, steps them
// with its own pattern of limits, and must see what one thread alone saw. Also compiled with the
// thread sanitizer (test_embedding.py).
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "lpnrt/embed.h"

namespace embed = lpn::embed;

namespace {

std::int64_t pixels(int variant, int k) { return 1 + (variant * 131 + k * 977) % 1000; }

// A host's loop over the scaler alone, then the coupled nets; what came out, and when.
std::vector<std::int64_t> play(const embed::Library& scale, const embed::Library& encode,
                               int variant) {
  std::vector<std::int64_t> log;
  {
    embed::Instance sim(scale, {{"slots", 1 + variant % 4}});
    const embed::Place queue = sim.place("queue"), ready = sim.place("ready");
    sim.collect(ready);
    int sent = 0;
    for (embed::Time now = 0; now != embed::kForever; now = sim.next()) {
      sim.run(now);
      while (sent < 40 && sim.try_push(queue, {pixels(variant, sent)}, now + 1 + variant % 3)) {
        ++sent;
      }
      for (const embed::Token& token : sim.take(ready)) {
        log.insert(log.end(), {token.values[0], token.time});
        sim.release(ready, 1, now + 1 + token.values[0] % 7);
      }
    }
    log.push_back(static_cast<std::int64_t>(sim.run().commits));
  }
  embed::Coupled chip;
  const auto a = chip.add(embed::Instance(scale, {{"slots", 1 + variant % 4}}));
  const auto b = chip.add(embed::Instance(encode));
  chip.join(a, "ready", b, "lines");
  const embed::Place queue = chip[a].place("queue");
  int sent = 0;
  for (embed::Time now = 0; now != embed::kForever; now = chip.next()) {
    chip.run(now);
    while (sent < 40 && chip[a].try_push(queue, {pixels(variant, sent)}, now + 1)) ++sent;
  }
  const embed::Result r = chip.run();
  log.insert(log.end(), {r.latency, static_cast<std::int64_t>(r.commits),
                         static_cast<std::int64_t>(r.done_tokens), r.stalled});
  return log;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: threads SCALER.so ENCODER.so [THREADS [ROUNDS]]\n");
    return 2;
  }
  const int threads = argc > 3 ? std::atoi(argv[3]) : 8,
            rounds = argc > 4 ? std::atoi(argv[4]) : 20;
  constexpr int kVariants = 12;
  const embed::Library scale = embed::Library::open(argv[1]),
                       encode = embed::Library::open(argv[2]);
  std::vector<std::vector<std::int64_t>> alone;
  for (int v = 0; v < kVariants; ++v) alone.push_back(play(scale, encode, v));
  for (const auto& log : alone) {
    if (log.size() != 2 * 40 + 1 + 4 || log[log.size() - 2] != 40) {
      std::fprintf(stderr, "not all of 40 lines came through\n");
      return 1;
    }
  }
  if (alone[0] == alone[1]) {
    std::fprintf(stderr, "the variants do not differ: this would show nothing\n");
    return 1;
  }
  std::atomic<int> wrong{0}, done{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (int k = 0; k < rounds; ++k) {
        const int v = (t * 5 + k) % kVariants;
        if (play(scale, encode, v) != alone[static_cast<std::size_t>(v)]) ++wrong;
        ++done;
      }
    });
  }
  for (std::thread& t : all) t.join();
  std::printf("%d threads, %d runs, %d differ from a thread alone\n", threads, done.load(),
              wrong.load());
  return wrong == 0 && done == threads * rounds ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}

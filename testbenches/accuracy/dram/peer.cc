// Runs a trace through a DRAMsim3 memory system (github.com/umd-memsys/DRAMsim3, not part of this
// project), as ../shared/truth/dram/SPEC.md part B describes it; built by simulator.py.
//
//   peer CONFIG.ini FOLDER TRACE REQUEST_BYTES [TIMES]
//
// A line of TRACE is a cycle, 1 for a write, a block. Prints the processor time and the cycles, or
// "hangs" where nothing has been accepted or done for long; TIMES gets a line per request, the
// cycles in which it was accepted and done. Requests of one block and direction are done in their
// order, as far as this can tell: the simulator says the address alone.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "configuration.h"
#include "dram_system.h"

namespace {

constexpr std::uint64_t kLong = 300000;  // cycles; a refresh takes some hundred

struct Request {
  std::uint64_t cycle, address;
  bool writes;
  std::uint64_t accepted, done;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  dramsim3::Config config(argv[1], argv[2]);
  const std::uint64_t bytes = std::strtoull(argv[4], nullptr, 10);
  std::vector<Request> requests;
  FILE* file = std::fopen(argv[3], "r");
  if (file == nullptr) return 2;
  unsigned long long cycle = 0, block = 0;
  int writes = 0;
  while (std::fscanf(file, "%llu %d %llu", &cycle, &writes, &block) == 3) {
    requests.push_back({cycle, block * bytes, writes != 0, 0, 0});
  }
  std::fclose(file);
  const bool times = argc == 6;
  std::map<std::pair<std::uint64_t, bool>, std::deque<std::size_t>> open;
  std::uint64_t now = 0, last = 0;
  std::size_t left = requests.size(), next = 0;
  const auto done = [&](std::uint64_t address, bool wrote) {
    --left;
    last = now;
    if (!times) return;
    auto& waiting = open[{address, wrote}];
    if (waiting.empty()) std::abort();
    requests[waiting.front()].done = now;
    waiting.pop_front();
  };
  dramsim3::JedecDRAMSystem memory(
      config, argv[2], [&](std::uint64_t address) { done(address, false); },
      [&](std::uint64_t address) { done(address, true); });
  const std::clock_t start = std::clock();
  for (; left > 0; ++now) {
    memory.ClockTick();
    if (next == requests.size() || requests[next].cycle > now) {
      if (left + next == requests.size()) last = now;  // nothing is under way
    } else {
      Request& r = requests[next];
      if (memory.WillAcceptTransaction(r.address, r.writes)) {
        if (times) open[{r.address, r.writes}].push_back(next);
        r.accepted = last = now;
        memory.AddTransaction(r.address, r.writes);
        ++next;
      }
    }
    if (now - last > kLong) {
      std::puts("hangs");
      return 0;
    }
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%.6f %llu\n", seconds, static_cast<unsigned long long>(now));
  if (!times) return 0;
  FILE* out = std::fopen(argv[5], "w");
  if (out == nullptr) return 2;
  for (const Request& r : requests) {
    std::fprintf(out, "%llu %llu\n", static_cast<unsigned long long>(r.accepted),
                 static_cast<unsigned long long>(r.done));
  }
  return std::fclose(out) == 0 ? 0 : 2;
}

// Runs a trace through a DRAMsim3 memory system (github.com/umd-memsys/DRAMsim3, not part of this
// project), as ../shared/truth/dram/SPEC.md part B describes it, and prints the processor time.
//
//   dram_peer CONFIG.ini FOLDER TRACE REQUEST_BYTES     lines of TRACE: cycle, 1 for a write, block
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "configuration.h"
#include "dram_system.h"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  dramsim3::Config config(argv[1], argv[2]);
  const std::uint64_t bytes = std::strtoull(argv[4], nullptr, 10);
  struct Request {
    std::uint64_t cycle, address;
    bool writes;
  };
  std::vector<Request> requests;
  FILE* file = std::fopen(argv[3], "r");
  if (file == nullptr) return 2;
  unsigned long long cycle = 0, block = 0;
  int writes = 0;
  while (std::fscanf(file, "%llu %d %llu", &cycle, &writes, &block) == 3) {
    requests.push_back({cycle, block * bytes, writes != 0});
  }
  std::fclose(file);
  std::size_t left = requests.size(), next = 0;
  const auto done = [&left](std::uint64_t) { --left; };
  dramsim3::JedecDRAMSystem memory(config, argv[2], done, done);
  std::uint64_t now = 0;
  const std::clock_t start = std::clock();
  for (; left > 0; ++now) {
    memory.ClockTick();
    if (next == requests.size() || requests[next].cycle > now) continue;
    const Request& r = requests[next];
    if (!memory.WillAcceptTransaction(r.address, r.writes)) continue;
    memory.AddTransaction(r.address, r.writes);
    ++next;
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%.6f %llu\n", seconds, static_cast<unsigned long long>(now));
}

// Random input spaces for random nets, small enough that every input is run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "case.h"
#include "lpn/classes/input_space.h"
#include "lpn/classes/timing.h"
#include "measured_runs.h"
#include "random_net.h"

namespace lpn::bench {

inline constexpr std::uint64_t kMaxInputs = 200;
inline constexpr std::uint64_t kMaxCommits = 120;  // of a run; more is taken for endless

// Some properties and parameters of a case become variables around their values.
InputSpace random_space(const Case& c, Random& r);

struct TooMany {};

class Recorder final : public Observer {
 public:
  void on_commit(const Commit& commit) override {
    if (times.size() >= kMaxCommits) throw TooMany{};
    times[{static_cast<std::uint32_t>(commit.transition), commit.firing}] = {commit.start,
                                                                             commit.time};
  }
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<Time, Time>> times;
};

struct Ran {
  Outcome outcome = Outcome::kLatency;
  std::optional<Time> latency;
  Recorder recorder;
  History history;
  bool endless = false;
};

// By the interpreter.
Ran run(const Net& net, const InputSpace& space, const Assignment& input);

std::string show(const Assignment& input);

}  // namespace lpn::bench

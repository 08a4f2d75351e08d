// What is asked of a path, of one run: computed from its starts and commits alone, in the plainest
// way, with nothing of lpn2smt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lpn/net/net.h"
#include "lpn/run/run.h"

namespace lpn::bench {

// All firings of a run, in the order of their starts.
struct History {
  struct Firing {
    TransitionId transition{};
    Time start = 0, due = 0;
    std::vector<std::uint64_t> taken, produced;  // per declared arc
  };
  std::vector<Firing> firings;
  std::vector<std::uint64_t> given;  // per declared place: tokens at time 0
  ParamValues params;
};

class HistoryWatcher final : public Watcher {
 public:
  explicit HistoryWatcher(History& history) : history_(history) {}
  void on_start(const Started& firing) override;
  void on_commit(const Started&) override {}
  void on_arrival(Time, PlaceId, std::span<const std::int64_t>) override {}
  void on_wait(Time, const Blocked&) override {}

 private:
  History& history_;
};

struct Asked {
  enum class What : std::uint8_t { kBusy, kStall, kCommits, kCompletion };
  What what = What::kBusy;
  TransitionId transition{};
  PlaceId place{};      // kStall
  std::uint64_t k = 1;  // kCompletion
};
std::string text_of(const Net& net, const Asked& asked);

// Nullopt: the run does not have it (kCompletion), or it is not computed here (a stall of a
// transition with a threshold, an inhibitor, or an interval that is not constant).
std::optional<Time> measured(const Net& net, const History& history, const Asked& asked);

}  // namespace lpn::bench

// What the event-driven simulator knows of each transition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lpn::sim {

// How the firings in flight of a transition are kept.
enum class Keep {
  kCount,   // zero delay and nothing to remember: how many
  kSingle,  // one server: one record
  kFifo,    // commits in start order: a ring
  kPool,    // commits may overtake: slots
};

struct ArcInfo {
  std::size_t place = 0;
  bool credit = false;
  bool reads_head = false;
  bool read_by_arcs = false;  // weights, thresholds or guards read its tokens or free count
  bool free_read = false;     // weights, thresholds or guards read its free count
  bool occupancy_read = false;
  bool tokens_read = false;     // anything reads its tokens
  std::int64_t weight = -1;     // constant, else -1
  std::int64_t least_need = 0;  // tokens that are there once the arc was passed
  std::int64_t need = -1;       // constant, else -1
};

struct TransitionInfo {
  std::vector<ArcInfo> arcs;
  std::size_t declared_inputs = 0, declared_outputs = 0;
  Keep keep = Keep::kFifo;
  bool zero_delay = false;  // constant 0
  bool one_server = false;
  std::optional<std::size_t> routed_by;  // the place whose route leads to it
  // Arcs whose guards are asked before it is looked at at all: they are short and cannot fail.
  std::vector<std::uint32_t> early;
};

}  // namespace lpn::sim

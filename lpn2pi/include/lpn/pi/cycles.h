// Maximum cycle ratios: how fast a graph of recurring events can go, exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace lpn::pi {

// num / den in lowest terms, den > 0.
struct Ratio {
  std::int64_t num = 0;
  std::int64_t den = 1;
  bool operator==(const Ratio&) const = default;
};
Ratio make_ratio(std::int64_t num, std::int64_t den);  // REQUIRES den > 0
bool operator<(const Ratio& a, const Ratio& b);

// Asked many times a second; when it says no, the work ends by Stopped.
using GoOn = std::function<bool()>;
struct Stopped {};

// Occurrence k of event `to` comes `delay` or more after occurrence k - `tokens` of `from`.
struct EventArc {
  std::size_t from = 0;
  std::size_t to = 0;
  std::int64_t delay = 0;
  std::int64_t tokens = 0;
};

struct Cycle {
  Ratio ratio;                    // delays divided by tokens
  std::vector<std::size_t> arcs;  // in order
};

// Of every strongly connected component that has a cycle, one of largest ratio, by Howard's policy
// iteration in integers; no cycle is enumerated. `component`: per event, the cycle of its
// component, or kNoCycle. Components come after all those that lead to them. Throws Error "E-pi":
// "deadlock" when a cycle holds no tokens, or a number that leaves 64 bits.
inline constexpr std::size_t kNoCycle = static_cast<std::size_t>(-1);
struct Cycles {
  std::vector<Cycle> cycles;
  std::vector<std::size_t> of_event;
  // Per event, the slowest cycle from which it can be reached: what its pace is in the long run.
  std::vector<std::size_t> paced_by;
};
Cycles slowest_cycles(std::size_t events, const std::vector<EventArc>& arcs);

// The slowest cycle of all that has delay, or nothing; here an arc may also hold fewer than no
// tokens. A cycle of no tokens and some delay, or of fewer tokens than none, waits for ever: ratio
// {1, 0} (such a one without delay is looked for only where others have delay). Throws Error "E-pi"
// for a number that leaves 64 bits, and Stopped.
std::optional<Cycle> slowest_cycle(std::size_t events, const std::vector<EventArc>& arcs,
                                   const GoOn& go_on);

}  // namespace lpn::pi

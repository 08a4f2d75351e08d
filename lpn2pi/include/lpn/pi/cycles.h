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
Ratio divided(Ratio ratio, std::int64_t by);  // REQUIRES by > 0; Error "E-pi" beyond 63 bits
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

inline constexpr std::size_t kNoCycle = static_cast<std::size_t>(-1);

// The slowest cycle of all that has delay, or nothing, by Howard's policy iteration in integers; no
// cycle is enumerated. An arc may also hold fewer than no tokens. A cycle of no tokens and some
// delay, or of fewer tokens than none, waits for ever: ratio {1, 0} (such a one without delay is
// looked for only where others have delay). Throws Error "E-pi" for a number that leaves 64 bits,
// and Stopped.
std::optional<Cycle> slowest_cycle(std::size_t events, const std::vector<EventArc>& arcs,
                                   const GoOn& go_on);

}  // namespace lpn::pi

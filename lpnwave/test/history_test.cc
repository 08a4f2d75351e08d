#include "lpn/wave/history.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace lpn::wave {
namespace {

using Numbers = std::vector<std::uint64_t>;

Numbers numbers(const std::string& bytes) {
  Numbers list;
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const char c : bytes) {
    value |= static_cast<std::uint64_t>(c & 127) << shift;
    shift = (c & 128) != 0 ? shift + 7 : 0;
    if (shift == 0) list.push_back(std::exchange(value, 0));
  }
  return list;
}

constexpr auto kT = Phase::kTransfer, kS = Phase::kStalled, kI = Phase::kIdle;
std::uint64_t run(std::uint64_t length, Phase phase) {
  return length * 8 + static_cast<std::uint64_t>(phase);
}

TEST_CASE("phases one by one, and bins that widen") {
  History h(1, {4, 1000, {}});
  h.set(0, 1, kS, {});
  h.set(0, 2, kS, {});
  h.set(0, 3, kT, {});
  h.set(0, 5, kI, {});
  h.finish(0, 9, {}, false);
  CHECK(h.kept() == std::pair<std::int64_t, std::int64_t>{0, 9});
  CHECK(numbers(h.phases(0)) ==
        Numbers{0, 9, run(1, Phase::kReset), run(2, kS), run(2, kT), run(4, kI)});
  // Bins of 4: idle, starved, stalled, transfer, active, unknown, reset.
  CHECK(numbers(h.bins(0)) ==
        Numbers{4, 3, 1, 0, 3, 1, 0, 1, 2, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0});
}

TEST_CASE("where room ends all channels end, and bins go on") {
  History h(2, {8, 3, {}});
  for (std::int64_t k = 0; k < 20; ++k) h.set(0, k, k % 2 == 0 ? kT : kS, {});
  h.finish(0, 20, {}, false);
  h.finish(1, 20, {}, false);
  const auto [from, to] = h.kept();
  CHECK(from == 0);
  CHECK((to > 2 && to < 8));
  CHECK(numbers(h.phases(0))[1] == static_cast<std::uint64_t>(to));
  CHECK(numbers(h.phases(1)) == Numbers{0, static_cast<std::uint64_t>(to),
                                        run(static_cast<std::uint64_t>(to), Phase::kReset)});
  const Numbers bins = numbers(h.bins(0));
  CHECK(bins[0] == 4);
  CHECK(bins[1] == 5);
}

TEST_CASE("only a part is kept, counted from the origin") {
  History h(1, {8, 1000, std::pair<std::int64_t, std::int64_t>{2, 5}});
  h.set(0, 0, kI, {});
  h.set(0, 3, kT, {});  // the origin is not known yet
  h.set(0, 6, kS, 3);   // known: positions 5 to 8
  h.set(0, 7, kT, 3);
  h.finish(0, 20, 3, false);
  CHECK(h.kept() == std::pair<std::int64_t, std::int64_t>{5, 8});
  CHECK(numbers(h.phases(0)) == Numbers{5, 3, run(1, kT), run(1, kS), run(1, kT)});
}

TEST_CASE("what is not confirmed is taken back, also where bins have widened since") {
  for (const std::int64_t stands : {3, 5, 6, 8}) {
    CAPTURE(stands);
    History h(1, {4, 1000, {}});
    for (std::int64_t k = 0; k < 30; ++k) {
      h.set(0, k, k % 3 == 0 ? kT : kS, {});
      if (k + 1 == stands) h.confirm(0, stands, {});
    }
    h.finish(0, 30, {}, true);
    const Numbers bins = numbers(h.bins(0));
    std::uint64_t sum = 0, transfers = 0;
    std::size_t at = 2;
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      if (bins[at++] == 0) continue;
      for (std::size_t k = 0; k < bins[1]; ++k, ++at) {
        sum += bins[at];
        if (phase == static_cast<std::size_t>(kT)) transfers += bins[at];
      }
    }
    CHECK(sum == static_cast<std::uint64_t>(stands));
    CHECK(transfers == static_cast<std::uint64_t>((stands + 2) / 3));
    CHECK(numbers(h.phases(0))[1] == static_cast<std::uint64_t>(stands));
  }
}

}  // namespace
}  // namespace lpn::wave

// Arithmetic on numbers of strangers: exact, or it throws.
#include "lpn/base/exact.h"

#include <doctest/doctest.h>

#include <limits>

namespace lpn {

TEST_CASE("exact: what does not fit throws, what fits is right") {
  using Tick = Exact<std::int64_t>;
  using Big = Exact<Wide>;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  CHECK((Tick{kMost} + -1).value() == kMost - 1);
  CHECK_THROWS_AS(Tick{kMost} + 1, Inexact);
  CHECK_THROWS_AS(Tick{-kMost} - 2, Inexact);
  CHECK_THROWS_AS(Tick{1} + kMost, Inexact);
  CHECK_THROWS_AS(Tick{kMost} * 2, Inexact);
  CHECK_THROWS_AS(-Tick{std::numeric_limits<std::int64_t>::min()}, Inexact);
  const Big square = Big{kMost} * kMost;
  CHECK_THROWS_AS(square * 3, Inexact);
  CHECK_THROWS_AS(square.narrow(), Inexact);
  CHECK((square - square + 7).narrow() == 7);
  CHECK(Big{Tick{-5}} < 3);
}

}  // namespace lpn

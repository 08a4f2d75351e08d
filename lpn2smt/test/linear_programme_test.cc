#include "linear_programme.h"

#include <doctest/doctest.h>

#include <limits>

using lpn::smt::LinearProgramme;

TEST_CASE("linear programmes: rows and columns may come later; duals tell what a row costs") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // x + 2 y is least where x + y >= 3, x <= 2.
  LinearProgramme lp;
  const int x = lp.add_column(0, 2, 1), y = lp.add_column(0, kInfinity, 2);
  const int row = lp.add_row(3, kInfinity, {{x, 1.0}, {y, 1.0}});
  REQUIRE(lp.solve(1));
  CHECK(lp.objective() == doctest::Approx(4));
  CHECK(lp.value(x) == doctest::Approx(2));
  CHECK(lp.value(y) == doctest::Approx(1));
  CHECK(lp.dual(row) == doctest::Approx(2));
  // A column that costs less takes over.
  const int z = lp.add_column(0, kInfinity, 0.5, {{row, 1.0}});
  REQUIRE(lp.solve(1));
  CHECK(lp.value(z) == doctest::Approx(3));
  CHECK(lp.objective() == doctest::Approx(1.5));
  // No optimum: z has no lower end.
  lp.add_row(-kInfinity, 1, {{x, 1.0}, {y, 1.0}, {z, 1.0}});
  CHECK(!lp.solve(1));
}

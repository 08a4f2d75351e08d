#include "lpn/run/latencies.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "lpn/base/error.h"

using namespace lpn;

TEST_CASE("latencies: a histogram is exact for small values and close for large ones") {
  std::mt19937_64 random(11);
  std::vector<std::int64_t> values;
  Histogram histogram;
  for (int k = 0; k < 20'000; ++k) {
    values.push_back(static_cast<std::int64_t>(random() >> (2 + random() % 62)));
    histogram.add(values.back());
  }
  std::sort(values.begin(), values.end());
  CHECK(histogram.count() == values.size());
  CHECK(histogram.least() == values.front());
  CHECK(histogram.greatest() == values.back());
  long double sum = 0;
  for (const std::int64_t value : values) sum += static_cast<long double>(value);
  CHECK(histogram.mean() == doctest::Approx(static_cast<double>(sum / 20'000)).epsilon(1e-12));
  for (const double q : {0.0, 0.01, 0.3, 0.5, 0.77, 0.99, 0.9999, 1.0}) {
    const double rank = std::max(1.0, std::ceil(q * static_cast<double>(values.size())));
    const std::int64_t exact = values[static_cast<std::size_t>(rank) - 1];
    const std::int64_t found = histogram.quantile(q);
    CHECK(found >= exact);
    CHECK(static_cast<double>(found - exact) <= static_cast<double>(exact) / (1 << 14));
    if (exact < 1 << 15) CHECK(found == exact);
  }
  std::uint64_t total = 0;
  std::int64_t last = -1;
  for (const auto& cell : histogram.cells()) {
    CHECK(cell.first > last);
    CHECK(cell.last >= cell.first);
    last = cell.last;
    total += cell.count;
  }
  CHECK(total == values.size());
}

TEST_CASE("latencies: histograms are added up") {
  Histogram small, large, none;
  for (const std::int64_t value : {7, 7, 3}) small.add(value);
  for (const std::int64_t value : {5'000'000, 40'000}) large.add(value);
  CHECK(large.least() == 40'000);
  none.add(small);
  none.add(large);
  none.add(Histogram());
  CHECK(none.count() == 5);
  CHECK(none.least() == 3);
  CHECK(none.greatest() == 5'000'000);
  CHECK(none.mean() == 5'040'017 / 5.0);
  CHECK(none.quantile(0.5) == 7);
  CHECK(small.greatest() == 7);
}

TEST_CASE("latencies: windows over time double and lose nothing") {
  OverTime over;
  for (Time t = 0; t < 100'000; t += 3) over.add(t, 1, 2);
  CHECK(over.windows().size() <= OverTime::kWindows);
  std::uint64_t count = 0;
  double sum = 0;
  for (const auto& window : over.windows()) {
    count += window.count;
    sum += window.latency;
  }
  CHECK(count == 33'334);
  CHECK(sum == 66'668);
  CHECK(over.width() == 1024);
  over.add(kLastInstant, 1, 1);
  CHECK(over.windows().size() <= OverTime::kWindows);
}

TEST_CASE("latencies: warm-up, classes, and births that are none") {
  Latencies latencies(2, 1, 0, 10);
  latencies.add({{7, 0, 7, 10, 8, 12}, {5, 25, 20}});
  CHECK(latencies.all().count() == 2);
  CHECK(latencies.classes().at(7).greatest() == 15);
  CHECK(latencies.classes().at(8).greatest() == 8);
  CHECK(latencies.over_time().windows().size() == 26);
  CHECK(latencies.over_time().windows()[25].count == 1);
  CHECK(latencies.over_time().windows()[20].latency == 8);
  std::string said;
  try {
    latencies.add({{7, 30}, {29}});
  } catch (const Error& error) {
    said = error.code() + " " + error.what();
  }
  CHECK(
      said ==
      "E-born a request was done at 29 and born at 30, which is later; `born` is when it came, and "
      "is only copied on its way");
}

TEST_CASE("latencies: a class may be any number") {
  Latencies latencies(2, 1, 0, 0);
  latencies.add({{-1, 0, 63, 0, 64, 0, 1'000'000, 0, -1, 0}, {1, 2, 3, 4, 5}});
  CHECK(latencies.classes().size() == 4);
  CHECK(latencies.classes().at(-1).count() == 2);
  CHECK(latencies.classes().at(63).greatest() == 2);
  CHECK(latencies.classes().at(64).greatest() == 3);
  CHECK(latencies.classes().at(1'000'000).greatest() == 4);
}

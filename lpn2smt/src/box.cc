#include "box.h"

#include <algorithm>
#include <numeric>

namespace lpn::smt {

Box whole(const PathUnits& path) {
  Box box;
  for (const Unit& unit : path.units()) box.emplace_back(0, unit.size);
  return box;
}

std::vector<std::int64_t> least_use(const PathUnits& path, const Box& box) {
  std::vector<std::int64_t> least;
  for (const Limit& limit : path.limits()) {
    std::int64_t sum = 0;
    for (const std::uint32_t f : limit.functions) {
      const Function& function = path.function(f);
      const auto [first, end] = box[function.unit];
      sum += *std::min_element(function.values.begin() + first, function.values.begin() + end);
    }
    least.push_back(sum);
  }
  return least;
}

std::int64_t quantum(const PathUnits& path, const Box& box, std::size_t limit, std::int64_t least,
                     std::int64_t entries) {
  std::int64_t common = 0;
  for (const std::uint32_t f : path.limits()[limit].functions) {
    const Function& function = path.function(f);
    const auto [first, end] = box[function.unit];
    const std::int64_t lo =
        *std::min_element(function.values.begin() + first, function.values.begin() + end);
    for (std::uint32_t row = first; row < end; ++row) {
      common = std::gcd(common, function.values[row] - lo);
    }
  }
  common = std::max<std::int64_t>(common, 1);
  const std::int64_t budget = (path.limits()[limit].cap - least) / common;
  return common * (budget / entries + 1);
}

bool binding(const PathUnits& path, const Box& box, std::size_t limit) {
  Wide most = 0;
  for (const std::uint32_t f : path.limits()[limit].functions) {
    const Function& function = path.function(f);
    const auto [first, end] = box[function.unit];
    most += *std::max_element(function.values.begin() + first, function.values.begin() + end);
  }
  return most > path.limits()[limit].cap;
}

}  // namespace lpn::smt

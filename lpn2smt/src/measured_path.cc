#include "lpn/smt/measured_path.h"

#include <fmt/format.h>

#include <utility>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"
#include "lpn/expr/build.h"
#include "lpn/expr/total.h"
#include "lpn/net/bounds.h"

namespace lpn::smt {

Path scaled(InputSpace& space, const Path& path, std::int64_t factor) {
  // A delay that leaves 64 bits would look as if the path had no such input.
  NetBounds bounds(space.variables, nullptr);
  const auto fits = [&](std::int64_t x) { return lpn::fits({Wide{x} * factor, Wide{x} * factor}); };
  for (std::size_t k = 1; k < path.timing.size() && factor != 1; ++k) {
    const Timing::Node& node = path.timing[static_cast<InstantId>(k)];
    bool all = factor > 0 && fits(node.period) && fits(node.phase);
    for (const Timing::Arc& arc : node.after) {
      const Range range = bounds.of(arc.delay);
      all = all && fits(range.lo) && fits(range.hi);
    }
    if (!all) {
      throw Error(
          "E-measure",
          fmt::format("delays times {} do not fit in 64 bits; ask with smaller factors", factor));
    }
  }
  ExprBuilder build(space.variables.exprs);
  const ExprId by = space.variables.exprs.constant(factor);
  Path copy = path;
  copy.timing = Timing();
  for (std::size_t k = 1; k < path.timing.size(); ++k) {
    Timing::Node node = path.timing[static_cast<InstantId>(k)];
    for (Timing::Arc& arc : node.after) arc.delay = build.mul(by, arc.delay);
    node.period *= factor;
    node.phase *= factor;
    copy.timing.add(std::move(node));
  }
  return copy;
}

Path restricted(const Path& path, const std::vector<ExprId>& conditions) {
  Path copy = path;
  copy.conditions.insert(copy.conditions.end(), conditions.begin(), conditions.end());
  return copy;
}

InstantId later(Path& path, InstantId instant, ExprId delay) {
  return path.timing.add({.kind = Timing::Kind::kMax, .after = {{instant, delay}}});
}

InstantId MeasuredPath::at(ExprId delay) {
  NetBounds bounds(space_.variables, nullptr);
  if (!Totality(bounds)(delay) || bounds.of(delay).lo < 0) {
    throw Error("E-measure",
                "a term that may fail, leave 64 bits or be negative for some input; give one that "
                "has a value for all values of its variables");
  }
  return later(path_, kTimeZero, delay);
}

MeasuredPath::MeasuredPath(const Net& net, InputSpace& space, const Path& path)
    : space_(space), path_(path), measures_(net, space, path_) {}

}  // namespace lpn::smt

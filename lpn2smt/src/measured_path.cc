#include "lpn/smt/measured_path.h"

#include <utility>

#include "lpn/expr/build.h"

namespace lpn::smt {

Path scaled(InputSpace& space, const Path& path, std::int64_t factor) {
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

MeasuredPath::MeasuredPath(const Net& net, InputSpace& space, const Path& path)
    : space_(space), path_(path), measures_(net, space, path_) {}

}  // namespace lpn::smt

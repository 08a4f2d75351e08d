// Copies of a path with other times, for fewer inputs, or with instants of their own: what is
// bounded is often not an instant that the path has, but one made from it.
#pragma once

#include <cstdint>
#include <vector>

#include "lpn/classes/input_space.h"
#include "lpn/classes/timing.h"
#include "lpn/net/net.h"
#include "lpn/smt/measures.h"

namespace lpn::smt {

// A copy whose times are all `factor` times as long; terms go into the space's pool. Throws Error
// "E-measure" when one may leave 64 bits.
Path scaled(InputSpace& space, const Path& path, std::int64_t factor);

// A copy for those of its inputs that meet more conditions, bool terms of the space.
Path restricted(const Path& path, const std::vector<ExprId>& conditions);

// A new instant, so much after another one. REQUIRES a delay that is not negative.
InstantId later(Path& path, InstantId instant, ExprId delay);

// A copy of a path with the instants that measures of it need.
class MeasuredPath {
 public:
  // `net` as declared; the path is one of partition(net, space). Borrows net and space.
  MeasuredPath(const Net& net, InputSpace& space, const Path& path);
  MeasuredPath(const MeasuredPath&) = delete;
  MeasuredPath& operator=(const MeasuredPath&) = delete;

  const InputSpace& space() const { return space_; }
  const Path& path() const { return path_; }
  Measures& measures() { return measures_; }
  // A new instant, so much after time 0. Throws Error "E-measure" for a term that may be negative,
  // or have no value, for some values of the variables.
  InstantId at(ExprId delay);

 private:
  const InputSpace& space_;
  Path path_;
  Measures measures_;  // borrows path_
};

}  // namespace lpn::smt

// When so many tokens are there of places whose tokens come in an order that differs by input.
//
// The instant at which k of some tokens are there is the least, over all k of them, of their
// latest; a largest of several such is a least of largests again. A least of largests is a sum of
// largests with signs (inclusion and exclusion), which is what measures are made of.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lpn/classes/differences.h"
#include "lpn/classes/input_space.h"
#include "lpn/classes/timing.h"
#include "lpn/net/net.h"

namespace lpn::smt {

class UnorderedWaits {
 public:
  // `net`: lowered; `zero`: the space's constant 0. Borrows all three; the path's timing may grow.
  UnorderedWaits(const Path& path, const InputSpace& space, const Net& net, ExprId zero);

  // Firings from number `firing` on take what those before have left.
  void pass(std::size_t firing);

  // The largest of `after` and of the instants at which what the arcs need is there, as the sum of
  // largests with these factors, for a firing that has not been passed. Throws Error "E-measure"
  // when too many tokens may come in too many orders.
  std::vector<std::pair<std::int64_t, std::vector<Timing::Arc>>> sum(
      const TimedFiring& firing, const std::vector<Timing::Arc>& after,
      const std::vector<std::size_t>& arcs);

 private:
  using Set = std::vector<InstantId>;  // sorted
  struct Wanted {
    std::size_t number = 0;  // so many of these
    Set tokens;
    bool by_start = false;  // or the start, which is not before
  };
  bool not_after(InstantId a, InstantId b) { return differences_.upper(a, b) <= 0; }
  Wanted wanted(const TimedFiring& firing, std::size_t arc, const std::vector<Timing::Arc>& after);
  void drop_decided(Wanted& wanted);

  const Path& path_;
  const Net& net_;
  Differences differences_;
  ExprId zero_;
  std::vector<std::vector<InstantId>> arrivals_;  // per place
  std::vector<std::uint64_t> taken_;              // per place
  std::size_t passed_ = 0;
};

}  // namespace lpn::smt

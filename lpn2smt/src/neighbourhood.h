// Inputs near a choice: makes choices keep the limits, and moves to better ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "box.h"
#include "path_units.h"

namespace lpn::smt {

class Neighbourhood {
 public:
  // Borrows the path. The same seed makes the same moves.
  Neighbourhood(const PathUnits& path, bool maximum, std::uint64_t seed);

  // Changes as little as it can until the limits are kept; false: it does not find how. Units that
  // are kUnset may take any tuple of the box; others change where that does not suffice.
  bool repair(Choice& choice, const Box& box);

  // Moves that do not make the estimate worse, from a choice within the limits. Calls `better` with
  // each that makes it better, until that returns false.
  void polish(Choice choice, std::size_t moves,
              const std::function<bool(const Choice& moved, Time estimate)>& better);

 private:
  struct Use {
    std::size_t limit;
    const Function* function;
  };

  void usage(const Choice& choice);
  void move(Choice& choice, std::uint32_t u, std::uint32_t row);
  Wide excess() const;
  Wide excess_with(std::uint32_t u, std::uint32_t from, std::uint32_t row, Wide now) const;
  bool improve(Choice& choice, const Box& box, const std::vector<bool>* only);
  void nearest(Choice& choice, std::uint32_t u);

  const PathUnits& p_;
  bool maximum_;
  std::mt19937_64 random_;
  std::vector<std::vector<Use>> uses_;  // per unit
  std::vector<std::uint32_t> several_;  // units that have a choice
  std::vector<Wide> used_;              // per limit
};

}  // namespace lpn::smt

// Chains of delays that lead from time zero to an instant, which is at least as late as each.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "path_units.h"

namespace lpn::smt {

class Chains {
 public:
  // REQUIRES a path with inputs and a magnitude, which is borrowed; sums of functions are added.
  explicit Chains(PathUnits& path);

  // Arcs from an instant back to time zero, numbered as in Step::Chain, and what their delays are
  // at least.
  struct Chain {
    std::vector<std::uint32_t> arcs;
    std::int64_t constant = 0;
    std::vector<std::uint32_t> functions;  // one per unit
  };
  // The longest chain to an instant when functions have these values; its length.
  std::pair<double, Chain> longest(InstantId target, const std::vector<double>& values);
  // The same for a choice.
  Chain longest(InstantId target, const Choice& choice);
  // What is known of the chain with these arcs. It may have several functions of a unit.
  Chain of(InstantId target, const std::vector<std::uint32_t>& arcs) const;

  // The functions that delays read, in ascending order.
  const std::vector<std::uint32_t>& read() const { return read_; }

  // A store of chains to one instant, each of which has a number.
  std::size_t keep(Chain chain);
  const Chain& kept(std::size_t number) const { return kept_[number]; }
  std::size_t number(const std::vector<std::uint32_t>& arcs) const { return number_.at(arcs); }

 private:
  struct Arc {
    std::uint32_t from = 0;
    const Sum* delay = nullptr;  // null: `constant`
    std::int64_t constant = 0;
    std::uint32_t number = 0;  // in Step::Chain
  };

  PathUnits& p_;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<std::uint32_t> read_;
  std::vector<Chain> kept_;
  std::map<std::vector<std::uint32_t>, std::size_t> number_;
};

}  // namespace lpn::smt

// Which registers, words and bytes a block of an unrolled graph, or what follows it, may still
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis.h"
#include "graph.h"
#include "symbolic.h"

namespace lpn::nfp {

// Which parts of a state matter at the start of a block.
class Liveness {
 public:
  Liveness(const Graph& graph, const Analysis& analysis);
  // Makes undefined what nothing from here on reads.
  void project(std::uint32_t block, State& state, Symbolic& symbolic, Terms& terms) const;

 private:
  using Set = std::vector<std::uint64_t>;
  static void add(Set& set, std::size_t k) { set[k / 64] |= std::uint64_t{1} << k % 64; }
  static void remove(Set& set, std::size_t k) { set[k / 64] &= ~(std::uint64_t{1} << k % 64); }
  static bool has(const Set& set, std::size_t k) { return set[k / 64] >> k % 64 & 1; }
  void before(const Instruction& i, const Touch& touch, Set& live) const;
  void before_mem(const Instruction& i, const Touch& touch, Set& live) const;
  void written(const Instruction& i, const Touch& touch, Set& live) const;
  void use(const Operand& operand, const Touch& touch, int which, Set& live) const;
  void local(Region region, std::uint32_t word, bool read, Set& live) const;

  std::vector<Set> at_;  // by block, at its start
};

}  // namespace lpn::nfp

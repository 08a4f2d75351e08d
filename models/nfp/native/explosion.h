// States of the program, shared by all paths that reach them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis.h"
#include "conditions.h"
#include "graph.h"
#include "liveness.h"
#include "symbolic.h"
#include "term.h"

namespace lpn::nfp {

// A block met in one state.
struct Exploded {
  std::uint32_t block = 0;
  std::uint32_t state = 0;  // index into the pool
  bool done = false;
  std::uint32_t to[2] = {kNone, kNone};  // by not taken, taken
  std::vector<TermId> atoms[2];
  bool undefined[2] = {false, false};
};

// The graph of all (block, state) that the program can be in, made as far as it is asked for.
// States are those that live values tell apart.
class Explosion {
 public:
  Explosion(const Graph& graph, const Analysis& analysis, Terms& terms, Symbolic& symbolic,
            Conditions& conditions);

  const Exploded& operator[](std::uint32_t id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }

  // The node with what follows it.
  const Exploded& run(std::uint32_t id);

 private:
  std::uint32_t intern(std::uint32_t block, State state);

  const Graph& graph_;
  const Analysis& analysis_;
  Terms& terms_;
  Symbolic& symbolic_;
  Conditions& conditions_;
  Liveness liveness_;
  std::vector<Exploded> nodes_;
  std::vector<State> states_;
  std::unordered_multimap<std::size_t, std::uint32_t> index_;
};

}  // namespace lpn::nfp

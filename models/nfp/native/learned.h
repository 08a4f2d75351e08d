// What a search has learned of conditions that cannot hold together.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph.h"
#include "term.h"

namespace lpn::nfp {

// Sets of conditions that together need a packet of at least so many bytes, or (kImpossible) cannot
// hold: as an automaton along paths. Its state is what is left of each set of which something has
// been met, without those that another one makes superfluous, and only while the rest can still be
// met.
class Learned {
 public:
  static constexpr std::uint32_t kImpossible = ~0u;
  struct Step {
    std::uint32_t state = 0;  // kNone: a contradiction is complete
    std::uint32_t size = 0;   // the packet's size is at least this
  };

  Learned() { intern({}); }

  // `where`: block at which each condition of the path was met, the latest. False when nothing of
  // it is new.
  bool learn(std::vector<TermId> core, std::uint32_t size,
             const std::unordered_map<TermId, std::uint32_t>& where);

  // Back to the start of paths, with all that was learned.
  void restart();

  // After the conditions of one step into `block`.
  Step step(std::uint32_t state, std::uint32_t node, bool taken, const std::vector<TermId>& atoms,
            std::uint32_t block);

 private:
  struct Rest {
    std::vector<TermId> atoms;  // sorted
    std::uint32_t size;
    bool operator==(const Rest&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Rest& r) const {
      std::size_t h = r.size;
      for (const TermId t : r.atoms) h = (h ^ t) * 0x9e3779b97f4a7c15ull ^ h >> 31;
      return h;
    }
    std::size_t operator()(const std::vector<Rest>& v) const {
      std::size_t h = v.size();
      for (const Rest& r : v) h = h * 1099511628211ull ^ (*this)(r);
      return h;
    }
  };

  std::uint32_t intern(std::vector<Rest> state);
  // Of `left` those that can still be met behind `block`, without what others imply.
  std::vector<Rest> least(std::vector<Rest> left, std::uint32_t block);

  std::vector<Rest> sets_;
  std::unordered_set<Rest, Hash> known_;
  std::unordered_map<TermId, std::vector<std::uint32_t>> with_;
  std::unordered_map<TermId, std::uint32_t> latest_;  // block + 1
  std::vector<std::vector<Rest>> states_;
  std::unordered_map<std::vector<Rest>, std::uint32_t, Hash> index_;
  std::unordered_map<std::uint64_t, Step> steps_;
};

}  // namespace lpn::nfp

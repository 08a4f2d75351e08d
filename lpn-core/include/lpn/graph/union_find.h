// Disjoint sets of the numbers 0..n-1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace lpn {

class UnionFind {
 public:
  explicit UnionFind(std::size_t n = 0) : leader_(n) {
    std::iota(leader_.begin(), leader_.end(), 0u);
  }

  // The member that stands for the set of `k`.
  std::uint32_t find(std::uint32_t k) {
    while (leader_[k] != k) k = leader_[k] = leader_[leader_[k]];
    return k;
  }

  // Makes one set of both; the leader of `to` stands for it.
  void join(std::uint32_t k, std::uint32_t to) { leader_[find(k)] = find(to); }

 private:
  std::vector<std::uint32_t> leader_;
};

}  // namespace lpn

// What the semaphores between two units say about every run of a program.
#pragma once

#include <cstdint>
#include <vector>

namespace lpn::vta {

// Of a unit, per instruction in its order: whether it takes from another unit (pop) and posts to
// it (push).
struct Towards {
  std::vector<std::uint8_t> pop, push;
};

// Two units and the semaphores between them; the k-th take matches the k-th post.
class Pair {
 public:
  Pair(const Towards& one, const Towards& other) : one_(one), other_(other) {}

  // Per instruction of `one`: so many of `other` are surely done when it starts.
  std::vector<std::size_t> before() const;
  // Per instruction of `one`: the first of `other` that surely starts after its end.
  std::vector<std::size_t> until() const;
  // At most so many posts of `one` wait at any time; 0 where they are too few to matter.
  std::int64_t most() const;

 private:
  const Towards& one_;
  const Towards& other_;
};

// Throws Refused where a semaphore could be posted at its most, where it forgets.
void require_kept(const char* one, const Towards& to_other, const char* other,
                  const Towards& to_one);

}  // namespace lpn::vta

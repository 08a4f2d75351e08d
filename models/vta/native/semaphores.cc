#include "semaphores.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "instruction.h"

namespace lpn::vta {

namespace {

// core/Semaphore.scala: eight bits; a post at 255 is lost.
constexpr std::int64_t kMost = 255;

std::vector<std::size_t> numbers_of(const std::vector<std::uint8_t>& which) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < which.size(); ++i)
    if (which[i]) out.push_back(i);
  return out;
}

}  // namespace

std::vector<std::size_t> Pair::before() const {
  const std::vector<std::size_t> posts = numbers_of(other_.push);
  std::vector<std::size_t> out;
  out.reserve(one_.pop.size());
  std::size_t taken = 0;
  for (const std::uint8_t pop : one_.pop) {
    taken += pop;
    const std::size_t posted = std::min(taken, posts.size());
    out.push_back(posted == 0 ? 0 : posts[posted - 1] + 1);
  }
  return out;
}

std::vector<std::size_t> Pair::until() const {
  const std::vector<std::size_t> takes = numbers_of(other_.pop);
  std::vector<std::size_t> out;
  out.reserve(one_.push.size());
  std::size_t posted = 0;
  for (const std::uint8_t push : one_.push) {
    out.push_back(posted < takes.size() ? takes[posted] : other_.pop.size());
    posted += push;
  }
  return out;
}

std::int64_t Pair::most() const {
  if (std::accumulate(one_.push.begin(), one_.push.end(), std::int64_t{0}) <= kMost) return 0;
  std::vector<std::int64_t> taken(other_.pop.size() + 1);
  for (std::size_t i = 0; i < other_.pop.size(); ++i) taken[i + 1] = taken[i] + other_.pop[i];
  const std::vector<std::size_t> done = before();
  std::int64_t posted = 0, most = 0;
  for (std::size_t i = 0; i < one_.push.size(); ++i) {
    posted += one_.push[i];
    most = std::max(most, posted - taken[done[i]]);
  }
  return most;
}

void require_kept(const char* one, const Towards& to_other, const char* other,
                  const Towards& to_one) {
  const std::int64_t most = Pair(to_other, to_one).most();
  if (most > kMost)
    throw Refused("up to " + std::to_string(most) + " posts of the " + one +
                  " unit may wait for the " + other + " unit; the semaphore holds " +
                  std::to_string(kMost) + " and forgets the rest");
}

}  // namespace lpn::vta

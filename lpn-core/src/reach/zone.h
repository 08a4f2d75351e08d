// When events of a run may be due, relative to each other: bounds on all differences of instants
// (a difference-bound matrix, Dill 1989), kept closed, so that each bound is the tightest that the
// others imply. Instants are integers, so `a < b` is `a - b <= -1`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lpn/net/net.h"

namespace lpn::reach {

inline constexpr Time kNoBound = Time{1} << 61;
inline constexpr Time kLongest = Time{1} << 40;  // a delay; longer ones are not looked at

// Instant 0 is the start of the run, instant 1 the present one; the others are events to come.
class Zone {
 public:
  static constexpr std::size_t kStart = 0, kNow = 1;

  Zone() : size_(2), bounds_(4, 0) {}
  std::size_t size() const { return size_; }
  // The most that instant i may be after instant j.
  Time most(std::size_t i, std::size_t j) const { return bounds_[i * size_ + j]; }
  Time least(std::size_t i, std::size_t j) const { return -most(j, i); }

  // Whether instant i may be at most `by` after j.
  bool may(std::size_t i, std::size_t j, Time by) const {
    return most(j, i) >= kNoBound || most(j, i) + by >= 0;
  }
  // Requires it; false: nothing is left, and the zone is not to be used.
  bool require(std::size_t i, std::size_t j, Time by);

  // A new event, so much after now. Its number is the last one.
  std::size_t add(Range after_now);
  // Event i is now; what was now is forgotten. Events behind i have a number less then.
  void advance(std::size_t i);
  void remove(std::size_t i);
  // Instant k becomes what order[k] was.
  void permute(const std::vector<std::size_t>& order);

  bool includes(const Zone& other) const;
  // The least zone around both.
  void join(const Zone& other);
  // What is known about the time since the start only from below, or only from above, is forgotten.
  void forget_least();
  void forget_most();

 private:
  Time& bound(std::size_t i, std::size_t j) { return bounds_[i * size_ + j]; }

  std::size_t size_;
  std::vector<Time> bounds_;
};

}  // namespace lpn::reach

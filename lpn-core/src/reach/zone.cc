#include "zone.h"

#include <algorithm>

namespace lpn::reach {
namespace {

Time plus(Time a, Time b) { return a >= kNoBound || b >= kNoBound ? kNoBound : a + b; }

}  // namespace

bool Zone::require(std::size_t i, std::size_t j, Time by) {
  if (!may(i, j, by)) return false;
  if (by >= most(i, j)) return true;
  for (std::size_t a = 0; a < size_; ++a) {
    const Time before = plus(most(a, i), by);
    if (before >= kNoBound) continue;
    for (std::size_t b = 0; b < size_; ++b) {
      bound(a, b) = std::min(most(a, b), plus(before, most(j, b)));
    }
  }
  return true;
}

std::size_t Zone::add(Range after_now) {
  const std::size_t more = size_ + 1;
  std::vector<Time> bounds(more * more, 0);
  for (std::size_t a = 0; a < size_; ++a) {
    for (std::size_t b = 0; b < size_; ++b) bounds[a * more + b] = most(a, b);
    bounds[size_ * more + a] = plus(most(kNow, a), after_now.hi);
    bounds[a * more + size_] = plus(most(a, kNow), -after_now.lo);
  }
  bounds_ = std::move(bounds);
  return size_++;
}

void Zone::advance(std::size_t i) {
  for (std::size_t a = 0; a < size_; ++a) {
    bound(kNow, a) = most(i, a);
    bound(a, kNow) = most(a, i);
  }
  bound(kNow, kNow) = 0;
  remove(i);
}

void Zone::remove(std::size_t i) {
  std::vector<std::size_t> order;
  for (std::size_t a = 0; a < size_; ++a) {
    if (a != i) order.push_back(a);
  }
  permute(order);
}

void Zone::permute(const std::vector<std::size_t>& order) {
  const std::size_t left = order.size();
  std::vector<Time> bounds(left * left);
  for (std::size_t a = 0; a < left; ++a) {
    for (std::size_t b = 0; b < left; ++b) bounds[a * left + b] = most(order[a], order[b]);
  }
  bounds_ = std::move(bounds);
  size_ = left;
}

bool Zone::includes(const Zone& other) const {
  for (std::size_t k = 0; k < bounds_.size(); ++k) {
    if (other.bounds_[k] > bounds_[k]) return false;
  }
  return true;
}

// The entrywise maximum of two closed matrices is closed.
void Zone::join(const Zone& other) {
  for (std::size_t k = 0; k < bounds_.size(); ++k) {
    bounds_[k] = std::max(bounds_[k], other.bounds_[k]);
  }
}

void Zone::forget_least() {
  for (std::size_t a = 1; a < size_; ++a)
    bound(kStart, a) = std::max(most(kStart, a), most(kNow, a));
}

void Zone::forget_most() {
  for (std::size_t a = 1; a < size_; ++a) bound(a, kStart) = kNoBound;
}

}  // namespace lpn::reach

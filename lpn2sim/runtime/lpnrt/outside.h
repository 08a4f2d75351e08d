// What a host puts into a run and takes out of it while it goes on.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "lpnrt/abi.h"
#include "lpnrt/budget.h"
#include "lpnrt/codes.h"
#include "lpnrt/rings.h"

namespace lpnrt {

// A token from outside, or (place: of credits, values: how many) slots that it gives back. Not part
// of Engine: each instance of its map would cost compile time.
struct Arrival {
  u32 place;
  std::vector<i64> values;
};

// What is to come from outside, by time. Tokens that are fed lie in one block per place, which is
// used again: the memory of a long run is that of the tokens that were fed ahead.
class Arrivals {
 public:
  i64 next = kForever;  // the first time at which something arrives

  bool none() const { return next == kForever; }
  void push(i64 time, Arrival arrival) {
    single_[time].push_back(std::move(arrival));
    next = std::min(next, time);
  }
  bool in_order(u32 place, const i64* times, u64 count) const {
    i64 last = 0;
    for (const Feed& feed : feeds_) {
      if (feed.place == place) last = feed.last;
    }
    for (u64 k = 0; k < count; ++k) {
      if (times[k] < last) return false;
      last = times[k];
    }
    return true;
  }
  // REQUIRES in_order, count > 0.
  void feed(u32 place, u64 width, u64 count, const i64* values, const i64* times) {
    Feed& feed = of(place, width);
    const u64 room = feed.times.capacity() + feed.values.capacity();
    feed.forget();
    feed.values.insert(feed.values.end(), values, values + count * width);
    feed.times.insert(feed.times.end(), times, times + count);
    feed.last = times[count - 1];
    charge((feed.times.capacity() + feed.values.capacity() - room) * sizeof(i64));
    next = std::min(next, feed.times[feed.at]);
  }
  // Calls arrive(place, values) for what arrives at `now`, the first time of all.
  template <typename Arrive>
  void take(i64 now, const Arrive& arrive) {
    i64 first = kForever;
    for (Feed& feed : feeds_) {
      while (feed.at < feed.times.size() && feed.times[feed.at] == now) {
        arrive(feed.place, feed.values.data() + feed.at++ * feed.width);
      }
      if (feed.at < feed.times.size()) first = std::min(first, feed.times[feed.at]);
    }
    if (!single_.empty() && single_.begin()->first == now) {
      for (const Arrival& a : single_.begin()->second) arrive(a.place, a.values.data());
      single_.erase(single_.begin());
    }
    if (!single_.empty()) first = std::min(first, single_.begin()->first);
    next = first;
  }

 private:
  struct Feed {
    u32 place;
    u64 width;
    u64 at = 0;  // the next one
    i64 last = 0;
    std::vector<i64> times, values;
    void forget() {  // what has arrived, where that is most of it
      if (at * 2 < times.size()) return;
      times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(at));
      values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at * width));
      at = 0;
    }
  };
  Feed& of(u32 place, u64 width) {
    for (Feed& feed : feeds_) {
      if (feed.place == place) return feed;
    }
    feeds_.push_back({place, width, 0, 0, {}, {}});
    return feeds_.back();
  }
  std::map<i64, std::vector<Arrival>> single_;
  std::vector<Feed> feeds_;
};

// When the tokens of a place that the net does not read arrived, for whoever takes them out.
struct Stamp {
  i64 time;
  u64 group, count;
};
struct Stamps {
  bool on = false;
  Ring<Stamp> runs;
  [[gnu::noinline]] void add(i64 time, u64 group, u64 count) { runs.push() = {time, group, count}; }
  void take(u64 count, lpn_instant* when) {
    while (count > 0) {
      Stamp& run = runs.front();
      const u64 part = std::min(count, run.count);
      for (u64 k = 0; when != nullptr && k < part; ++k) *when++ = {run.time, run.group};
      count -= part;
      if ((run.count -= part) == 0) runs.pop();
    }
  }
};
inline constexpr u32 kNoCredit = ~u32{0};

}  // namespace lpnrt

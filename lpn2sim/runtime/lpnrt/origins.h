// What lets a firing start, as nodes of the graph of causes (LPNRT_PATH, path.h).
//
// Whoever starts as soon as it can starts in the group in which the last of its causes happened: so
// a cause is known by its group, and nothing is kept of older ones. Only who waits for an edge of a
// clock has to know whose each token is.
#pragma once

#include <algorithm>
#include <vector>

#include "lpnrt/rings.h"
#include "lpnrt/variants.h"
#if LPNRT_PATH
#include "lpnrt/path.h"
#endif

namespace lpnrt {

#if LPNRT_PATH
// Half of a delay, rounded up.
inline i64 halved_if(bool halve, i64 delay) { return halve ? delay - delay / 2 : delay; }
// The same without a choice: all bits of `mask` are set, or none. Errors stay errors.
inline i64 halved_by(i64 mask, i64 delay) { return delay - ((delay / 2) & mask); }

// The last commit, or start, of those that matter alike.
struct Moment {
  u64 group = 0;  // as numbered by Recent
  u32 node = 0;
};

// The tokens that came to a place in the last group in which some did: of the first commit, and how
// many in all.
struct Arrived {
  u64 group = 0, count = 0;
  u32 node = 0;
};

// What happened in the current group. REQUIRES that groups are told of as they begin.
class Recent {
 public:
  void next_group() { ++group_; }
  // The group is that of the initial tokens: none of its starts lets another one start.
  bool first() const { return group_ == 1; }

  void mark(Moment& of, u32 node) const { of = {group_, node}; }
  // From outside: before the starts of this group, or behind them and so with the next.
  void pushed(Arrived& place, u32 node, u64 count, bool behind) {
    group_ += behind;
    put(place, node, count);
    group_ -= behind;
  }
  void pushed(Moment& change, u32 node, bool behind) const { change = {group_ + behind, node}; }
  [[gnu::always_inline]] void put(Arrived& place, u32 node, u64 count) {
    if (place.group == group_) [[unlikely]]
      return put_more(place, node, count);
    place = {group_, count, node};
  }

  // Whether the last of `need` of the `free` tokens came in this group, and whose it is.
  [[gnu::always_inline]] bool came(const Arrived& place, u64 need, u64 free, u32& node) const {
    if (place.group != group_ || free - need >= place.count) return false;
    node = place.node;
    if (others_in_ == group_) [[unlikely]]
      node = among_others(place, place.count - 1 - (free - need));
    return true;
  }
  [[gnu::always_inline]] bool now(const Moment& of, u32& node) const {
    if (of.group != group_) return false;
    node = of.node;
    return true;
  }
  bool started(const Moment& start, u32& node) const { return !first() && now(start, node); }

  template <typename Visit>
  void each(Arrived& place, const Visit& visit) const {
    if (place.group != group_) place.node = 0;
    visit(place.node);
  }
  template <typename Visit>
  void each(const Visit& visit) {
    if (others_in_ != group_) others_.clear();
    for (Other& other : others_) visit(other.node);
  }

 private:
  // Of a place to which several commits of this group brought tokens, all but the first; `from`:
  // how many had come before.
  struct Other {
    const Arrived* place;
    u64 from;
    u32 node;
  };
  [[gnu::noinline, gnu::cold]] void put_more(Arrived& place, u32 node, u64 count) {
    if (others_in_ != group_) others_.clear();
    others_in_ = group_;
    others_.push_back({&place, place.count, node});
    place.count += count;
  }
  // Whose the token is before which so many came.
  [[gnu::noinline, gnu::cold]] u32 among_others(const Arrived& place, u64 before) const {
    u32 node = place.node;
    for (const Other& other : others_) {
      if (other.place == &place && other.from <= before) node = other.node;
    }
    return node;
  }

  u64 group_ = 0;
  u64 others_in_ = 0;
  std::vector<Other> others_;
};

// The nodes of the free tokens of a place, in their order.
class Origins {
 public:
  void push(u32 node, u64 count) {
    if (count == 0) return;
    runs_.push() = {node, count};
    total_ += count;
  }
  // Of the `free` tokens of the place the k-th, from 0; others were taken by the outside.
  u32 at(u64 k, u64 free) {
    if (total_ > free) pop(total_ - free);
    for (u64 r = 0; r < runs_.size(); ++r) {
      if (k < runs_[r].count) return runs_[r].node;
      k -= runs_[r].count;
    }
    return 0;
  }
  void pop(u64 count) {
    total_ -= count;
    while (count > 0) {
      Run& run = runs_.front();
      const u64 part = std::min(count, run.count);
      count -= part;
      run.count -= part;
      if (run.count == 0) runs_.pop();
    }
  }
  template <typename Visit>
  void each(const Visit& visit) {
    for (u64 r = 0; r < runs_.size(); ++r) visit(runs_.at(r).node);
  }

 private:
  struct Run {
    u32 node;
    u64 count;
  };
  Ring<Run> runs_;
  u64 total_ = 0;
};
#endif

}  // namespace lpnrt

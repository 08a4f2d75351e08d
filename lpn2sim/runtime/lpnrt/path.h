// Which firings decided when a firing started (LPNRT_PATH): the tree of causes, from which the
// critical path is read at the end.
//
// A firing is a node whose parent is the latest of what it waited for. Whatever may yet become a
// cause, a token, a server, the last start, names its node; all others are garbage. When the nodes
// are full, those that nothing names go, and all but the last ones that only one other has as its
// parent are folded into that one: what remains of a chain is how many cycles each transition
// contributed to it. So memory grows with the tokens alive, never with the
// length of the run, and no second pass is needed: where all chains meet, the path is decided and
// is already folded into one node.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "lpnrt/codes.h"
#include "lpnrt/row_sums.h"

namespace lpnrt {

// What a firing waited for last.
enum class Cause : u32 {
  kInitial,   // nothing: its tokens were there at the start
  kToken,     // the commit that appended a token, or gave back a slot
  kServer,    // the commit that freed a server
  kChange,    // the commit that changed what an arc reads: emptied a place, ...
  kInterval,  // the start before, and the interval after it
  kOrder,     // the start of another that took from the same place
  kPushed,    // a token from outside, at this time
  kOrdered,   // commits with the firing before it: ordered
};
constexpr bool of_start(Cause cause) { return cause == Cause::kInterval || cause == Cause::kOrder; }

// What contributed cycles: 3 * transition + kDelay.., or 3 * transitions + place for arrivals.
enum : u32 { kDelayRow, kIntervalRow, kClockRow, kRowsEach };

class Causes {
 public:
  static constexpr u32 kNone = 0;             // time 0
  static constexpr u32 kLate = u32{1} << 28;  // beside the number of a transition

  using Row = RowSums::Row;
  struct Step {
    u32 by;          // 8 * transition (place, where pushed) + cause
    bool to_commit;  // else the path leaves it at its start
    i64 start, commit;
  };

  // The latest cause so far; of those at one instant the first, and commits before starts.
  struct Choice {
    i64 time = 0;
    u32 group = 0;
    u32 node = kNone;
    Cause cause = Cause::kInitial;
  };
  void commit_of(Choice& choice, u32 node, Cause cause) const {
    const Node& n = nodes_[node];
    if (node == kNone || n.commit < choice.time) return;
    const u32 group = n.commit_group();
    if (n.commit == choice.time && group <= choice.group && choice.node != kNone) return;
    choice = {n.commit, group, node, cause};
  }
  void start_of(Choice& choice, u32 node, i64 wait, Cause cause) const {
    const Node& n = nodes_[node];
    const u32 group = wait > 0 ? 0 : n.start_group;
    if (node == kNone || n.start + wait < choice.time) return;
    if (n.start + wait == choice.time && group <= choice.group) return;
    choice = {n.start + wait, group, node, cause};
  }
  i64 start(u32 node) const { return nodes_[node].start; }

  explicit Causes(u32 transitions) : transitions_(transitions) {
    nodes_.resize(kLeast);
    sums_.emplace_back();
  }

  u64 budget = u64{256} << 20;  // bytes
  bool lost = false;            // it was not enough: there is no path

  // REQUIRES !full(). `commit` == `start`: in the next group.
  u32 add(i64 start, u32 start_group, i64 commit, u32 parent, u32 by, Cause cause) {
    nodes_[size_] = {start, commit, start_group, parent, by * 8 + static_cast<u32>(cause), 0};
    return size_++;
  }
  // A firing that commits with the one before it, not when its delay is over: no cycles are its.
  u32 add_ordered(u32 before, u32 by, i64 start) {
    const Node& n = nodes_[before];
    return add(start, n.commit_group(), n.commit, before, by | kLate, Cause::kOrdered);
  }
  // A token from outside.
  u32 add_pushed(i64 time, u32 place) {
    return add(time, ~u32{0}, time, kNone, place, Cause::kPushed);
  }
  // A firing and what lies between it and `parent`: `rows` by `what`, of which the first began as
  // `cause` says. `by` as of add(), with kLate where it is late.
  u32 add_folded(i64 start, u32 start_group, i64 commit, u32 parent, u32 by, Cause cause,
                 const Row* rows, u64 count) {
    const u32 node = add(start, start_group, commit, parent, by, cause);
    nodes_[node].sums = take();
    with_sums_ = node;
    sums_[nodes_[node].sums].assign(rows, rows + count);
    return node;
  }
  // Before the first one: none goes before there are so many, as far as the budget reaches. The
  // last firings of the path, a quarter of that number at least, are told one by one.
  void keep(u64 nodes) {
    while (nodes > kLeast && bytes(nodes) > budget) nodes /= 2;
    keeps_ = nodes;
  }
  void clear() {
    size_ = 1;
    with_sums_ = 0;
    lost = false;
    sums_ = std::vector<Sums>(1);
    free_ = {};
  }
  // Room for the nodes of one firing?
  bool full() const { return room() < 2; }
  u64 room() const { return nodes_.size() - size_; }

  // `each(visit)` calls visit(u32&) for every node that is named.
  template <typename Each>
  [[gnu::noinline, gnu::cold]] void collect(const Each& each) {
    if (lost) {  // nothing is kept, but numbers have to be had
      each([](u32& node) { node = kNone; });
      size_ = 1;
      return;
    }
    if (nodes_.size() < keeps_) return nodes_.resize(std::min(nodes_.size() * 2, keeps_));
    named_.assign(size_, 0);
    each([this](u32& node) { named_[node] = kMany; });
    find_alive();
    for (const u32 k : alive_) {
      if (named_[k] == kMany && named_[nodes_[k].parent] == 1) fold(k);
    }
    for (u32 k = 1; k <= with_sums_; ++k) {
      if (named_[k] != kMany) give(nodes_[k].sums);
    }
    close_up();
    each([this](u32& node) { node = to_[node]; });
    const u64 wanted = size_ > nodes_.size() / 2 ? nodes_.size() * 2 : nodes_.size();
    if (bytes(wanted) > budget) {
      each([](u32& node) { node = kNone; });
      return lose();
    }
    nodes_.resize(wanted);
  }

  // Room for so many, after collect() did not give it.
  void grow(u64 more) {
    const u64 wanted = std::max<u64>(nodes_.size() * 2, size_ + more);
    if (bytes(wanted) > budget) return lose();
    nodes_.resize(wanted);
  }
  // Room for so many nodes and some after them; `fold` says whether others may be given up for it
  // by run.collect(), `more` whether more memory may be had. Also true: all is lost.
  template <typename Run>
  bool make_room(Run& run, u64 nodes, bool fold, bool more = false) {
    const u64 wanted = nodes + 2 + (more ? 0 : std::min<u64>(nodes, 1024));
    if (room() >= wanted) return true;
    if (!fold) return false;
    run.collect();
    if (lost || room() >= wanted) return true;
    if (more) grow(wanted);
    return more;
  }
  // Gives up; nobody may name a node from here on.
  void lose() {
    lost = true;
    size_ = 1;
    with_sums_ = 0;
    nodes_ = std::vector<Node>(kLeast);
    alive_ = {}, to_ = {}, named_ = {}, free_ = {}, total_ = {}, sums_ = std::vector<Sums>(1);
  }

  u64 bytes(u64 nodes) const {
    u64 all = nodes * (sizeof(Node) + 2 * sizeof(u32) + 1) + sums_.size() * sizeof(Sums);
    for (const Sums& s : sums_) all += s.capacity() * sizeof(Row);
    return all + total_.bytes();
  }

  // The path to the commit of `node`; steps from the last one back, as far as they are not folded.
  void path(u32 node, std::vector<Row>& rows, std::vector<Step>& steps) const {
    bool to_commit = true, folded = false;
    RowSums total;
    for (; node != kNone; node = nodes_[node].parent) {
      const Node& n = nodes_[node];
      if (!folded) steps.push_back({n.by & ~(kLate * 8), to_commit, n.start, n.commit});
      if (to_commit && !is_arrival(n)) total.add(delay(n));
      if (n.sums != 0) {
        for (const Row& row : sums_[n.sums]) total.add(row);
        folded = true;
      } else if (!n.late()) {
        const Row row = waited(n);
        if (row.cycles != 0) total.add(row);
      }
      to_commit = !of_start(cause(n));
    }
    total.take(rows);
  }

 private:
  static constexpr unsigned char kMany = 2;
#ifndef LPNRT_PATH_NODES
#define LPNRT_PATH_NODES 8192  // what a cache holds; tests set less
#endif
  static constexpr u32 kLeast = LPNRT_PATH_NODES;

  struct Node {
    i64 start = 0, commit = 0;
    u32 start_group = 0;  // of a late one: the group of its commit
    u32 parent = 0;
    u32 by = 0;    // as Step::by, and whether it is late
    u32 sums = 0;  // what lies between the parent and the start, when others were folded into it
    bool late() const { return (by & kLate * 8) != 0; }
    u32 of() const { return (by & ~(kLate * 8)) / 8; }
    u32 commit_group() const {
      if (late()) return start_group;
      return commit == start ? start_group + 1 : 0;
    }
  };
  using Sums = std::vector<Row>;  // by `what`

  static Cause cause(const Node& n) { return static_cast<Cause>(n.by % 8); }
  static bool is_arrival(const Node& n) { return n.sums == 0 && cause(n) == Cause::kPushed; }
  static Row delay(const Node& n) {
    return {n.of() * kRowsEach + kDelayRow, 1, n.late() ? 0 : n.commit - n.start};
  }
  // What passed between the parent and the start of a node into which nothing was folded. REQUIRES
  // that it is not late.
  Row waited(const Node& n) const {
    const Node& parent = nodes_[n.parent];
    u32 what = n.of() * kRowsEach + kClockRow;
    if (cause(n) == Cause::kInterval) what = n.of() * kRowsEach + kIntervalRow;
    if (cause(n) == Cause::kPushed) what = transitions_ * kRowsEach + n.of();
    return {what, 1, n.start - (of_start(cause(n)) ? parent.start : parent.commit)};
  }

  // What collect() is made of. (What a byte is stored in may be anything to a compiler: so what
  // does not move has names of its own.) Those that are named, from the last one on, and by how
  // many: of the last ones, and of what they come from, always as if by many, so that they are not
  // folded.
  void find_alive() {
    const Node* const nodes = nodes_.data();
    unsigned char* const named = named_.data();
    alive_.resize(size_);
    u32* const alive = alive_.data();
    const u64 last = nodes_.size() / 4;
    u64 count = 0;
    u32 k = size_ - 1;
    for (; k > 0 && count < last; --k) {
      if (named[k] == 0) continue;
      named[k] = kMany;
      named[nodes[k].parent] = kMany;
      alive[count++] = k;
    }
    for (; k > 0; --k) {
      if (named[k] == 0) continue;
      unsigned char& parent = named[nodes[k].parent];
      parent = parent == 0 ? 1 : kMany;
      alive[count++] = k;
    }
    named[kNone] = kMany;
    alive_.resize(count);
  }
  // Takes the place of all before it that nothing else names.
  void fold(u32 k) {
    const Node* const nodes = nodes_.data();
    const unsigned char* const named = named_.data();
    Node& of = nodes_[k];
    const Node* n = &of;
    for (;;) {
      const Node& parent = nodes[n->parent];
      const bool by_start = of_start(cause(*n));
      if (n->sums != 0) {
        for (const Row& row : sums_[n->sums]) total_.add(row);
      } else if (!n->late() && n->start != (by_start ? parent.start : parent.commit)) {
        total_.add(waited(*n));
      }
      if (named[n->parent] != 1) break;
      if (!by_start && !is_arrival(parent)) total_.add(delay(parent));
      n = &parent;
    }
    of.by = of.by / 8 * 8 + n->by % 8;
    of.parent = n->parent;
    if (of.sums == 0) of.sums = take();
    with_sums_ = std::max(with_sums_, k);
    sums_[of.sums].clear();
    total_.take(sums_[of.sums]);
  }
  // Only those remain that are not folded.
  void close_up() {
    Node* const nodes = nodes_.data();
    const unsigned char* const named = named_.data();
    to_.resize(size_);
    u32* const to = to_.data();
    to[kNone] = kNone;
    u32 kept = 1;
    const u32 with_sums = std::exchange(with_sums_, 0);
    for (u64 i = alive_.size(); i-- > 0;) {
      const u32 k = alive_[i];
      if (named[k] != kMany) continue;
      if (k <= with_sums) with_sums_ = kept;
      Node& n = nodes[kept];
      n = nodes[k];
      n.parent = to[n.parent];
      to[k] = kept++;
    }
    size_ = kept;
  }
  u32 take() {
    if (free_.empty()) {
      sums_.emplace_back();
      return static_cast<u32>(sums_.size() - 1);
    }
    const u32 k = free_.back();
    free_.pop_back();
    return k;
  }
  void give(u32 sums) {
    if (sums == 0) return;
    sums_[sums] = {};
    free_.push_back(sums);
  }

  u32 transitions_;
  u32 size_ = 1;
  u32 with_sums_ = 0;  // the last one that has some
  u64 keeps_ = 0;
  std::vector<Node> nodes_;
  std::vector<unsigned char> named_;  // by how many, up to kMany
  std::vector<u32> alive_, to_;
  std::vector<Sums> sums_;
  std::vector<u32> free_;
  RowSums total_;  // of what is being folded
};

}  // namespace lpnrt

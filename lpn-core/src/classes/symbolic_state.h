// What a path of symbolic execution has come to: tokens, places, and the next start of each
// transition.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lpn/classes/timing.h"
#include "lpn/expr/expr.h"
#include "lpn/net/net.h"

namespace lpn {

// Ends the path: a firing fails for its inputs.
struct Failed {
  std::string what;
};

struct SymbolicToken {
  InstantId at{};
  std::uint32_t transition = 0;
  std::uint64_t firing = 0;
  bool initial = true;
  std::vector<ExprId> values;
};

// From its commit until that of the firing that takes it.
struct Stay {
  InstantId from{};
  std::optional<InstantId> until;
};

// Tokens that come or go at a commit, for who looks how many there are.
struct Change {
  InstantId at{};
  std::int64_t tokens = 0;
};

struct SymbolicPlace {
  bool watched = false;                  // inhibits somebody
  bool counted = false;                  // somebody reads how full it is
  bool merged = false;                   // several producers, or one whose commits may overtake
  bool multiset = false;                 // tokens without properties whose order does not matter
  std::vector<SymbolicToken> tokens;     // free ones, in order unless a multiset
  std::vector<SymbolicToken> fresh;      // merged: not yet put in order
  InstantId last_taken{};                // the last start that took from it
  std::vector<Stay> stays;               // watched: all tokens so far, in order
  std::size_t gone = 0;                  // watched: how many have been taken
  std::vector<Change> changes;           // counted: since time 0
  std::int64_t at_first = 0, taken = 0;  // counted: initial tokens, tokens taken by starts
  std::vector<std::uint32_t> producers, takers, readers, watchers, counters;
};

struct Candidate {
  bool known = false;  // up to date
  bool ready = false;
  std::vector<std::uint32_t> lacking;    // places without the tokens it needs
  bool firm = true;                      // whatever tokens go first, it lacks these
  std::optional<std::uint32_t> refused;  // the arc whose guard is false
  bool inhibited = false;                // by a token that nobody takes yet
  std::vector<std::uint32_t> counting;   // arcs whose guards read how full a place is
  std::string doomed;                    // what fails when it is looked at, at `start`
  InstantId start{};
  std::vector<std::uint64_t> need, take;
  std::vector<InstantId> ready_at;
  std::vector<Timing::Arc> other;
  // Multisets of which a token that is not known yet may be earlier than those chosen.
  std::vector<std::pair<std::uint32_t, InstantId>> supplies;
  std::vector<std::vector<std::size_t>> chosen;  // per arc: which tokens of a multiset
};

struct SymbolicTransition {
  std::int64_t servers = 0;  // 0: unbounded
  std::int64_t period = 0, phase = 0;
  Time least_delay = 0;
  bool in_order = false;
  bool local = false;
  bool inhibits = false;
  bool needs_by_token = false;        // a weight or threshold reads a token
  std::vector<bool> reads_head;       // per input arc: its weight or threshold reads the head
  std::vector<std::uint32_t> counts;  // places of which it reads how full they are
  std::uint64_t started = 0;
  InstantId last_start{};
  ExprId last_interval{};
  bool has_interval = false;
  std::vector<InstantId> commits;
  std::map<std::uint32_t, std::size_t> over;  // inhibiting place -> stays that lie behind
  Candidate candidate;
};

}  // namespace lpn

// What the event-driven simulator of a net is made of: the analysis, without any text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/net/net.h"
#include "lpn/sim/generate.h"
#include "plan/plan.h"

namespace lpn::sim {

// How the firings in flight of a transition are kept.
enum class Keep {
  kCount,   // zero delay and nothing to remember: how many
  kSingle,  // one server: one record
  kFifo,    // commits in start order: a ring
  kPool,    // commits may overtake: slots
};

struct ArcInfo {
  std::size_t place = 0;
  bool credit = false;
  bool reads_head = false;
  bool read_by_arcs = false;  // weights, thresholds or guards read its tokens or free count
  bool occupancy_read = false;
  bool tokens_read = false;     // anything reads its tokens
  std::int64_t weight = -1;     // constant, else -1
  std::int64_t least_need = 0;  // tokens that are there once the arc was passed
  std::int64_t need = -1;       // constant, else -1
};

// Transitions that compete for tokens of a place and may wait in its set, sorted; a net has few.
struct Contest {
  std::int64_t need = 0;  // how many tokens each of them needs
  std::vector<std::uint32_t> rivals;
};

struct TransitionInfo {
  std::vector<ArcInfo> arcs;
  std::size_t declared_inputs = 0, declared_outputs = 0;
  Keep keep = Keep::kFifo;
  bool zero_delay = false;  // constant 0
  bool one_server = false;
};

struct EventFacts {
  // Throws Error "E-too-large".
  EventFacts(const Net& declared, const GenerateOptions& options);

  // Arcs that are looked at before anything that can fail, and have constant needs: the first ones.
  std::size_t safe_arcs(std::size_t k) const;
  bool is_rival(std::size_t p, std::uint32_t k) const;
  bool is_const(const Formula& f) const;
  std::int64_t const_of(const Formula& f) const;
  // A count that the commit knows without being told.
  bool const_count(const Emission& e) const;
  bool const_total(const OutputArc& arc) const;
  bool is_unit(const OutputArc& arc) const;
  bool one_row(const Emission& e) const;
  // Whether a firing's record holds anything but its due time.
  bool remembers(const Transition& t, const TransitionInfo& info) const;
  bool flows() const;
  bool mixed() const;
  static bool timed(const Transition& t);
  bool timed() const;
  // Whether some emission's rows are not just one.
  bool has_rows(const Transition& t) const;
  bool rows(const OutputArc& arc, const Emission& e) const;
  // What reads the place otherwise than by the tokens it needs: any commit there may let it start.
  bool watched(std::size_t p) const;
  // What the outside may take tokens from: nothing in the net reads it.
  bool outlet(std::size_t p) const;
  // Keeps when its tokens arrived, when asked to.
  bool stamped(std::size_t p) const;
  // In which variants whole runs can be order-free, for the preprocessor.
  const char* flow_condition() const;

  Net declared;  // as the author made it
  Net net;       // lowered: what runs
  Plan plan;
  bool metered = false;       // statistics of order-free runs
  std::size_t contested = 0;  // how many competitors make a place contested
  bool apart = false;         // each transition has a function of its own, or one with its equals
  std::vector<TransitionInfo> infos;
  std::vector<std::size_t> credits;                   // per place with a capacity: its credit place
  std::vector<std::vector<std::uint32_t>> consumers;  // per place: transitions with an input arc
  std::vector<bool> locked;                           // per place: its locked tokens are counted
  std::vector<Contest> contests;                      // per place; no rivals: not contested

 private:
  void analyse();
  void find_contests();
  Error too_large() const;
  static std::vector<const Formula*> formulas_of(const InputArc& arc);
  void choose_keep(const Transition& t, TransitionInfo& info);
};

}  // namespace lpn::sim

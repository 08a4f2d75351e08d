// The firings of a strongly connected part of a dataflow graph, K cycles of each actor together, as
// events that recur: what maximum cycle ratios are taken of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lpn/base/wide.h"
#include "lpn/pi/cycles.h"
#include "lpn/pi/dataflow.h"

namespace lpn::pi {

// A strongly connected part; `channels` are those inside it.
struct Part {
  std::vector<std::size_t> actors, channels;
};

class KPeriodic {
 public:
  // `repetitions`: per actor of the graph, without a common factor within the part.
  // With `unit_times` every firing takes 1, whatever its phase says: a loop without tokens is then
  // one that waits for ever.
  KPeriodic(const Dataflow& graph, const Part& part, const std::vector<std::int64_t>& repetitions,
            bool unit_times);

  // Its pace, as part of a graph (`Pace::period` for iterations by `repetitions`).
  Pace run(const GoOn& go_on);

 private:
  struct Made {
    std::size_t channel;
    std::int64_t slack;
  };
  struct Side {
    // Tokens up to and with each event; of it alone; taken before it and needed by it together.
    std::vector<std::int64_t> after, amount, needed;
    std::int64_t per_block = 0;
  };

  std::int64_t time(const Phases& times, std::size_t event) const;
  std::int64_t blocks(std::size_t actor) const { return repetitions_[actor] / k_[actor]; }
  Side side(const Phases& rates, const Phases& needed, std::size_t actor) const;
  std::int64_t parts() const;
  bool unfold();
  void choose_size();
  Wide size_of(bool whole) const;
  void build(const GoOn& go_on);
  void own_order(std::size_t actor);
  void channel(std::size_t c);
  void add(std::size_t from, std::size_t to, std::int64_t delay, Wide tokens, Made made);
  bool grow(const Cycle& cycle);
  Pace pace_of(const Cycle& cycle) const;

  const Dataflow& graph_;
  const Part& part_;
  const std::vector<std::int64_t>& repetitions_;
  const bool unit_times_;
  std::vector<std::int64_t> k_;        // per actor of the graph
  std::vector<char> serial_;           // one firing at a time
  std::vector<char> starts_in_order_;  // firings start, and end, in the order of their numbers
  std::vector<std::size_t> first_;     // event of each actor's first firing
  std::vector<std::size_t> owner_;     // actor of each event
  std::vector<EventArc> arcs_;
  std::vector<Made> made_;  // per arc
  std::int64_t scale_ = 1;  // tokens of arcs are counted in this part of an iteration
};

// Whether a channel lets an actor fire once at a time and says no more.
bool is_serial(const Channel& channel);

}  // namespace lpn::pi

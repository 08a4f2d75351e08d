// What channels did over time, for a picture, in a memory that does not grow with the recording:
// how much of each phase there was, in bins over all of it, and the phases one by one as far as
// room is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lpn/wave/channel.h"

namespace lpn::wave {

// Positions are edges of a clock or times, whatever the caller counts; they begin at 0 and rise.
class History {
 public:
  struct Options {
    std::size_t bins = 4096;        // at most, of each channel; even
    std::size_t bytes = 2'500'000;  // of all phases that are kept one by one, as phases() has them
    // Only these positions, counted from the origin, are kept one by one: from, to (without it).
    std::optional<std::pair<std::int64_t, std::int64_t>> part;
  };

  History(std::size_t channels, const Options& options);

  // From `position` on the channel is in `phase`; before its first, in kReset. `origin`: the
  // position from which a part counts, when it is known.
  void set(std::size_t channel, std::int64_t position, Phase phase,
           std::optional<std::int64_t> origin);
  // What lies before `position` stands, whatever finish() cuts off.
  void confirm(std::size_t channel, std::int64_t position, std::optional<std::int64_t> origin);
  // The end; with `cut`, what is not confirmed is taken back.
  void finish(std::size_t channel, std::int64_t position, std::optional<std::int64_t> origin,
              bool cut);

  // Positions that are kept one by one: from, to. Where nothing is, both are equal.
  std::pair<std::int64_t, std::int64_t> kept() const;
  // As LEB128: the width of a bin, how many there are, then of each phase 0 when there is none of
  // it, else 1 and the positions in each bin.
  std::string bins(std::size_t channel) const;
  // As LEB128: the first position kept, how many follow, then of each run of one phase its
  // length x 8 + the phase; a reader stops where they end. Empty when none is kept.
  std::string phases(std::size_t channel) const;

 private:
  using Bin = std::array<std::uint64_t, kPhases>;
  struct Row {
    Phase phase = Phase::kReset;
    std::int64_t since = 0;  // counted up to here
    std::vector<Bin> bins;
    std::int64_t confirmed = 0;  // up to here it stands
    Bin at_confirmed{};          // the bin that `confirmed` lies in, up to there
    std::string phases;
    std::int64_t first = -1, last = 0;  // positions kept: from, to (without it)
    Phase last_phase = Phase::kReset;   // of a run that is not written yet
    std::int64_t run = 0;               // its length
  };

  void add(Row& row, std::int64_t end, std::optional<std::int64_t> origin);
  void count(Row& row, std::int64_t end);
  void keep(Row& row, std::int64_t begin, std::int64_t end);
  void widen();

  Options options_;
  std::vector<Row> rows_;
  std::int64_t width_ = 1;  // of a bin
  std::size_t bytes_ = 0;
  std::optional<std::int64_t> closed_;  // from here on there was no room
};

}  // namespace lpn::wave

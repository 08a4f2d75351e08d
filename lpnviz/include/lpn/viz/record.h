// A run as the page plays it: compact, cut into segments of time that are decoded one by one, with
// an overview of the whole for far zooms. lpnviz/README.md ("The record of a run") has the formats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lpn/net/marking.h"
#include "lpn/net/net.h"
#include "lpn/run/interp.h"
#include "lpn/run/run.h"
#include "lpn/viz/values.h"

namespace lpn::viz {

struct RecordOptions {
  std::uint64_t segment = 1 << 16;            // entries after which a segment ends with its instant
  std::uint32_t bins = 1 << 13;               // most bins of the overview; a power of two
  std::uint64_t values = TokenValues::kMost;  // numbers that are kept of tokens
};

// Attached to an interpreter that keeps statistics, before its first run.
class Record : public Watcher {
 public:
  // Throws Error "E-param-value". The net must outlive the record.
  Record(const Net& net, const ParamValues& params, const Marking& marking,
         RecordOptions options = {});

  // Watches the interpreter.
  void watch(Interp& interp);
  void on_start(const Started& firing) override;
  void on_commit(const Started& firing) override;
  void on_arrival(Time time, PlaceId place, std::span<const std::int64_t> values) override;
  void on_wait(Time time, const Blocked& why) override;

  // The run has ended at `end`. Throws Error "E-viz-size" when times or counts pass 2^53, beyond
  // which a page cannot count. Nothing may follow.
  void finish(Time end);

  // After finish().
  std::string index() const;  // JSON
  const std::vector<std::string>& segments() const { return segments_; }
  const std::string& overview() const { return overview_; }
  std::string values() const { return values_.data(end_); }  // values.h

 private:
  struct Open {  // a firing of this segment, or one that reaches into it
    std::uint64_t number = 0;
    Time start = 0, due = 0;
    std::vector<std::uint64_t> counts;  // over the arcs that vary
  };
  struct Actor {
    std::vector<std::uint32_t> inputs, outputs;  // arcs whose counts are not constant
    std::vector<Open> carried, fresh;
    std::uint64_t in_flight = 0;
    Time busy_since = 0;
    std::uint64_t wait = 0, wait_before = 0;  // codes; the latter at the segment's beginning
    Time wait_since = 0;
    std::vector<std::pair<Time, std::uint64_t>> waits;
  };
  struct Level {
    std::uint64_t tokens = 0, shown = 0, before = 0;
    Time since = 0;
    bool noted = false;
    std::vector<std::pair<Time, std::uint64_t>> changes;
  };
  struct Segment {
    Time begin = 0;
    std::uint64_t firings = 0;
  };

  void reach(Time time);
  void require_countable(Time time) const;
  void require_countable(const Started& firing) const;
  void settle();
  void change(PlaceId place, std::uint64_t by, bool more);
  void close(Time next);
  void add(std::size_t series, Time begin, Time end, std::uint64_t weight);
  void raise(std::size_t series, Time begin, Time end, std::uint64_t level);
  void widen(Time end);
  std::size_t busy_series(std::size_t transition) const;
  std::size_t place_series(std::size_t place) const;
  void show_level(std::size_t place, Time until);

  const Net& net_;
  RecordOptions options_;
  TokenValues values_;
  std::vector<Actor> actors_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> noted_;
  Time now_ = 0, begin_ = 0, end_ = 0;
  std::uint64_t entries_ = 0, firings_ = 0, least_entries_ = 0;
  std::vector<Segment> about_;
  std::vector<std::string> segments_;
  Time width_ = 1;  // of a bin
  std::vector<std::vector<std::uint64_t>> bins_;
  std::string overview_;
};

}  // namespace lpn::viz

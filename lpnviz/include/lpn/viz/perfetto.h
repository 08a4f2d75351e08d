// A run as a timeline in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.
//
// Written commit by commit, so memory does not grow with the run: one track per transition with a
// complete event per firing, and a counter track per place with its occupancy. The format knows
// microseconds only; how long a tick is there: TimelineClock. Occupancy counts locked tokens and so
// changes at commits alone: the counters are exact.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lpn/run/run.h"
#include "lpn/viz/export.h"
#include "lpn/viz/ticks.h"

namespace lpn::viz {

class Timeline : public Observer, public Watcher {
 public:
  // Shows the firings that are in flight at some instant of the window, and the counters inside it.
  Timeline(const Net& net, const ParamValues& params, const Marking& marking, Sink write,
           Window window = {});

  void on_commit(const Commit& commit) override;

  // As a watcher too, of an interpreter that keeps statistics: tracks of why transitions wait.
  void on_wait(Time time, const Blocked& why) override;
  void on_start(const Started&) override {}
  void on_commit(const Started&) override {}
  void on_arrival(Time, PlaceId, std::span<const std::int64_t>) override {}

  // Closes the JSON; nothing may follow. `ending` is written beside the net's name; `end` is the
  // time up to which the run is known.
  void finish(const std::string& ending, Time end);

  std::uint64_t events() const { return events_; }

 private:
  template <typename... Args>
  void append(fmt::format_string<Args...> format, Args&&... args);
  void write_out();
  void show_firing(const Commit& commit);
  void show_wait(std::uint32_t k, Time end);
  std::int64_t choose_lane(std::uint32_t k, Time start, Time end);
  void arrive(Time until);
  void change(PlaceId place, std::int64_t by);
  void flush_counters();

  const Net& net_;
  TimelineClock clock_;
  Sink write_;
  Window window_;
  Arrivals arrivals_;
  fmt::memory_buffer buffer_;
  Time time_ = 0;
  std::uint64_t events_ = 0;
  std::vector<std::vector<Time>> lanes_;  // per transition, the last end on each lane
  struct Waiting {
    Blocked why;
    Time since = 0;
    bool has_track = false;
  };
  std::vector<Waiting> waiting_;
  std::vector<std::int64_t> occupancy_, shown_;
  std::vector<std::uint32_t> changed_;  // a place may be noted twice; it is written once
};

}  // namespace lpn::viz

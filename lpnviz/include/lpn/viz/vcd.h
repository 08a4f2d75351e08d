// A run as a value change dump (IEEE 1364), which waveform viewers open.
//
// Signals, all whole numbers: per place the tokens in it, locked ones included; per transition
// NAME `NAME_in_flight`, its firings with start <= t < commit, and `NAME_commits`, how many so far.
// The value at t is the one after the last group of t, so a firing without delay shows in its
// commits alone. Instances ("core.fetch") are scopes. The format has no cycles: one tick is written
// as 1 ns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lpn/run/run.h"
#include "lpn/viz/export.h"

namespace lpn::viz {

class VcdWriter : public Observer {
 public:
  // A dump is in the order of time, but starts are told at commits: what changes is kept (12 bytes
  // a change) and written by finish(). `most`: changes that may be kept.
  VcdWriter(const Net& net, const ParamValues& params, const Marking& marking, Window window = {},
            std::size_t most = std::size_t{1} << 26);

  // Throws Error "E-export-size" when more than `most` values change inside the window.
  void on_commit(const Commit& commit) override;

  // Writes the dump, up to the window's end or `end`, the time up to which the run is known. A
  // firing that has not committed by then is no part of the run and of what is in flight. Nothing
  // may follow.
  void finish(Time end, const Sink& write);

 private:
  struct Change {
    std::uint32_t signal;
    std::array<std::uint32_t, 2> value;  // low half first; two halves, as 12 bytes are to be enough
  };
  struct Instant {
    Time time;
    std::size_t end;  // of its changes
  };
  struct Start {
    Time time;
    std::uint32_t transition;
  };

  void change(std::uint32_t signal, std::uint64_t value);
  void arrive(Time until);
  void close_instant();
  void keep_base();

  const Net& net_;
  Window window_;
  std::size_t most_;
  Arrivals arrivals_;
  // By signal: the places, then `commits` of the transitions; `in_flight` comes out of the starts.
  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> base_;       // values_ at the window's begin, once it is passed
  std::vector<std::uint64_t> in_flight_;  // at the window's begin
  std::vector<std::uint8_t> touched_;     // by signal: in touched_list_
  std::vector<std::uint32_t> touched_list_;
  std::vector<Change> changes_;
  std::vector<Instant> instants_;
  std::vector<Start> starts_;
  Time time_ = 0;
  bool inside_ = false;  // a commit after the window's begin was seen: base_ is kept
};

}  // namespace lpn::viz

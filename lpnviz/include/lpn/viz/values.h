// The values of the tokens of a run, for whoever points at a place or a firing of its page: what
// each place was given, row by row, and who took how many of it, in order. A place is a FIFO, so
// the page finds from this which tokens are there at an instant. lpnviz/README.md ("The values of
// tokens") has the format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lpn/net/net.h"
#include "lpn/run/interp.h"
#include "lpn/run/run.h"

namespace lpn::viz {

class TokenValues {
 public:
  // Numbers that are kept of a run; values of later tokens are not.
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 20;

  explicit TokenValues(const Net& net, std::uint64_t most = kMost);

  // The tokens that are there, before the run begins.
  void begin(const Interp& interp);
  void on_start(const Started& firing);
  void on_commit(const Started& firing);
  void on_arrival(Time time, PlaceId place, std::span<const std::int64_t> values);

  // Of a run that has ended at `end`; "" where no place has tokens with properties.
  std::string data(Time end) const;

 private:
  struct Take {
    Time time = 0;
    std::uint32_t transition = 0;
    std::uint64_t tokens = 0;
  };
  struct OfPlace {
    std::size_t width = 0;
    std::uint64_t initial = 0;
    std::vector<Time> times;           // of the tokens behind the initial ones
    std::vector<std::int64_t> values;  // row-major, the initial ones first
    std::vector<Take> takes;           // a start each of whoever takes from it, 0 tokens too
  };
  bool keep(Time time, std::uint64_t numbers);

  const Net& net_;
  std::uint64_t most_, kept_ = 0;
  Time until_ = kForever;  // before this instant all is kept
  std::vector<OfPlace> places_;
};

}  // namespace lpn::viz

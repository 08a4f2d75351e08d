// A static part for vectors of 32-bit numbers, an input per element: a kernel, and what moves runs
// into it and out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/schedule.h"
#include "write/iteration.h"
#include "write/writer.h"

namespace lpn::sim {

// `kLanePart<index>`, `load_lanes_<index>` and `store_lane_<index>`.
class Lanes : private Writer {
 public:
  Lanes(const Net& net, const StaticPart& part, const StaticOptions& options, std::size_t index);
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // Throws NoLanes.
  std::string text();

 private:
  struct Assumed {
    Range range;
    bool checked = false;
  };
  static Assumed assume(Range declared, Range assumed);
  const Assumed& assumed(std::uint32_t p, std::uint32_t f) const;
  // What the kernel keeps between calls, instants first.
  void slots();
  void slot(const std::string& name);
  void kernel(int lanes, const char* target);
  void produced(std::uint32_t p, std::uint32_t k, std::int64_t count);
  std::int64_t rate(const StaticEnd& s) const;
  void load();
  void load_conditions();
  void load_lengths();
  void load_queues();
  void load_columns();
  void store();
  void store_queues();
  std::string instant(const std::string& name) const;

  Net net_;  // with the ranges that are assumed
  const StaticPart& part_;
  const StaticOptions& options_;
  std::size_t index_;
  std::map<const Field*, Assumed> assumed_;
  std::set<std::uint32_t> checked_params_;
  std::optional<Iteration> iteration_;  // over net_, once it is complete
  std::string body_;
  std::vector<std::string> slots_;
  std::map<std::string, std::size_t> slot_of_;
  std::size_t instants_ = 0, variable_ = 0;
};

}  // namespace lpn::sim

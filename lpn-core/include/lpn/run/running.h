// One run of an engine at a time.
#pragma once

#include <fmt/format.h>

#include <atomic>

#include "lpn/base/error.h"
#include "lpn/net/net.h"

namespace lpn {

inline Error run_under_way(const Net& net) {
  return Error("E-call",
               fmt::format("a run of net '{}' is under way; nobody, its observer neither, "
                           "may change it or begin another one before it has ended",
                           net.name));
}

// Marks a run as under way as long as it lives. Throws run_under_way() where one is already: its
// observer, or another thread, begins a second one.
class Running {
 public:
  Running(std::atomic<bool>& flag, const Net& net) : flag_(flag) {
    if (flag_.exchange(true)) throw run_under_way(net);
  }
  ~Running() { flag_ = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace lpn

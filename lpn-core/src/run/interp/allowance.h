// What a run may use, and whether to go on.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <utility>

#include "lpn/run/run.h"

namespace lpn::interp {

// Thrown where a run is stopped.
struct Stopped {
  Stop why;
};

class Allowance {
 public:
  Allowance(const Budget& budget, Poll p) : poll(std::move(p)), budget_(budget) {}

  Poll poll;
  Stop stopped = Stop::kNone;  // why it was: for ever

  // Whether `work` came to its end; its time counts.
  template <typename Work>
  bool within(const Work& work) {
    entered_ = Clock::now();
    try {
      work();
    } catch (const Stopped& s) {
      stopped = s.why;
    } catch (const std::bad_alloc&) {
      stopped = Stop::kMemory;
    } catch (const std::length_error&) {
      stopped = Stop::kMemory;
    }
    spent_ += seconds_here();
    return stopped == Stop::kNone;
  }

  // After a step of which an instant may have any number. Throws Stopped.
  void step(Time now, std::uint64_t commits) {
    if (--fuel_ == 0) rest(now, commits);
  }
  void rest(Time now, std::uint64_t commits) {
    fuel_ = kSteps;
    if (poll && poll(now, commits)) throw Stopped{Stop::kAsked};
    if (budget_.seconds > 0 && spent_ + seconds_here() > budget_.seconds) {
      throw Stopped{Stop::kSeconds};
    }
  }

  // Bytes. Throws Stopped.
  void charge(std::uint64_t bytes) {
    used_ += bytes;
    if (budget_.memory != 0 && used_ > budget_.memory) throw Stopped{Stop::kMemory};
  }
  void refund(std::uint64_t bytes) { used_ -= std::min(used_, bytes); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint32_t kSteps = 4096;  // from look to look
  double seconds_here() const {
    return std::chrono::duration<double>(Clock::now() - entered_).count();
  }

  Budget budget_;
  std::uint32_t fuel_ = kSteps;
  std::uint64_t used_ = 0;
  double spent_ = 0;           // seconds of former calls
  Clock::time_point entered_;  // of this one
};

}  // namespace lpn::interp

// The critical path of an interpreted run, by the rules of compiled ones: for nets that nobody
// wants to wait for a compiler for.
#pragma once

#include <cstdint>
#include <memory>

#include "lpn/run/interp.h"
#include "lpn/sim/simulator.h"

namespace lpn::sim {

class InterpretedPath : public Watcher {
 public:
  // Of a run that has not begun; `run` is watched by this from now on. `bytes`: what the path may
  // use. REQUIRES run to be of `net` (as declared).
  InterpretedPath(const Net& net, Interp& run, std::uint64_t bytes = std::uint64_t{256} << 20);
  ~InterpretedPath() override;

  // After the run: the chain of firings that decided the latency. Throws Error "E-path-memory".
  CriticalPath path() const;

  void on_start(const Started& firing) override;
  void on_commit(const Started& firing) override;
  void on_arrival(Time time, PlaceId place, std::span<const std::int64_t> values) override;
  void on_wait(Time, const Blocked&) override {}

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lpn::sim

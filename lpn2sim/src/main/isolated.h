// Work in a child process, so that nothing it does ends this one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace lpn::sim {

struct IsolationLimits {
  std::optional<std::uint64_t> bytes;  // of memory, for the child and for each compiler it starts
  std::optional<double> seconds;       // of wall time, compiling included
};

// What work() returns, called in a child: its exit status. Throws Error "E-killed" when the child
// was killed or took too long, "E-interrupted" on Ctrl-C. REQUIRES a process of one thread.
int isolated(const IsolationLimits& limits, const std::function<int()>& work);

}  // namespace lpn::sim

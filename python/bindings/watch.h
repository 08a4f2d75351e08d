// Long work without the GIL: asks Python now and then whether to go on.
#pragma once

#include <chrono>
#include <exception>
#include <utility>

#include "bind.h"

namespace lpn::python {

// True when Ctrl-C was pressed; any other exception of a signal handler goes on.
inline bool interrupted() {
  if (PyErr_CheckSignals() == 0) return false;
  if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) throw py::error_already_set();
  PyErr_Clear();
  return true;
}

// Calls a Python function (or None) a few times per second, from the one thread that works; what it
// raises ends the work and is raised afterwards. Made and asked for its results with the GIL held.
class Watch {
 public:
  explicit Watch(py::object callback) : callback_(std::move(callback)) {}

  // Without the GIL. False: stop.
  template <typename... Args>
  bool go_on(const Args&... args) {
    if (stop_) return false;
    const auto now = Clock::now();
    if (now - asked_ < std::chrono::milliseconds(50)) return true;
    asked_ = now;
    const py::gil_scoped_acquire gil;
    try {
      interrupted_ = python::interrupted();
      stop_ = interrupted_ || (!callback_.is_none() && py::bool_(callback_(args...)));
    } catch (const py::error_already_set& error) {
      // Ctrl-C may as well meet the callback.
      interrupted_ = error.matches(PyExc_KeyboardInterrupt);
      if (!interrupted_) failure_ = std::current_exception();
      stop_ = true;
    } catch (...) {
      failure_ = std::current_exception();
      stop_ = true;
    }
    return !stop_;
  }

  bool interrupted() const { return interrupted_; }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  py::object callback_;
  Clock::time_point asked_ = Clock::now();
  bool stop_ = false;
  bool interrupted_ = false;
  std::exception_ptr failure_;
};

}  // namespace lpn::python

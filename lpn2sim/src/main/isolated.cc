#include "main/isolated.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "lpn/base/error.h"

namespace lpn::sim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(2);  // after Ctrl-C

[[noreturn]] void be_the_child(pid_t parent, const sigset_t& before, const IsolationLimits& limits,
                               const std::function<int()>& work) {
  ::setpgid(0, 0);  // Ctrl-C is the parent's business, which tells its child
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(2);
  if (limits.bytes) {
    const rlimit most{*limits.bytes, *limits.bytes};
    ::setrlimit(RLIMIT_AS, &most);
  }
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  const int status = work();
  std::fflush(nullptr);
  ::_exit(status);
}

timespec until(Clock::time_point end) {
  const auto left =
      std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(end - Clock::now()));
  timespec time{};
  time.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
  time.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
  return time;
}

struct Ended {
  int status = 0;
  bool late = false;  // killed because it took too long
  int told = 0;       // the signal that was handed on to it
};

// Waits for the child; SIGINT and the like of this process are handed on to it.
Ended wait_for(pid_t child, const sigset_t& awaited, const IsolationLimits& limits) {
  Ended ended;
  const auto begin = Clock::now();
  auto end = begin + std::chrono::hours(24 * 365);
  if (limits.seconds && *limits.seconds < 1e9) {
    end = begin + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(*limits.seconds));
  }
  for (;;) {
    const pid_t found = ::waitpid(child, &ended.status, WNOHANG);
    if (found == child || (found < 0 && errno != EINTR)) return ended;
    const timespec time = until(end);
    const int signal = ::sigtimedwait(&awaited, nullptr, &time);
    if (signal < 0 && errno == EAGAIN) {
      ended.late = ended.told == 0;
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);  // it may not have made its group yet
      while (::waitpid(child, &ended.status, 0) < 0 && errno == EINTR) {
      }
      return ended;
    }
    if (signal > 0 && signal != SIGCHLD) {
      ended.told = signal;
      ::kill(child, signal);
      end = std::min(end, Clock::now() + kPatience);
    }
  }
}

}  // namespace

int isolated(const IsolationLimits& limits, const std::function<int()>& work) {
  sigset_t awaited, before;
  sigemptyset(&awaited);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&awaited, signal);
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  std::signal(SIGCHLD, SIG_DFL);  // one that is ignored says nothing
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    const std::string why = std::strerror(errno);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    throw Error("E-killed", "the simulator cannot be started: " + why);
  }
  if (child == 0) be_the_child(parent, before, limits, work);
  const Ended ended = wait_for(child, awaited, limits);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (ended.told == SIGTERM || ended.told == SIGHUP) ::raise(ended.told);
  if (ended.late) {
    throw Error("E-killed",
                fmt::format("stopped: the simulator ran longer than {} s", *limits.seconds));
  }
  if (WIFEXITED(ended.status)) return WEXITSTATUS(ended.status);
  if (ended.told != 0) throw Error("E-interrupted", "stopped by Ctrl-C before there was a result");
  const int signal = WTERMSIG(ended.status);
  throw Error("E-killed", fmt::format("stopped: the simulator was killed by signal {} ({})", signal,
                                      ::strsignal(signal)));
}

}  // namespace lpn::sim

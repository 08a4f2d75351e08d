// A turn is the lock on KEY.turn, which the kernel drops with the process. Its holder removes the
// file; whoever waited for that file then has a lock that nobody else sees, and looks the key up.

#include "library/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "lpn/base/error.h"

namespace lpn::sim {

namespace {

constexpr const char* kSuffix = ".turn";
constexpr auto kPause = std::chrono::milliseconds(50);

}  // namespace

Turn::Turn(const CacheFolder& cache, const std::string& key, const std::function<bool()>& keep_on)
    : cache_(cache.descriptor.get()),
      name_(key + kSuffix),
      lock_(::openat(cache_, name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
  if (!lock_) return;  // whoever compiles says what is wrong with the folder
  while (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    if (keep_on && !keep_on()) {
      throw Error("E-interrupted", "waiting for a compilation was interrupted");
    }
    std::this_thread::sleep_for(kPause);
  }
}

Turn::~Turn() {
  if (!lock_) return;
  ::unlinkat(cache_, name_.c_str(), 0);
  ::flock(lock_.get(), LOCK_UN);  // a process forked meanwhile has the open file, too
}

bool clean_turn(int cache, const std::string& name) {
  if (!name.ends_with(kSuffix)) return false;
  const Descriptor lock(::openat(cache, name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(cache, name.c_str(), 0);
  return true;
}

}  // namespace lpn::sim

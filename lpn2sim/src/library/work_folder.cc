// Who works holds a lock on the file `lock` in its folder, which the kernel drops with the process,
// whatever ends it. Folders are made and cleaned away under the lock `.lock` of the cache, so that
// none is seen between its creation and its lock.

#include "library/work_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <system_error>
#include <vector>

#include "library/turn.h"
#include "lpn/base/error.h"

namespace lpn::sim {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrefix = "work-";
constexpr std::time_t kStale = 3600;  // seconds after which no compilation of old still runs

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Descriptor open_folder(int parent, const std::string& name) {
  return Descriptor(
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  // A stream of its own, since reading moves the position and closing closes.
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), ::closedir);
  if (!stream) {
    ::close(copy);
    return names;
  }
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

// Compilers put no folders there.
void remove_folder(int parent, const std::string& name) {
  {
    const Descriptor folder = open_folder(parent, name);
    if (folder) {
      for (const std::string& file : names_in(folder.get())) {
        ::unlinkat(folder.get(), file.c_str(), 0);
      }
    }
  }
  ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
}

bool is_alive(int parent, const std::string& name) {
  const Descriptor folder = open_folder(parent, name);
  if (!folder) return true;  // not ours to judge
  const Descriptor lock(::openat(folder.get(), "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!lock) return errno != ENOENT;
  return ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
}

// KEY.PID.TIME.cc and the like were left by versions without work folders.
bool is_old_litter(int parent, const std::string& name) {
  if (name.find_first_not_of("0123456789abcdef") != 32 || name[32] != '.') return false;
  const std::size_t end = name.find_first_not_of("0123456789.", 32);
  if (end == std::string::npos || name[end - 1] != '.' || end == 33) return false;
  struct stat info {};
  return ::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(info.st_mode) && ::time(nullptr) - info.st_mtime > kStale;
}

void clean(int cache) {
  for (const std::string& name : names_in(cache)) {
    if (name.starts_with(kPrefix)) {
      if (!is_alive(cache, name)) remove_folder(cache, name);
    } else if (clean_turn(cache, name)) {
      continue;
    } else if (is_old_litter(cache, name)) {
      ::unlinkat(cache, name.c_str(), 0);
    }
  }
}

std::string make_unique(int parent) {
  std::random_device random;
  for (;;) {
    const std::string name = fmt::format("{}{}-{:08x}", kPrefix, ::getpid(), random());
    if (::mkdirat(parent, name.c_str(), 0700) == 0) return name;
    if (errno != EEXIST) return "";
  }
}

}  // namespace

WorkFolder::WorkFolder(const CacheFolder& cache)
    : parent_(::fcntl(cache.descriptor.get(), F_DUPFD_CLOEXEC, 0)) {
  const auto refuse = [&] [[noreturn]] {
    const int why = errno;
    if (!name_.empty()) remove_folder(parent_.get(), name_);
    throw cannot_write(cache.path, std::strerror(why));
  };
  if (!parent_) refuse();
  const Descriptor all(
      ::openat(parent_.get(), ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!all) refuse();
  int locked = 0;
  do locked = ::flock(all.get(), LOCK_EX);
  while (locked != 0 && errno == EINTR);
  if (locked == 0) clean(parent_.get());  // else this file system has no locks, and keeps litter
  name_ = make_unique(parent_.get());
  if (name_.empty()) refuse();
  folder_ = open_folder(parent_.get(), name_);
  if (!folder_) refuse();
  lock_ = Descriptor(::openat(folder_.get(), "lock", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!lock_) refuse();
  ::flock(lock_.get(), LOCK_EX | LOCK_NB);
}

WorkFolder::WorkFolder() {
  const fs::path temporary = fs::temp_directory_path();
  const auto refuse = [&] [[noreturn]] {
    throw fs::filesystem_error("cannot write", temporary,
                               std::error_code(errno, std::generic_category()));
  };
  parent_ = Descriptor(::open(temporary.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent_) refuse();
  std::string path = (temporary / "lpn-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) refuse();
  name_ = fs::path(path).filename().string();
  folder_ = open_folder(parent_.get(), name_);
  if (!folder_) refuse();
}

WorkFolder::~WorkFolder() {
  if (!name_.empty()) remove_folder(parent_.get(), name_);
}

void WorkFolder::write(const char* name, const std::string& text) const {
  const Descriptor file(
      ::openat(folder_.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) fail(name);
  write_all(file.get(), text);
  if (::fsync(file.get()) != 0) fail(name);
}

std::string WorkFolder::read(const char* name, std::size_t most) const {
  const Descriptor file(::openat(folder_.get(), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return "";
  std::string text(most, '\0');
  const ssize_t count = ::read(file.get(), text.data(), most);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

bool WorkFolder::is_full() const {
  struct statvfs info {};
  return ::fstatvfs(folder_.get(), &info) == 0 && info.f_bavail * info.f_frsize < (1U << 20U);
}

std::string read_all(int file) {
  struct stat info {};
  if (::fstat(file, &info) != 0 || info.st_size < 0) return "";
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

void write_all(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("write");
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace lpn::sim

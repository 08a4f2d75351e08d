#include "library/cache_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "library/environment.h"
#include "lpn/base/error.h"

namespace lpn::sim {

namespace fs = std::filesystem;

namespace {

constexpr const char* kInstead = "; set LPN_CACHE to a folder of your own, or use --engine interp";

// Where this user's compiled simulators are, and whether someone said so.
struct Place {
  fs::path path;
  bool asked = true;
};

Place place_of(const CompileOptions& options) {
  if (!options.cache.empty()) return {options.cache};
  if (const std::string given = from_environment("LPN_CACHE"); !given.empty()) return {given};
  if (const std::string xdg = from_environment("XDG_CACHE_HOME"); !xdg.empty()) {
    return {fs::path(xdg) / "lpn"};
  }
  if (const std::string home = from_environment("HOME"); !home.empty()) {
    return {fs::path(home) / ".cache/lpn"};
  }
  return {fs::temp_directory_path() / fmt::format("lpn-{}", ::geteuid()), false};
}

// Why others may have put files into the open folder; "" when they cannot.
std::string why_foreign(const fs::path& path, int folder) {
  struct stat info {};
  if (::fstat(folder, &info) != 0) {
    return fmt::format("cannot look at the cache folder '{}': {}", path.string(),
                       std::strerror(errno));
  }
  if (info.st_uid != ::geteuid()) {
    return fmt::format(
        "the cache folder '{}' belongs to another user ({}), whose code would be run",
        path.string(), info.st_uid);
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fmt::format(
        "others may write to the cache folder '{}' (mode {:04o}), and their code would be run; "
        "remove it, it is made anew",
        path.string(), info.st_mode & 07777);
  }
  std::error_code none;
  fs::path parent = fs::canonical(path, none).parent_path();
  for (; !none && !parent.empty(); parent = parent.parent_path()) {
    struct stat above {};
    if (::stat(parent.c_str(), &above) == 0 && (above.st_mode & S_IWOTH) != 0 &&
        (above.st_mode & S_ISVTX) == 0) {
      return fmt::format(
          "others may replace the cache folder '{}': '{}' above it can be written by all (mode "
          "{:04o}) and has no sticky bit",
          path.string(), parent.string(), above.st_mode & 07777);
    }
    if (parent == parent.root_path()) break;
  }
  return "";
}

// The folder and those above it that are missing, for this user alone.
void make_folders(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored)) return;
  if (folder.has_parent_path() && folder.parent_path() != folder)
    make_folders(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw cannot_write(folder, std::strerror(errno));
  }
}

// A folder for this process, gone at its end.
class Private {
 public:
  const fs::path& path() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (path_.empty()) {
      std::string name = (fs::temp_directory_path() / "lpn-XXXXXX").string();
      if (::mkdtemp(name.data()) == nullptr) throw cannot_write(name, std::strerror(errno));
      path_ = name;
      owner_ = ::getpid();
    }
    return path_;
  }
  ~Private() {
    std::error_code ignored;
    if (!path_.empty() && owner_ == ::getpid()) fs::remove_all(path_, ignored);
  }

 private:
  std::mutex mutex_;
  fs::path path_;
  pid_t owner_ = 0;  // a forked child ends earlier than what it shares
};

// The open folder, or none when it does not exist; `why` says what is wrong with it, else "".
Descriptor open_checked(const fs::path& path, std::string& why) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder) {
    why = why_foreign(path, folder.get());
    return folder;
  }
  const int failed = errno;
  std::error_code ignored;
  if (fs::is_symlink(path, ignored)) {
    why = fmt::format("the cache folder '{}' is a symbolic link; name the folder it leads to",
                      path.string());
  } else if (failed == ENOTDIR && fs::exists(path, ignored)) {
    why = fmt::format("the cache folder '{}' is no folder", path.string());
  } else if (failed != ENOENT && failed != ENOTDIR) {
    why =
        fmt::format("cannot open the cache folder '{}': {}", path.string(), std::strerror(failed));
  }
  return folder;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Error cannot_write(const fs::path& folder, const std::string& why, const std::string& what) {
  return {"E-cache",
          fmt::format("cannot write {}to the cache folder '{}': {}; set LPN_CACHE to a folder that "
                      "can be written, or use --engine interp",
                      what.empty() ? what : what + " ", folder.string(), why)};
}

fs::path cache_folder(const CompileOptions& options) { return place_of(options).path; }

std::optional<CacheFolder> open_cache_folder(const CompileOptions& options, bool make) {
  const Place place = place_of(options);
  // A trailing slash would follow a link.
  fs::path path = fs::absolute(place.path).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::string why;
  Descriptor folder = open_checked(path, why);
  if (!folder && why.empty()) {
    if (!make) return std::nullopt;
    make_folders(path);
    folder = open_checked(path, why);
    if (!folder && why.empty()) throw cannot_write(path, "it vanished");
  }
  if (why.empty()) return CacheFolder{path, std::move(folder), ""};
  if (place.asked) throw Error("E-cache", why + kInstead);
  static Private own;
  const fs::path instead = own.path();
  std::string wrong;
  folder = open_checked(instead, wrong);
  if (!wrong.empty() || !folder) throw Error("E-cache", why + kInstead);
  return CacheFolder{instead, std::move(folder),
                     why +
                         "; what is compiled now is kept only until this process ends: set "
                         "LPN_CACHE to a folder of your own"};
}

}  // namespace lpn::sim

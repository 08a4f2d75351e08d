// The folder of compiled simulators, open, once it is known that nobody else can have put files
// into it. All work in it goes through its descriptor: what becomes of its name does not matter.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "lpn/base/error.h"
#include "lpn/sim/compile.h"

namespace lpn::sim {

// An open file or folder; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct CacheFolder {
  std::filesystem::path path;
  Descriptor descriptor;
  std::string notice;  // why it is not the usual one; "" when it is
};

// The folder in force; nothing when it does not exist and `make` is false. What is made has mode
// 0700. Throws Error "E-cache" where it cannot be made, and where it belongs to another user, may
// be written by others, or is a symbolic link. A folder that nobody asked for, under the temporary
// directory, is in this case replaced by one that goes with this process, and `notice` says so.
std::optional<CacheFolder> open_cache_folder(const CompileOptions& options, bool make);

// Error "E-cache": `what` cannot be written there.
Error cannot_write(const std::filesystem::path& folder, const std::string& why,
                   const std::string& what = "");

}  // namespace lpn::sim

#include "library/artefact.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "library/environment.h"
#include "library/work_folder.h"
#include "lpn/base/error.h"

namespace lpn::sim {

namespace fs = std::filesystem;

namespace {

// A loader reads what an ELF file's headers name, and nothing behind it.
std::string seal_of(const char* bytes, std::size_t size, const std::string& source) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  LPN_ASSERT(state != nullptr);
  XXH3_128bits_reset(state.get());
  XXH3_128bits_update(state.get(), source.data(), source.size());
  XXH3_128bits_update(state.get(), bytes, size);
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("\nlpn seal {:016x}{:016x}\n", hash.high64, hash.low64);
}

// A loader takes a name that it has seen for the library that it has seen, and numbers of files are
// used again; so each load spells the path in another way.
std::string name_of(int file) {
  static std::atomic<std::uint32_t> loads{0};
  std::string path = "/proc/self/fd/";
  for (std::uint32_t k = ++loads; k != 0; k >>= 1U) path += (k & 1U) != 0 ? "./" : "/";
  return path + fmt::to_string(file);
}

}  // namespace

void seal(int file, const std::string& source) {
  const auto fail = [] [[noreturn]] {
    throw std::system_error(errno, std::generic_category(), "seal");
  };
  const std::string bytes = read_all(file);
  if (::lseek(file, 0, SEEK_END) < 0) fail();
  write_all(file, seal_of(bytes.data(), bytes.size(), source));
  if (::fchmod(file, 0600) != 0 || ::fsync(file) != 0) fail();
}

bool is_sealed(int file, const std::string& source) {
  struct stat info {};
  if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid() ||
      (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return false;
  }
  const std::string bytes = read_all(file);
  const std::size_t length = seal_of("", 0, "").size();
  if (bytes.size() <= length || bytes.size() != static_cast<std::size_t>(info.st_size))
    return false;
  const std::size_t size = bytes.size() - length;
  return bytes.compare(size, length, seal_of(bytes.data(), size, source)) == 0;
}

std::shared_ptr<void> load(int file, const fs::path& path) {
  void* handle = nullptr;
  struct stat opened {
  }, named{};
  const std::string name = name_of(file);
  if (::fstat(file, &opened) == 0 && ::stat(name.c_str(), &named) == 0 &&
      opened.st_ino == named.st_ino && opened.st_dev == named.st_dev) {
    handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  } else {
    handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    throw Error("E-load", fmt::format("cannot load the compiled simulator '{}': {}; set LPN_CACHE "
                                      "to a folder from which code may be run, or use --engine "
                                      "interp",
                                      path.string(), why != nullptr ? why : "no reason given"));
  }
  return {handle, ::dlclose};
}

void check_may_compile(const std::string& what, const std::string& instead) {
  const std::string never = from_environment("LPN_NO_COMPILE");
  if (never.empty() || never == "0") return;
  throw Error("E-never-compile",
              fmt::format("{} is not compiled: LPN_NO_COMPILE (or --never-compile) forbids it; {}",
                          what, instead));
}

}  // namespace lpn::sim

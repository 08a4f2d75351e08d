// An artefact is <key>.so beside its source <key>.cc, and is sealed: its last bytes are a hash of
// the source and of all before them. Only what has the right seal is loaded, so that neither a
// clash of keys loads another net nor a damaged file ends the process. Writers compile in a folder
// of their own and rename what is on the disk; they take turns at a key (turn.h).

#include "lpn/sim/compile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <system_error>
#include <vector>

#include "library/artefact.h"
#include "library/cache_folder.h"
#include "library/compiler.h"
#include "library/environment.h"
#include "library/turn.h"
#include "library/work_folder.h"
#include "lpn/base/error.h"

namespace lpn::sim {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

// Files of a work folder.
constexpr const char* kSource = "net.cc";
constexpr const char* kLibrary = "net.so";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string flags_of(Variant variant, const CompileOptions& options) {
  return fmt::format("{} -shared -fPIC -fvisibility=hidden -DLPNRT_TRACE={} -DLPNRT_STATS={}{}",
                     common_flags(options), variant.trace ? 1 : 0, variant.stats ? 1 : 0,
                     variant.path ? " -DLPNRT_PATH=1" : "");
}

// All headers that generated source may include, by name.
std::string headers_of(const fs::path& runtime) {
  std::error_code none;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(runtime / "lpnrt", none)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string all;
  for (const fs::path& file : files) all += file.filename().string() + "\n" + read_file(file);
  return all;
}

// Names what would be compiled, by everything that it depends on.
std::string content_key(const std::string& source, const std::string& compiler,
                        const std::string& flags, const fs::path& runtime) {
  // A compiler is known by its file: asking it for its version would cost a process per run.
  struct stat info {};
  std::string about = compiler;
  if (::stat(compiler.c_str(), &info) == 0) {
    about += fmt::format(" {} {}", static_cast<long long>(info.st_size),
                         static_cast<long long>(info.st_mtim.tv_sec));
  }
  const std::string all = source + "\n" + about + "\n" + flags + "\n" + headers_of(runtime);
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// What the cache has, checked; nothing when it has none or a damaged one.
Descriptor look_up(const CacheFolder& cache, const std::string& key, const std::string& source) {
  Descriptor file(::openat(cache.descriptor.get(), (key + ".so").c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file && !is_sealed(file.get(), source)) return Descriptor();
  return file;
}

// The compiler's library, open, when it wrote one.
Descriptor open_library(const WorkFolder& work) {
  Descriptor file(::openat(work.descriptor(), kLibrary, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  char magic[4] = {};
  if (file && (::pread(file.get(), magic, 4, 0) != 4 || std::memcmp(magic, "\177ELF", 4) != 0)) {
    return Descriptor();
  }
  return file;
}

// Moves source and library from the work folder into the cache, after all of it is on the disk.
void publish(const WorkFolder& work, const CacheFolder& cache, const std::string& key) {
  const int to = cache.descriptor.get();
  if (::renameat(work.descriptor(), kSource, to, (key + ".cc").c_str()) != 0 ||
      ::renameat(work.descriptor(), kLibrary, to, (key + ".so").c_str()) != 0) {
    throw std::system_error(errno, std::generic_category(), "rename");
  }
  ::fsync(to);
}

// Compiles into the cache; the open artefact.
Descriptor make(const CacheFolder& cache, const std::string& key, const std::string& source,
                const std::string& what, const std::string& compiler, const std::string& flags,
                const CompileOptions& options) {
  const WorkFolder work(cache);
  try {
    work.write(kSource, source);
    const Compiled compiled = run_compiler(compiler, flags, work, kSource, kLibrary, options);
    if (!compiled.ok && work.is_full())
      throw cannot_write(cache.path, "No space left on device", what);
    if (!compiled.ok) {
      throw Error("E-compile", fmt::format("'{}' failed on {} ({}); --engine interp still "
                                           "answers\n{}",
                                           compiler, what, compiled.how, compiled.output));
    }
    Descriptor library = open_library(work);
    if (!library) {
      throw Error("E-compile",
                  fmt::format("'{}' said that all went well on {}, but wrote no library; is it a "
                              "C++ compiler? Set LPN_CXX to one, or use --engine interp",
                              compiler, what));
    }
    seal(library.get(), source);
    publish(work, cache, key);
    return library;
  } catch (const std::system_error& error) {
    throw cannot_write(cache.path, error.code().message(), what);
  }
}

}  // namespace

Artefact obtain(const std::string& source, const std::string& what, Variant variant,
                const CompileOptions& options, bool anew) {
  const auto begin = Clock::now();
  check_may_compile(what, "use --engine interp");
  const std::string compiler = find_compiler(options);
  const std::string flags = flags_of(variant, options);
  const std::string key = content_key(source, compiler, flags, runtime_folder(options));
  std::optional<CacheFolder> cache = open_cache_folder(options, false);
  const auto found = [&]() -> std::optional<Artefact> {
    Descriptor file = look_up(*cache, key, source);
    if (!file) return std::nullopt;
    return Artefact{{cache->path / (key + ".so"), true, seconds_since(begin), cache->notice},
                    std::move(file)};
  };
  if (cache && !anew) {
    if (std::optional<Artefact> there = found()) return *std::move(there);
  }
  if (compiler.empty()) {
    throw Error("E-no-compiler",
                fmt::format("no C++ compiler '{}' found, so {} cannot be compiled; install g++ "
                            "(apt-get install g++), set LPN_CXX, or use --engine interp",
                            wanted_compiler(options), what));
  }
  if (!cache) cache = open_cache_folder(options, true);
  const Turn turn(*cache, key, options.keep_on);
  if (!anew) {
    if (std::optional<Artefact> there = found()) return *std::move(there);
  }
  Descriptor file = make(*cache, key, source, what, compiler, flags, options);
  return {{cache->path / (key + ".so"), false, seconds_since(begin), cache->notice},
          std::move(file)};
}

Provenance compile(const std::string& source, const std::string& what, Variant variant,
                   const CompileOptions& options) {
  return obtain(source, what, variant, options).provenance;
}

CompileOptions with_compiled_headers(Variant variant, CompileOptions options) {
  check_may_compile("the runtime's header", "use --engine interp");
  const std::string compiler = find_compiler(options);
  const std::string flags = flags_of(variant, options);
  const std::string source = "#include \"lpnrt/static.h\"\n";
  const std::string name =
      "headers-" + content_key(source, compiler, flags, runtime_folder(options));
  // Nowhere to put them, or no compiler: compile() says so. Flags are words.
  if (compiler.empty()) return options;
  const CacheFolder cache = *open_cache_folder(options, true);
  if (cache.path.native().find(' ') != std::string::npos) return options;
  const bool clang = fs::path(compiler).filename().native().find("clang") != std::string::npos;
  const fs::path header = cache.path / name / "all.h";
  const std::string made = clang ? "all.h.pch" : "all.h.gch";
  const int to = cache.descriptor.get();
  if (::faccessat(to, (name + "/" + made).c_str(), R_OK, 0) != 0) {
    const WorkFolder work(cache);
    const auto check = [&](bool ok) {
      if (!ok && errno != EEXIST) throw cannot_write(cache.path, std::strerror(errno));
    };
    work.write("all.h", source);
    check(::mkdirat(to, name.c_str(), 0700) == 0);
    // The header is never written twice: a compiled one is trusted by the time of its source.
    check(::linkat(work.descriptor(), "all.h", to, (name + "/all.h").c_str(), 0) == 0);
    const Compiled compiled = run_compiler(
        compiler, flags + (clang ? " -fpch-instantiate-templates" : "") + " -x c++-header", work,
        header.string(), made, options);
    if (!compiled.ok) {
      throw Error("E-compile",
                  fmt::format("'{}' failed on the headers in '{}' ({})\n{}", compiler,
                              runtime_folder(options).string(), compiled.how, compiled.output));
    }
    check(::renameat(work.descriptor(), made.c_str(), to, (name + "/" + made).c_str()) == 0);
  }
  options.flags += " -include " + header.string();
  return options;
}

// Beside this library's own file when installed or in a build tree.
fs::path runtime_folder(const CompileOptions& options) {
  if (!options.runtime.empty()) return options.runtime;
  if (const std::string given = from_environment("LPN_RUNTIME"); !given.empty()) return given;
  return LPN_SIM_RUNTIME;
}

}  // namespace lpn::sim

// An artefact is <key>.so beside its source <key>.cc; the source is compared in full before the
// artefact is trusted, so that a clash of keys cannot load another net. Writers compile to a
// private name and rename, so concurrent processes at worst compile twice.

#include "lpn/sim/compile.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <vector>

#include "library/compiler.h"
#include "lpn/base/error.h"

namespace lpn::sim {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

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

// Creates the cache's folder and writes the source into it.
void write_source(const fs::path& file, const std::string& source) {
  const fs::path folder = file.parent_path();
  std::error_code failed;
  if (!fs::exists(folder)) {
    fs::create_directories(folder, failed);
    if (!failed) fs::permissions(folder, fs::perms::owner_all, failed);
  }
  std::ofstream out(file, std::ios::binary);
  out << source;
  if (!out.flush()) {
    throw Error("E-cache", fmt::format("cannot write to the cache folder '{}'; set LPN_CACHE to a "
                                       "folder that can be written",
                                       folder.string()));
  }
}

}  // namespace

Provenance compile(const std::string& source, const std::string& what, Variant variant,
                   const CompileOptions& options) {
  const auto begin = Clock::now();
  const std::string compiler = find_compiler(options);
  const fs::path runtime = runtime_folder(options);
  const std::string flags = flags_of(variant, options);
  const fs::path folder = cache_folder(options);
  const std::string key = content_key(source, compiler, flags, runtime);
  const fs::path artefact = folder / (key + ".so"), kept_source = folder / (key + ".cc");
  if (fs::exists(artefact) && read_file(kept_source) == source) {
    return {artefact, true, seconds_since(begin)};
  }
  if (compiler.empty()) {
    throw Error("E-no-compiler",
                fmt::format("no C++ compiler '{}' found, so {} cannot be compiled; install g++ "
                            "(apt-get install g++), set LPN_CXX, or use --engine interp",
                            wanted_compiler(options), what));
  }
  const std::string unique =
      fmt::format("{}.{}.{}", key, ::getpid(), Clock::now().time_since_epoch().count());
  const fs::path new_source = folder / (unique + ".cc"), new_artefact = folder / (unique + ".so");
  write_source(new_source, source);
  const Compiled compiled =
      run_compiler(compiler, flags, new_source, new_artefact, runtime, folder / (unique + ".log"));
  if (compiled.status != 0) {
    std::error_code ignored;
    for (const fs::path& file : {new_source, new_artefact}) fs::remove(file, ignored);
    throw Error("E-compile", fmt::format("'{}' failed on {} (status {}); --engine interp still "
                                         "answers\n{}",
                                         compiler, what, compiled.status, compiled.output));
  }
  fs::rename(new_source, kept_source);
  fs::rename(new_artefact, artefact);
  return {artefact, false, seconds_since(begin)};
}

CompileOptions with_compiled_headers(Variant variant, CompileOptions options) {
  const std::string compiler = find_compiler(options);
  const fs::path runtime = runtime_folder(options);
  const std::string flags = flags_of(variant, options);
  const std::string source = "#include \"lpnrt/static.h\"\n";
  const fs::path folder =
      cache_folder(options) / ("headers-" + content_key(source, compiler, flags, runtime));
  // Nowhere to put them, or no compiler: compile() says so. Flags are words.
  if (compiler.empty() || folder.native().find(' ') != std::string::npos) return options;
  const bool clang = fs::path(compiler).filename().native().find("clang") != std::string::npos;
  const fs::path header = folder / "all.h", ready = folder / (clang ? "all.h.pch" : "all.h.gch");
  if (!fs::exists(ready)) {
    const std::string unique =
        fmt::format("{}.{}", ::getpid(), Clock::now().time_since_epoch().count());
    const fs::path fresh = folder / unique;
    write_source(folder / (unique + ".h"), source);
    // The header is never written twice: a compiled one is trusted by the time of its source.
    std::error_code exists;
    fs::create_hard_link(folder / (unique + ".h"), header, exists);
    fs::remove(folder / (unique + ".h"));
    const Compiled compiled = run_compiler(
        compiler, flags + (clang ? " -fpch-instantiate-templates" : "") + " -x c++-header", header,
        fresh, runtime, folder / (unique + ".log"));
    if (compiled.status != 0) {
      throw Error("E-compile",
                  fmt::format("'{}' failed on the headers in '{}' (status {})\n{}", compiler,
                              runtime.string(), compiled.status, compiled.output));
    }
    fs::rename(fresh, ready);
  }
  options.flags += " -include " + header.string();
  return options;
}

fs::path cache_folder(const CompileOptions& options) {
  if (!options.cache.empty()) return options.cache;
  if (const std::string given = from_environment("LPN_CACHE"); !given.empty()) return given;
  if (const std::string xdg = from_environment("XDG_CACHE_HOME"); !xdg.empty()) {
    return fs::path(xdg) / "lpn";
  }
  if (const std::string home = from_environment("HOME"); !home.empty()) {
    return fs::path(home) / ".cache/lpn";
  }
  return fs::temp_directory_path() / fmt::format("lpn-{}", ::getuid());
}

// Beside this library's own file when installed or in a build tree.
fs::path runtime_folder(const CompileOptions& options) {
  if (!options.runtime.empty()) return options.runtime;
  if (const std::string given = from_environment("LPN_RUNTIME"); !given.empty()) return given;
  return LPN_SIM_RUNTIME;
}

}  // namespace lpn::sim

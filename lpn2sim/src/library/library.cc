// Compiling with the system's compiler, and the cache of what was compiled.
//
// An artefact is <key>.so beside its source <key>.cc; the source is compared in full before the
// artefact is trusted, so that a clash of keys cannot load another net. Writers compile to a
// private name and rename, so concurrent processes at worst compile twice.

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "lpn/sim/generate.h"
#include "lpn/sim/sim.h"

extern char** environ;

namespace lpn::sim {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string wanted_compiler(const CompileOptions& options) {
  if (!options.compiler.empty()) return options.compiler;
  const std::string given = from_environment("LPN_CXX");
  return given.empty() ? "g++" : given;
}

// The compiler as an executable file, or "" when there is none.
std::string find_compiler(const CompileOptions& options) {
  const std::string name = wanted_compiler(options);
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  std::istringstream path(from_environment("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

// The folder that holds lpnrt/: beside this library's own file when installed or in a build tree.
fs::path find_runtime(const CompileOptions& options) {
  if (!options.runtime.empty()) return options.runtime;
  if (const std::string given = from_environment("LPN_RUNTIME"); !given.empty()) return given;
  return LPN_SIM_RUNTIME;
}

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string content_key(const std::string& source, const std::string& compiler,
                        const std::string& flags, const fs::path& runtime) {
  // A compiler is known by its file: asking it for its version would cost a process per run.
  struct stat info {};
  std::string about = compiler;
  if (::stat(compiler.c_str(), &info) == 0) {
    about += fmt::format(" {} {}", static_cast<long long>(info.st_size),
                         static_cast<long long>(info.st_mtim.tv_sec));
  }
  const std::string all =
      source + "\n" + about + "\n" + flags + "\n" + read_file(runtime / "lpnrt/runtime.h") +
      read_file(runtime / "lpnrt/flow.h") + read_file(runtime / "lpnrt/static.h") +
      read_file(runtime / "lpnrt/observe.h") + read_file(runtime / "lpnrt/path.h") +
      read_file(runtime / "lpnrt/abi.h");
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// Runs a command with its output in `log`; the exit status, or -1 when it could not be started.
int run_command(const std::vector<std::string>& command, const fs::path& log) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

}  // namespace

fs::path runtime_folder(const CompileOptions& options) { return find_runtime(options); }

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

struct Library::Impl {
  Net net;
  Provenance provenance;
  void* handle = nullptr;
  std::shared_ptr<void> shared_handle;  // of a library with several nets, instead of `handle`
  const lpn_sim_api* api = nullptr;
  ~Impl() {
    if (handle != nullptr) ::dlclose(handle);
  }
};

Library Library::open(const Net& net, const fs::path& artefact) {
  auto impl = std::make_shared<Impl>();
  impl->net = net;
  impl->provenance.artefact = artefact;
  impl->handle = ::dlopen(artefact.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (impl->handle == nullptr) {
    throw Error("E-load", fmt::format("cannot load the compiled simulator '{}': {}",
                                      artefact.string(), ::dlerror()));
  }
  using Entry = const lpn_sim_api* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(impl->handle, "lpn_sim_entry"));
  if (entry == nullptr || entry()->abi != LPN_SIM_ABI) {
    throw Error("E-load", fmt::format("'{}' is not a simulator of this version; delete it",
                                      artefact.string()));
  }
  impl->api = entry();
  if (impl->api->places != net.places.size() || impl->api->transitions != net.transitions.size() ||
      impl->api->params != net.params.size()) {
    throw Error("E-load", fmt::format("'{}' is the simulator of another net than '{}'",
                                      artefact.string(), net.name));
  }
  Library library;
  library.impl_ = std::move(impl);
  return library;
}

// The artefact of `source`, from the cache or compiled now. `what` names it in messages.
static Provenance compile(const std::string& source, const std::string& what, Variant variant,
                          const CompileOptions& options) {
  const auto begin = Clock::now();
  const std::string compiler = find_compiler(options);
  const fs::path runtime = find_runtime(options);
  const std::string flags =
      // Devirtualisation finds nothing here, and takes minutes to find it in nets of 1,000 places.
      fmt::format(
          "{} -std=c++20 -shared -fPIC -fvisibility=hidden -w -DNDEBUG -fno-devirtualize "
          "-DLPNRT_TRACE={} -DLPNRT_STATS={}{}",
          options.flags, variant.trace ? 1 : 0, variant.stats ? 1 : 0,
          variant.path ? " -DLPNRT_PATH=1" : "");
  const fs::path folder = cache_folder(options);
  const std::string key = content_key(source, compiler, flags, runtime);
  const fs::path artefact = folder / (key + ".so");
  const fs::path kept_source = folder / (key + ".cc");
  const auto finish = [&](bool cached) {
    return Provenance{artefact, cached, seconds_since(begin)};
  };
  if (fs::exists(artefact) && read_file(kept_source) == source) return finish(true);

  if (compiler.empty()) {
    throw Error("E-no-compiler",
                fmt::format("no C++ compiler '{}' found, so {} cannot be compiled; install g++ "
                            "(apt-get install g++), set LPN_CXX, or use --engine interp",
                            wanted_compiler(options), what));
  }
  std::error_code failed;
  if (!fs::exists(folder)) {
    fs::create_directories(folder, failed);
    if (!failed) fs::permissions(folder, fs::perms::owner_all, failed);
  }
  const std::string unique =
      fmt::format("{}.{}.{}", key, ::getpid(), Clock::now().time_since_epoch().count());
  const fs::path new_source = folder / (unique + ".cc"), new_artefact = folder / (unique + ".so"),
                 log = folder / (unique + ".log");
  {
    std::ofstream out(new_source, std::ios::binary);
    out << source;
    if (!out) {
      throw Error("E-cache",
                  fmt::format("cannot write to the cache folder '{}'; set LPN_CACHE to a "
                              "folder that can be written",
                              folder.string()));
    }
  }
  std::vector<std::string> command{compiler};
  for (const std::string& word : words(flags)) command.push_back(word);
  command.insert(command.end(),
                 {"-I" + runtime.string(), "-o", new_artefact.string(), new_source.string()});
  const int status = run_command(command, log);
  if (status != 0) {
    std::string output = read_file(log);
    if (output.size() > 2000) output.resize(2000);
    for (const fs::path& file : {new_source, new_artefact, log}) fs::remove(file, failed);
    throw Error("E-compile", fmt::format("'{}' failed on {} (status {}); --engine interp still "
                                         "answers\n{}",
                                         compiler, what, status, output));
  }
  fs::remove(log, failed);
  fs::rename(new_source, kept_source);
  fs::rename(new_artefact, artefact);
  return finish(false);
}

Library Library::build(const Net& net, Variant variant, const CompileOptions& options) {
  const auto begin = Clock::now();
  const Provenance made =
      compile(generate(net, options.solver), fmt::format("net '{}'", net.name), variant, options);
  Library library = open(net, made.artefact);
  auto impl = std::const_pointer_cast<Impl>(library.impl_);
  impl->provenance = {made.artefact, made.cached, seconds_since(begin)};
  return library;
}

std::vector<Library> Library::build_many(const std::vector<Net>& nets, Variant variant,
                                         const CompileOptions& options) {
  const Provenance made =
      compile(generate_many(nets), fmt::format("{} nets", nets.size()), variant, options);
  const std::shared_ptr<void> handle(::dlopen(made.artefact.c_str(), RTLD_NOW | RTLD_LOCAL),
                                     [](void* h) {
                                       if (h != nullptr) ::dlclose(h);
                                     });
  const auto* entries =
      handle == nullptr
          ? nullptr
          : static_cast<const lpn_sim_api* const*>(::dlsym(handle.get(), "lpn_sim_entries"));
  if (entries == nullptr) {
    throw Error("E-load",
                fmt::format("cannot load the compiled simulators '{}'", made.artefact.string()));
  }
  std::vector<Library> libraries;
  for (const Net& net : nets) {
    LPN_ASSERT(*entries != nullptr);
    auto impl = std::make_shared<Impl>();
    impl->net = net;
    impl->provenance = made;
    impl->shared_handle = handle;
    impl->api = *entries++;
    Library library;
    library.impl_ = std::move(impl);
    libraries.push_back(std::move(library));
  }
  return libraries;
}

const Net& Library::net() const { return impl_->net; }
const Provenance& Library::provenance() const { return impl_->provenance; }
const lpn_sim_api& Library::api() const { return *impl_->api; }

}  // namespace lpn::sim

#include "library/compiler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <thread>

#include "library/environment.h"
#include "library/work_folder.h"
#include "lpn/base/error.h"

extern char** environ;

namespace lpn::sim {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostOutput = 2000;             // bytes of what a compiler says
constexpr auto kTurn = std::chrono::milliseconds(5);  // between two looks at a compiler that runs
constexpr int kTurnsPerQuestion = 10;

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

// The environment of a compiler, whose temporary files belong into the folder in which it runs.
std::vector<std::string> compiler_environment() {
  std::vector<std::string> all{"TMPDIR=."};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with("TMPDIR=")) all.push_back(text);
  }
  return all;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// Starts a command in a folder, with its output in `log` there; 0 or errno. `group`: as the first
// of a process group, which can be killed as one.
int start(const std::vector<std::string>& command, int folder, bool group, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addfchdir_np(&actions, folder);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  posix_spawnattr_setsigmask(&attributes, &usual);
  for (const int signal : {SIGCHLD, SIGINT, SIGPIPE, SIGTERM}) sigaddset(&usual, signal);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              (group ? POSIX_SPAWN_SETPGROUP : 0)));
  const std::vector<std::string> variables = compiler_environment();
  const int failed = posix_spawn(&pid, command[0].c_str(), &actions, &attributes,
                                 pointers(command).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

// The status of a child that has ended, -1 when there is none to be had; nothing while it runs.
std::optional<int> ended(pid_t pid, int options) {
  int status = 0;
  pid_t found = 0;
  do found = ::waitpid(pid, &status, options);
  while (found < 0 && errno == EINTR);
  if (found == 0) return std::nullopt;
  return found < 0 ? -1 : status;
}

// A process group, killed unless it has ended by itself.
class Group {
 public:
  explicit Group(pid_t pid) : pid_(pid) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    if (pid_ == 0) return;
    ::kill(-pid_, SIGKILL);
    ended(pid_, 0);
  }
  std::optional<int> ended_now() {
    const std::optional<int> status = ended(pid_, WNOHANG);
    if (status) pid_ = 0;
    return status;
  }

 private:
  pid_t pid_;
};

// Has a process group killed when this process ends, whatever ends it: a shell in the group waits
// for the end of a pipe whose other end only this process has. Without one the group goes on alone.
class Leash {
 public:
  explicit Leash(pid_t group) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    held_ = ends[1];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, group);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const std::vector<std::string> command{"/bin/sh", "-c", "read -r end; kill -9 0"};
    if (posix_spawn(&shell_, "/bin/sh", &actions, &attributes, pointers(command).data(), environ) !=
        0) {
      shell_ = 0;
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[0]);
  }
  Leash(const Leash&) = delete;
  Leash& operator=(const Leash&) = delete;
  ~Leash() {
    if (held_ >= 0) ::close(held_);
    if (shell_ != 0) ended(shell_, 0);
  }

 private:
  int held_ = -1;
  pid_t shell_ = 0;
};

// The status of a child, for the end of which keep_on is asked now and then whether to wait.
int wait_for(pid_t pid, const std::function<bool()>& keep_on) {
  if (!keep_on) return *ended(pid, 0);
  Group group(pid);
  const Leash leash(pid);
  for (int turn = 1;; ++turn) {
    if (const std::optional<int> status = group.ended_now()) return *status;
    if (turn % kTurnsPerQuestion == 0 && !keep_on()) {
      throw Error("E-interrupted", "the compilation was interrupted");
    }
    std::this_thread::sleep_for(kTurn);
  }
}

// Cut between two characters of UTF-8.
std::string whole_characters(std::string output) {
  if (output.size() <= kMostOutput) return output;
  std::size_t end = kMostOutput;
  while (end > 0 && (static_cast<unsigned char>(output[end]) & 0xc0) == 0x80) --end;
  output.resize(end);
  return output;
}

}  // namespace

std::string wanted_compiler(const CompileOptions& options) {
  if (!options.compiler.empty()) return options.compiler;
  const std::string given = from_environment("LPN_CXX");
  return given.empty() ? "g++" : given;
}

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

std::string common_flags(const CompileOptions& options) {
  // Devirtualisation finds nothing here, and takes minutes to find it in nets of 1,000 places.
  return options.flags + " -std=c++20 -w -DNDEBUG -fno-devirtualize";
}

Compiled run_compiler(const std::string& compiler, const std::string& flags, const WorkFolder& work,
                      const std::string& source, const fs::path& to,
                      const CompileOptions& options) {
  std::vector<std::string> command{fs::absolute(compiler).string()};
  for (const std::string& word : words(flags)) command.push_back(word);
  command.insert(command.end(), {"-I" + fs::absolute(runtime_folder(options)).string(), "-o",
                                 to.string(), source});
  pid_t pid = 0;
  const bool group = static_cast<bool>(options.keep_on);
  if (const int failed = start(command, work.descriptor(), group, pid); failed != 0) {
    return {false, fmt::format("cannot be started: {}", std::strerror(failed)), ""};
  }
  const int status = wait_for(pid, options.keep_on);
  if (status == 0) return {true, "", ""};
  Compiled compiled;
  compiled.how = WIFEXITED(status) ? fmt::format("status {}", WEXITSTATUS(status))
                                   : fmt::format("killed by signal {}", WTERMSIG(status));
  if (status == -1) compiled.how = "its end was not seen: this program ignores SIGCHLD";
  compiled.output = whole_characters(work.read("log", kMostOutput + 4));
  return compiled;
}

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace lpn::sim

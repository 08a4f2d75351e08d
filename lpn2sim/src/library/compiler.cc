#include "library/compiler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

extern char** environ;

namespace lpn::sim {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostOutput = 2000;  // bytes of what a compiler says

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

// Runs a command with its output in `log`.
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
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// The first part of what a compiler says, cut between two characters of UTF-8.
std::string first_part(std::string output) {
  if (output.size() <= kMostOutput) return output;
  std::size_t end = kMostOutput;
  while (end > 0 && (static_cast<unsigned char>(output[end]) & 0xc0) == 0x80) --end;
  output.resize(end);
  return output;
}

}  // namespace

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

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

Compiled run_compiler(const std::string& compiler, const std::string& flags, const fs::path& source,
                      const fs::path& to, const fs::path& runtime, const fs::path& log) {
  std::vector<std::string> command{compiler};
  for (const std::string& word : words(flags)) command.push_back(word);
  command.insert(command.end(), {"-I" + runtime.string(), "-o", to.string(), source.string()});
  Compiled compiled;
  compiled.status = run_command(command, log);
  if (compiled.status != 0) compiled.output = first_part(read_file(log));
  std::error_code ignored;
  fs::remove(log, ignored);
  return compiled;
}

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace lpn::sim

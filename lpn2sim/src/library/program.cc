#include "lpn/sim/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "library/artefact.h"
#include "library/compiler.h"
#include "library/work_folder.h"
#include "lpn/base/error.h"
#include "lpn/sim/generate.h"

namespace lpn::sim {

namespace fs = std::filesystem;

namespace {

// What makes a program of the source, when asked for.
constexpr const char* kMain = "#ifdef LPN_SIM_MAIN\n#include \"lpnrt/main.h\"\n#endif\n";

[[noreturn]] void cannot_write(const fs::path& file, int why) {
  throw fs::filesystem_error("cannot write", file, std::error_code(why, std::generic_category()));
}

void write_text(const fs::path& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) cannot_write(file, errno != 0 ? errno : EIO);
}

// A file under a name of its own; what still has it at the end goes.
class Fresh {
 public:
  explicit Fresh(fs::path path) : path_(std::move(path)) {}
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  ~Fresh() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

double write_program(const Net& net, const std::string& what, const fs::path& file,
                     const CompileOptions& options) {
  const std::string source = generate(net, {options.solver}) + kMain;
  if (file.native().ends_with(".cc")) {
    write_text(file, source);
    return 0;
  }
  check_may_compile(fmt::format("'{}'", what), "write the source with -o FILE.cc");
  const std::string compiler = find_compiler(options);
  if (compiler.empty()) {
    throw Error("E-no-compiler",
                fmt::format("no C++ compiler '{}' found, so '{}' cannot be compiled; install g++ "
                            "(apt-get install g++), set LPN_CXX, or write the source with -o "
                            "FILE.cc",
                            wanted_compiler(options), what));
  }
  const auto begin = std::chrono::steady_clock::now();
  const WorkFolder work;
  const bool library = file.native().ends_with(".so");
  const std::string flags =
      common_flags(options) + (library ? " -shared -fPIC -fvisibility=hidden" : " -DLPN_SIM_MAIN");
  // Under a new name first: the old file may be mapped by a running process.
  const fs::path target = fs::weakly_canonical(fs::absolute(file));  // a link goes on to lead there
  if (fs::exists(target) && !fs::is_regular_file(target)) {
    throw Error("E-input", fmt::format("cannot write {}: a {} takes the place of what is there, "
                                       "and that is no regular file",
                                       file.string(), library ? "library" : "program"));
  }
  const Fresh fresh(target.string() + fmt::format(".{}", ::getpid()));
  try {
    work.write("net.cc", source);
  } catch (const std::system_error& error) {
    cannot_write(fs::temp_directory_path(), error.code().value());
  }
  const Compiled compiled = run_compiler(compiler, flags, work, "net.cc", fresh.path(), options);
  if (!compiled.ok) {
    throw Error("E-compile", fmt::format("'{}' failed on '{}' ({})\n{}", compiler, what,
                                         compiled.how, compiled.output));
  }
  if (!fs::exists(fresh.path())) {
    throw Error("E-compile", fmt::format("'{}' said that all went well on '{}', but wrote nothing; "
                                         "is it a C++ compiler? Set LPN_CXX to one",
                                         compiler, what));
  }
  fs::rename(fresh.path(), target);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace lpn::sim

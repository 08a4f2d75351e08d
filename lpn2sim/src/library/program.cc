#include "lpn/sim/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "library/compiler.h"
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

// A folder of its own, gone at the end.
class Workplace {
 public:
  Workplace() {
    std::string name = (fs::temp_directory_path() / "lpn-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) cannot_write(name, errno);
    folder_ = name;
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

}  // namespace

double write_program(const Net& net, const std::string& what, const fs::path& file,
                     const CompileOptions& options) {
  const std::string source = generate(net, {options.solver}) + kMain;
  if (file.native().ends_with(".cc")) {
    write_text(file, source);
    return 0;
  }
  const std::string compiler = find_compiler(options);
  if (compiler.empty()) {
    throw Error("E-no-compiler",
                fmt::format("no C++ compiler '{}' found, so '{}' cannot be compiled; install g++ "
                            "(apt-get install g++), set LPN_CXX, or write the source with -o "
                            "FILE.cc",
                            wanted_compiler(options), what));
  }
  const auto begin = std::chrono::steady_clock::now();
  const Workplace work;
  write_text(work.folder() / "net.cc", source);
  const bool library = file.native().ends_with(".so");
  const std::string flags =
      common_flags(options) + (library ? " -shared -fPIC -fvisibility=hidden" : " -DLPN_SIM_MAIN");
  // Under a new name first: the old file may be mapped by a running process.
  const fs::path fresh = fs::absolute(file.string() + fmt::format(".{}", ::getpid()));
  const Compiled compiled = run_compiler(compiler, flags, work.folder() / "net.cc", fresh,
                                         runtime_folder(options), work.folder() / "log");
  if (compiled.status != 0) {
    throw Error("E-compile", fmt::format("'{}' failed on '{}' (status {})\n{}", compiler, what,
                                         compiled.status, compiled.output));
  }
  fs::rename(fresh, file);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace lpn::sim

// The system's compiler, as a command.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lpn/sim/compile.h"

namespace lpn::sim {

class WorkFolder;

// The compiler that is asked for, by name or path.
std::string wanted_compiler(const CompileOptions& options);
// That compiler as an executable file, or "" when there is none.
std::string find_compiler(const CompileOptions& options);

// What all generated code is compiled with, beside what it is to become.
std::string common_flags(const CompileOptions& options);

struct Compiled {
  bool ok = false;
  std::string how;     // how it ended when it is not ok: "status 1", "killed by signal 9"
  std::string output;  // the first part of what it said
};
// Compiles `source`, a file of the work folder, into `to`: one of its files, or an absolute path.
// The compiler runs in that folder and has its temporary files there. Throws Error "E-interrupted"
// when options.keep_on ends it; then, and when keep_on throws, it is killed with all its children.
Compiled run_compiler(const std::string& compiler, const std::string& flags, const WorkFolder& work,
                      const std::string& source, const std::filesystem::path& to,
                      const CompileOptions& options);

// "" where there is no such file.
std::string read_file(const std::filesystem::path& file);

}  // namespace lpn::sim

// The system's compiler, as a command.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lpn/sim/compile.h"

namespace lpn::sim {

// What the environment says; "" where the variable is not set.
std::string from_environment(const char* name);

// The compiler that is asked for, by name or path.
std::string wanted_compiler(const CompileOptions& options);
// That compiler as an executable file, or "" when there is none.
std::string find_compiler(const CompileOptions& options);

// What all generated code is compiled with, beside what it is to become.
std::string common_flags(const CompileOptions& options);

struct Compiled {
  int status = 0;      // minus the signal that ended it; -1 when it could not be started
  std::string output;  // what it said
};
// Compiles `source` into `to`; what is said in between stands in `log`, which is removed.
Compiled run_compiler(const std::string& compiler, const std::string& flags,
                      const std::filesystem::path& source, const std::filesystem::path& to,
                      const std::filesystem::path& runtime, const std::filesystem::path& log);

// "" where there is no such file.
std::string read_file(const std::filesystem::path& file);

}  // namespace lpn::sim

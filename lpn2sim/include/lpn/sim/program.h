// A net as a file that runs without Python and without this project.
#pragma once

#include <filesystem>
#include <string>

#include "lpn/net/net.h"
#include "lpn/sim/compile.h"

namespace lpn::sim {

// FILE.cc: the source, which -DLPN_SIM_MAIN makes a program; FILE.so: a library with the C
// interface of lpnrt/abi.h; any other FILE: a program that reads a marking file and prints JSON
// (lpnrt/main.h). Parameters have the net's values as defaults. `what` names the net in messages.
// Returns the seconds that the compiler took, 0 for source. Nothing is cached. Throws Error
// "E-no-compiler", "E-compile", "E-too-large", and std::filesystem::filesystem_error where the file
// cannot be written.
double write_program(const Net& net, const std::string& what, const std::filesystem::path& file,
                     const CompileOptions& options = {});

}  // namespace lpn::sim

// Generated source compiled by the system's compiler, and the cache of what was compiled.
#pragma once

#include <filesystem>
#include <string>

#include "lpn/sim/ways.h"

namespace lpn::sim {

// What the compiled code keeps besides the run itself; each is its own artefact.
struct Variant {
  bool trace = false;  // token identities, for an observer
  bool stats = false;
  bool path = false;  // the critical path; not together with `stats`
};

struct CompileOptions {
  std::string compiler;           // empty: $LPN_CXX, else g++
  std::filesystem::path cache;    // empty: $LPN_CACHE, else $XDG_CACHE_HOME/lpn, ~/.cache/lpn
  std::filesystem::path runtime;  // folder that holds lpnrt/; empty: found beside this library
  std::string flags = "-O2";
  Solver solver;  // see generate()
};

// How a library came to be.
struct Provenance {
  std::filesystem::path artefact;
  bool cached = false;  // no compiler ran
  double seconds = 0;   // to compile, or to look up and load
};

// The loadable artefact of generated source, from the cache or compiled now; `what` names it in
// messages. The key is the source, all headers of the runtime, the compiler's file and its flags.
// Throws Error: "E-no-compiler" (none found; the interpreter still answers), "E-compile" (with the
// compiler's output), "E-cache" (the folder cannot be written).
Provenance compile(const std::string& source, const std::string& what, Variant variant = {},
                   const CompileOptions& options = {});

// `options` under which compile() finds the runtime's headers compiled already, for callers who
// compile nets by the hundred; what is computed stays the same. They lie in the cache's folder.
// Throws like compile().
CompileOptions with_compiled_headers(Variant variant, CompileOptions options);

// The folder of compiled artefacts in force.
std::filesystem::path cache_folder(const CompileOptions& options = {});

// The folder that holds lpnrt/, which generated source includes.
std::filesystem::path runtime_folder(const CompileOptions& options = {});

}  // namespace lpn::sim

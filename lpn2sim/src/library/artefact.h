// Compiled simulators as files: found, made, sealed, checked and loaded.
#pragma once

#include <memory>
#include <string>

#include "library/cache_folder.h"
#include "lpn/sim/compile.h"

namespace lpn::sim {

// An artefact and its open file, whose bytes are those that were compiled from the source.
struct Artefact {
  Provenance provenance;
  Descriptor file;
};

// As compile(); `anew`: whatever the cache has.
Artefact obtain(const std::string& source, const std::string& what, Variant variant,
                const CompileOptions& options, bool anew = false);

// The seal: at the end of an artefact's file, a hash of all before it and of its source.
//
// Adds it and brings the file to the disk. Throws std::system_error.
void seal(int file, const std::string& source);
// Whether the open file is this user's alone and is whole.
bool is_sealed(int file, const std::string& source);

// The code of an open file, loaded; it stays so while it is held. Throws Error "E-load". `path`:
// its name, for messages, and for systems without /proc.
std::shared_ptr<void> load(int file, const std::filesystem::path& path);

// Throws Error "E-never-compile" where the user wants no code of a net compiled, loaded or run
// (LPN_NO_COMPILE). `what` names it; `instead` is what still can be done.
void check_may_compile(const std::string& what, const std::string& instead);

}  // namespace lpn::sim

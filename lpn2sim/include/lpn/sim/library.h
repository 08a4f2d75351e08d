// A net's compiled simulator, loaded: compiled once, taken from the cache ever after.
#pragma once

#include <filesystem>
#include <memory>

#include "lpn/net/net.h"
#include "lpn/sim/compile.h"
#include "lpnrt/abi.h"

namespace lpn::sim {

// One compiled net, loaded; shared by its simulators. Copies are cheap.
class Library {
 public:
  // Compiles `net`, or takes it from the cache; parameters and inputs given to simulators never
  // cause a compilation. Throws Error as compile() does, and "E-too-large".
  static Library build(const Net& net, Variant variant = {}, const CompileOptions& options = {});
  // Loads an artefact; the caller vouches for the file, which is code. Throws Error "E-load".
  static Library open(const Net& net, const std::filesystem::path& artefact);
  // The simulator of `net` in code that is loaded already and stays so while `code` is held.
  static Library of(const Net& net, const lpn_sim_api& api, std::shared_ptr<void> code,
                    Provenance provenance);

  const Net& net() const;
  const Provenance& provenance() const;
  const lpn_sim_api& api() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// The net with neutral defaults of its parameters and without a frequency, for callers who give
// every value to each simulator: nets of one model with others then share one artefact.
Net to_share(const Net& net);

}  // namespace lpn::sim

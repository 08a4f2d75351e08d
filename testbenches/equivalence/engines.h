// A case on every engine: interpreter (looking only where something changed, and everywhere),
// compiled simulator (plain, and with identities and statistics).
#pragma once

#include <string>
#include <vector>

#include "case.h"
#include "lpn/sim/library.h"
#include "outcome.h"

namespace lpn::bench {

// Compiled variants of many nets, each variant one translation unit.
struct Engines {
  std::vector<sim::Library> plain, traced;  // traced: identities and statistics
  std::vector<sim::Library> free;           // identities alone: order-free runs can be observed
  double seconds = 0;                       // of compiling
  std::vector<std::filesystem::path> artefacts;
};
// Some may be left out, to compile less; `often` as build_many's. Throws lpn::Error like
// Library::build.
Engines build_engines(const std::vector<Net>& nets, const sim::CompileOptions& options,
                      bool plain = true, bool free = true, bool traced = true, bool often = false);

// Flags for nets that run once: compiling must not dominate. A group limit other than the default
// becomes part of the code.
sim::CompileOptions quick_options(std::uint64_t group_limit = kDefaultGroupLimit);

// Runs `c` on all engines that are not null; the first difference in words, or "". `reference` gets
// what the interpreter did.
std::string disagreement(const Case& c, const sim::Library* plain, const sim::Library* traced,
                         const sim::Library* free, Outcome* reference = nullptr);

// Runs cases of one net, each to its end and without steps, as one batch, which goes in lock step
// where the net allows it; the first difference from the interpreter in words, or "".
std::string batch_disagreement(const std::vector<Case>& cases, const sim::Library& plain,
                               unsigned threads);

}  // namespace lpn::bench

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
  std::vector<sim::Library> metered;        // statistics alone: straight-line code has them too
  double seconds = 0;                       // of compiling
  std::vector<std::filesystem::path> artefacts;
};
// Some may be left out, to compile less.
struct Variants {
  bool plain = true, free = true, traced = true, metered = true;
};
// `often` as build_many's. Throws lpn::Error like Library::build.
Engines build_engines(const std::vector<Net>& nets, const sim::CompileOptions& options,
                      Variants variants = {}, bool often = false);

// Flags for nets that run once: compiling must not dominate. A group limit other than the default
// becomes part of the code.
sim::CompileOptions quick_options(std::uint64_t group_limit = kDefaultGroupLimit);

// The variants of one net; null: not compiled.
struct Compiled {
  const sim::Library* plain = nullptr;
  const sim::Library* traced = nullptr;
  const sim::Library* free = nullptr;
  const sim::Library* metered = nullptr;
};
// Of the k-th net.
Compiled compiled(const Engines& engines, std::size_t k);

// Runs `c` on all engines; the first difference in words, or "". `reference` gets what the
// interpreter did.
std::string disagreement(const Case& c, const Compiled& libraries, Outcome* reference = nullptr);

// Runs cases of one net, each to its end and without steps, as one batch, which goes in lock step
// where the net allows it; the first difference from the interpreter in words, or "".
std::string batch_disagreement(const std::vector<Case>& cases, const sim::Library& plain,
                               unsigned threads);

}  // namespace lpn::bench

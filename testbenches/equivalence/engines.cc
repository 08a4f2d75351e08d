#include "engines.h"

#include <fmt/format.h>

#include "many.h"

namespace lpn::bench {

sim::CompileOptions quick_options(std::uint64_t group_limit) {
  sim::CompileOptions options;
  options.flags = "-O0";
  if (group_limit != kDefaultGroupLimit) {
    options.flags += fmt::format(" -DLPNRT_GROUP_LIMIT={}", group_limit);
  }
  return options;
}

Engines build_engines(const std::vector<Net>& nets, const sim::CompileOptions& options, bool plain,
                      bool free, bool traced) {
  Engines engines;
  if (nets.empty()) return engines;
  if (plain) engines.plain = build_many(nets, {}, options);
  if (traced) engines.traced = build_many(nets, {.trace = true, .stats = true}, options);
  if (free) engines.free = build_many(nets, {.trace = true}, options);
  for (const auto* libraries : {&engines.plain, &engines.traced, &engines.free}) {
    if (libraries->empty()) continue;
    engines.seconds += libraries->front().provenance().seconds;
    engines.artefacts.push_back(libraries->front().provenance().artefact);
  }
  return engines;
}

std::string disagreement(const Case& c, const sim::Library* plain, const sim::Library* traced,
                         const sim::Library* free, Outcome* reference) {
  const Outcome defined = play(c, {.observe = true, .stats = true});
  if (reference != nullptr) *reference = defined;
  const auto against = [&](const char* who, const Outcome& other) {
    const std::string what = difference(c, defined, other);
    return what.empty() ? what : fmt::format("interpreter and {}: {}", who, what);
  };
  std::string what =
      against("its full scan", play(c, {.observe = true, .stats = true, .full_scan = true}));
  if (what.empty()) what = against("its plain run", play(c, {}));
  if (what.empty() && traced != nullptr) {
    what = against("compiled, traced", play(c, *traced, {.observe = true, .stats = true}));
  }
  if (what.empty() && traced != nullptr) {
    what =
        against("compiled, order-free with statistics",
                play(c, *traced, {.observe = true, .stats = true, .mode = sim::Mode::kOrderFree}));
  }
  if (what.empty() && plain != nullptr) what = against("compiled, plain", play(c, *plain, {}));
  if (what.empty() && free != nullptr) {
    what = against("compiled, order-free",
                   play(c, *free, {.observe = true, .mode = sim::Mode::kOrderFree}));
  }
  return what;
}

}  // namespace lpn::bench

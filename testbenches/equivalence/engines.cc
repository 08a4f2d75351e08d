#include "engines.h"

#include <fmt/format.h>

#include "lpn/base/error.h"
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

Engines build_engines(const std::vector<Net>& nets, const sim::CompileOptions& options,
                      Variants variants, bool often) {
  Engines engines;
  if (nets.empty()) return engines;
  const auto build = [&](bool wanted, sim::Variant variant, std::vector<sim::Library>& into) {
    if (!wanted) return;
    into = build_many(nets, variant, options, often);
    engines.seconds += into.front().provenance().seconds;
    engines.artefacts.push_back(into.front().provenance().artefact);
  };
  build(variants.plain, {}, engines.plain);
  build(variants.traced, {.trace = true, .stats = true}, engines.traced);
  build(variants.free, {.trace = true}, engines.free);
  build(variants.metered, {.stats = true}, engines.metered);
  return engines;
}

Compiled compiled(const Engines& engines, std::size_t k) {
  const auto of = [k](const std::vector<sim::Library>& all) {
    return all.empty() ? nullptr : &all[k];
  };
  return {of(engines.plain), of(engines.traced), of(engines.free), of(engines.metered)};
}

std::string disagreement(const Case& c, const Compiled& libraries, Outcome* reference) {
  const auto& [plain, traced, free, metered] = libraries;
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
  if (what.empty() && plain != nullptr && (plain->api().variant & 4) != 0) {
    what = against("compiled, plain, by events", play(c, *plain, {.mode = sim::Mode::kEvents}));
  }
  if (what.empty() && free != nullptr) {
    what = against("compiled, order-free",
                   play(c, *free, {.observe = true, .mode = sim::Mode::kOrderFree}));
  }
  if (what.empty() && metered != nullptr) {
    what = against("compiled, with statistics", play(c, *metered, {.stats = true}));
  }
  return what;
}

std::string batch_disagreement(const std::vector<Case>& cases, const sim::Library& plain,
                               unsigned threads) {
  std::vector<sim::Simulator> simulators;
  std::vector<const Case*> started;
  for (const Case& c : cases) {
    try {
      simulators.emplace_back(plain, c.params, marking_of(c));
      started.push_back(&c);
    } catch (const Error&) {  // it cannot start, which disagreement() compares
    }
  }
  std::string what;
  sim::Simulator::run_batch(
      simulators, threads, [&](std::size_t k, const RunResult* result, const RunError* error) {
        const StepOutcome defined = play(*started[k], {}).steps.at(0);
        if (!what.empty()) return;
        const std::string who = fmt::format("input {} of {} at once", k, started.size());
        if ((error != nullptr) != defined.fault.has_value()) {
          what = fmt::format("{}: an error in one engine only", who);
        } else if (error != nullptr) {
          if (!(error->fault() == *defined.fault)) what = who + ": another error";
        } else if (!(*result == *defined.result)) {
          what = who + ": another result";
        }
        if (!what.empty() || error != nullptr) return;
        for (std::size_t p = 0; p < plain.net().places.size(); ++p) {
          if (simulators[k].free_tokens(static_cast<PlaceId>(p)) == defined.counts[p]) continue;
          what = fmt::format("{}: tokens left in '{}': {}, by the interpreter {}", who,
                             plain.net().places[p].name,
                             simulators[k].free_tokens(static_cast<PlaceId>(p)), defined.counts[p]);
          return;
        }
      });
  return what;
}

}  // namespace lpn::bench

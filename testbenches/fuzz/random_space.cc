#include "random_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/expr/build.h"
#include "lpn/run/interp.h"

namespace lpn::bench {

InputSpace random_space(const Case& c, Random& r) {
  InputSpace space;
  Net& v = space.variables;
  v.name = "space";
  std::uint64_t inputs = 1;
  const auto term = [&](std::int64_t value, std::optional<Range> allowed, int percent) {
    const std::int64_t width = r.between(1, 3);
    if (!r.chance(percent) || inputs * static_cast<std::uint64_t>(width + 1) > kMaxInputs ||
        value > (std::int64_t{1} << 40)) {
      return v.exprs.constant(value);
    }
    Range range{value - r.between(0, width), 0};
    range.hi = range.lo + width;
    if (allowed) range = {std::max(range.lo, allowed->lo), std::min(range.hi, allowed->hi)};
    inputs *= static_cast<std::uint64_t>(range.hi - range.lo + 1);
    const auto k = static_cast<std::uint32_t>(v.params.size());
    v.params.push_back(
        {.name = fmt::format("x{}", k), .value = range.lo, .range = range, .source = {}});
    return v.exprs.param(k);
  };
  for (std::size_t k = 0; k < c.params.size(); ++k) {
    space.params.push_back(term(c.params[k], c.net.params[k].range, 15));
  }
  for (const Load& load : c.loads) {
    InputSpace::Tokens tokens{.place = load.place, .rows = {}, .count = {}};
    const auto& fields = c.net.type_of(load.place).fields;
    for (std::uint64_t n = 0; n < load.count; ++n) {
      std::vector<ExprId> row;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        row.push_back(term(load.values[n * fields.size() + f], fields[f].range, 30));
      }
      tokens.rows.push_back(std::move(row));
    }
    if (r.chance(15))
      tokens.count = term(static_cast<std::int64_t>(load.count) - 1,
                          Range{0, static_cast<std::int64_t>(load.count)}, 100);
    space.tokens.push_back(std::move(tokens));
  }
  if (v.params.size() >= 2 && r.chance(40)) {
    ExprBuilder build(v.exprs);
    const ExprId sum = build.add(v.exprs.param(0), v.exprs.param(1));
    space.constraints.push_back(
        build.le(sum, v.exprs.constant(v.params[0].range->lo + v.params[1].range->hi)));
  }
  return space;
}

Ran run(const Net& net, const InputSpace& space, const Assignment& input) {
  Ran ran;
  try {
    InterpOptions options;
    options.group_limit = 40;
    options.trace = true;
    Interp interp(net, params_of(net, space, input), marking_of(net, space, input), options);
    HistoryWatcher watcher(ran.history);
    interp.watch(&watcher);
    ran.history.params = params_of(net, space, input);
    for (std::size_t p = 0; p < net.places.size(); ++p) {
      ran.history.given.push_back(interp.occupancy(static_cast<PlaceId>(p)));
    }
    Time limit = 0;
    RunResult result;
    // In steps, so that a net that never ends is left after some commits.
    for (int step = 0;; ++step) {
      result = interp.run(limit, &ran.recorder);
      if (result.ending != Ending::kLimit) break;
      if (step > 200) {
        ran.endless = true;
        return ran;
      }
      const Time more = limit < 8 ? 1 : limit / 4;
      limit = more < kForever - limit ? limit + more : kForever;
    }
    ran.latency = result.latency;
    if (result.stalled)
      ran.outcome = Outcome::kStalled;
    else if (!result.latency)
      ran.outcome = Outcome::kNone;
  } catch (const RunError& error) {
    ran.endless = error.fault().fault == Fault::kZeroDelay;
    ran.outcome = Outcome::kError;
  } catch (const Error&) {
    ran.outcome = Outcome::kError;
  } catch (const TooMany&) {
    ran.endless = true;
  }
  return ran;
}

std::string show(const Assignment& input) { return fmt::format("({})", fmt::join(input, ", ")); }

}  // namespace lpn::bench

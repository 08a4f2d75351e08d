#include "lpn/run/condition.h"

#include <fmt/format.h>

#include "lpn/base/error.h"
#include "lpn/base/fault.h"
#include "lpn/expr/eval.h"

namespace lpn {
namespace {

// What a formula of a condition may ask for, and what it may not.
struct Marked : EvalScope {
  const ParamValues& params;
  const std::vector<PlaceId>& places;
  const std::function<std::uint64_t(PlaceId)>& in_place;
  const std::function<std::uint64_t(PlaceId)>& unlocked;

  Marked(const ParamValues& p, const Condition& c,
         const std::function<std::uint64_t(PlaceId)>& occupancy_of,
         const std::function<std::uint64_t(PlaceId)>& free_of)
      : params(p), places(c.places), in_place(occupancy_of), unlocked(free_of) {}

  std::int64_t param(std::uint32_t k) const { return params[k]; }
  std::int64_t occupancy(std::uint32_t k) const {
    return static_cast<std::int64_t>(in_place(places[k]));
  }
  std::int64_t free(std::uint32_t k) const {
    return static_cast<std::int64_t>(unlocked(places[k]));
  }
  static std::int64_t token(std::uint32_t, std::uint32_t, std::int64_t) { return 0; }
  static std::int64_t taken(std::uint32_t) { return 0; }
  static std::int64_t needed(std::uint32_t) { return 0; }
};

[[noreturn]] void refuse(const Net& net, const std::string& why) {
  throw Error("E-condition",
              fmt::format("net '{}': this is no condition over its places: {}", net.name, why));
}

}  // namespace

void require_condition(const Net& net, const Condition& condition) {
  if (static_cast<std::size_t>(condition.holds) >= net.exprs.size()) {
    refuse(net, "it has no formula");
  }
  if (net.exprs[condition.holds].type != Type::kBool) refuse(net, "its formula is a number");
  for (const PlaceId place : condition.places) {
    if (static_cast<std::size_t>(place) >= net.places.size()) refuse(net, "there is no such place");
  }
  const Reads reads = net.exprs.reads(condition.holds);
  if (!reads.tokens.empty() || !reads.taken.empty() || reads.index) {
    refuse(net, "it reads tokens");
  }
  for (const auto* read : {&reads.occupancy, &reads.free}) {
    for (const std::uint32_t k : *read) {
      if (k >= condition.places.size()) refuse(net, "it reads a place that it does not name");
    }
  }
  for (const std::uint32_t k : reads.params) {
    if (k >= net.params.size()) refuse(net, "it reads a parameter that does not exist");
  }
}

bool holds(const Net& net, const ParamValues& params, const Condition& condition,
           const std::function<std::uint64_t(PlaceId)>& occupancy,
           const std::function<std::uint64_t(PlaceId)>& free) {
  Marked marked(params, condition, occupancy, free);
  try {
    return eval(net.exprs, condition.holds, marked) != 0;
  } catch (const EvalFault& fault) {
    throw Error(
        "E-condition",
        fmt::format("net '{}': the condition cannot be computed: {}", net.name,
                    fmt::format(fmt::runtime(fault_text(fault.fault)), fault.value, kMaxTokens)));
  }
}

}  // namespace lpn

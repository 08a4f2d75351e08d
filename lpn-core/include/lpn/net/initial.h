// The checks that stand between a net with its parameters and marking, and a run of any engine.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "lpn/base/error.h"
#include "lpn/net/marking.h"
#include "lpn/net/net.h"

namespace lpn {

// A formula over parameters. Throws Error "E-param-value" (naming `what`) when it cannot be
// computed or is less than `least`. `index` is that of an initial token.
std::int64_t param_value(const Net& net, const ParamValues& params, const Formula& formula,
                         const std::string& what, std::int64_t least, std::int64_t index = 0);

// Everything that can be wrong before time 0. Throws Error: "E-param-value" (servers < 1, negative
// counts, periods < 1, ...), "E-range" (an initial token), "E-capacity" (more tokens than slots);
// the first of them in the order of docs/semantics.md, "Errors".
// `now_and_then` is called every few thousand tokens; what it throws ends the check.
void check_initial(const Net& net, const ParamValues& params, const Marking& marking,
                   const std::function<void()>& now_and_then = {});

// What there is at the start, without a look at the properties: tokens, and the bytes of their
// values. Counts that cannot be are left out; check_initial refuses them.
struct InitialSize {
  std::uint64_t tokens = 0, bytes = 0;
};
InitialSize initial_size(const Net& net, const ParamValues& params, const Marking& marking);

// The same for tokens of one place that arrive one after the other: enough values, times that never
// fall.
void check_feed(const Net& net, PlaceId place, std::span<const std::int64_t> values,
                std::span<const Time> times);

// A token from outside. Throws Error: "E-push" (a place with a capacity, wrong number of values),
// "E-range".
void check_push(const Net& net, PlaceId place, std::span<const std::int64_t> values);
Error late_push(const Net& net, PlaceId place, Time time, Time now);

}  // namespace lpn

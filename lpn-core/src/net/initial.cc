#include "lpn/net/initial.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "lpn/expr/eval.h"

namespace lpn {
namespace {

void check_value(const Place& place, const Field& field, std::int64_t value, const char* what) {
  if (!field.range || (value >= field.range->lo && value <= field.range->hi)) return;
  throw Error("E-range",
              fmt::format("place '{}': {} value {} for '{}' is outside its range {}..{}",
                          place.name, what, value, field.name, field.range->lo, field.range->hi));
}

// As param_value. what(): its name in a message; a run of a few microseconds has no time to write
// names that nobody reads.
template <typename What>
std::int64_t value_of(const Net& net, const ParamValues& params, const Formula& formula,
                      const What& what, std::int64_t least, std::int64_t index = 0) {
  try {
    const std::int64_t value = eval_params(net.exprs, formula.id, params, index);
    if (value >= least) return value;
    throw Error("E-param-value",
                fmt::format("net '{}': {} is {} with these parameters; it must be >= {}", net.name,
                            what(), value, least));
  } catch (const EvalFault& fault) {
    throw Error("E-param-value",
                fmt::format("net '{}': {} cannot be computed with these parameters ({})", net.name,
                            what(), fault_code(fault.fault)));
  }
}

constexpr std::int64_t kChecked = 4096;  // tokens from call to call

// The net's own tokens in a place, their properties checked.
std::int64_t check_place(const Net& net, const Place& place, const ParamValues& params,
                         const std::function<void()>& now_and_then) {
  const auto& fields = net[place.type].fields;
  const auto what = [&] { return fmt::format("place '{}': initial tokens", place.name); };
  std::int64_t total = 0;
  for (const Initial& initial : place.initial) {
    const std::int64_t count = value_of(net, params, initial.count, what, 0);
    if (count > kMaxTokens) {
      throw Error("E-param-value",
                  fmt::format("net '{}': {}: {}; at most {}", net.name, what(), count, kMaxTokens));
    }
    total += count;
    for (std::int64_t i = 0; !fields.empty() && i < count; ++i) {
      if (now_and_then && i % kChecked == kChecked - 1) now_and_then();
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const std::int64_t value = value_of(net, params, initial.fields[f], what,
                                            std::numeric_limits<std::int64_t>::min(), i);
        check_value(place, fields[f], value, "initial");
      }
    }
  }
  return total;
}

// 0 for a count that cannot be: check_initial says so, in its turn.
std::int64_t sane_count(const Net& net, const ParamValues& params, const Formula& count) {
  try {
    const std::int64_t value = eval_params(net.exprs, count.id, params, 0);
    return value < 0 || value > kMaxTokens ? 0 : value;
  } catch (const EvalFault&) {
    return 0;
  }
}

}  // namespace

std::int64_t param_value(const Net& net, const ParamValues& params, const Formula& formula,
                         const std::string& what, std::int64_t least, std::int64_t index) {
  return value_of(
      net, params, formula, [&] { return what; }, least, index);
}

InitialSize initial_size(const Net& net, const ParamValues& params, const Marking& marking) {
  InitialSize size;
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    const Place& place = net.places[p];
    std::uint64_t tokens = marking[static_cast<PlaceId>(p)].count;
    for (const Initial& initial : place.initial) {
      tokens += static_cast<std::uint64_t>(sane_count(net, params, initial.count));
    }
    size.tokens += tokens;
    size.bytes += tokens * net[place.type].fields.size() * sizeof(std::int64_t);
  }
  return size;
}

void check_initial(const Net& net, const ParamValues& params, const Marking& marking,
                   const std::function<void()>& now_and_then) {
  for (const Transition& t : net.transitions) {
    const auto part = [&t](const char* of) {
      return [&t, of] { return fmt::format("transition '{}': {}", t.name, of); };
    };
    if (t.servers) value_of(net, params, *t.servers, part("servers"), 1);
    if (t.clock) {
      value_of(net, params, t.clock->period, part("clock period"), 1);
      value_of(net, params, t.clock->phase, part("clock phase"), 0);
    }
  }
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    const Place& place = net.places[p];
    const std::int64_t own = check_place(net, place, params, now_and_then);
    if (!place.capacity) continue;
    const auto what = [&] { return fmt::format("place '{}': capacity", place.name); };
    const std::int64_t capacity = value_of(net, params, *place.capacity, what, 0);
    const std::int64_t present =
        own + static_cast<std::int64_t>(marking[static_cast<PlaceId>(p)].count);
    if (capacity < present) {
      throw Error("E-capacity",
                  fmt::format("place '{}' starts with {} tokens, more than its capacity "
                              "{}",
                              place.name, present, capacity));
    }
  }
  if (net.done_count) param_value(net, params, *net.done_count, "done count", 0);
}

void check_push(const Net& net, PlaceId id, std::span<const std::int64_t> values) {
  const Place& place = net.places.at(static_cast<std::size_t>(id));
  if (place.capacity) {
    throw Error("E-push",
                fmt::format("place '{}' has a capacity; push into a place without one, in "
                            "front of it",
                            place.name));
  }
  const auto& fields = net[place.type].fields;
  if (values.size() != fields.size()) {
    throw Error("E-push", fmt::format("place '{}': {} values for a token with {} properties",
                                      place.name, values.size(), fields.size()));
  }
  for (std::size_t f = 0; f < fields.size(); ++f)
    check_value(place, fields[f], values[f], "pushed");
}

void check_feed(const Net& net, PlaceId id, std::span<const std::int64_t> values,
                std::span<const Time> times) {
  const std::size_t width = net[net.places.at(static_cast<std::size_t>(id)).type].fields.size();
  if (times.empty()) return;
  if (values.size() != times.size() * width) {
    throw Error("E-push", fmt::format("place '{}': {} values for {} tokens with {} properties each",
                                      net[id].name, values.size(), times.size(), width));
  }
  for (std::size_t k = 0; k < times.size(); ++k)
    check_push(net, id, values.subspan(k * width, width));
  const auto falls = std::adjacent_find(times.begin(), times.end(), std::greater<>());
  if (falls != times.end()) {
    throw Error("E-push", fmt::format("place '{}': a token for time {} comes after one for time {}",
                                      net[id].name, *(falls + 1), *falls));
  }
  if (times.front() < 0 || times.back() > kLastInstant) {
    throw late_push(net, id, times.front() < 0 ? times.front() : times.back(), 0);
  }
}

Error late_push(const Net& net, PlaceId place, Time time, Time now) {
  if (time < 0 || time > kLastInstant) {
    return Error("E-push", fmt::format("place '{}': there is no time {}; times are 0..{}",
                                       net[place].name, time, kLastInstant));
  }
  return Error("E-push",
               fmt::format("place '{}': a token for time {} comes too late; the simulation "
                           "is at {}",
                           net[place].name, time, now));
}

}  // namespace lpn

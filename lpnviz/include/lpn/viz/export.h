// What the files that show a run have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/net/marking.h"
#include "lpn/net/net.h"

namespace lpn::viz {

// The body of a JSON string, for files that are written event by event. No '<' is left in it.
std::string escaped(const std::string& text);

// JSON that may stand in an HTML script element: no string of it can end that.
std::string in_script(const std::string& json);

// Takes the next bytes of a file; what it throws ends the writing.
using Sink = std::function<void(std::string_view)>;

// The part of a run to show, in ticks, both ends included.
struct Window {
  Time from = 0;
  Time to = kForever;
};

// Tokens per place at time 0: the net's own and the marking's that are there by then; `later`:
// those that arrive later too. Throws Error "E-param-value".
std::vector<std::uint64_t> initial_tokens(const Net& net, const ParamValues& params,
                                          const Marking& marking, bool later = false);

// The tokens of a marking that arrive after time 0, in the order of time.
class Arrivals {
 public:
  explicit Arrivals(const Marking& marking);

  // Calls each(time, place) for those up to `until` that were not told yet.
  template <typename Each>
  void tell(Time until, const Each& each) {
    for (const Queue* next = first(); next != nullptr && next->time() <= until; next = first()) {
      each(next->time(), next->place);
      ++queues_[static_cast<std::size_t>(next - queues_.data())].told;
    }
  }

 private:
  struct Queue {
    PlaceId place{};
    std::vector<Time> times;
    std::size_t told = 0;
    Time time() const { return times[told]; }
  };
  const Queue* first() const;
  std::vector<Queue> queues_;
};

}  // namespace lpn::viz

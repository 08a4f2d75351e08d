// Tokens that come from outside while a run goes on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "lpn/net/net.h"

namespace lpn::interp {

class Arrivals {
 public:
  // One token.
  void push(std::size_t place, std::span<const std::int64_t> values, Time time) {
    pushes_[time].push_back({place, {values.begin(), values.end()}});
  }
  // Many, whose times never fall and are not before last_fed(place); `values` row-major.
  void feed(std::size_t place, std::span<const std::int64_t> values, std::span<const Time> times) {
    Feed& feed = feeds_[place];
    if (!feed.more()) feed = {};
    feed.width = times.empty() ? 0 : values.size() / times.size();
    feed.times.insert(feed.times.end(), times.begin(), times.end());
    feed.values.insert(feed.values.end(), values.begin(), values.end());
  }
  // When the last token that was fed to the place comes, or came.
  std::optional<Time> last_fed(std::size_t place) const {
    const auto found = feeds_.find(place);
    if (found == feeds_.end()) return std::nullopt;
    return found->second.times.back();
  }

  std::optional<Time> next() const {
    std::optional<Time> next;
    if (!pushes_.empty()) next = pushes_.begin()->first;
    for (const auto& [place, feed] : feeds_) {
      if (feed.more() && (!next || feed.times[feed.at] < *next)) next = feed.times[feed.at];
    }
    return next;
  }

  // Takes out the tokens of instant `now`, none of an earlier one being left: arrive(place, values)
  // of each, those that were fed first.
  template <typename Arrive>
  void take(Time now, const Arrive& arrive) {
    for (auto& [place, feed] : feeds_) {
      for (; feed.more() && feed.times[feed.at] == now; ++feed.at) {
        arrive(place, std::span(feed.values).subspan(feed.at * feed.width, feed.width));
      }
    }
    if (const auto it = pushes_.find(now); it != pushes_.end()) {
      for (const Push& push : it->second) arrive(push.place, std::span(push.values));
      pushes_.erase(it);
    }
  }

 private:
  struct Push {
    std::size_t place;
    std::vector<std::int64_t> values;
  };
  struct Feed {  // of one place
    std::vector<Time> times;
    std::vector<std::int64_t> values;
    std::size_t width = 0;
    std::size_t at = 0;  // the next one
    bool more() const { return at < times.size(); }
  };
  std::map<Time, std::vector<Push>> pushes_;
  std::map<std::size_t, Feed> feeds_;
};

}  // namespace lpn::interp

#include "lpn/viz/perfetto.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lpn::viz {
namespace {

// Events of one track must nest, so firings that overlap in time go to lanes of their own. Beyond
// so many they become asynchronous events, each of which the viewer gives a track.
constexpr std::uint32_t kLanes = 64;
constexpr std::size_t kBuffer = 1 << 20;
constexpr int kPlacesProcess = 2;
constexpr int kWaitsProcess = 3;

}  // namespace

template <typename... Args>
void Timeline::append(fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
}

Timeline::Timeline(const Net& net, const ParamValues& params, const Marking& marking, Sink write,
                   Window window)
    : net_(net),
      clock_(net),
      write_(std::move(write)),
      window_(window),
      arrivals_(marking),
      time_(window.from),
      lanes_(net.transitions.size()),
      waiting_(net.transitions.size()),
      shown_(net.places.size(), -1) {
  const std::string name = escaped(net.name);
  append(
      "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"net\":\"{}\",\"unit\":\"1 tick is shown "
      "as {}\"}},\n\"traceEvents\":[\n",
      name, clock_.tick());
  append(
      "{{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{{\"name\":\"{}: "
      "transitions (1 tick = {})\"}}}}",
      name, clock_.tick());
  append(
      ",\n{{\"ph\":\"M\",\"pid\":{},\"name\":\"process_name\",\"args\":{{\"name\":\"{}: tokens "
      "in places\"}}}}",
      kPlacesProcess, name);
  for (const std::uint64_t count : viz::initial_tokens(net, params, marking)) {
    changed_.push_back(static_cast<std::uint32_t>(occupancy_.size()));
    occupancy_.push_back(static_cast<std::int64_t>(count));
  }
}

// Tokens that come from outside up to then.
void Timeline::arrive(Time until) {
  arrivals_.tell(std::min(until, window_.to), [&](Time time, PlaceId place) {
    if (time > time_) {
      flush_counters();
      time_ = time;
    }
    change(place, 1);
  });
}

void Timeline::on_commit(const Commit& commit) {
  arrive(commit.time);
  // The window's counters begin with what the places hold after all commits up to its begin.
  if (commit.time > time_) {
    flush_counters();
    time_ = commit.time;
  }
  if (commit.start <= window_.to && commit.time >= window_.from) show_firing(commit);
  if (commit.time <= window_.to) {
    const Transition& t = net_.transitions[static_cast<std::size_t>(commit.transition)];
    for (std::size_t a = 0; a < commit.taken.size(); ++a) {
      if (!commit.taken[a].empty()) {
        change(t.inputs[a].place, -static_cast<std::int64_t>(commit.taken[a].size()));
      }
    }
    for (std::size_t a = 0; a < commit.produced.size(); ++a) {
      if (commit.produced[a] != 0) {
        change(t.outputs[a].place, static_cast<std::int64_t>(commit.produced[a]));
      }
    }
  }
  if (buffer_.size() >= kBuffer) write_out();
}

void Timeline::show_firing(const Commit& commit) {
  const auto k = static_cast<std::uint32_t>(commit.transition);
  const std::string& name = net_.transitions[k].name;
  const std::int64_t lane = choose_lane(k, commit.start, commit.time);
  if (lane >= 0) {
    const std::uint64_t track = 1 + std::uint64_t{k} * kLanes + static_cast<std::uint64_t>(lane);
    append(
        ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"name\":\"{}\",\"ts\":{},\"dur\":{},"
        "\"args\":{{\"firing\":{}}}}}",
        track, name, clock_.text(commit.start), clock_.text(commit.start, commit.time),
        commit.firing);
  } else {
    append(
        ",\n{{\"ph\":\"b\",\"cat\":\"{0}\",\"pid\":1,\"tid\":0,\"id\":\"{1}.{2}\",\"name\":"
        "\"{0}\",\"ts\":{3},\"args\":{{\"firing\":{2}}}}},\n{{\"ph\":\"e\",\"cat\":\"{0}\","
        "\"pid\":1,\"tid\":0,\"id\":\"{1}.{2}\",\"name\":\"{0}\",\"ts\":{4}}}",
        name, k, commit.firing, clock_.text(commit.start), clock_.text(commit.time));
  }
  ++events_;
}

void Timeline::on_wait(Time time, const Blocked& why) {
  const auto k = static_cast<std::uint32_t>(why.transition);
  Waiting& waiting = waiting_[k];
  if (waiting.why.wait == why.wait && waiting.why.arc == why.arc) return;
  show_wait(k, time);
  waiting.why = why;
  waiting.since = time;
  if (buffer_.size() >= kBuffer) write_out();
}

void Timeline::show_wait(std::uint32_t k, Time end) {
  Waiting& waiting = waiting_[k];
  const Blocked& why = waiting.why;
  if (why.wait == Wait::kNone || waiting.since == end || waiting.since > window_.to ||
      end < window_.from) {
    return;
  }
  const Transition& t = net_.transitions[k];
  if (!waiting.has_track) {
    const bool first = std::none_of(waiting_.begin(), waiting_.end(),
                                    [](const Waiting& w) { return w.has_track; });
    if (first) {
      append(
          ",\n{{\"ph\":\"M\",\"pid\":{},\"name\":\"process_name\",\"args\":{{\"name\":\"{}: why "
          "transitions do not start\"}}}}",
          kWaitsProcess, escaped(net_.name));
    }
    waiting.has_track = true;
    append(
        ",\n{{\"ph\":\"M\",\"pid\":{0},\"tid\":{1},\"name\":\"thread_name\",\"args\":{{\"name\":"
        "\"{2}\"}}}},\n{{\"ph\":\"M\",\"pid\":{0},\"tid\":{1},\"name\":\"thread_sort_index\","
        "\"args\":{{\"sort_index\":{1}}}}}",
        kWaitsProcess, k + 1, t.name);
  }
  std::string about, arc;
  switch (why.wait) {
    case Wait::kToken:
    case Wait::kGuard:
    case Wait::kInhibited:
      about = ": " + net_[t.inputs[why.arc].place].name;
      arc = fmt::format("\"arc\":\"{}\"", t.inputs[why.arc].name);
      break;
    case Wait::kCredit: about = ": " + net_.places[why.arc].name; break;
    case Wait::kNone:
    case Wait::kServer:
    case Wait::kInterval:
    case Wait::kClock: break;
  }
  append(
      ",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"cat\":\"wait\",\"name\":\"{}{}\",\"ts\":{},"
      "\"dur\":{},\"args\":{{{}}}}}",
      kWaitsProcess, k + 1, wait_name(why.wait), about, clock_.text(waiting.since),
      clock_.text(waiting.since, end), arc);
}

void Timeline::finish(const std::string& ending, Time end) {
  for (std::uint32_t k = 0; k < waiting_.size(); ++k) show_wait(k, end);
  arrive(end);
  flush_counters();
  append("\n],\n\"ending\":\"{}\"}}\n", escaped(ending));
  write_out();
}

void Timeline::write_out() {
  write_({buffer_.data(), buffer_.size()});
  buffer_.clear();
}

// Commits come in order of their end. Taking the lane that became free last then needs as few
// lanes as firings overlap.
std::int64_t Timeline::choose_lane(std::uint32_t k, Time start, Time end) {
  auto& ends = lanes_[k];
  std::int64_t best = -1;
  for (std::size_t lane = 0; lane < ends.size(); ++lane) {
    const bool later = best < 0 || ends[lane] > ends[static_cast<std::size_t>(best)];
    if (ends[lane] <= start && later) best = static_cast<std::int64_t>(lane);
  }
  if (best < 0) {
    if (ends.size() == kLanes) return -1;
    best = static_cast<std::int64_t>(ends.size());
    ends.push_back(0);
    const std::uint64_t track = 1 + std::uint64_t{k} * kLanes + static_cast<std::uint64_t>(best);
    const std::string number = best == 0 ? "" : fmt::format(" #{}", best + 1);
    append(
        ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{0},\"name\":\"thread_name\",\"args\":{{\"name\":"
        "\"{1}{2}\"}}}},\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{0},\"name\":\"thread_sort_index\","
        "\"args\":{{\"sort_index\":{0}}}}}",
        track, net_.transitions[k].name, number);
  }
  ends[static_cast<std::size_t>(best)] = end;
  return best;
}

void Timeline::change(PlaceId place, std::int64_t by) {
  const auto p = static_cast<std::uint32_t>(place);
  if (occupancy_[p] == shown_[p]) changed_.push_back(p);
  occupancy_[p] += by;
}

// What the places hold after an instant, where it differs from what was written before.
void Timeline::flush_counters() {
  if (time_ > window_.to) return;
  for (const std::uint32_t p : changed_) {
    if (occupancy_[p] == shown_[p]) continue;
    shown_[p] = occupancy_[p];
    append(",\n{{\"ph\":\"C\",\"pid\":{},\"name\":\"{}\",\"ts\":{},\"args\":{{\"tokens\":{}}}}}",
           kPlacesProcess, net_.places[p].name, clock_.text(time_), occupancy_[p]);
  }
  changed_.clear();
}

}  // namespace lpn::viz

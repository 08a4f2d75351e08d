// A run as a timeline in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.
//
// Written commit by commit, so memory does not grow with the run: one track per transition with a
// complete event per firing, and a counter track per place with its occupancy. The format knows
// microseconds only; one tick is written as one. Occupancy counts locked tokens and so changes at
// commits alone: the counters are exact.
#include <fmt/format.h>

#include <iterator>
#include <map>

#include "bind.h"
#include "lpn/initial.h"
#include "lpn/marking.h"

namespace lpn::python {
namespace {

// Events of one track must nest, so firings that overlap in time go to lanes of their own. Beyond
// so many they become asynchronous events, each of which the viewer gives a track.
constexpr std::uint32_t kLanes = 64;
constexpr std::size_t kBuffer = 1 << 20;
constexpr int kPlacesProcess = 2;

// The body of a JSON string; a net's names are plain words, its file may be called anything.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out;
}

class Timeline : public Observer {
 public:
  // `write` takes bytes.
  Timeline(const Net& net, const ParamValues& params, const Marking& marking, py::object write)
      : net_(net), write_(std::move(write)), lanes_(net.transitions.size()) {
    const std::string name = escaped(net.name);
    append(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"net\":\"{}\",\"unit\":\"1 tick is shown "
        "as 1 us\"}},\n\"traceEvents\":[\n",
        name);
    append(
        "{{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{{\"name\":\"{}: "
        "transitions (1 tick = 1 us)\"}}}}",
        name);
    append(
        ",\n{{\"ph\":\"M\",\"pid\":{},\"name\":\"process_name\",\"args\":{{\"name\":\"{}: tokens "
        "in places\"}}}}",
        kPlacesProcess, name);
    for (std::uint32_t p = 0; p < net.places.size(); ++p) {
      std::uint64_t count = marking[static_cast<PlaceId>(p)].count;
      for (const Initial& initial : net.places[p].initial) {
        count += static_cast<std::uint64_t>(
            param_value(net, params, initial.count, "initial tokens", 0));
      }
      occupancy_.push_back(static_cast<std::int64_t>(count));
      shown_.push_back(-1);
      note(p);
    }
    flush_counters();
  }

  void on_commit(const Commit& commit) override {
    if (commit.time != time_) {
      flush_counters();
      time_ = commit.time;
    }
    const auto k = static_cast<std::uint32_t>(commit.transition);
    const Transition& t = net_.transitions[k];
    const std::int64_t lane = choose_lane(k, commit.start, commit.time);
    if (lane >= 0) {
      const std::uint64_t track = 1 + std::uint64_t{k} * kLanes + static_cast<std::uint64_t>(lane);
      append(
          ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"name\":\"{}\",\"ts\":{},\"dur\":{},"
          "\"args\":{{\"firing\":{}}}}}",
          track, t.name, commit.start, commit.time - commit.start, commit.firing);
    } else {
      append(
          ",\n{{\"ph\":\"b\",\"cat\":\"{0}\",\"pid\":1,\"tid\":0,\"id\":\"{1}.{2}\",\"name\":"
          "\"{0}\",\"ts\":{3},\"args\":{{\"firing\":{2}}}}},\n{{\"ph\":\"e\",\"cat\":\"{0}\","
          "\"pid\":1,\"tid\":0,\"id\":\"{1}.{2}\",\"name\":\"{0}\",\"ts\":{4}}}",
          t.name, k, commit.firing, commit.start, commit.time);
    }
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
    ++events_;
    if (buffer_.size() >= kBuffer) write_out();
  }

  // Closes the JSON; nothing may follow. `ending` is written beside the net's name.
  void finish(const std::string& ending) {
    flush_counters();
    append("\n],\n\"ending\":\"{}\"}}\n", escaped(ending));
    write_out();
  }

  std::uint64_t events() const { return events_; }

 private:
  template <typename... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
  }

  void write_out() {
    const py::gil_scoped_acquire gil;
    write_(py::bytes(buffer_.data(), buffer_.size()));
    buffer_.clear();
  }

  // Commits come in order of their end. Taking the lane that became free last then needs as few
  // lanes as firings overlap.
  std::int64_t choose_lane(std::uint32_t k, Time start, Time end) {
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

  void change(PlaceId place, std::int64_t by) {
    const auto p = static_cast<std::uint32_t>(place);
    if (occupancy_[p] == shown_[p]) note(p);
    occupancy_[p] += by;
  }
  // A place may be noted twice; it is written once.
  void note(std::uint32_t place) { changed_.push_back(place); }

  // What the places hold after an instant, where it differs from what was written before.
  void flush_counters() {
    for (const std::uint32_t p : changed_) {
      if (occupancy_[p] == shown_[p]) continue;
      shown_[p] = occupancy_[p];
      append(",\n{{\"ph\":\"C\",\"pid\":{},\"name\":\"{}\",\"ts\":{},\"args\":{{\"tokens\":{}}}}}",
             kPlacesProcess, net_.places[p].name, time_, occupancy_[p]);
    }
    changed_.clear();
  }

  const Net& net_;
  py::object write_;
  fmt::memory_buffer buffer_;
  Time time_ = 0;
  std::uint64_t events_ = 0;
  std::vector<std::vector<Time>> lanes_;  // per transition, the last end on each lane
  std::vector<std::int64_t> occupancy_, shown_;
  std::vector<std::uint32_t> changed_;
};

}  // namespace

void bind_perfetto(py::module_& parent) {
  auto m = parent.attr("sim").cast<py::module_>();
  py::class_<Timeline, Observer>(m, "Timeline")
      .def(py::init([](const Net& net, const ParamValues& params, const Marking& marking,
                       py::object write) {
             return std::make_unique<Timeline>(net, params, marking, std::move(write));
           }),
           py::keep_alive<1, 2>())
      .def("finish", &Timeline::finish)
      .def_property_readonly("events", &Timeline::events);
}

}  // namespace lpn::python

#include "lpn/viz/vcd.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lpn/base/error.h"
#include "lpn/viz/ticks.h"

namespace lpn::viz {
namespace {

constexpr std::size_t kBuffer = 1 << 20;

// The short names of signals: printable characters without space, least first.
std::string identifier(std::uint32_t k) {
  std::string id;
  for (std::uint64_t rest = std::uint64_t{k} + 1; rest != 0; rest = (rest - 1) / 94) {
    id += static_cast<char>('!' + (rest - 1) % 94);
  }
  return id;
}

class Text {
 public:
  explicit Text(const Sink& sink) : sink_(sink) {}

  template <typename... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() >= kBuffer) flush();
  }

  void flush() {
    sink_({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

 private:
  const Sink& sink_;
  fmt::memory_buffer buffer_;
};

// What one scope holds, in the order of declaration: an instance's part of the net, or a
// transition's two signals.
struct Scope {
  std::string name;
  std::string kind = "module";
  std::vector<std::pair<std::string, std::uint32_t>> signals;  // (name, number)
  std::vector<std::unique_ptr<Scope>> scopes;
  std::map<std::string, Scope*, std::less<>> by_name;

  Scope& operator[](std::string_view inner) {
    const auto found = by_name.find(inner);
    if (found != by_name.end()) return *found->second;
    scopes.push_back(std::make_unique<Scope>());
    scopes.back()->name = inner;
    return *by_name.emplace(inner, scopes.back().get()).first->second;
  }
};

std::pair<Scope*, std::string> inside(Scope& top, std::string_view name) {
  Scope* scope = &top;
  for (std::size_t dot; (dot = name.find('.')) != std::string_view::npos;) {
    scope = &(*scope)[name.substr(0, dot)];
    name.remove_prefix(dot + 1);
  }
  return {scope, std::string(name)};
}

// The scopes of instances first: one of them may be called like a transition beside it, and two
// scopes of one name would be one.
Scope scopes_of(const Net& net) {
  Scope top;
  top.name = net.name;
  std::replace(top.name.begin(), top.name.end(), '.', '_');
  std::uint32_t signal = 0;
  for (const Place& p : net.places) {
    const auto [scope, name] = inside(top, p.name);
    scope->signals.emplace_back(name, signal++);
  }
  std::vector<std::pair<Scope*, std::string>> own;
  for (const Transition& t : net.transitions) own.push_back(inside(top, t.name));
  const std::set<std::pair<Scope*, std::string>> names(own.begin(), own.end());
  const auto transitions = static_cast<std::uint32_t>(net.transitions.size());
  for (auto& [scope, name] : own) {
    if (scope->by_name.count(name) != 0) {
      do {
        name += '_';
      } while (scope->by_name.count(name) != 0 || names.count({scope, name}) != 0);
    }
    Scope& mine = (*scope)[name];
    mine.kind = "task";
    // A viewer's list shows this name alone, without its scopes.
    mine.signals = {{name + "_in_flight", signal + transitions}, {name + "_commits", signal}};
    ++signal;
  }
  return top;
}

void declare(Text& out, const Scope& scope, const std::vector<std::uint8_t>& wide) {
  out.append("$scope {} {} $end\n", scope.kind, scope.name);
  for (const auto& [signal, number] : scope.signals) {
    out.append("$var integer {} {} {} $end\n", wide[number] ? 64 : 32, identifier(number), signal);
  }
  for (const auto& inner : scope.scopes) declare(out, *inner, wide);
  out.append("$upscope $end\n");
}

}  // namespace

VcdWriter::VcdWriter(const Net& net, const ParamValues& params, const Marking& marking,
                     Window window, std::size_t most)
    : net_(net),
      window_(window),
      most_(most),
      arrivals_(marking),
      values_(viz::initial_tokens(net, params, marking)),
      in_flight_(net.transitions.size()) {
  values_.resize(net.places.size() + net.transitions.size());
  touched_.resize(values_.size());
}

void VcdWriter::change(std::uint32_t signal, std::uint64_t value) {
  values_[signal] = value;
  if (!inside_ || touched_[signal] != 0) return;
  touched_[signal] = 1;
  touched_list_.push_back(signal);
}

void VcdWriter::close_instant() {
  if (touched_list_.empty()) return;
  for (const std::uint32_t s : touched_list_) {
    const std::uint64_t v = values_[s];
    changes_.push_back({s, {static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(v >> 32)}});
    touched_[s] = 0;
  }
  touched_list_.clear();
  instants_.push_back({time_, changes_.size()});
}

void VcdWriter::keep_base() {
  if (inside_) return;
  inside_ = true;
  base_ = values_;
}

// Tokens that come from outside up to then.
void VcdWriter::arrive(Time until) {
  arrivals_.tell(std::min(until, window_.to), [&](Time time, PlaceId place) {
    if (time > window_.from) keep_base();
    if (time != time_) {
      close_instant();
      time_ = time;
    }
    const auto p = static_cast<std::uint32_t>(place);
    change(p, values_[p] + 1);
  });
}

void VcdWriter::on_commit(const Commit& commit) {
  arrive(commit.time);
  const auto k = static_cast<std::uint32_t>(commit.transition);
  if (commit.time > window_.from) {
    keep_base();
    if (commit.start <= window_.from) {
      ++in_flight_[k];
    } else if (commit.start <= window_.to) {
      starts_.push_back({commit.start, k});
    }
  }
  if (commit.time > window_.to) return;
  if (commit.time != time_) {
    close_instant();
    time_ = commit.time;
  }
  const Transition& t = net_.transitions[k];
  for (std::size_t a = 0; a < commit.taken.size(); ++a) {
    if (commit.taken[a].empty()) continue;
    const auto p = static_cast<std::uint32_t>(t.inputs[a].place);
    change(p, values_[p] - commit.taken[a].size());
  }
  for (std::size_t a = 0; a < commit.produced.size(); ++a) {
    if (commit.produced[a] == 0) continue;
    const auto p = static_cast<std::uint32_t>(t.outputs[a].place);
    change(p, values_[p] + commit.produced[a]);
  }
  const auto commits = static_cast<std::uint32_t>(net_.places.size()) + k;
  change(commits, values_[commits] + 1);
  if (changes_.size() + starts_.size() > most_) {
    throw Error("E-export-size",
                fmt::format("more than {} values change in the part of the run to be dumped (at "
                            "cycle {}), and all are kept until its end; choose a smaller part: "
                            "--window {}:{}",
                            most_, commit.time, window_.from, commit.time));
  }
}

void VcdWriter::finish(Time end, const Sink& write) {
  arrive(end);
  close_instant();
  keep_base();
  end = std::max(window_.from, std::min(window_.to, end));
  std::sort(starts_.begin(), starts_.end(),
            [](const Start& a, const Start& b) { return a.time < b.time; });

  const auto places = static_cast<std::uint32_t>(net_.places.size());
  const auto transitions = static_cast<std::uint32_t>(net_.transitions.size());
  const std::uint32_t flights = places + transitions;
  std::vector<std::uint64_t> shown = base_;  // then in_flight
  shown.insert(shown.end(), in_flight_.begin(), in_flight_.end());

  // `integer` has 32 bits with a sign; what grows beyond gets 64.
  constexpr std::uint64_t kMost32 = 0x7fffffff;
  std::vector<std::uint8_t> wide(shown.size());
  for (std::size_t s = 0; s < shown.size(); ++s) wide[s] = shown[s] > kMost32;
  const auto value_of = [](const Change& c) {
    return std::uint64_t{c.value[1]} << 32 | c.value[0];
  };
  for (const Change& c : changes_) wide[c.signal] |= value_of(c) > kMost32;
  for (std::uint32_t k = 0; k < transitions; ++k) {
    wide[flights + k] |= in_flight_[k] + starts_.size() > kMost32;
  }

  Text out(write);
  const DumpClock clock(net_, end);
  out.append(
      "$comment net {}: one tick of the net (a cycle) is written as {}; values are those "
      "after the last group of an instant $end\n$version lpn $end\n$timescale {} $end\n",
      net_.name, clock.tick(), clock.timescale());
  declare(out, scopes_of(net_), wide);
  out.append("$enddefinitions $end\n#{}\n$dumpvars\n", clock(window_.from));
  std::vector<std::string> ids;
  for (std::uint32_t s = 0; s < shown.size(); ++s) ids.push_back(identifier(s));
  for (std::size_t s = 0; s < shown.size(); ++s) out.append("b{:b} {}\n", shown[s], ids[s]);
  out.append("$end\n");

  std::vector<std::uint64_t> flying = in_flight_;
  std::vector<std::uint32_t> flown;  // transitions whose number in flight may be another now
  std::size_t c = 0, i = 0, s = 0;
  Time last = window_.from;
  for (;;) {
    Time now = kForever;
    if (i < instants_.size()) now = instants_[i].time;
    if (s < starts_.size()) now = std::min(now, starts_[s].time);
    if ((i == instants_.size() && s == starts_.size()) || now > end) break;
    bool stamped = false;
    const auto put = [&](std::uint32_t signal, std::uint64_t value) {
      if (shown[signal] == value) return;
      shown[signal] = value;
      if (!stamped) out.append("#{}\n", clock(now));
      stamped = true;
      out.append("b{:b} {}\n", value, ids[signal]);
    };
    for (; s < starts_.size() && starts_[s].time == now; ++s) {
      ++flying[starts_[s].transition];
      flown.push_back(starts_[s].transition);
    }
    if (i < instants_.size() && instants_[i].time == now) {
      for (; c < instants_[i].end; ++c) {
        const std::uint32_t signal = changes_[c].signal;
        const std::uint64_t value = value_of(changes_[c]);
        if (signal >= places) {
          flying[signal - places] -= value - shown[signal];
          flown.push_back(signal - places);
        }
        put(signal, value);
      }
      ++i;
    }
    for (const std::uint32_t k : flown) put(flights + k, flying[k]);
    flown.clear();
    if (stamped) last = now;
  }
  if (end > last) out.append("#{}\n", clock(end));
  out.flush();
}

}  // namespace lpn::viz

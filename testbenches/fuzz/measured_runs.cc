#include "measured_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/expr/eval.h"
#include "lpn/net/facts.h"

namespace lpn::bench {
namespace {

std::size_t at(PlaceId place) { return static_cast<std::size_t>(place); }

// Of a place and of the room in it: what a firing takes and gives.
struct Flow {
  std::uint64_t taken = 0, produced = 0;  // tokens
  std::uint64_t room_taken() const { return produced > taken ? produced - taken : 0; }
  std::uint64_t room_given() const { return taken > produced ? taken - produced : 0; }
};

Flow flow(const Net& net, const History::Firing& firing, PlaceId place) {
  const Transition& t = net[firing.transition];
  Flow sum;
  for (std::size_t a = 0; a < t.inputs.size(); ++a) {
    if (t.inputs[a].place == place) sum.taken += firing.taken[a];
  }
  for (std::size_t o = 0; o < t.outputs.size(); ++o) {
    if (t.outputs[o].place == place) sum.produced += firing.produced[o];
  }
  return sum;
}

class Stall {
 public:
  Stall(const Net& net, const History& history) : net_(net), history_(history) {}

  // When the k-th token came, or the k-th slot of a place was free.
  Time come(PlaceId place, bool room, std::uint64_t k) const {
    std::vector<Time> times;
    const std::uint64_t given = history_.given[at(place)];
    times.assign(room ? capacity(place) - given : given, 0);
    for (const History::Firing& firing : history_.firings) {
      const Flow sum = flow(net_, firing, place);
      times.insert(times.end(), room ? sum.room_given() : sum.produced, firing.due);
    }
    std::sort(times.begin(), times.end());
    return times.at(k - 1);
  }

  std::optional<Time> operator()(TransitionId transition, PlaceId place) const {
    const Transition& t = net_[transition];
    for (const InputArc& arc : t.inputs) {
      if (arc.inhibit || arc.threshold) return std::nullopt;
    }
    std::int64_t interval = 0;
    if (t.interval && !net_.exprs.is_const(t.interval->id, interval)) return std::nullopt;
    if (t.clock) interval *= value(t.clock->period);
    Time sum = 0;
    for (std::size_t n = 0; n < history_.firings.size(); ++n) {
      if (history_.firings[n].transition == transition) sum += wait(n, place, interval);
    }
    return sum;
  }

 private:
  std::int64_t value(const Formula& formula) const {
    return eval_params(net_.exprs, formula.id, history_.params);
  }
  std::uint64_t capacity(PlaceId place) const {
    return static_cast<std::uint64_t>(value(*net_[place].capacity));
  }

  Time wait(std::size_t n, PlaceId place, std::int64_t interval) const {
    const History::Firing& firing = history_.firings[n];
    const Transition& t = net_[firing.transition];
    Time others = 0, all = 0;
    const auto needs = [&](PlaceId p, bool room, std::uint64_t need) {
      if (need == 0) return;
      std::uint64_t before = 0;
      for (std::size_t m = 0; m < n; ++m) {
        const Flow sum = flow(net_, history_.firings[m], p);
        const std::uint64_t taken = room ? sum.room_taken() : sum.taken;
        if (taken > 0) others = std::max(others, history_.firings[m].start);
        before += taken;
      }
      const Time there = come(p, room, before + need);
      all = std::max(all, there);
      if (p != place) others = std::max(others, there);
    };
    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
      const std::uint64_t head = arc_facts(net_, t, a).reads_head ? 1 : 0;
      needs(t.inputs[a].place, false, std::max(firing.taken[a], head));
    }
    for (std::size_t p = 0; p < net_.places.size(); ++p) {
      const auto id = static_cast<PlaceId>(p);
      if (net_[id].capacity) needs(id, true, flow(net_, firing, id).room_taken());
    }
    std::vector<Time> commits;
    for (std::size_t m = 0; m < n; ++m) {
      if (history_.firings[m].transition != firing.transition) continue;
      commits.push_back(history_.firings[m].due);
      others = std::max(others, history_.firings[m].start + interval);
    }
    if (t.servers) {
      const auto servers = static_cast<std::size_t>(value(*t.servers));
      std::sort(commits.begin(), commits.end());
      if (commits.size() >= servers) others = std::max(others, commits[commits.size() - servers]);
    }
    return std::max(all, others) - others;
  }

  const Net& net_;
  const History& history_;
};

Time busy(const History& history, TransitionId transition) {
  std::vector<std::pair<Time, Time>> spans;
  for (const History::Firing& firing : history.firings) {
    if (firing.transition == transition) spans.emplace_back(firing.start, firing.due);
  }
  std::sort(spans.begin(), spans.end());
  Time sum = 0, end = 0;
  for (const auto& [from, to] : spans) {
    sum += std::max<Time>(0, to - std::max(from, end));
    end = std::max(end, to);
  }
  return sum;
}

std::optional<Time> completion(const Net& net, const History& history, std::uint64_t k) {
  std::vector<Time> times;
  for (const History::Firing& firing : history.firings) {
    const Transition& t = net[firing.transition];
    for (std::size_t o = 0; o < t.outputs.size(); ++o) {
      if (net[t.outputs[o].place].done) {
        times.insert(times.end(), firing.produced[o], firing.due);
      }
    }
  }
  if (k == 0 || times.size() < k) return std::nullopt;
  std::sort(times.begin(), times.end());
  return times[k - 1];
}

}  // namespace

void HistoryWatcher::on_start(const Started& firing) {
  history_.firings.push_back({firing.transition,
                              firing.start,
                              firing.due,
                              {firing.taken.begin(), firing.taken.end()},
                              {firing.produced.begin(), firing.produced.end()}});
}

std::string text_of(const Net& net, const Asked& asked) {
  switch (asked.what) {
    case Asked::What::kBusy: return fmt::format("busy({})", net[asked.transition].name);
    case Asked::What::kStall:
      return fmt::format("stall({}, {})", net[asked.transition].name, net[asked.place].name);
    case Asked::What::kCommits: return fmt::format("commits({})", net[asked.transition].name);
    case Asked::What::kCompletion: return fmt::format("completion({})", asked.k);
  }
  return "";
}

std::optional<Time> measured(const Net& net, const History& history, const Asked& asked) {
  switch (asked.what) {
    case Asked::What::kBusy: return busy(history, asked.transition);
    case Asked::What::kStall: return Stall(net, history)(asked.transition, asked.place);
    case Asked::What::kCommits:
      return std::count_if(
          history.firings.begin(), history.firings.end(),
          [&](const History::Firing& f) { return f.transition == asked.transition; });
    case Asked::What::kCompletion: return completion(net, history, asked.k);
  }
  return std::nullopt;
}

}  // namespace lpn::bench

// What generated code does for LPNRT_PATH (write/event_causes.cc), from what the
// interpreter tells: the same candidates in the same order, so that ties are broken alike.

#include "lpn/sim/interpreted_path.h"

#include <deque>
#include <utility>
#include <vector>

#include "library/path_answer.h"
#include "lpn/net/facts.h"
#include "lpn/net/lower.h"
#include "lpnrt/path.h"

namespace lpn::sim {
namespace {

using lpnrt::Cause;
using lpnrt::Causes;
using Node = lpnrt::u32;

// The nodes of the free tokens of a place, in their order.
class Origins {
 public:
  void push(Node node, std::uint64_t count) {
    if (count != 0) runs_.emplace_back(node, count);
  }
  Node at(std::uint64_t k) const {
    for (const auto& [node, count] : runs_) {
      if (k < count) return node;
      k -= count;
    }
    return Causes::kNone;
  }
  void pop(std::uint64_t count) {
    while (count > 0 && !runs_.empty()) {
      auto& run = runs_.front();
      const std::uint64_t part = std::min(count, run.second);
      count -= part;
      run.second -= part;
      if (run.second == 0) runs_.pop_front();
    }
  }
  template <typename Visit>
  void each(const Visit& visit) {
    for (auto& run : runs_) visit(run.first);
  }

 private:
  std::deque<std::pair<Node, std::uint64_t>> runs_;
};

struct PlaceCauses {
  bool read = false;     // by an input arc
  bool watched = false;  // otherwise than by the tokens an arc needs: any commit may matter
  Origins origins;
  Node taken_by = Causes::kNone, changed_by = Causes::kNone;
};

struct TransitionCauses {
  Node begun = Causes::kNone, ended = Causes::kNone, freed = Causes::kNone;
  bool full = false;
};

// The input arcs on which a transition's readiness depends otherwise than by needed tokens.
std::vector<bool> looking_arcs(const Net& net, const Transition& t) {
  std::vector<bool> looks(t.inputs.size());
  for_each_formula(t, [&](const Formula& f, const Site& site) {
    const Reads reads = net.exprs.reads(f.id);
    for (const std::uint32_t a : reads.occupancy) looks[a] = true;
    if (site.kind != SiteKind::kWeight && site.kind != SiteKind::kThreshold &&
        site.kind != SiteKind::kGuard) {
      return;
    }
    for (const std::uint32_t a : reads.tokens) looks[a] = true;
    for (const std::uint32_t a : reads.free) looks[a] = true;
  });
  for (std::size_t a = 0; a < looks.size(); ++a) looks[a] = looks[a] || t.inputs[a].inhibit;
  return looks;
}

}  // namespace

// More than a cache holds does not slow the interpreter, and the page shows the path.
constexpr std::uint64_t kNodes = std::uint64_t{1} << 18;

struct InterpretedPath::Impl {
  Net net;  // lowered
  bool has_done = false;
  Causes causes;
  std::vector<PlaceCauses> places;
  std::vector<TransitionCauses> transitions;
  std::vector<std::vector<bool>> takes;  // per input arc: may take tokens
  std::vector<Node> in_flight;           // per slot
  Node done_node = Causes::kNone, last_node = Causes::kNone;

  Impl(const Net& given, std::uint64_t bytes)
      : net(lower(given)),
        causes(static_cast<Node>(given.transitions.size())),
        places(net.places.size()),
        transitions(net.transitions.size()) {
    causes.budget = bytes;
    causes.keep(kNodes);
    for (const Place& place : given.places) has_done = has_done || place.done;
    for (const Transition& t : net.transitions) {
      const std::vector<bool> looks = looking_arcs(net, t);
      std::vector<bool>& takes_of = takes.emplace_back();
      for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
        PlaceCauses& place = places[static_cast<std::size_t>(t.inputs[a].place)];
        place.read = true;
        place.watched = place.watched || looks[a];
        takes_of.push_back(!t.inputs[a].inhibit && !arc_facts(net, t, a).takes_nothing());
      }
    }
  }

  void make_room() {
    if (!causes.full()) return;
    causes.collect([this](const auto& visit) {
      visit(done_node);
      visit(last_node);
      for (PlaceCauses& place : places) {
        place.origins.each(visit);
        visit(place.taken_by);
        visit(place.changed_by);
      }
      for (TransitionCauses& t : transitions) {
        visit(t.begun);
        visit(t.ended);
        visit(t.freed);
      }
      for (Node& node : in_flight) visit(node);
    });
  }

  void arrived(PlaceCauses& place, Node node, std::uint64_t count) {
    place.origins.push(node, count);
    place.changed_by = node;
  }

  Causes::Choice cause_of(const Started& firing) {
    const auto k = static_cast<std::size_t>(firing.transition);
    const Transition& t = net.transitions[k];
    const TransitionCauses& mine = transitions[k];
    const auto place = [&](std::size_t a) -> PlaceCauses& {
      return places[static_cast<std::size_t>(t.inputs[a].place)];
    };
    Causes::Choice why;
    for (std::size_t a = 0; a < t.inputs.size(); ++a) {
      if (t.inputs[a].inhibit || firing.needed[a] == 0) continue;
      causes.commit_of(why, place(a).origins.at(firing.needed[a] - 1), Cause::kToken);
    }
    if (t.servers) causes.commit_of(why, mine.freed, Cause::kServer);
    for (std::size_t a = 0; a < t.inputs.size(); ++a) {
      if (place(a).watched) causes.commit_of(why, place(a).changed_by, Cause::kChange);
    }
    if (t.interval && firing.not_before > causes.start(mine.begun)) {
      const Time wait = firing.not_before - causes.start(mine.begun);
      causes.start_of(why, mine.begun, wait, Cause::kInterval);
    }
    causes.start_of(why, mine.begun, 0, Cause::kOrder);
    for (std::size_t a = 0; a < t.inputs.size(); ++a) {
      causes.start_of(why, place(a).taken_by, 0, Cause::kOrder);
    }
    return why;
  }
};

InterpretedPath::InterpretedPath(const Net& net, Interp& run, std::uint64_t bytes)
    : impl_(std::make_unique<Impl>(net, bytes)) {
  for (std::size_t p = 0; p < impl_->places.size(); ++p) {
    PlaceCauses& place = impl_->places[p];
    if (place.read) place.origins.push(Causes::kNone, run.free_tokens(static_cast<PlaceId>(p)));
  }
  run.watch(this);
}
InterpretedPath::~InterpretedPath() = default;

void InterpretedPath::on_start(const Started& firing) {
  Impl& i = *impl_;
  i.make_room();
  const auto k = static_cast<std::size_t>(firing.transition);
  const Causes::Choice why = i.cause_of(firing);
  TransitionCauses& mine = i.transitions[k];
  const auto by = static_cast<Node>(k);
  const Node begun = i.causes.add(firing.start, static_cast<Node>(firing.group), firing.due,
                                  why.node, by, why.cause);
  const Node me = firing.late ? i.causes.add_ordered(mine.ended, by, firing.start) : begun;
  mine.begun = begun;
  mine.ended = me;
  mine.freed = Causes::kNone;
  mine.full = firing.full;
  if (firing.slot >= i.in_flight.size()) i.in_flight.resize(firing.slot + 1);
  i.in_flight[firing.slot] = me;
  for (std::size_t a = 0; a < i.takes[k].size(); ++a) {
    if (!i.takes[k][a]) continue;
    PlaceCauses& place = i.places[static_cast<std::size_t>(i.net.transitions[k].inputs[a].place)];
    place.origins.pop(firing.all_taken[a]);
    place.taken_by = begun;
  }
}

void InterpretedPath::on_commit(const Started& firing) {
  Impl& i = *impl_;
  const auto k = static_cast<std::size_t>(firing.transition);
  const Transition& t = i.net.transitions[k];
  TransitionCauses& mine = i.transitions[k];
  const Node me = std::exchange(i.in_flight[firing.slot], Causes::kNone);
  i.last_node = me;
  if (mine.full) {
    mine.freed = me;
    mine.full = false;
  }
  for (std::size_t a = 0; a < i.takes[k].size(); ++a) {
    PlaceCauses& place = i.places[static_cast<std::size_t>(t.inputs[a].place)];
    if (i.takes[k][a] && place.watched) place.changed_by = me;
  }
  for (std::size_t o = 0; o < t.outputs.size(); ++o) {
    if (firing.all_produced[o] == 0) continue;
    const auto p = static_cast<std::size_t>(t.outputs[o].place);
    if (i.places[p].read) i.arrived(i.places[p], me, firing.all_produced[o]);
    if (i.net.places[p].done) i.done_node = me;
  }
}

void InterpretedPath::on_arrival(Time time, PlaceId place, std::span<const std::int64_t>) {
  Impl& i = *impl_;
  PlaceCauses& causes = i.places[static_cast<std::size_t>(place)];
  if (!causes.read) return;
  i.make_room();
  i.arrived(causes, i.causes.add_pushed(time, static_cast<Node>(place)), 1);
}

CriticalPath InterpretedPath::path() const {
  const Impl& i = *impl_;
  if (i.causes.lost) throw path_memory(i.net.name);
  std::vector<Causes::Row> sums;
  std::vector<Causes::Step> back;
  i.causes.path(i.has_done ? i.done_node : i.last_node, sums, back);
  const Node of_transitions = static_cast<Node>(i.net.transitions.size()) * lpnrt::kRowsEach;
  CriticalPath path;
  for (const Causes::Row& row : sums) {
    const bool pushed = row.what >= of_transitions;
    const auto kind = pushed ? CriticalPath::Kind::kPushed
                             : static_cast<CriticalPath::Kind>(row.what % lpnrt::kRowsEach);
    const std::uint32_t index = pushed ? row.what - of_transitions : row.what / lpnrt::kRowsEach;
    path.rows.push_back({kind, index, row.count, row.cycles});
  }
  for (const Causes::Step& step : back) {
    path.steps.push_back({step.by / 8, static_cast<std::int32_t>(step.by % 8), step.to_commit,
                          step.start, step.commit});
  }
  return path;
}

}  // namespace lpn::sim
